package replay

import (
	"math"

	"reprise/internal/snapshot"
	"reprise/noise"
	"reprise/trace"
)

// randomness is what the random parts of a replay are drawn from. A draw is named by
// its rank, the step that the rank is in, and how many of its kind came before it in
// that step: by the program, not by what happened elsewhere. Each step begins a new
// count, so that windows of steps have the noise of the whole run.
type randomness struct {
	source noise.Source
	places []place // by rank
}

// place is where a rank is in its random numbers.
type place struct {
	step         int64  // -1 before the first
	computations uint32 // drawn in it
}

// newRandomness returns the randomness of a replay; nil if no model of a rank has
// any noise.
func (e *engine) newRandomness(seed uint64) *randomness {
	for i := range e.models {
		if e.models[i].err == nil && e.models[i].Noisy() {
			n := &randomness{source: noise.NewSource(seed), places: make([]place, len(e.ranks))}
			for r := range n.places {
				n.places[r].step = -1
			}
			return n
		}
	}
	return nil
}

// begin notes that rank r begins a step.
func (n *randomness) begin(r int32, step int64) {
	if p := &n.places[r]; p.step != step {
		*p = place{step: step}
	}
}

// computation returns the next draw for a computation of rank r.
func (n *randomness) computation(r int32) noise.Draw {
	p := &n.places[r]
	p.computations++
	return n.source.Draw(noise.Computation, uint32(r), uint32(p.step), p.computations-1)
}

// kernel plays a call of a kernel that has noise, or no model.
func (e *engine) kernel(r int32, rk *rank, m *kernelModel, a *trace.Action) (outcome, error) {
	if m.err != nil {
		return goOn, m.err
	}
	if seconds := m.Draw(&a.X, e.random.computation(r)); seconds > 0 {
		rk.clock += seconds
		e.book.kernel(r, a.Sym, seconds)
	}
	return goOn, nil
}

func (n *randomness) snapshot(c *snapshot.Codec) {
	c.Section("noise", *n, place{})
	c.Const("noise of ranks", len(n.places))
	for r := range n.places {
		p := &n.places[r]
		snapshot.Index(c, &p.step, -1, math.MaxInt)
		snapshot.Int(c, &p.computations)
	}
}
