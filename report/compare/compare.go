// Package compare tells whether one prediction is slower than another, and where.
//
// [Read] reads what replay --json prints, of one replay, of --runs, of an estimate or of
// --uncertainty, or a page of replay --report. [Compare] compares others with a base: makespan,
// Gflops, and where the time of a rank went by kind, phase and kernel, with intervals as far as
// the results scatter, and the verdict of a gate. A [Comparison] is written as text, Markdown,
// JSON or JUnit's XML.
//
//	base, err := compare.Read("base.json", file)
//	...
//	c, err := compare.Compare(base, []*compare.Result{other}, compare.Options{Gate: true, Threshold: 0.01})
//	...
//	err = c.WriteText(os.Stdout)
//	if c.Worse { ...
//
// [Many] judges pairs of figures of any kind in the same way, such as the times of benchmarks. Which results to
// compare, and what follows from a verdict, is left to the caller.
//
// # Units
//
// Seconds and Gflops; relative changes are parts of the base, 0.01 for 1 %. Intervals are of 95 %.
//
// # Errors
//
// Errors name the file. Results that cannot be compared are errors: of another program, of an
// interrupted run, of parts of runs that are not the same part or the same steps, of a newer format.
// What is odd about a comparison, but does not forbid it, is a warning in it.
//
// # Source
//
// B. L. Welch, "The generalization of 'Student's' problem when several different population variances are involved",
// Biometrika 34 (1947); limits of ratios by E. C. Fieller, "Some problems in interval estimation", J. Royal Statistical
// Society B 16 (1954); permutations of studentized differences by A. Janssen, "Studentized permutation tests for
// non-i.i.d. hypotheses and the generalized Behrens-Fisher problem", Statistics & Probability Letters 36 (1997); many
// tests by S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian J. of Statistics 6 (1979).
package compare

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/textutil"
	"reprise/replay"
)

// Test is how differences of several seeds are told from noise.
type Test string

// Tests.
const (
	Welch       Test = "welch"       // Student's t with the degrees of freedom of Welch
	Permutation Test = "permutation" // rearrangements of the values, with the same statistic
)

// Options says how to compare.
type Options struct {
	Test Test // "": Welch
	// Progress, if set, is called with the number of figures that have been compared, and with that of all.
	Progress func(figures, all int)
	// Paired compares seed by seed: both must have the same ones.
	Paired bool
	// Gate asks for a verdict: worse if the lower limit of the relative slowdown, which it is
	// above with 95 % confidence, exceeds Threshold.
	Gate      bool
	Threshold float64
	Seed      uint64 // of permutations
}

// significance is how likely a difference is seen where there is none: that of each table of parts as a whole (holm),
// and that of the makespan by itself.
const significance = 0.05

// Comparison is what came out.
type Comparison struct {
	Format    int       `json:"format"`
	Test      Test      `json:"test"`
	Paired    bool      `json:"paired"`
	Threshold *float64  `json:"threshold,omitempty"` // nil: no gate
	Worse     bool      `json:"worse"`               // one of the others is, by the gate
	Base      Side      `json:"base"`
	Others    []Against `json:"others"`
}

// comparisonFormat is the version of the JSON of a comparison.
const comparisonFormat = 1

// Side names a result.
type Side struct {
	File     string `json:"file"`
	Kind     Kind   `json:"kind"`
	What     string `json:"what"` // in words, such as "10 runs, seeds 1 to 10"
	Tool     string `json:"tool"`
	Trace    string `json:"trace"`
	Platform string `json:"platform"`
	Kernels  string `json:"kernels"`
}

// Against is a result beside the base.
type Against struct {
	Side
	Changes  []Change     `json:"changes"` // of parameters and models
	Makespan Difference   `json:"makespan_s"`
	Gflops   *Difference  `json:"gflops,omitempty"`
	ByKind   []Difference `json:"time_by_kind"`   // seconds of a rank
	ByPhase  []Difference `json:"time_by_phase"`  //
	ByKernel []Difference `json:"time_by_kernel"` //
	ByDevice []Difference `json:"time_by_device"` // of its states and kernels, of runs with devices
	Worse    bool         `json:"worse"`
	Says     []string     `json:"says"` // what follows, in sentences without their full stops
	Warnings []string     `json:"warnings"`
}

