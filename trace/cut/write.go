package cut

import (
	"math"

	"reprise/trace"
)

// Bounds of a unit: actions of a rank, of all ranks, and elements of lists of counts.
const (
	unitRank     = 4096
	unitActions  = 1 << 18
	unitElements = 1 << 20
)

// writer writes the actions of all ranks, unit by unit, side by side. Each action is an item of a call
// site with one column for each argument; actions that differ in their arguments alone share a block.
// In a unit, operations with lists of counts come after all others, as they have a call site of
// their own: the unit ends for a rank where an action without a list would follow one.
type writer struct {
	w       *trace.Writer
	blocks  blocks
	readers []trace.ActionReader
	next    []*trace.Action // of each rank, nil at the end of its part
	at, to  []int64
	open    []map[uint16]int // by rank: phases that have begun in the part
	calls   [2]trace.Call

	handles  map[*int64]int64 // vectors of the unit, by their running sums
	last     int64
	elements int
	actions  int64
}

func (c *cutter) writeActions(from, to []int64) (*Summary, error) {
	h := c.header()
	h.Axes = []trace.Axis{{Name: "rank", Kind: trace.AxisRank}}
	h.CallSites, h.Markers, h.Pollables = callSites(), nil, 0
	for i := range h.Phases { // markers without a line: begin and end of each phase
		h.Markers = append(h.Markers, trace.Marker{Phase: i + 1}, trace.Marker{Phase: i + 1, End: true})
	}
	out, err := trace.NewWriter(c.w, h, trace.WriterOptions{})
	if err != nil {
		return nil, err
	}
	cursors, err := c.t.Cursors(nil, trace.CursorOptions{})
	if err != nil {
		return nil, err
	}
	w := &writer{w: out, blocks: blocks{out.Program(), map[form]int64{}}, at: make([]int64, h.Ranks), to: to,
		next: make([]*trace.Action, h.Ranks), open: make([]map[uint16]int, h.Ranks)}
	for i := range cursors {
		w.readers = append(w.readers, trace.NewActionReader(&cursors[i], trace.Hit{}, 0))
	}
	for done := false; !done; { // ranks are kept close to each other
		done = true
		for rank := range from {
			for n := 0; n < turn && w.at[rank] < from[rank]; n++ {
				if err := w.advance(rank); err != nil {
					return nil, err
				}
				w.at[rank]++
			}
			done = done && w.at[rank] == from[rank]
		}
	}
	for rank := range from {
		if err := w.advance(rank); err != nil {
			return nil, err
		}
	}
	first, step := -1, 0
	for step = w.step(); step < math.MaxInt; step = w.step() {
		if first < 0 {
			first = step
		}
		c.sum.Steps = step - first + 1
		if err := w.unit(step); err != nil {
			return nil, err
		}
	}
	c.sum.Ranks, c.sum.Actions = h.Ranks, w.actions
	return &c.sum, out.Close()
}

// advance reads the next action of a rank, unless its part has ended.
func (w *writer) advance(rank int) error {
	w.next[rank] = nil
	if w.at[rank] < w.to[rank] {
		w.next[rank] = w.readers[rank].Next()
	}
	return w.readers[rank].Err()
}

// step returns the lowest step that a rank is in, MaxInt at the end.
func (w *writer) step() int {
	lowest := math.MaxInt
	for rank, a := range w.next {
		if a != nil {
			lowest = min(lowest, w.readers[rank].Step())
		}
	}
	return lowest
}

// unit writes a unit of a step.
func (w *writer) unit(step int) error {
	for i := range w.calls {
		w.calls[i] = trace.Call{Site: i, Counts: make([]int64, len(w.next)), Args: make([][]int64, numArgs+2*i)}
	}
	if len(w.handles) > 0 {
		w.w.ForgetVectors(w.last + 1)
	}
	w.handles, w.elements = map[*int64]int64{}, 0
	limit := max(1, min(unitRank, unitActions/len(w.next)))
	for rank := range w.next {
		for n, site := 0, siteFlat; n < limit && w.next[rank] != nil && w.readers[rank].Step() == step; n++ {
			if counted(w.next[rank]) {
				site = siteCounted
			} else if site == siteCounted {
				break // those without lists come first in a unit
			}
			if site == siteCounted && w.elements >= unitElements {
				break
			}
			if err := w.action(rank, site); err != nil {
				return err
			}
			w.at[rank]++
			if err := w.advance(rank); err != nil {
				return err
			}
		}
	}
	if err := w.w.Step(step); err != nil {
		return err
	}
	for i := range w.calls {
		if len(w.calls[i].Blocks) > 0 {
			if err := w.w.Call(&w.calls[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// action adds the next action of a rank to the unit.
func (w *writer) action(rank, site int) error {
	a, c := w.next[rank], w.readers[rank].Cursor()
	switch {
	case a.Kind == trace.KindNone || a.Kind == trace.KindProbed:
		return nil
	case a.Kind == trace.KindPhase && a.Flags&trace.FlagEnd == 0:
		if w.open[rank] == nil {
			w.open[rank] = map[uint16]int{}
		}
		w.open[rank][a.Sym]++
	case a.Kind == trace.KindPhase:
		if w.open[rank][a.Sym] == 0 {
			return nil // it has begun before the part
		}
		w.open[rank][a.Sym]--
	}
	form, args := formOf(a, c)
	block, err := w.blocks.of(form, a, c)
	if err != nil {
		return err
	}
	list := args[:]
	if site == siteCounted {
		list = append(list, w.vectors(a, c)...)
	}
	call := &w.calls[site]
	call.Counts[rank]++
	w.actions += a.Lines()
	call.Blocks = append(call.Blocks, block)
	for i, v := range list {
		call.Args[i] = append(call.Args[i], v)
	}
	return nil
}

// vectors returns the handles of the counts of an operation; of one that it lacks, that of the
// other.
func (w *writer) vectors(a *trace.Action, c *trace.Cursor) []int64 {
	call := a.Collective(c)
	sent, received := call.SendSums, call.RecvSums
	if sent == nil {
		sent = received
	}
	if received == nil {
		received = sent
	}
	return []int64{w.handle(sent), w.handle(received)}
}

func (w *writer) handle(sums []int64) int64 {
	h, ok := w.handles[&sums[0]]
	if !ok {
		h = w.w.Vector(vectorOf(sums))
		w.handles[&sums[0]], w.last = h, h
		w.elements += len(sums)
	}
	return h
}

// vectorOf returns the vector with these running sums.
func vectorOf(sums []int64) trace.Vector {
	values := make([]int64, len(sums)-1)
	for i := range values {
		values[i] = sums[i+1] - sums[i]
	}
	return trace.Vector{Values: values}
}
