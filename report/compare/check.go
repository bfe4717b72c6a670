package compare

import (
	"fmt"
	"math"
	"slices"

	"reprise/internal/textutil"
)

// comparable refuses results that say nothing about each other.
func comparable(a, b *Result) error {
	x, y := &a.Made, &b.Made
	switch {
	case x.Program != y.Program && x.Program != "" && y.Program != "":
		return fmt.Errorf("%s is of the program %s, %s of %s", a.File, textutil.Quote(x.Program), b.File,
			textutil.Quote(y.Program))
	case a.part() != b.part():
		return fmt.Errorf("%s is of %s, %s of %s: replay the same part", a.File, a.played(), b.File, b.played())
	case a.Complete != b.Complete:
		whole, cut := a, b
		if b.Complete {
			whole, cut = b, a
		}
		return fmt.Errorf("%s is of a whole run, %s of its steps %d:%d: replay the same steps", whole.File, cut.File,
			cut.First, cut.Last+1)
	case !a.Complete && (a.First != b.First || a.Last != b.Last):
		return fmt.Errorf("%s is of the steps %d:%d, %s of %d:%d: replay the same steps", a.File, a.First, a.Last+1, b.File,
			b.First, b.Last+1)
	}
	return nil
}

// part says which part of a run the trace is that was replayed, as trace.Header.SetPart notes it among its
// parameters; "": none.
func (r *Result) part() string { return r.Made.Parameters["part"] }

// played says what was replayed, of traces that may be parts.
func (r *Result) played() string {
	switch part := r.part(); {
	case part != "":
		return "the part " + textutil.Quote(part)
	case r.Complete:
		return "a whole run"
	default:
		return fmt.Sprintf("the steps %d:%d of a whole run", r.First, r.Last+1)
	}
}

// fits refuses options that do not fit two results.
func (o *Options) fits(a, b *Result) error {
	for _, r := range []*Result{a, b} {
		switch {
		case o.Paired && r.Kind != Runs && r.Kind != Uncertainty:
			return fmt.Errorf("%s is %s: only several seeds (--runs, --uncertainty) can be paired", r.File, r.what())
		case o.Test == Permutation && r.Kind != Runs:
			return fmt.Errorf("%s is %s: only the seeds of --runs can be permuted; the test welch takes all results", r.File,
				r.what())
		}
	}
	switch n := len(a.Seeds) + len(b.Seeds); {
	case o.Test == Permutation && n > mostPermuted:
		return fmt.Errorf("%s and %s have %d runs, more than the %d that can be permuted; for so many the test welch is as good", a.File, b.File, n, mostPermuted)
	case o.Paired && a.Kind != b.Kind:
		return fmt.Errorf("%s is of %s, %s of %s: they cannot be paired", a.File, a.Kind, b.File, b.Kind)
	case o.Paired && !sameSeeds(a.Seeds, b.Seeds):
		return fmt.Errorf("%s has %s, %s %s: only the same seeds can be paired", a.File, seedText(a.Seeds), b.File,
			seedText(b.Seeds))
	}
	return nil
}

// sameSeeds reports whether both are the same, each once, in any order.
func sameSeeds(a, b []uint64) bool {
	return len(a) == len(b) && len(distinct(a)) == len(a) && slices.Equal(distinct(a), distinct(b))
}

// distinct returns the seeds in ascending order, each once.
func distinct(seeds []uint64) []uint64 {
	return slices.Compact(slices.Sorted(slices.Values(seeds)))
}

// sameWork is how far the work of two runs may be apart, relatively: it is Gflops times
// seconds.
const sameWork = 1e-6

// warnings says what makes a comparison doubtful.
func warnings(a, b *Result, o *Options) []string {
	list := []string{}
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	for _, r := range []*Result{a, b} {
		switch {
		case r.Kind == Draw:
			add("%s is one draw of noise: whether it differs by more than noise cannot be told, and it is compared as a number; --runs 10 of replay makes results that can be judged", r.File)
		case r.Kind == Estimate && len(r.Seeds) > 0:
			add("the interval of %s is that of the estimate, with noise of seed %d: it does not say what other seeds would give",
				r.File, r.Seeds[0])
		}
	}
	if (a.Kind == Uncertainty) != (b.Kind == Uncertainty) {
		known := a
		if b.Kind == Uncertainty {
			known = b
		}
		add("only %s says how sure its model is: the intervals hold its errors alone", known.File)
	}
	if !o.Paired && len(a.Seeds) > 1 && len(b.Seeds) > 1 && sharesSeeds(a.Seeds, b.Seeds) {
		add("%s and %s share seeds, and are compared as if they did not: --paired compares seed by seed", a.File, b.File)
	}
	if x, y := work(a), work(b); x > 0 && y > 0 && math.Abs(y/x-1) > sameWork {
		add("%s does %.6g Gflop, %s %.6g: their makespans are of different work", a.File, x, b.File, y)
	}
	if a.Made.Tool != b.Made.Tool && a.Made.Tool != "" && b.Made.Tool != "" {
		add("%s is by %s, %s by %s: what differs may be the version", a.File, a.Made.Tool, b.File, b.Made.Tool)
	}
	if len(a.parts) == 0 || len(b.parts) == 0 {
		add("%s", withoutParts(a, b))
	}
	return list
}

func sharesSeeds(a, b []uint64) bool {
	both := slices.Concat(distinct(a), distinct(b))
	slices.Sort(both)
	return len(slices.Compact(both)) < len(distinct(a))+len(distinct(b))
}

// work is how much a run computes by the program's own count, in Gflop; 0: not known.
func work(r *Result) float64 {
	if !r.Complete {
		return 0
	}
	if n := len(r.makespan.values); n > 0 {
		return r.makespan.values[0] * r.gflops.values[0]
	}
	return r.makespan.mean * r.gflops.mean
}

// withoutParts says whose parts are missing.
func withoutParts(a, b *Result) string {
	names := a.File
	switch {
	case len(a.parts) == 0 && len(b.parts) == 0:
		names += " and " + b.File + " do"
	case len(a.parts) == 0:
		names += " does"
	default:
		names = b.File + " does"
	}
	return names + " not say where the time went: parts are not compared"
}