// Change is what differs in what two results were made from; "" where one does not have it.
type Change struct {
	Name string `json:"name"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// Compare compares others with a base. An error names the files that cannot be compared.
//
// Each of the others is compared by itself: that they are several is not corrected for, as a gate on each of them is
// what people ask for.
func Compare(base *Result, others []*Result, o Options) (*Comparison, error) {
	if o.Test == "" {
		o.Test = Welch
	}
	c := &Comparison{Format: comparisonFormat, Test: o.Test, Paired: o.Paired, Base: base.side()}
	if o.Gate {
		c.Threshold = &o.Threshold
	}
	// Of each of the others the makespan, the rate, and the parts that the base has.
	done, all := 0, 2*len(others)
	for _, parts := range base.parts {
		all += len(others) * len(parts)
	}
	told := func() {
		if done++; o.Progress != nil {
			o.Progress(min(done, all), all)
		}
	}
	for _, other := range others {
		if err := comparable(base, other, &o); err != nil {
			return nil, err
		}
		// All figures are tested by the same arrangements, which are drawn once.
		t := tester{paired: o.Paired, told: told}
		switch {
		case o.Test == Permutation && o.Paired:
			t.arrangements = paired(len(base.Seeds), o.Seed)
		case o.Test == Permutation:
			t.arrangements = unpaired(len(base.Seeds), len(other.Seeds), o.Seed)
		}
		if o.Paired {
			other = other.bySeeds(base.Seeds)
		}

		// The makespan and the rate are tested alone.
		a := Against{Side: other.side(), Changes: changes(&base.Made, &other.Made), Warnings: warnings(base, other, &o)}
		a.Makespan = t.compare("makespan", base.makespan, other.makespan)
		a.Makespan.AtLeast = t.atLeast(base.makespan, other.makespan)
		a.Worse = o.Gate && a.Makespan.AtLeast != nil && *a.Makespan.AtLeast > o.Threshold+rounding
		if base.gflops.mean > 0 && other.gflops.mean > 0 {
			a.Gflops = new(t.compare("Gflops", base.gflops, other.gflops))
		}

		// Parts are many, so that some differ by chance: their probabilities are corrected for their number, those of
		// all tables together. Differences within the rounding of the makespan count as none, since parts are sums
		// of as many terms.
		t.makespan = max(base.makespan.mean, other.makespan.mean)
		var parts []*Difference
		for k, list := range []*[]Difference{&a.ByKind, &a.ByPhase, &a.ByKernel, &a.ByDevice} {
			*list = t.parts(base, other, k)
			for i := range *list {
				parts = append(parts, &(*list)[i])
			}
		}
		correct(parts)
		a.Says = c.sentences(&a)
		c.Worse = c.Worse || a.Worse
		c.Others = append(c.Others, a)
	}
	return c, nil
}

func (r *Result) side() Side {
	return Side{r.File, r.Kind, r.what(), r.Made.Tool, r.Made.Trace, r.Made.Platform, r.Made.KernelFile}
}

// parts compares the times of the parts by[k], those of the base first. A part that one of them lacks takes no time
// there.
func (t *tester) parts(base, other *Result, k int) []Difference {
	list := []Difference{}
	a, b := base.parts[k], other.parts[k]
	if a == nil || b == nil {
		return list
	}
	in := func(parts []part, name string) int {
		return slices.IndexFunc(parts, func(p part) bool { return p.name == name })
	}
	for _, p := range a {
		f := absent(other)
		if i := in(b, p.name); i >= 0 {
			f = b[i].Figure
		}
		list = append(list, t.compare(p.name, p.Figure, f))
	}
	for _, p := range b {
		if in(a, p.name) < 0 {
			list = append(list, t.compare(p.name, absent(base), p.Figure))
		}
	}
	return list
}

// absent is the figure of a part in a result that does not have it: the part takes no time there, but of an
// estimate it may take some between the windows.
func absent(in *Result) Figure {
	f := ExactFigure(0)
	f.unsure = in.Kind == Draw || in.Kind == Estimate
	if n := len(in.makespan.values); n > 0 {
		f.values, f.each, f.freedom = make([]float64, n), in.makespan.each, in.makespan.freedom
	}
	return f
}

// bySeeds returns a result of several seeds, which has all of these, with the seeds in this order.
func (r *Result) bySeeds(seeds []uint64) *Result {
	order := make([]int, len(seeds))
	for i, s := range seeds {
		order[i] = slices.Index(r.Seeds, s)
	}
	inOrder := func(f Figure) Figure {
		values := make([]float64, len(order))
		for i, k := range order {
			values[i] = f.values[k]
		}
		f.values = values
		return f
	}
	sorted := *r
	sorted.Seeds = seeds
	sorted.makespan, sorted.gflops = inOrder(r.makespan), inOrder(r.gflops)
	for k, parts := range r.parts {
		sorted.parts[k] = nil
		for _, p := range parts {
			sorted.parts[k] = append(sorted.parts[k], part{p.name, inOrder(p.Figure)})
		}
	}
	return &sorted
}

// changes lists the differences between the inputs of two results: parameters in order, then models.
func changes(a, b *replay.Provenance) []Change {
	list := []Change{}
	add := func(name, x, y string) {
		if x != y {
			list = append(list, Change{name, x, y})
		}
	}
	// A parameter that one of them does not have is "" there.
	names := slices.Concat(slices.Collect(maps.Keys(a.Parameters)), slices.Collect(maps.Keys(b.Parameters)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		add(name, a.Parameters[name], b.Parameters[name])
	}
	x, y := models(a), models(b)
	for i := range x {
		add(x[i][0], x[i][1], y[i][1])
	}
	return list
}

// models returns the names and values of all that a result was made from besides parameters. Values that a file
// leaves out are the defaults of replay.
func models(m *replay.Provenance) [][2]string {
	noise, rate := "means", "no limit"
	if m.ComputeNoise {
		noise = "drawn by their spread"
	}
	if m.FileBandwidth != 0 {
		rate = fmt.Sprintf("%g", m.FileBandwidth)
	}
	recording := "none"
	if r := m.Choices.Recording; r != nil {
		recording = r.String()
	}
	return [][2]string{
		{"platform", m.Platform},
		{"kernels", m.KernelFile},
		{"network noise", m.NetworkNoise},
		{"scale of flop", strconv.FormatFloat(cmp.Or(m.ComputeScale, 1), 'g', -1, 64)},
		{"amounts of flop", noise},
		{"byte/s of files", rate},
		{"collective operations", m.Choices.Collectives.Value},
		{"placement of ranks", m.Choices.Placement.Value},
		{"recorded computations", recording},
		{"host speeds", strings.Join(m.HostSpeeds, ", ")},
		{"machine changed by", cmp.Or(strings.Join(m.Changes, ", "), "nothing")},
	}
}

// comparable refuses results that say nothing about each other, and options that do not fit them. Both kinds of
// mistakes are told together. Other parameters, machines and models are no mistakes: what they change is the question
// (changes).
func comparable(a, b *Result, o *Options) error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	x, y := &a.Made, &b.Made
	switch {
	case x.Program != y.Program && x.Program != "" && y.Program != "":
		refuse("%s is of the program %s, %s of %s", a.File, textutil.Quote(x.Program), b.File, textutil.Quote(y.Program))
	case a.part() != b.part():
		refuse("%s is of %s, %s of %s: replay the same part", a.File, a.played(), b.File, b.played())
	case a.Complete != b.Complete:
		whole, cut := a, b
		if b.Complete {
			whole, cut = b, a
		}
		refuse("%s is of a whole run, %s of its steps %d:%d: replay the same steps", whole.File, cut.File, cut.First,
			cut.Last+1)
	case !a.Complete && (a.First != b.First || a.Last != b.Last):
		refuse("%s is of the steps %d:%d, %s of %d:%d: replay the same steps", a.File, a.First, a.Last+1, b.File, b.First,
			b.Last+1)
	}

	// What a test needs of both. Without seeds in one of them, nothing can be said of the seeds of both.
	for _, r := range []*Result{a, b} {
		switch {
		case o.Paired && r.Kind != Runs && r.Kind != Uncertainty:
			refuse("%s is %s: only several seeds (--runs, --uncertainty) can be paired", r.File, r.what())
			return errors.Join(errs...)
		case o.Test == Permutation && r.Kind != Runs:
			refuse("%s is %s: only the seeds of --runs can be permuted; the test welch takes all results", r.File, r.what())
			return errors.Join(errs...)
		}
	}
	switch n := len(a.Seeds) + len(b.Seeds); {
	case o.Test == Permutation && n > mostPermuted:
		refuse("%s and %s have %d runs, more than the %d that can be permuted; for so many the test welch is as good",
			a.File, b.File, n, mostPermuted)
	case o.Paired && a.Kind != b.Kind:
		refuse("%s is of %s, %s of %s: they cannot be paired", a.File, a.Kind, b.File, b.Kind)
	case o.Paired: // the same seeds, each once, in any order
		one, two := distinct(a.Seeds), distinct(b.Seeds)
		if len(one) != len(a.Seeds) || len(two) != len(b.Seeds) || !slices.Equal(one, two) {
			refuse("%s has %s, %s %s: only the same seeds can be paired", a.File, seedText(a.Seeds), b.File,
				seedText(b.Seeds))
		}
	}
	return errors.Join(errs...)
}

// part says which part of a run the trace is that was replayed, as trace.Header.SetPart notes it among its
// parameters; "": none.
func (r *Result) part() string { return r.Made.Parameters["part"] }

// played names the replayed part of a run, for messages about traces that may be parts.
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

// distinct returns the seeds in ascending order, each once.
func distinct(seeds []uint64) []uint64 { return slices.Compact(slices.Sorted(slices.Values(seeds))) }

// sameWork is how far the work of two runs may be apart, relatively: it is Gflops times seconds.
const sameWork = 1e-6

// warnings says what makes a comparison doubtful: how each result was made, then how they fit each other, then parts
// that are missing.
func warnings(a, b *Result, o *Options) []string {
	list := []string{}
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	for _, r := range []*Result{a, b} {
		switch {
		case r.Kind == Draw:
			add("%s is one draw of noise: whether it differs by more than noise cannot be told, and it is compared as a "+
				"number; --runs 10 of replay makes results that can be judged", r.File)
		case r.Kind == Estimate && len(r.Seeds) > 0:
			add("the interval of %s is that of the estimate, with noise of seed %d: it does not say what other seeds would give",
				r.File, r.Seeds[0])
		}
	}
	// Intervals of one kind hold errors of the model, those of the others noise or sampling alone.
	if (a.Kind == Uncertainty) != (b.Kind == Uncertainty) {
		known := a
		if b.Kind == Uncertainty {
			known = b
		}
		add("only %s says how sure its model is: the intervals hold its errors alone", known.File)
	}
	if one, two := distinct(a.Seeds), distinct(b.Seeds); !o.Paired && len(a.Seeds) > 1 && len(b.Seeds) > 1 &&
		len(distinct(slices.Concat(one, two))) < len(one)+len(two) {
		add("%s and %s share seeds, and are compared as if they did not: --paired compares seed by seed", a.File, b.File)
	}
	if x, y := work(a), work(b); x > 0 && y > 0 && math.Abs(y/x-1) > sameWork {
		add("%s does %.6g Gflop, %s %.6g: their makespans are of different work", a.File, x, b.File, y)
	}
	if a.Made.Tool != b.Made.Tool && a.Made.Tool != "" && b.Made.Tool != "" {
		add("%s is by %s, %s by %s: what differs may be the version", a.File, a.Made.Tool, b.File, b.Made.Tool)
	}
	// Draws that were played as estimates, and files of other programs, have no times of parts.
	const untold = " not say where the time went: parts are not compared"
	switch inA, inB := a.tellsParts(), b.tellsParts(); {
	case !inA && !inB:
		add("%s and %s do"+untold, a.File, b.File)
	case !inA:
		add("%s does"+untold, a.File)
	case !inB:
		add("%s does"+untold, b.File)
	}
	return list
}

// work is how much a run computes by the program's own count, in Gflop; 0: not known.
func work(r *Result) float64 {
	if !r.Complete {
		return 0
	}
	// The rate of each seed is work by its own time, so that any seed tells the work, and the means do not.
	if n := len(r.makespan.values); n > 0 {
		return r.makespan.values[0] * r.gflops.values[0]
	}
	return r.makespan.mean * r.gflops.mean
}
