package network

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"reprise/calibrate/measure"
	"reprise/internal/textutil"
	"reprise/trace/warning"
)

// This file makes the Report of a measurement from its Result: Report.Complete. The report warns of a busy machine.

// Report tells people how a measurement of messages was made, how it ended and what it found.
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

// Complete adds the result to a report that has period, machine and the first facts of its method:
// the rest of the method, how the measurement ended, warnings and the quickest timings.
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

	// Timings of one operation, between the same kind of places and by as many pairs, make a line of the report. In the
	// sorted list their sizes ascend, and the first timing of each size is the quickest.
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

// WriteCSV writes the table of the timings (Result.WriteCSV), with the report as comments before it.
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
	const header = "operation|between|pairs|timings|quickest, smallest size (s)|quickest, largest size (s)"
	textutil.WriteAligned(&b, header, func(tab io.Writer) {
		for _, s := range r.Shortest {
			fmt.Fprintf(tab, "  %s\t%s\t%d\t%d\t%.3e\t%.3e\t\n", s.Operation, s.Between, s.Pairs, s.Timings, s.Small, s.Large)
		}
	})
	return textutil.Write(w, b.String())
}

// Warnings tells of signs in the timings that the machine had other things to do.
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

// Bounds of a quiet machine.
const (
	leastPart  = 0.95 // of its processor, for each rank
	mostSpread = 2.0  // of ping-pongs of up to smallBytes, as Result.Spread has it
	smallBytes = 4096
)

// Spread returns how many times as long as the quickest of its size a small ping-pong typically
// takes: of each size the ratio of median and least time, of these the median; 0 if there are none.
func (r *Result) Spread(b Between) float64 {
	// Large messages scatter on an idle machine, too, and pairs compete by intent.
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
