package network

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"reprise/calibrate/measure"
	"reprise/internal/textutil"
	"reprise/trace/warning"
)

// Timing is one operation that was timed.
type Timing struct {
	Operation string
	Between   Between // Cores or Nodes
	Pairs     int     // at the same time
	Bytes     int64
	Seconds   float64
}

// Rank tells where a rank ran.
type Rank struct {
	Host      string `json:"host"`
	Processor string `json:"processor"`
	CPUs      string `json:"cpus_allowed"`
	Load      string `json:"load"`
}

// Result holds the timings of an MPI program, and how they were made.
type Result struct {
	Library     string // the MPI, as it names itself
	Compiler    string
	Ranks       []Rank
	Planned     int
	Timings     []Timing // in the order of their ends, about
	Ended       string   // Complete, OverBudget, or empty: the ranks did not end by themselves
	Interrupted bool     // by the context
	Busy        Busy

	refused string // the program's reason not to run, a key of advice
}

// How a measurement ends.
const (
	Complete   = "complete"
	OverBudget = "budget"
)

// Busy tells how much of its processor a rank had, of the rank that had the smallest part.
type Busy struct {
	Rank      int
	CPU, Wall float64 // seconds of loops that do nothing else
}

// Part returns the part of the time that the rank had a processor, 1 if that is unknown.
func (b Busy) Part() float64 {
	if b.Wall == 0 {
		return 1
	}
	return b.CPU / b.Wall
}

// Limits of a file, which bound the memory that reading it takes.
const (
	maxRanks   = 1 << 20
	maxTimings = 1 << 24
)

// operations are those that helper/bench.c times.
var operations = []string{"send", "send-late", "isend", "recv", "pingpong", "exchange", "iprobe-miss", "iprobe-hit",
	"test-miss", "test-hit", "iprobe-first-hit", "iprobe-first-miss"}

// read reads the file that the program writes (helper/bench.c): lines of a word and its values. A last line without
// its end was cut off when the program was killed; it does not count.
func read(in io.Reader) (*Result, error) {
	// ReadSlice bounds the length of a line by the buffer.
	lines, r := bufio.NewReader(in), &Result{}
	for n := 1; ; n++ {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return r, nil
		}
		text := strings.TrimSuffix(string(line), "\n")
		kind, rest, _ := strings.Cut(text, " ")
		switch {
		case err != nil:
		case kind == "mpi":
			r.Library = strings.TrimSpace(rest)
		case kind == "end":
			r.Ended = rest
		case kind == "error":
			r.refused = rest
		case kind == "planned":
			err = count(rest, &r.Planned)
		case kind == "rank": // NUMBER|HOST|PROCESSOR|CPUS|LOAD
			fields := strings.Split(rest, "|")
			if len(fields) == 5 && fields[0] == strconv.Itoa(len(r.Ranks)) && len(r.Ranks) < maxRanks {
				r.Ranks = append(r.Ranks, Rank{fields[1], fields[2], fields[3], fields[4]})
			} else {
				err = fmt.Errorf("found %s, want rank %d with host, processor, cores and load", textutil.Quote(rest),
					len(r.Ranks))
			}
		case kind == "t": // OPERATION BETWEEN PAIRS BYTES SECONDS
			fields := strings.Fields(rest)
			if len(fields) != 5 || len(r.Timings) == maxTimings {
				err = fmt.Errorf("found %s, want operation, between, pairs, bytes and seconds", textutil.Quote(rest))
				break
			}
			t := Timing{Operation: fields[0], Between: Between(fields[1])}
			var err1, err2 error
			t.Bytes, err1 = strconv.ParseInt(fields[3], 10, 64)
			t.Seconds, err2 = strconv.ParseFloat(fields[4], 64)
			err = errors.Join(count(fields[2], &t.Pairs), err1, err2)
			if err == nil && (!slices.Contains(operations, t.Operation) || t.Between != Cores && t.Between != Nodes ||
				t.Pairs < 1 || t.Bytes < 0 || !(t.Seconds > 0) || math.IsInf(t.Seconds, 1)) {
				err = fmt.Errorf("found %s, which is no timing", textutil.Quote(rest))
			}
			r.Timings = append(r.Timings, t)
		case kind == "busy": // RANK CPU WALL
			b := &r.Busy
			if n, wrong := fmt.Sscanf(rest, "%d %g %g", &b.Rank, &b.CPU, &b.Wall); n != 3 || wrong != nil ||
				!(b.CPU >= 0 && b.Wall > 0) || math.IsInf(b.CPU, 1) || b.Rank < 0 {
				err = fmt.Errorf("found %s, want rank, processor time and time", textutil.Quote(rest))
			}
		default:
			err = fmt.Errorf("found %s", textutil.Quote(text))
		}
		if err != nil {
			return nil, fmt.Errorf("timings:%d: %w", n, err)
		}
	}
}

