package replay

import (
	"errors"
	"fmt"
	"strings"

	"reprise/kernels"
	"reprise/kernels/noise"
	"reprise/netmodel"
	"reprise/trace"
)

// costs knows how many seconds a rank takes for what it does itself: for kernels by the
// models of its host, for messages by the protocol, both with noise if there is any. What the
// network takes is not among them, but its random numbers are (noise.go); nor what probes and tests take (prober).
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
	c.random = newRandomness(o, c.models, m)
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
