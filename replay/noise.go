package replay

import (
	"slices"

	"reprise/kernels/noise"
	"reprise/netmodel"
)

// randomness is what the random parts of a replay are drawn from. A draw is named by
// its rank, the step that the rank is in, and how many of its kind came before it in
// that step: by the program, not by what happened elsewhere. Each step begins a new
// count, so that windows of steps have the noise of the whole run.
type randomness struct {
	source  noise.Source
	drawn   []drawCounts    // by rank
	network *netmodel.Noise // nil: none
	latency []noise.Draw    // by message; empty without network
}

// drawCounts is where a rank is in its random numbers.
type drawCounts struct {
	step         int64  // -1 before the first
	computations uint32 // drawn in it
	sends        uint32 // posted in it
	receives     uint32 // completed in it
}

// newRandomness returns the randomness of a replay; nil if neither a kernel of a rank
// nor the network has any noise, and amounts of flop are not drawn.
func newRandomness(o *Options, models []kernelModel, m *Machine) *randomness {
	noisy := func(k kernelModel) bool { return k.err == nil && k.Noisy() }
	if m.NetworkNoise == nil && !o.ComputeNoise && !slices.ContainsFunc(models, noisy) {
		return nil
	}
	n := &randomness{source: noise.NewSource(o.Seed), drawn: make([]drawCounts, len(m.Hosts)), network: m.NetworkNoise}
	for r := range n.drawn {
		n.drawn[r].step = -1
	}
	return n
}

// begin notes that rank r begins a step.
func (n *randomness) begin(r int32, step int64) {
	if p := &n.drawn[r]; p.step != step {
		*p = drawCounts{step: step}
	}
}

// computation returns the next draw for a computation of rank r.
func (n *randomness) computation(r int32) noise.Draw {
	p := &n.drawn[r]
	p.computations++
	return n.source.Draw(noise.Computation, uint32(r), uint32(p.step), p.computations-1)
}

// sent returns a draw for the next message that rank r posts.
func (n *randomness) sent(r int32, use noise.Use) noise.Draw {
	p := &n.drawn[r]
	return n.source.Draw(use, uint32(r), uint32(p.step), p.sends)
}

// received returns the draw for the next receive that rank r completes. Those that it
// waits for together are numbered as they are paid.
func (n *randomness) received(r int32) noise.Draw {
	p := &n.drawn[r]
	p.receives++
	return n.source.Draw(noise.RecvOverhead, uint32(r), uint32(p.step), p.receives-1)
}

// post draws the latency of a message that rank r posts.
func (n *randomness) post(r, id int32) {
	for int(id) >= len(n.latency) {
		n.latency = append(n.latency, noise.Draw{})
	}
	n.latency[id] = n.sent(r, noise.Latency)
	n.drawn[r].sends++
}
