// Package diff compares two traces by what they mean: parameters, counts, and the actions of
// each rank.
//
// [Traces] skips what has the same name in both files: chunks are named by a hash of their
// content. A [Difference] lists what remains, with the lines around the first
// action of each rank that differs; [Difference.WriteText] prints it, WriteMarkdown, WriteJUnit
// and WriteHTML show it elsewhere, and its JSON is that of "trace diff --json".
//
//	d, err := diff.Traces(a, b, diff.Options{Actions: true})
//	if !d.Same {
//		err = d.WriteText(os.Stdout, "a", "b")
//	}
//
// # Units
//
// Counts of bytes and flop; changes are in percent of A.
//
// # Errors
//
// That traces differ is none. Errors name the file; [trace.ErrStream] is about a trace that
// can be read only once.
//
// # Source
//
// Both traces are expanded to actions as docs/trace-format.md says.
package diff

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"reprise/trace"
	"reprise/trace/stat"
)

// Options says how far Traces goes.
type Options struct {
	// Actions asks for the first diverging action of each rank. Without it Traces stops
	// at the first.
	Actions bool
	// Summary asks for the counts of both even if the traces are the same.
	Summary bool
	// Progress, if set, is called with the number of chunks of A whose actions have been
	// compared, and with that of all.
	Progress func(chunks, all int)
	// Counting, if set, is called with the number of steps of both that have been counted, and
	// with that of all.
	Counting func(steps, all int)
}

// Difference says in what two traces, A and B, differ. Lists are empty rather than nil,
// as JSON tells them apart.
type Difference struct {
	Same    bool          `json:"same"`
	Header  []Change      `json:"parameters"` // parameters and other facts that differ
	Totals  []CountChange `json:"totals"`
	Phases  []PartChange  `json:"phases"`
	Kernels []PartChange  `json:"kernels"`
	Ranks   []Divergence  `json:"ranks,omitempty"` // in ascending order
	// ActionsEqual: all actions were compared and none differs, though something else does.
	ActionsEqual bool `json:"actions_equal,omitempty"`
	// NotCompared says why actions were not compared though they should be; "": they were.
	NotCompared string `json:"actions_not_compared,omitempty"`
}

