// Package diff compares two traces by what they mean: parameters, counts, and the actions of each rank.
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
// A difference is no error. Errors name the file; [trace.ErrStream] is about a trace that can be read only once.
//
// # Source
//
// Both traces are expanded to actions as docs/trace-format.md says.
package diff

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"slices"
	"strconv"

	"reprise/internal/textutil"
	"reprise/trace"
	"reprise/trace/stat"
	"reprise/trace/text"
)

// Options says how far Traces goes.
type Options struct {
	// Actions asks for the first diverging action of each rank. Without it Traces stops at the first.
	Actions bool
	// Summary asks for the counts of both even if the traces are the same.
	Summary bool
	// Progress, if set, is called with the number of chunks of A whose actions have been
	// compared, and with that of all.
	Progress func(chunks, all int)
	// Counting, if set, is called with the number of steps of both that have been counted, and with that of all.
	Counting func(steps, all int)
}

// Difference says in what two traces, A and B, differ. Lists are empty rather than nil, as JSON tells them apart.
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

// Traces compares two files by their meaning: the parameters and the flat actions, with polls answered as Late
// does, which passes all of them. Which program wrote a trace, when and in what blocks does not matter. Chunks of
// equal hash are skipped.
func Traces(a, b *trace.Trace, o Options) (_ *Difference, err error) {
	defer textutil.Stopped(&err)
	for _, t := range []*trace.Trace{a, b} {
		if t.IsStream() {
			return nil, fmt.Errorf("%s: %w", t.Name(), trace.ErrStream)
		}
		// Equal hashes mean equal contents only if contents have the hashes that they claim.
		textutil.Check(t.CheckContents())
	}
	// Comparison goes from cheap to expensive: headers, hashes of chunks, counts, actions. It stops
	// where the question is answered.
	d := &Difference{Header: headerChanges(a.Header(), b.Header()),
		Totals: []CountChange{}, Phases: []PartChange{}, Kernels: []PartChange{}}
	parts := differingParts(a, b)
	d.Same = len(d.Header) == 0 && len(parts) == 0
	if d.Same && !o.Summary {
		return d, nil
	}
	d.summarize(a, b, o.Counting)
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
	// Each part that may differ is expanded in both traces.
	c := &comparison{a: a, b: b, symbols: mapSymbols(a.Header(), b.Header()), first: !o.Actions,
		steps: slices.Repeat([]int{-1}, a.Header().Ranks), progress: o.Progress}
	for _, p := range parts {
		c.part(p)
	}
	d.Same = len(d.Header) == 0 && c.diverged == 0
	d.ActionsEqual = c.diverged == 0
	if o.Actions {
		d.Ranks = c.divergences()
	}
	return d, nil
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

// summarize compares the counts. Phases and kernels are matched by name, as their numbers may differ.
func (d *Difference) summarize(a, b *trace.Trace, counting func(steps, all int)) {
	// Progress counts the steps of both traces together.
	before, all := a.Header().Steps, a.Header().Steps+b.Header().Steps
	told := func(first int) func(int) {
		if counting == nil {
			return nil
		}
		return func(steps int) { counting(first+steps, all) }
	}
	x := textutil.Must(stat.Of(a, stat.Options{Progress: told(0)}))
	y := textutil.Must(stat.Of(b, stat.Options{Progress: told(before)}))
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
	// Those that only one trace has are compared with counts of 0.
	for _, name := range union(x.Phases, y.Phases, func(p stat.PhaseCount) string { return p.Phase }) {
		p, q := phases(x, name), phases(y, name)
		d.Phases = append(d.Phases, PartChange{name, countChanges(&p, &q)})
	}
	for _, name := range union(x.Kernels, y.Kernels, func(k stat.KernelCount) string { return k.Kernel }) {
		p, q := kernels(x, name), kernels(y, name)
		d.Kernels = append(d.Kernels, PartChange{name, []CountChange{
			countChange("calls", float64(p.Calls), float64(q.Calls)), countChange("flops", p.Flops, q.Flops)}})
	}
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

// countChange compares two counts; nothing in both is no change. A change from 0 to something has no percentage.
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
	return slices.ContainsFunc(d.Totals, func(c CountChange) bool { return c.Name != "flops" && c.A != c.B })
}

// comparison goes through the actions of both traces. Numbers of kernels, markers and families may
// differ between traces that mean the same, so those of B are translated to those of A first.
type comparison struct {
	a, b     *trace.Trace
	symbols  symbolMap
	first    bool  // stop at the first divergence
	steps    []int // by rank: where it diverges, -1 if it has not
	diverged int   // ranks
	progress func(chunks, all int)
	told     int // chunks
}

// part compares the ranks that have not diverged yet over a range of steps: the
// chunks of A one by one, and in each the ranks in turn, so that few chunks are held.
func (c *comparison) part(p part) {
	var ranks []int32
	for r, step := range c.steps {
		if step < 0 {
			ranks = append(ranks, int32(r))
		}
	}
	if len(ranks) == 0 || c.first && c.diverged > 0 {
		return
	}
	o := trace.CursorOptions{From: p.from, To: p.to, Markers: true}
	as, bs := textutil.Must(c.a.Cursors(ranks, o)), textutil.Must(c.b.Cursors(ranks, o))
	type pair struct { // a rank in both
		a, b trace.ActionReader
		done bool
	}
	pairs := make([]pair, len(ranks))
	for i := range pairs {
		pairs[i] = pair{a: trace.NewActionReader(&as[i], trace.Late{}, p.from),
			b: trace.NewActionReader(&bs[i], trace.Late{}, p.from)}
	}
	all := len(c.a.ChunkInfos())
	for chunk := range all + 1 { // the last one stands for the end
		for i := range pairs {
			p := &pairs[i]
			a, b := p.a.Cursor(), p.b.Cursor()
			for !p.done {
				if in := a.Chunk(); in != nil && in.Number() != chunk || in == nil && chunk < all {
					break
				}
				x, y := p.a.Next(), p.b.Next()
				textutil.Check(errors.Join(p.a.Err(), p.b.Err()))
				// Actions are compared one to one, as what blocks they come from does not matter.
				same := x == y // both have ended
				if p.done = x == nil || y == nil; !p.done {
					same = c.symbols.equal(x, y, a, b)
				}
				if !same {
					p.done = true
					c.diverged++
					c.steps[a.Rank()] = min(p.a.Step(), p.b.Step())
					*a, *b = trace.Cursor{}, trace.Cursor{} // lets go of the chunks
				}
			}
			if c.first && c.diverged > 0 {
				return
			}
		}
		// Each part begins anew with the chunks before it, which have been told.
		if c.progress != nil && chunk < all && chunk >= c.told {
			c.told = chunk + 1
			c.progress(c.told, all)
		}
	}
}

// symbolMap translates the symbols of B to those of A, -1 where A has none.
type symbolMap struct {
	// By number in B: the number in A.
	kernels, markers, families []int32
	vectors                    []uint64 // by marker of A: arguments that are vectors
}

// mapSymbols compares symbols by what actions mean: the flop of kernels do not count, and groups only where
// families are communicators.
func mapSymbols(a, b *trace.Header) symbolMap {
	m := symbolMap{
		kernels: mapEqual(a.Kernels, b.Kernels, func(x, y *trace.Kernel) bool {
			return x.Name == y.Name && slices.Equal(x.Attrs, y.Attrs) && reflect.DeepEqual(x.Dims, y.Dims)
		}),
		markers: mapEqual(a.Markers, b.Markers, func(x, y *trace.Marker) bool { return x.Text == y.Text }),
		families: mapEqual(a.CommFamilies, b.CommFamilies, func(x, y *trace.CommFamily) bool {
			return x.Name == y.Name && (!a.Communicators || slices.EqualFunc(x.Groups, y.Groups, func(g, h trace.Group) bool {
				same := g.Len() == h.Len()
				for m := 0; same && m < g.Len(); m++ {
					same = g.Member(m) == h.Member(m)
				}
				return same
			}))
		}),
	}
	for i := range a.Markers {
		_, v := a.Markers[i].VectorArgs()
		m.vectors = append(m.vectors, v)
	}
	return m
}

// mapEqual returns the index in a of each element of b, -1 if it is not there.
// If several of A are equal, it is the first.
func mapEqual[T any](a, b []T, equal func(x, y *T) bool) []int32 {
	m := make([]int32, len(b))
	for j := range b {
		m[j] = int32(slices.IndexFunc(a, func(x T) bool { return equal(&x, &b[j]) }))
	}
	return m
}

// equal compares an action of A with one of B.
func (m *symbolMap) equal(x, y *trace.Action, a, b *trace.Cursor) bool {
	if x.Kind != y.Kind || x.Flags != y.Flags || x.Peer != y.Peer || x.Req != y.Req {
		return false
	}
	// The tag of a collective operation holds the family's number, which is compared after translation.
	if !x.Operates() && x.Tag != y.Tag {
		return false
	}
	switch x.Kind {
	case trace.KindMark:
		p, q := a.MarkArgs(x), b.MarkArgs(y)
		if int32(x.Sym) != m.markers[y.Sym] || len(p) != len(q) {
			return false
		}
		for i := range p {
			same := p[i] == q[i]
			if m.vectors[x.Sym]>>min(i, 63)&1 != 0 {
				same = slices.Equal(a.Sums(p[i]), b.Sums(q[i]))
			}
			if !same {
				return false
			}
		}
		return true
	case trace.KindCompute, trace.KindLaunch:
		return int32(x.Sym) == m.kernels[y.Sym] && x.X == y.X
	case trace.KindComplete:
		return x.Sym == y.Sym && slices.Equal(a.Requests(x.X[0]), b.Requests(y.X[0]))
	case trace.KindCollective, trace.KindIcollective:
		p, q := x.Collective(a), y.Collective(b)
		if q.Comm > 0 {
			if q.Comm = 1 + m.families[q.Comm-1]; q.Comm == 0 { // a family that only B has
				return false
			}
		}
		return reflect.DeepEqual(p, q)
	}
	if f := y.Family(); f >= 0 {
		return x.Family() == int(m.families[f]) && x.X == y.X
	}
	return x.Sym == y.Sym && x.X == y.X
}

// contextLines is how many lines are shown before a divergence, and after its first line.
const contextLines = 3

// divergences returns where the ranks diverge, with context from the listings. The
// ranks that diverge in the same step are looked at together.
func (c *comparison) divergences() []Divergence {
	byStep := map[int][]int32{}
	for r, step := range c.steps {
		if step >= 0 {
			byStep[step] = append(byStep[step], int32(r))
		}
	}
	// Listings are written again from the step before the divergence, and compared line by line.
	var all []Divergence
	for step, ranks := range byStep {
		o := trace.CursorOptions{From: max(0, step-1), Markers: true}
		as, bs := textutil.Must(c.a.Cursors(ranks, o)), textutil.Must(c.b.Cursors(ranks, o))
		for i, rank := range ranks {
			d := Divergence{Rank: rank, Step: step, Before: []string{}, A: []string{}, B: []string{}}
			var errs [2]error
			x, stopX := iter.Pull(listing(&as[i], &errs[0]))
			y, stopY := iter.Pull(listing(&bs[i], &errs[1]))
			for {
				p, more := x()
				q, also := y()
				if !more && !also {
					d.Before, d.Unlisted = []string{}, true
					break
				}
				if !more || !also || p != q {
					d.A, d.B = some(x, p, more), some(y, q, also)
					break
				}
				if len(d.Before) == contextLines {
					d.Before = d.Before[1:]
				}
				d.Before = append(d.Before[:len(d.Before):len(d.Before)], p)
			}
			stopX()
			stopY()
			textutil.Check(errors.Join(errs[:]...))
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(x, y Divergence) int { return int(x.Rank - y.Rank) })
	return all
}

// listing yields the lines of a listing, which is written as far as they are taken; the one that names
// the rank does not count. An error that ends it is stored in err.
func listing(c *trace.Cursor, err *error) iter.Seq[string] {
	return func(yield func(string) bool) {
		w := lineWriter{yield: yield}
		if e := text.WriteListing(&w, c, trace.Late{}, text.Words{}); !w.enough {
			*err = e
		}
	}
}

// lineWriter hands on lines, of which each Write has whole ones, until there are enough.
type lineWriter struct {
	yield  func(line string) bool
	enough bool
}

// Write fails once there are enough lines, which ends the listing.
func (w *lineWriter) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		if w.enough {
			return 0, io.ErrClosedPipe
		}
		if line[0] != '#' {
			w.enough = !w.yield(string(bytes.TrimSuffix(line, []byte("\n"))))
		}
	}
	return len(p), nil
}

// some returns a line, if there is one, and the contextLines after it.
func some(next func() (string, bool), line string, ok bool) []string {
	out := []string{}
	for ; ok && len(out) <= contextLines; line, ok = next() {
		out = append(out, line)
	}
	return out
}