// count reads a number that is not below zero.
func count(text string, n *int) error {
	number, err := strconv.Atoi(text)
	if err != nil || number < 0 {
		return fmt.Errorf("found %s, want a whole number", textutil.Quote(text))
	}
	*n = number
	return nil
}

// WriteCSV writes the timings as calibrate network reads them, after facts about the
// measurement as comments.
func (r *Result) WriteCSV(w io.Writer, facts []measure.Fact) error {
	var b strings.Builder
	b.WriteString(measure.Comments(facts) + "operation,bytes,seconds,between,pairs\n")
	for _, t := range r.Timings {
		fmt.Fprintf(&b, "%s,%d,%.9e,%s,%d\n", t.Operation, t.Bytes, t.Seconds, t.Between, t.Pairs)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// advice tells users how to start the program, by the text with which it refuses to run.
var advice = map[string]string{
	"one rank": "the program has one rank, want at least 2: start more (-np 2), by the launcher of the MPI " +
		"whose compiler is --mpicc, as one of another MPI starts each rank alone",
	"no two ranks on one host": "no two ranks run on one host, as --between cores needs: start more on each, " +
		"as by mpirun --map-by core",
	"all ranks on one host": "all ranks run on one host, and --between nodes needs two: start them on two, " +
		"as by mpirun --map-by node or srun -N 2",
}

// check returns the error of a measurement that differs from the options, or failed.
func (r *Result) check(o *Options, failure error) error {
	// The reason of the program tells more than the exit status of its launcher.
	switch text, known := advice[r.refused]; {
	case known:
		return fmt.Errorf("%s: %s", o.Launcher[0], text)
	case failure != nil:
		return failure
	case r.Ended == "":
		return fmt.Errorf("%s ended without an error, but the ranks did not finish", o.Launcher[0])
	}
	// A launcher that succeeds may still have put all ranks on one host, or one on each.
	if o.Between == Both {
		for _, b := range []Between{Cores, Nodes} {
			if !r.Has(b) {
				return fmt.Errorf("nothing was timed between %s, as --between both asks: start two ranks on each of "+
					"two hosts, as by mpirun -np 4 --map-by ppr:2:node", b)
			}
		}
	}
	return nil
}

// Has reports whether messages between these were timed.
func (r *Result) Has(b Between) bool {
	return slices.ContainsFunc(r.Timings, func(t Timing) bool { return t.Between == b })
}

// Hosts returns the places of the ranks: "a: ranks 0, 1; b: ranks 2, 3".
func (r *Result) Hosts() string {
	// Hosts stand in the order of their first ranks.
	var order []string
	byHost := map[string][]string{}
	for i, rank := range r.Ranks {
		if byHost[rank.Host] == nil {
			order = append(order, rank.Host)
		}
		byHost[rank.Host] = append(byHost[rank.Host], fmt.Sprint(i))
	}
	for i, host := range order {
		ranks := byHost[host]
		if len(ranks) > mostShown {
			ranks = append(slices.Clone(ranks[:mostShown]), fmt.Sprintf("and %d more", len(ranks)-mostShown))
		}
		order[i] = host + ": ranks " + strings.Join(ranks, ", ")
	}
	return strings.Join(order, "; ")
}

// mostShown is the number of ranks of a host that a description names, and of hosts whose first rank it describes.
const mostShown = 16

// Bounds of a quiet machine.
const (
	leastPart  = 0.95 // of its processor, for each rank
	mostSpread = 2.0  // of a typical ping-pong of up to smallBytes, as a multiple of the quickest of its size
	smallBytes = 4096
)

// Warnings tell of signs in the timings that the machine had other things to do.
func (r *Result) Warnings() []warning.Warning {
	list := []warning.Warning{}
	if part := r.Busy.Part(); part < leastPart {
		list = append(list, warning.New("rank %d had a processor for %.0f %% of the time: other programs ran on it, "+
			"or more ranks than cores: messages then wait for processors; measure on an idle machine, "+
			"with a core for each rank", r.Busy.Rank, 100*part))
	}
	// Messages within a host and between two are judged apart.
	for _, b := range []Between{Cores, Nodes} {
		if s := r.Spread(b); s > mostSpread {
			list = append(list, warning.New("a small ping-pong between %s takes %.1f times as long as the quickest of its "+
				"size, typically: something disturbed many of them; measure on an idle machine, or longer", b, s))
		}
	}
	return list
}

// Spread returns how many times as long as the quickest of its size a small ping-pong takes: the median over
// the sizes of the ratio of their median and least time; 0 if there are none.
func (r *Result) Spread(b Between) float64 {
	// Large messages scatter for other reasons than a busy machine, pairs compete by intent.
	// The quickest timing of a size stands for one that nothing has disturbed.
	bySize := map[int64][]float64{}
	for _, t := range r.Timings {
		if t.Operation == "pingpong" && t.Between == b && t.Pairs == 1 && t.Bytes <= smallBytes {
			bySize[t.Bytes] = append(bySize[t.Bytes], t.Seconds)
		}
	}
	var ratios []float64
	for _, size := range slices.Sorted(maps.Keys(bySize)) {
		// Of two timings the median is the larger one.
		if s := slices.Sorted(slices.Values(bySize[size])); len(s) > 2 {
			ratios = append(ratios, s[len(s)/2]/s[0])
		}
	}
	if len(ratios) == 0 {
		return 0
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// Report tells of a measurement of messages.
type Report struct {
	measure.Period
	Library string `json:"mpi"`
	Hosts   string `json:"hosts"`
	Ranks   []Rank `json:"ranks"`
	measure.Account
	Busy     float64           `json:"processor_part"` // of the time, of the rank that had least
	Shortest []Shortest        `json:"shortest"`
	Warnings []warning.Warning `json:"warnings"`

	result *Result
}

// Shortest has the quickest timings of the smallest and the largest size of an operation, in seconds.
type Shortest struct {
	Operation string  `json:"operation"`
	Between   Between `json:"between"`
	Pairs     int     `json:"pairs"`
	Timings   int     `json:"timings"`
	Small     float64 `json:"smallest_size_s"`
	Large     float64 `json:"largest_size_s"`
}

// Complete fills in, of a report with period, machine and the first facts of its method, the rest of the method and
// everything that follows from the result.
func (r *Report) Complete(o *Options, result *Result, failure error) {
	r.result = result
	r.Library, r.Hosts, r.Ranks = result.Library, result.Hosts(), result.Ranks
	fact := func(name, format string, args ...any) {
		r.Method = append(r.Method, measure.Fact{Name: name, Value: fmt.Sprintf(format, args...)})
	}
	fact("seed", "%d", o.Seed)
	fact("mpi", "%s", r.Library)
	fact("compiler", "%s", result.Compiler)
	fact("hosts", "%s", r.Hosts)
	fact("sizes", "%d up to %d bytes, each %d times", o.Sizes, o.MaxBytes, o.Reps)
	seen := map[string]bool{}
	for i, rank := range r.Ranks { // the first of each host
		if seen[rank.Host] || len(seen) == mostShown {
			continue
		}
		seen[rank.Host] = true
		fact(fmt.Sprintf("rank %d", i), "on %s, %s, cores allowed %s, load %s", rank.Host, rank.Processor, rank.CPUs,
			rank.Load)
	}
	r.Busy = result.Busy.Part()
	fact("processor time", "%.1f %% of the time, of rank %d, which had least", 100*r.Busy, result.Busy.Rank)
	r.Planned, r.Timings, r.Warnings = result.Planned, len(result.Timings), result.Warnings()
	r.Finish(failure, result.Interrupted, result.Ended == OverBudget, o.Budget)

	// The quickest timings come first of each size, the sizes of an operation in their order.
	// Timings of an operation between the same kinds of places, by as many pairs, make a line of the report.
	sorted := slices.Clone(result.Timings)
	slices.SortFunc(sorted, func(a, b Timing) int {
		return cmp.Or(cmp.Compare(a.Between, b.Between), cmp.Compare(a.Pairs, b.Pairs),
			cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Seconds, b.Seconds))
	})
	r.Shortest = []Shortest{}
	for i, t := range sorted {
		before := sorted[max(0, i-1)]
		if i == 0 || before.Operation != t.Operation || before.Between != t.Between || before.Pairs != t.Pairs {
			r.Shortest = append(r.Shortest, Shortest{t.Operation, t.Between, t.Pairs, 0, t.Seconds, t.Seconds})
		}
		s := &r.Shortest[len(r.Shortest)-1]
		if s.Timings > 0 && t.Bytes > before.Bytes {
			s.Large = t.Seconds
		}
		s.Timings++
	}
}

// WriteCSV writes the table of the timings, headed by the report.
func (r *Report) WriteCSV(w io.Writer) error {
	return r.result.WriteCSV(w, slices.Concat(r.Facts(), r.Method,
		[]measure.Fact{{Name: "machine", Value: "that of the launcher"}}, r.Machine,
		[]measure.Fact{{Name: "ended", Value: r.Reached()}}))
}

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d timings in %.1f s, %s\nmpi: %s\nhosts: %s\n", r.Timings, r.Planned,
		r.End.Sub(r.Begin).Seconds(), r.Ended, r.Library, r.Hosts)
	if !r.result.Has(Nodes) {
		b.WriteString("between hosts: nothing, all ranks ran on one; two on each of two hosts would give both\n")
	}
	if !r.result.Has(Cores) {
		b.WriteString("within a host: nothing, no two ranks ran on one\n")
	}
	tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tab, "  operation\tbetween\tpairs\ttimings\tquickest, smallest size (s)\tquickest, largest size (s)\t\n")
	for _, s := range r.Shortest {
		fmt.Fprintf(tab, "  %s\t%s\t%d\t%d\t%.3e\t%.3e\t\n", s.Operation, s.Between, s.Pairs, s.Timings, s.Small, s.Large)
	}
	_ = tab.Flush() // into memory
	_, err := io.WriteString(w, b.String())
	return err
}
