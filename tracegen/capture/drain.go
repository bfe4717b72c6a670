package capture

import (
	"math"
	"slices"

	"reprise/trace"
)

// drain is a number of requests that the rank waits for with MPI_Waitany or MPI_Waitsome until
// none is left, and does nothing else with MPI meanwhile. Which of them ends when is the
// recording machine's choice: the trace has as many waits for any, or some, of them as there are,
// with the same work between them; where some were more than one, the last have nothing to do. If
// something else comes in between, it has what was chosen.
type drain struct {
	slots []int64 // ascending
	left  int
	kind  trace.Completion
	steps []int32 // that the trace has if it is none
	each  int     // computations put down before it
}

// mostDrained is how many requests a completion of the trace may have.
const mostDrained = 1 << 16

// pending returns the slots of the requests of a call that the trace has, ascending; nil if one
// of them is several in the trace.
func (t *translator) pending(e *event) (slots []int64) {
	for _, r := range e.requests {
		at, ok := t.slots[t.started.instance(r)]
		switch {
		case !ok || r.number == 0 || at.none:
		case len(at.rest) > 0:
			return nil
		default:
			slots = append(slots, int64(at.number))
		}
	}
	slices.Sort(slots)
	return slots
}

// begins or continues a drain with a call, or ends one that it does not belong to.
func (t *translator) draining(e *event) {
	waits := (e.proc == procWaitany || e.proc == procWaitsome) && len(e.ended) > 0
	d := t.drain
	switch {
	case d != nil && waits && d.continues(t.pending(e)):
	case d != nil:
		t.undrain()
	}
	if waits && t.drain == nil {
		if slots := t.pending(e); len(slots) > 1 && len(slots) <= mostDrained {
			t.settle()
			t.drain = &drain{slots: slots, left: len(slots), each: len(t.each), kind: trace.CompleteAny}
		}
	}
	if t.drain != nil && e.proc == procWaitsome {
		t.drain.kind = trace.CompleteSome
	}
}

// continues reports whether requests that are pending are those of the drain that are left.
func (d *drain) continues(pending []int64) bool {
	return len(pending) == d.left && !slices.ContainsFunc(pending, func(slot int64) bool {
		_, found := slices.BinarySearch(d.slots, slot)
		return !found
	})
}

// undrain puts down what was done instead of a drain.
func (t *translator) undrain() {
	d := t.drain
	if d == nil {
		return
	}
	t.drain = nil
	for _, step := range d.steps {
		t.put(step)
	}
}

// drained notes what has ended of a drain. With the last one it is put down.
func (t *translator) drained() {
	d := t.drain
	if d == nil || d.left > 0 {
		return
	}
	t.drain = nil
	work, variance, real := 0.0, 0.0, 0.0
	for _, n := range d.steps {
		if s := &t.table.steps[n]; s.kind == trace.KindFlops {
			spread := math.Float64frombits(uint64(s.args[argSpread]))
			work += math.Float64frombits(uint64(s.args[argPeer]))
			variance += float64(spread * spread)
		}
	}
	for _, v := range t.each[d.each:] {
		real += v
	}
	t.each = t.each[:d.each]
	between := float64(len(d.slots) - 1)
	one := step{form: form{kind: trace.KindComplete, completion: d.kind, slots: t.table.list(d.slots)}}
	for i := range d.slots {
		if i > 0 {
			t.pause = pause{math.Round(work / between), variance / between, math.Round(real / between)}
		}
		t.add(one)
	}
}
