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

// costs knows how many seconds a rank itself takes: for kernels by the models of its host, for overheads of messages by
// the protocol, both with noise if there is any. Times of the network are not among them, though its random numbers are
// (randomness), nor are those of probes and tests (prober). engine.do asks for kernels; actions.go, where messages are
// posted, and completion.go and message.go, where they are completed, ask for overheads. The caller advances the clock
// of the rank.
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
	// Nothing is random if neither a kernel of a rank nor the network has any noise, and amounts of flop are not drawn.
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

// noModel returns why rank r cannot call a kernel, and which other kernels of the trace lack a model there, so that all
// can be added at once.
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
	seconds := c.protocol.On(c.hosts[r]).Send.At(size)
	if c.noisyNetwork() {
		return c.random.network.Of(netmodel.TimedSend, seconds, size, c.random.sent(r, noise.SendOverhead))
	}
	return seconds
}

// isendOverhead returns the seconds that a nonblocking send of rank r costs.
func (c *costs) isendOverhead(r int32, size int64) float64 {
	seconds := c.protocol.On(c.hosts[r]).Isend.At(size)
	if c.noisyNetwork() {
		return c.random.network.Of(netmodel.TimedIsend, seconds, size, c.random.sent(r, noise.SendOverhead))
	}
	return seconds
}

// recvOverhead returns the seconds that completing the receive of a message costs its rank. For a
// transfer of a window, the first rank that completes it pays.
func (c *costs) recvOverhead(r int32, m *message) float64 {
	detached := m.flags&msgDetached != 0
	if m.ofWindow() {
		m.flags &^= msgDetached
	}
	if !detached {
		return 0
	}
	seconds := c.protocol.On(c.hosts[r]).Recv.At(m.size)
	if c.noisyNetwork() {
		return c.random.network.Of(netmodel.TimedRecv, seconds, m.size, c.random.received(r))
	}
	return seconds
}

// sleepTime returns how long a sleep lasts: a positive one at least as long as the precision of the clock.
func (c *costs) sleepTime(seconds float64) float64 {
	if seconds > 0 && seconds < c.precision {
		return c.precision
	}
	return seconds
}

// randomness is the source of the random numbers of a replay. A draw is named by its rank, the step that the rank is
// in, and the number of draws of its kind before it in that step: so it depends on the program, not on other ranks.
// Each step begins a new count, so that windows of steps have the noise of the whole run.
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

// received returns the draw for the next receive that rank r completes. Receives that it waits for together are
// numbered in the order in which it pays for them.
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

// Times of kernels follow from models, which package kernels parses and binds to a host. A replay binds each kernel of
// the trace once for each class of hosts, before the first action, so that a call costs an index and a sum of products.
// A missing model is an error when the kernel is called, not before: a trace may declare kernels that it never calls.

// kernelModel is the model of a kernel on a host, or why there is none: a
// kernel that is declared but never called needs no model.
type kernelModel struct {
	kernels.Model
	plain bool // there is a model, without noise, whose times do not change with the host's speed
	err   error
	flop  bool    // its times are an amount of flop at the host's speed
	speed float64 // flop/s that the times go by, of a host whose speed changes; else 0
}

// hostClass is the data of a host that decide which models its ranks have.
type hostClass struct {
	kernels.Class
	varying float64 // flop/s that its speed goes by, if it changes; else 0
}

// bindModels binds the kernels of h for each class of hosts, which shares a row of models.
func (c *costs) bindModels(h *trace.Header, machine *Machine) {
	c.kernelNames = KernelNames(h)
	c.rowOf = make([]int32, len(c.hosts))
	signatures := make([]kernels.Signature, len(h.Kernels))
	for i := range signatures {
		signatures[i] = SignatureOf(&h.Kernels[i])
	}
	// Hosts of one class have the same models: a class is known by its speed and by what the models know
	// hosts by, such as names and slots. On a host with more ranks than cores those in flop get their part of
	// the speed from the beginning.
	before := make([]int, machine.Platform.NumHosts()) // ranks of lower number on each host
	onHost, varies := machine.ranksOnHosts(), machine.varyingHosts()
	rows := map[hostClass]int32{}
	for r, host := range c.hosts {
		ph := machine.Platform.Host(int(host))
		kh := kernels.Host{Name: ph.Name, Slot: before[host], Speed: ph.Speed, Factor: machine.factor(host),
			Ranks: int(onHost[host])}
		before[host]++
		var class hostClass
		if varies[host] {
			class.varying = kh.Speed * kh.Factor
		} else {
			kh.Speed *= min(1, float64(ph.Cores)/float64(onHost[host]))
		}
		if c.set != nil {
			class.Class = c.set.Class(kh)
		}
		at, bound := rows[class]
		if !bound {
			at = int32(len(c.models))
			rows[class] = at
			for _, sig := range signatures {
				m := kernelModel{err: kernels.ErrNoModel}
				if c.set == nil {
					m.err = fmt.Errorf("kernel %v: %w: no kernel file was given", sig, m.err)
				} else {
					m.Model, m.err = c.set.Bind(kh, sig)
				}
				m.plain = m.err == nil && !m.Noisy()
				m.flop = m.err == nil && c.set.CostUnit(kh, sig) == kernels.Flop
				// Times in flop go by the speed that a changing host has at each time. Those in
				// seconds are measured times and stay.
				if m.flop && varies[host] {
					m.plain, m.speed = false, class.varying
				}
				c.models = append(c.models, m)
			}
		}
		c.rowOf[r] = at
	}
}

// freeKernels reports, by kernel, which cost nothing on any rank.
func (c *costs) freeKernels() []bool {
	free := make([]bool, len(c.kernelNames))
	for k := range free {
		free[k] = true
		for row := k; row < len(c.models); row += len(c.kernelNames) {
			m := &c.models[row]
			free[k] = free[k] && m.err == nil && m.Free()
		}
	}
	return free
}

// SignatureOf returns the signature by which kernel models know a kernel of a trace.
func SignatureOf(k *trace.Kernel) kernels.Signature {
	sig := kernels.Signature{Name: k.Name}
	for _, a := range k.Attrs {
		sig.Attrs = append(sig.Attrs, kernels.Attr{Name: a.Name, Value: a.Value})
	}
	for _, d := range k.Dims {
		sig.Dims = append(sig.Dims, d.Name)
	}
	return sig
}

// KernelNames returns the names of the kernels of a trace as results have them: with their attributes.
func KernelNames(h *trace.Header) []string {
	names := make([]string, len(h.Kernels))
	for i := range h.Kernels {
		sig := SignatureOf(&h.Kernels[i])
		names[i] = sig.Name
		for _, a := range sig.Attrs {
			names[i] += " " + a.Name + "=" + a.Value
		}
	}
	return names
}
