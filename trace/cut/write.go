package cut

import (
	"math"

	"reprise/internal/textutil"
	"reprise/trace"
)

// This file writes a part between marks that are not steps, action by action: cutter.writeActions.

// writer writes the actions of all ranks, unit by unit, side by side.
type writer struct {
	// The part, and the ranks, by number.
	out     *trace.Flat
	readers []trace.ActionReader
	next    []*trace.Action  // of each rank, nil at the end of its part
	at, to  []int64          // by rank: number of the next action, and of the first behind the part
	open    map[phaseKey]int // phases that have begun in the part, and not ended
	actions int64
}

// writeActions writes the actions [from, to) of each rank.
func (c *cutter) writeActions(from, to []int64) (_ *Summary, err error) {
	defer textutil.Stopped(&err)
	h := c.header()
	h.Flatten()
	out := textutil.Must(trace.NewWriter(c.w, h, trace.WriterOptions{}))
	cursors := textutil.Must(c.t.Cursors(nil, trace.CursorOptions{}))
	w := &writer{out: trace.NewFlat(out), at: make([]int64, h.Ranks), to: to, next: make([]*trace.Action, h.Ranks),
		open: map[phaseKey]int{}}
	for i := range cursors {
		w.readers = append(w.readers, trace.NewActionReader(&cursors[i], trace.Hit{}, 0))
	}

	// All ranks come to the begin of the part. They are kept close to each other.
	// Each rank reads some actions in turn, so that all pass through the same chunks together.
	for done := false; !done; {
		done = true
		for rank := range from {
			for n := 0; n < turn && w.at[rank] < from[rank]; n++ {
				w.advance(rank)
				w.at[rank]++
			}
			done = done && w.at[rank] == from[rank]
		}
	}
	for rank := range from {
		w.advance(rank)
	}

	// The next unit is of the lowest step that a rank is in.
	first := -1
	for {
		// Ranks that are ahead wait until the others have come to their step.
		step := math.MaxInt
		for rank, a := range w.next {
			if a != nil {
				step = min(step, w.readers[rank].Step())
			}
		}
		if step == math.MaxInt {
			break
		}
		if first < 0 {
			first = step
		}
		c.sum.Steps = step - first + 1
		w.unit(step)
	}
	c.sum.Ranks, c.sum.Actions = h.Ranks, w.actions
	return &c.sum, out.Close()
}

// advance reads the next action of a rank, unless its part has ended.
func (w *writer) advance(rank int) {
	w.next[rank] = nil
	if w.at[rank] < w.to[rank] {
		w.next[rank] = w.readers[rank].Next()
	}
	textutil.Check(w.readers[rank].Err())
}

// unit writes a unit of a step. A step of more actions takes several units: a replay needs no other order than that of
// each rank's own actions, so that it does not matter where the cut is.
func (w *writer) unit(step int) {
	w.out.Begin()
	for rank := range w.next {
		c := w.readers[rank].Cursor()
		for a := w.next[rank]; a != nil && w.readers[rank].Step() == step && w.out.Takes(int32(rank), a); a = w.next[rank] {
			// Also an action that is not written counts as one of the trace, by which the end of the part is known.
			if w.keeps(rank, a) {
				var call trace.Collective
				var requests []int32
				switch {
				case a.Operates():
					call = a.Collective(c)
				case a.Kind == trace.KindComplete:
					requests = c.Requests(a.X[0])
				}
				textutil.Check(w.out.Add(int32(rank), a, call.SendSums, call.RecvSums, requests...))
				w.actions += a.Lines()
			}
			w.at[rank]++
			w.advance(rank)
		}
	}
	textutil.Check(w.out.End(step))
}

// keeps reports whether an action of a rank is written: of phases, those that begin in the part. A phase that has begun
// before the part has no begin in it, so that its end is left out. What is still open where the part ends stays open.
func (w *writer) keeps(rank int, a *trace.Action) bool {
	phase := phaseKey{int32(rank), a.Sym}
	switch {
	case a.Kind != trace.KindPhase:
		return a.Kind != trace.KindNone && a.Kind != trace.KindProbed
	case a.Flags&trace.FlagEnd == 0:
		w.open[phase]++
	case w.open[phase] == 0:
		return false // it has begun before the part
	default:
		w.open[phase]--
	}
	return true
}
