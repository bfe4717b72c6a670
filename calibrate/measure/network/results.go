package network

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

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

// Rank is where a rank ran.
type Rank struct {
	Host      string `json:"host"`
	Processor string `json:"processor"`
	CPUs      string `json:"cpus_allowed"`
	Load      string `json:"load"`
}

// Result is what was timed.
type Result struct {
	Library     string // the MPI
	Compiler    string
	Ranks       []Rank
	Planned     int
	Timings     []Timing // in the order of their ends, about
	Ended       string   // Complete, OverBudget, or empty: the ranks did not end by themselves
	Interrupted bool     // by the context
	Busy        Busy

	refused string // what the program says it cannot do
}

// How a measurement ends.
const (
	Complete   = "complete"
	OverBudget = "budget"
)

// Busy is how much of its processor the rank had that had the smallest part.
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

// Limits of what is read, so that a file cannot make us hold more.
const (
	maxRanks   = 1 << 20
	maxTimings = 1 << 24
)

func readFile(path string) (*Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f)
}

// read reads what the program writes (helper/bench.c). A last line without its end was cut off
// when the program was killed; it does not count.
func read(r io.Reader) (*Result, error) {
	in, result := bufio.NewReader(r), &Result{}
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			return result, nil
		case err != nil:
			return nil, fmt.Errorf("timings:%d: %w", n, err)
		}
		if err := result.line(strings.TrimSuffix(string(line), "\n")); err != nil {
			return nil, fmt.Errorf("timings:%d: %w", n, err)
		}
	}
}

func (r *Result) line(text string) error {
	kind, rest, _ := strings.Cut(text, " ")
	switch kind {
	case "mpi":
		r.Library = strings.TrimSpace(rest)
	case "rank":
		return r.rank(rest)
	case "planned":
		return count(rest, &r.Planned)
	case "t":
		return r.timing(rest)
	case "busy":
		return r.busy(rest)
	case "end":
		r.Ended = rest
	case "error":
		r.refused = rest
	default:
		return fmt.Errorf("found %s", textutil.Quote(text))
	}
	return nil
}

func count(text string, n *int) error {
	number, err := strconv.Atoi(text)
	if err != nil || number < 0 {
		return fmt.Errorf("found %s, want a whole number", textutil.Quote(text))
	}
	*n = number
	return nil
}

// rank reads NUMBER|HOST|PROCESSOR|CPUS|LOAD.
func (r *Result) rank(text string) error {
	fields := strings.Split(text, "|")
	if len(fields) != 5 || fields[0] != strconv.Itoa(len(r.Ranks)) || len(r.Ranks) == maxRanks {
		return fmt.Errorf("found %s, want rank %d with host, processor, cores and load", textutil.Quote(text), len(r.Ranks))
	}
	r.Ranks = append(r.Ranks, Rank{fields[1], fields[2], fields[3], fields[4]})
	return nil
}

// operations are those that helper/bench.c times.
var operations = []string{"send", "send-late", "isend", "recv", "pingpong", "exchange", "iprobe-miss", "iprobe-hit",
	"test-miss", "test-hit", "iprobe-first-hit", "iprobe-first-miss"}

// timing reads OPERATION BETWEEN PAIRS BYTES SECONDS.
func (r *Result) timing(text string) error {
	fields := strings.Fields(text)
	if len(fields) != 5 || len(r.Timings) == maxTimings {
		return fmt.Errorf("found %s, want operation, between, pairs, bytes and seconds", textutil.Quote(text))
	}
	t := Timing{Operation: fields[0], Between: Between(fields[1])}
	bytes, err1 := strconv.ParseInt(fields[3], 10, 64)
	seconds, err2 := strconv.ParseFloat(fields[4], 64)
	t.Bytes, t.Seconds = bytes, seconds
	if err := errors.Join(count(fields[2], &t.Pairs), err1, err2); err != nil {
		return err
	}
	if !slices.Contains(operations, t.Operation) || t.Between != Cores && t.Between != Nodes || t.Pairs < 1 || bytes < 0 ||
		!(seconds > 0) || math.IsInf(seconds, 1) {
		return fmt.Errorf("found %s, which is no timing", textutil.Quote(text))
	}
	r.Timings = append(r.Timings, t)
	return nil
}

