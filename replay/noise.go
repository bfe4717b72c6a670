package replay

import (
	"math"
	"slices"

	"reprise/internal/snapshot"
	"reprise/netmodel"
	"reprise/noise"
	"reprise/trace"
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
// nor the network has any noise.
func (e *engine) newRandomness(seed uint64) *randomness {
	noisy := func(m kernelModel) bool { return m.err == nil && m.Noisy() }
	if e.machine.NetworkNoise == nil && !slices.ContainsFunc(e.models, noisy) {
		return nil
	}
	n := &randomness{source: noise.NewSource(seed), drawn: make([]drawCounts, len(e.ranks)), network: e.machine.NetworkNoise}
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

// noisyNetwork reports whether times of messages are drawn.
func (e *engine) noisyNetwork() bool { return e.random != nil && e.random.network != nil }

// sendOverhead returns the seconds that a blocking send of rank r costs.
func (e *engine) sendOverhead(r int32, size int64, synchronous bool) float64 {
	if !synchronous && !e.protocol.Detached(size) {
		return 0
	}
	seconds := e.protocol.SendOverhead(int(e.machine.Hosts[r]), size)
	if e.noisyNetwork() {
		return e.random.network.SendOverhead(seconds, size, e.random.sent(r, noise.SendOverhead))
	}
	return seconds
}

// isendOverhead returns the seconds that a nonblocking send of rank r costs.
func (e *engine) isendOverhead(r int32, size int64) float64 {
	seconds := e.protocol.IsendOverhead(int(e.machine.Hosts[r]), size)
	if e.noisyNetwork() {
		return e.random.network.IsendOverhead(seconds, size, e.random.sent(r, noise.SendOverhead))
	}
	return seconds
}

// recvOverhead returns the seconds that completing the receive of a message costs.
func (e *engine) recvOverhead(id int32) float64 {
	m := &e.messages[id]
	detached := m.flags&msgDetached != 0
	seconds := e.protocol.RecvOverhead(int(e.machine.Hosts[m.dst]), m.size, detached)
	if detached && e.noisyNetwork() {
		return e.random.network.RecvOverhead(seconds, m.size, e.random.received(m.dst))
	}
	return seconds
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
	n.reach(id)
	n.latency[id] = n.sent(r, noise.Latency)
	n.drawn[r].sends++
}

// reach makes latency so long that it holds a message.
func (n *randomness) reach(id int32) {
	for int(id) >= len(n.latency) {
		n.latency = append(n.latency, noise.Draw{})
	}
}

// kernel plays a call of a kernel that has noise, or no model, or whose time changes with
// the speed of the host.
func (e *engine) kernel(r int32, rk *rank, m *kernelModel, a *trace.Action) (outcome, error) {
	switch {
	case m.err != nil:
		return goOn, e.noModel(r, a.Sym)
	case m.speed > 0:
		return e.varyingKernel(r, rk, m, a), nil
	}
	if seconds := m.Draw(&a.X, e.random.computation(r)); seconds > 0 {
		rk.clock += seconds
		e.chargeKernel(r, rk, a.Sym)
	}
	return goOn, nil
}

// snapshot is Snapshot of the counts of the ranks and of the draws of so many messages.
func (n *randomness) snapshot(c *snapshot.Codec, messages int) {
	c.Section("noise", *n, drawCounts{})
	c.Const("noise of ranks", len(n.drawn))
	for r := range n.drawn {
		p := &n.drawn[r]
		snapshot.Index(c, &p.step, -1, math.MaxInt)
		snapshot.Int(c, &p.computations)
		snapshot.Int(c, &p.sends)
		snapshot.Int(c, &p.receives)
	}
	if n.network == nil {
		return
	}
	for id := range messages {
		n.reach(int32(id))
		snapshot.Ints(c, n.latency[id][:])
	}
}
