package compare

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
	// Progress, if set, is called with the number of figures that have been compared, and with
	// that of all.
	Progress func(figures, all int)
	tell     func()
	// Paired compares seed by seed: both must have the same ones.
	Paired bool
	// Gate asks for a verdict: worse if the lower limit of the relative slowdown, which it is
	// above with 95 % confidence, exceeds Threshold.
	Gate      bool
	Threshold float64
	Seed      uint64 // of permutations
}

// significance is how likely a difference is seen where there is none.
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
func Compare(base *Result, others []*Result, o Options) (*Comparison, error) {
	if o.Test == "" {
		o.Test = Welch
	}
	c := &Comparison{Format: comparisonFormat, Test: o.Test, Paired: o.Paired, Base: base.side()}
	if o.Gate {
		c.Threshold = &o.Threshold
	}
	done, all := 0, len(others)*(2+base.figures())
	o.tell = func() {
		if done++; o.Progress != nil {
			o.Progress(min(done, all), all)
		}
	}
	for _, other := range others {
		if err := errors.Join(comparable(base, other), o.fits(base, other)); err != nil {
			return nil, err
		}
		a := against(base, other, &o)
		a.Says = c.sentences(a)
		c.Worse = c.Worse || a.Worse
		c.Others = append(c.Others, *a)
	}
	return c, nil
}

// figures returns how many times of parts a result has.
func (r *Result) figures() (n int) {
	for _, g := range r.parts {
		n += len(g.parts)
	}
	return n
}

func (r *Result) side() Side {
	return Side{r.File, r.Kind, r.what(), r.Made.Tool, r.Made.Trace, r.Made.Platform, r.Made.Kernels}
}

// against compares a result with the base.
func against(base, other *Result, o *Options) *Against {
	t := tester{paired: o.Paired, tell: o.tell}
	if o.Test == Permutation {
		t.arrangements = arrange(base, other, o)
	}
	if o.Paired {
		other = other.bySeeds(base.Seeds)
	}
	a := &Against{Side: other.side(), Changes: changes(&base.Made, &other.Made), Warnings: warnings(base, other, o)}
	a.Makespan = t.compare("makespan", base.makespan, other.makespan)
	a.Makespan.AtLeast = t.atLeast(base.makespan, other.makespan)
	a.Worse = o.Gate && a.Makespan.AtLeast != nil && *a.Makespan.AtLeast > o.Threshold+rounding
	if base.gflops.mean > 0 && other.gflops.mean > 0 {
		d := t.compare("Gflops", base.gflops, other.gflops)
		a.Gflops = &d
	}
	t.makespan = max(base.makespan.mean, other.makespan.mean)
	a.ByKind, a.ByPhase, a.ByKernel = t.group(base, other, "kind"), t.group(base, other, "phase"), t.group(base, other,
		"kernel")
	correct(slices.Concat(pointers(a.ByKind), pointers(a.ByPhase), pointers(a.ByKernel)))
	return a
}

func arrange(a, b *Result, o *Options) arrangements {
	if o.Paired {
		return paired(len(a.Seeds), o.Seed)
	}
	return unpaired(len(a.Seeds), len(b.Seeds), o.Seed)
}

// tester tests differences of the same two results.
type tester struct {
	paired       bool
	arrangements arrangements
	makespan     float64 // the longer one: by as much as it is rounded may times of parts be off
	tell         func()  // that one has been compared; nil: nobody asks
}

func (t *tester) pair(a, b figure) *pair {
	p := newPair(a, b, t.paired)
	p.arrangements, p.least = t.arrangements, max(p.least, rounding*t.makespan)
	return &p
}

// group compares the times of parts, those of the base first.
func (t *tester) group(base, other *Result, by string) []Difference {
	list := []Difference{}
	a, b := base.group(by), other.group(by)
	if a == nil || b == nil {
		return list
	}
	inA, inB := a.byName(), b.byName()
	for i := range a.parts {
		p := &a.parts[i]
		f := p.absent(other)
		if k, there := inB[p.name]; there {
			f = b.parts[k].figure
		}
		list = append(list, t.compare(p.name, p.figure, f))
	}
	for i := range b.parts {
		if p := &b.parts[i]; !contains(inA, p.name) {
			list = append(list, t.compare(p.name, p.absent(base), p.figure))
		}
	}
	return list
}

func contains(names map[string]int, name string) bool {
	_, there := names[name]
	return there
}

// absent is the figure of a part in a result that does not have it: it takes no time there, but of
// an estimate it may take some between the windows.
func (p *part) absent(in *Result) figure {
	f := exact(0)
	f.unsure = in.Kind == Draw || in.Kind == Estimate
	if n := len(in.makespan.values); n > 0 {
		f.values, f.each, f.freedom = make([]float64, n), in.makespan.each, in.makespan.freedom
	}
	return f
}

func pointers(list []Difference) []*Difference {
	var all []*Difference
	for i := range list {
		all = append(all, &list[i])
	}
	return all
}

// bySeeds returns a result of several seeds with these in their order. It has all of them.
func (r *Result) bySeeds(seeds []uint64) *Result {
	at := map[uint64]int{}
	for i, s := range r.Seeds {
		at[s] = i
	}
	order := make([]int, len(seeds))
	for i, s := range seeds {
		order[i] = at[s]
	}
	sorted := *r
	sorted.Seeds = seeds
	sorted.makespan, sorted.gflops = r.makespan.inOrder(order), r.gflops.inOrder(order)
	sorted.parts = nil
	for _, g := range r.parts {
		list := group{by: g.by}
		for _, p := range g.parts {
			list.parts = append(list.parts, part{p.name, p.inOrder(order)})
		}
		sorted.parts = append(sorted.parts, list)
	}
	return &sorted
}

func (f figure) inOrder(order []int) figure {
	values := make([]float64, len(order))
	for i, k := range order {
		values[i] = f.values[k]
	}
	f.values = values
	return f
}

// changes lists what differs in what two results were made from.
func changes(a, b *Made) []Change {
	list := []Change{}
	add := func(name, x, y string) {
		if x != y {
			list = append(list, Change{name, x, y})
		}
	}
	for _, name := range sortedKeys(a.Parameters, b.Parameters) {
		add(name, a.Parameters[name], b.Parameters[name])
	}
	add("platform", a.Platform, b.Platform)
	add("kernels", a.Kernels, b.Kernels)
	add("network noise", a.NetworkNoise, b.NetworkNoise)
	add("scale of flop", scaleText(a.ComputeScale), scaleText(b.ComputeScale))
	add("amounts of flop", noiseText(a.ComputeNoise), noiseText(b.ComputeNoise))
	add("byte/s of files", rateText(a.FileBandwidth), rateText(b.FileBandwidth))
	add("host speeds", strings.Join(a.HostSpeeds, ", "), strings.Join(b.HostSpeeds, ", "))
	add("machine changed by", orNothing(a.Changes), orNothing(b.Changes))
	return list
}

func orNothing(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}

// rateText says how quick files are.
func rateText(rate float64) string {
	if rate == 0 {
		return "no limit"
	}
	return fmt.Sprintf("%g", rate)
}

// noiseText says whether amounts of flop were drawn.
func noiseText(drawn bool) string {
	if drawn {
		return "drawn by their spread"
	}
	return "means"
}

// scaleText is a scale of computations, of which none is 1.
func scaleText(v float64) string {
	if v == 0 {
		v = 1
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// sortedKeys returns the keys of both, each once, in order.
func sortedKeys(a, b map[string]string) []string {
	var keys []string
	for _, m := range []map[string]string{a, b} {
		for k := range m {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
