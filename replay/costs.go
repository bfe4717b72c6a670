package replay

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"reprise/kernels"
	"reprise/kernels/noise"
	"reprise/netmodel"
	"reprise/trace"
)

// costs knows how many seconds a rank takes for what it does itself: for kernels by the
// models of its host, for messages by the protocol, both with noise if there is any. What the
// network takes is not among them, but its random numbers are (randomness); nor what probes and tests take (prober).
//
// Kernels are asked for in engine.do, overheads where messages are posted (actions.go) and
// completed (request.go, transfer.go). The costs know no clock: who asks lets that of the
// rank advance.
type costs struct {
	hosts    []int32 // by rank
	protocol *netmodel.Protocol

	models      []kernelModel
	rowOf       []int32      // by rank: where its row of models begins
	kernelNames []string     // of each model of a row
	set         *kernels.Set // that the models are from; nil: none

	random    *randomness // nil: nothing is random
	precision float64     // shortest positive sleep, seconds
	scale     float64     // of amounts of flop
	spread    bool        // they are drawn by their spread
}

// newCosts returns the costs of the actions of a trace on a machine.
func newCosts(h *trace.Header, m *Machine, o *Options) (costs, error) {
	// The models are bound before the randomness is made: without noise in one of them there is none.
	protocol, err := netmodel.NewProtocol(m.Platform, o.Network.Options)
	if err != nil {
		return costs{}, err
	}
	c := costs{hosts: m.Hosts, protocol: protocol, set: m.Kernels, precision: o.Network.TimePrecision,
		scale: o.ComputeScale, spread: o.ComputeNoise}
	c.bindModels(h, m)
	// Nothing is random if neither a kernel of a rank nor the network has any noise, and amounts of flop are not
	// drawn.
	noisy := func(k kernelModel) bool { return k.err == nil && k.Noisy() }
	if m.NetworkNoise == nil && !o.ComputeNoise && !slices.ContainsFunc(c.models, noisy) {
		return c, nil
	}
	c.random = &randomness{source: noise.NewSource(o.Seed), drawn: make([]drawCounts, len(m.Hosts)), network: m.NetworkNoise}
	for r := range c.random.drawn {
		c.random.drawn[r].step = -1
	}
	return c, nil
}

// noModel returns why rank r cannot call a kernel, and which others that the trace
// declares it could not call either, so that all can be added at once.
func (c *costs) noModel(r int32, kernel uint16) error {
	row := c.models[c.rowOf[r]:][:len(c.kernelNames)]
	var others []string
	for k := range row {
		if k != int(kernel) && errors.Is(row[k].err, kernels.ErrNoModel) {
			others = append(others, c.kernelNames[k])
		}
	}
	if others == nil || c.set == nil {
		return row[kernel].err
	}
	return fmt.Errorf("%w; of the kernels that the trace declares there is none for %s either", row[kernel].err,
		strings.Join(others, ", "))
}

// noisyNetwork reports whether times of messages are drawn.
func (c *costs) noisyNetwork() bool { return c.random != nil && c.random.network != nil }

// sendOverhead returns the seconds that a blocking send of rank r costs.
func (c *costs) sendOverhead(r int32, size int64, synchronous bool) float64 {
	if !synchronous && !c.protocol.Detached(size) {
		return 0
	}
	seconds := c.protocol.SendOverhead(int(c.hosts[r]), size)
	if c.noisyNetwork() {
		return c.random.network.SendOverhead(seconds, size, c.random.sent(r, noise.SendOverhead))
	}
	return seconds
}

// isendOverhead returns the seconds that a nonblocking send of rank r costs.
func (c *costs) isendOverhead(r int32, size int64) float64 {
	seconds := c.protocol.IsendOverhead(int(c.hosts[r]), size)
	if c.noisyNetwork() {
		return c.random.network.IsendOverhead(seconds, size, c.random.sent(r, noise.SendOverhead))
	}
	return seconds
}

// recvOverhead returns the seconds that completing the receive of a message costs its rank, or
// completing a transfer of a window the first rank that does.
func (c *costs) recvOverhead(r int32, m *message) float64 {
	detached := m.flags&msgDetached != 0
	if m.ofWindow() {
		m.flags &^= msgDetached
	}
	seconds := c.protocol.RecvOverhead(int(c.hosts[r]), m.size, detached)
	if detached && c.noisyNetwork() {
		return c.random.network.RecvOverhead(seconds, m.size, c.random.received(r))
	}
	return seconds
}

// sleepTime returns how long a sleep lasts: a positive one at least as long as
// the precision of the clock.
func (c *costs) sleepTime(seconds float64) float64 {
	if seconds > 0 && seconds < c.precision {
		return c.precision
	}
	return seconds
}

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