// Change is a fact that differs; "" where a trace does not have it.
type Change struct {
	Name string `json:"name"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// CountChange is a count in both traces.
type CountChange struct {
	Name string  `json:"name"` // actions, messages, bytes, calls, flops
	A    float64 `json:"a"`
	B    float64 `json:"b"`
	// Percent is the change from A to B, nil if A is zero and B is not.
	Percent *float64 `json:"change_percent"`
}

// PartChange holds the counts of a phase or of a kernel.
type PartChange struct {
	Name   string        `json:"name"`
	Counts []CountChange `json:"counts"`
}

// Divergence is the first place where a rank does something else.
type Divergence struct {
	Rank   int32    `json:"rank"`
	Step   int      `json:"step"`
	Before []string `json:"before"` // lines that both listings have
	A      []string `json:"a"`      // lines from the first that differs; none: at its end
	B      []string `json:"b"`
	// Unlisted: the listings are the same, so the actions differ in their request slots or
	// flags, which a listing does not show, and where is not known.
	Unlisted bool `json:"unlisted,omitempty"`
}

// Traces compares two files by their meaning: the parameters and the flat actions,
// with polls answered as Late does, which passes all of them. Which program
// wrote a trace, when and in what blocks does not matter. Chunks of equal hash
// are skipped.
func Traces(a, b *trace.Trace, o Options) (*Difference, error) {
	for _, t := range []*trace.Trace{a, b} {
		if t.IsStream() {
			return nil, fmt.Errorf("%s: %w", t.Name(), trace.ErrStream)
		}
	}
	// Equal hashes mean equal contents only if contents have the hashes that they claim.
	for _, t := range []*trace.Trace{a, b} {
		if err := t.CheckContents(); err != nil {
			return nil, err
		}
	}
	d := &Difference{Header: headerChanges(a.Header(), b.Header()),
		Totals: []CountChange{}, Phases: []PartChange{}, Kernels: []PartChange{}}
	parts := differingParts(a, b)
	d.Same = len(d.Header) == 0 && len(parts) == 0
	if d.Same && !o.Summary {
		return d, nil
	}
	if err := d.summarize(a, b, o.Counting); err != nil {
		return nil, err
	}
	// Ranks cannot be told to be the same ones in a program of another size.
	if x, y := a.Header().Ranks, b.Header().Ranks; x != y {
		if o.Actions {
			d.NotCompared = fmt.Sprintf("%d and %d ranks", x, y)
		}
		return d, nil
	}
	if len(parts) == 0 {
		d.ActionsEqual = !d.Same
		return d, nil
	}
	// Counts are cheap, actions are not: they are expanded only if counts do not answer the question.
	if d.countsDiffer() && !o.Actions {
		return d, nil
	}
	c := &comparison{a: a, b: b, symbols: mapSymbols(a.Header(), b.Header()), first: !o.Actions,
		steps: slices.Repeat([]int{-1}, a.Header().Ranks), progress: o.Progress}
	for _, p := range parts {
		if err := c.part(p); err != nil {
			return nil, err
		}
	}
	d.Same = len(d.Header) == 0 && c.diverged == 0
	d.ActionsEqual = c.diverged == 0
	if !o.Actions {
		return d, nil
	}
	var err error
	d.Ranks, err = c.divergences()
	return d, err
}

// headerChanges lists the facts that differ. Tool and command line do not count:
// they do not change what the trace means.
func headerChanges(a, b *trace.Header) []Change {
	changes := []Change{}
	compare := func(name, x, y string) {
		if x != y {
			changes = append(changes, Change{name, x, y})
		}
	}
	compare("program", a.Program, b.Program)
	compare("ranks", strconv.Itoa(a.Ranks), strconv.Itoa(b.Ranks))
	compare("steps", strconv.Itoa(a.Steps), strconv.Itoa(b.Steps))
	compare("messages match within their communicator", strconv.FormatBool(a.Communicators),
		strconv.FormatBool(b.Communicators))
	compare("flop of the program's rate", strconv.FormatFloat(a.Flops, 'g', -1, 64),
		strconv.FormatFloat(b.Flops, 'g', -1, 64))
	for _, p := range a.Params {
		other, _ := b.Param(p.Name)
		compare(p.Name, p.Value, other)
	}
	for _, p := range b.Params {
		if _, ok := a.Param(p.Name); !ok {
			compare(p.Name, "", p.Value)
		}
	}
	return changes
}

// part is a range of steps, to = 0: to the end.
type part struct{ from, to int }

// differingParts returns the steps of the chunks that are not known to be the same: chunks of equal hash
// mean the same under headers that agree in what chunks refer to. From the first chunk on that is cut
// elsewhere, or is in one trace only, all steps are compared.
func differingParts(a, b *trace.Trace) []part {
	g, h := a.Header(), b.Header()
	if g.Ranks != h.Ranks || g.Communicators != h.Communicators || g.Pollables != h.Pollables ||
		!reflect.DeepEqual(g.CommFamilies, h.CommFamilies) || !reflect.DeepEqual(g.Axes, h.Axes) ||
		!reflect.DeepEqual(g.CallSites, h.CallSites) {
		return []part{{0, 0}}
	}
	x, y := a.ChunkInfos(), b.ChunkInfos()
	var parts []part
	for i := range max(len(x), len(y)) {
		switch {
		case i >= len(x):
			return append(parts, part{from: y[i].First})
		case i >= len(y):
			return append(parts, part{from: x[i].First})
		case x[i].First != y[i].First || x[i].Last != y[i].Last:
			return append(parts, part{from: min(x[i].First, y[i].First)})
		case x[i].Hash == y[i].Hash:
			continue
		}
		if n := len(parts); n > 0 && parts[n-1].to >= x[i].First {
			parts[n-1].to = x[i].Last + 1
			continue
		}
		parts = append(parts, part{x[i].First, x[i].Last + 1})
	}
	return parts
}

// summarize compares the counts.
func (d *Difference) summarize(a, b *trace.Trace, counting func(steps, all int)) error {
	// Progress counts the steps of both traces together.
	before, all := a.Header().Steps, a.Header().Steps+b.Header().Steps
	told := func(first int) func(int) {
		if counting == nil {
			return nil
		}
		return func(steps int) { counting(first+steps, all) }
	}
	x, err := stat.Of(a, stat.Options{Progress: told(0)})
	if err != nil {
		return err
	}
	y, err := stat.Of(b, stat.Options{Progress: told(before)})
	if err != nil {
		return err
	}
	d.Totals = countChanges(&x.Totals, &y.Totals)
	kernels := func(s *stat.Report, name string) (c stat.KernelCount) { // kernels of one name count together
		for _, k := range s.Kernels {
			if k.Kernel == name {
				c.Calls += k.Calls
				c.Flops += k.Flops
			}
		}
		return c
	}
	phases := func(s *stat.Report, name string) (c stat.Counts) {
		for i := range s.Phases {
			if s.Phases[i].Phase == name {
				c = s.Phases[i].Totals
			}
		}
		return c
	}
	for _, name := range union(x.Phases, y.Phases, func(p stat.PhaseCount) string { return p.Phase }) {
		p, q := phases(x, name), phases(y, name)
		d.Phases = append(d.Phases, PartChange{name, countChanges(&p, &q)})
	}
	for _, name := range union(x.Kernels, y.Kernels, func(k stat.KernelCount) string { return k.Kernel }) {
		p, q := kernels(x, name), kernels(y, name)
		d.Kernels = append(d.Kernels, PartChange{name, []CountChange{
			countChange("calls", float64(p.Calls), float64(q.Calls)), countChange("flops", p.Flops, q.Flops)}})
	}
	return nil
}

// union returns the names of both lists, each once, in order of appearance.
func union[T any](x, y []T, name func(T) string) []string {
	var names []string
	seen := map[string]bool{}
	for _, list := range [][]T{x, y} {
		for _, e := range list {
			if n := name(e); !seen[n] {
				seen[n] = true
				names = append(names, n)
			}
		}
	}
	return names
}

// countChanges compares the counts that tell traces apart at a glance.
func countChanges(a, b *stat.Counts) []CountChange {
	return []CountChange{
		countChange("actions", float64(a.Actions), float64(b.Actions)),
		countChange("messages", float64(a.Messages), float64(b.Messages)),
		countChange("bytes", float64(a.Bytes), float64(b.Bytes)),
		countChange("flops", a.Flops, b.Flops),
	}
}

// countChange compares two counts; nothing in both is no change.
func countChange(name string, a, b float64) CountChange {
	c := CountChange{Name: name, A: a, B: b}
	if a != 0 || b == 0 {
		percent := 0.0
		if a != b {
			percent = 100 * (b - a) / a
		}
		c.Percent = &percent
	}
	return c
}

// countsDiffer reports whether the counts alone tell the traces apart. Flop do not
// count: equal actions may sum up to different last digits.
func (d *Difference) countsDiffer() bool {
	for _, c := range d.Totals {
		if c.Name != "flops" && c.A != c.B {
			return true
		}
	}
	return false
}