// busy reads RANK CPU WALL.
func (r *Result) busy(text string) error {
	var b Busy
	if n, err := fmt.Sscanf(text, "%d %g %g", &b.Rank, &b.CPU, &b.Wall); n != 3 || err != nil ||
		!(b.CPU >= 0 && b.Wall > 0) || math.IsInf(b.CPU, 1) || b.Rank < 0 {
		return fmt.Errorf("found %s, want rank, processor time and time", textutil.Quote(text))
	}
	r.Busy = b
	return nil
}

// WriteCSV writes the timings as calibrate network reads them, after facts about the
// measurement as comments.
func (r *Result) WriteCSV(w io.Writer, facts []measure.Fact) error {
	var b strings.Builder
	for _, f := range facts {
		fmt.Fprintf(&b, "# %s: %s\n", f.Name, strings.Join(strings.Fields(f.Value), " "))
	}
	b.WriteString("operation,bytes,seconds,between,pairs\n")
	for _, t := range r.Timings {
		fmt.Fprintf(&b, "%s,%d,%.9e,%s,%d\n", t.Operation, t.Bytes, t.Seconds, t.Between, t.Pairs)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// advice says, of what the program refuses, what to do.
var advice = map[string]string{
	"one rank":                 "the program has one rank, want at least 2: start more (-np 2), by the launcher of the MPI whose compiler is --mpicc, as one of another MPI starts each rank alone",
	"no two ranks on one host": "no two ranks run on one host, as --between cores needs: start more on each, as by mpirun --map-by core",
	"all ranks on one host":    "all ranks run on one host, and --between nodes needs two: start them on two, as by mpirun --map-by node or srun -N 2",
}

// check reports why a measurement is not what was asked for.
func (r *Result) check(o *Options, failure error) error {
	switch text, known := advice[r.refused]; {
	case known:
		return fmt.Errorf("%s: %s", o.Launcher[0], text)
	case failure != nil:
		return failure
	case r.Ended == "":
		return fmt.Errorf("%s ended without an error, but the ranks did not finish", o.Launcher[0])
	}
	if o.Between == Both {
		for _, b := range []Between{Cores, Nodes} {
			if !r.Has(b) {
				return fmt.Errorf("nothing was timed between %s, as --between both asks: start two ranks on each of two hosts, as by mpirun -np 4 --map-by ppr:2:node", b)
			}
		}
	}
	return nil
}

// Has reports whether messages between these were timed.
func (r *Result) Has(b Between) bool {
	return slices.ContainsFunc(r.Timings, func(t Timing) bool { return t.Between == b })
}

// Hosts says which ranks ran where: "a: ranks 0, 1; b: ranks 2, 3".
func (r *Result) Hosts() string {
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

const mostShown = 16

// What a quiet machine has at least and at most.
const (
	leastPart  = 0.95 // of its processor, for each rank
	mostSpread = 2.0  // of a typical ping-pong, times the quickest of its size
	smallBytes = 4096
)

// Warnings says what makes the timings those of a machine that had other things to do.
func (r *Result) Warnings() []warning.Warning {
	list := []warning.Warning{}
	if part := r.Busy.Part(); part < leastPart {
		list = append(list, warning.New("rank %d had a processor for %.0f %% of the time: other programs ran on it, or more ranks than cores: messages then wait for processors; measure on an idle machine, with a core for each rank", r.Busy.Rank, 100*part))
	}
	for _, b := range []Between{Cores, Nodes} {
		if s := r.Spread(b); s > mostSpread {
			list = append(list, warning.New("a small ping-pong between %s takes %.1f times as long as the quickest of its size, typically: something disturbed many of them; measure on an idle machine, or longer", b, s))
		}
	}
	return list
}

// Spread returns how many times as long as the quickest of its size a small ping-pong takes: the median over
// the sizes of the ratio of their median and least time; 0 if there are none.
func (r *Result) Spread(b Between) float64 {
	bySize := map[int64][]float64{}
	for _, t := range r.Timings {
		if t.Operation == "pingpong" && t.Between == b && t.Pairs == 1 && t.Bytes <= smallBytes {
			bySize[t.Bytes] = append(bySize[t.Bytes], t.Seconds)
		}
	}
	var ratios []float64
	for _, size := range slices.Sorted(maps.Keys(bySize)) {
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
