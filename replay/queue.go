package replay

import (
	"fmt"
	"slices"

	"reprise/internal/snapshot"
	"reprise/kernels"
	"reprise/trace"
	"reprise/trace/warning"
)

// This file plays the queues of the ranks' devices: launches, events, and what waits for them. A queue is a clock beside
// the rank's, and an event the time that the clock had. Both concern one rank alone, which knows its own future, so that
// nothing here waits for the event loop.

// launchModel is the model, without dimensions, of what a launch costs the rank.
const launchModel = "launch"

// devices are the devices of all ranks. It is nil in replays of traces without queues.
type devices struct {
	queues, events int
	ready          []float64 // by rank and queue: when all that is in the queue has run, seconds
	over           []float64 // by rank and event
	parts          []parts   // by rank and queue
	busy           []float64 // by rank and queue: how long it has run, seconds
}

// parts is a kernel that alternates with the rank.
type parts struct {
	each float64 // seconds of a part
	left int64   // parts that have not begun
}

// newDevices returns idle devices.
func newDevices(h *trace.Header) *devices {
	queues := len(h.Queues)
	if queues == 0 {
		return nil
	}
	return &devices{queues: queues, events: len(h.Events), ready: make([]float64, h.Ranks*queues), over: make([]float64, h.Ranks*len(h.Events)),
		parts: make([]parts, h.Ranks*queues), busy: make([]float64, h.Ranks*queues)}
}

// launchKernel puts a kernel into a queue of rank r: it begins when all that is in the queue has run. The rank goes on, or
// waits for the end.
func (e *engine) launchKernel(r int32, rk *rank, a *trace.Action) error {
	d, m := e.devices, &e.costs.models[int(e.costs.rowOf[r])+int(a.Sym)]
	if m.err != nil {
		return e.costs.noModel(r, a.Sym)
	}
	dims, n := a.X, int64(1)
	if a.Flags&trace.FlagParts != 0 {
		n, dims[3] = a.X[3], 0
	}
	seconds := m.Seconds(&dims)
	if m.Noisy() {
		seconds = m.Draw(&dims, e.costs.random.computation(r))
	}
	*e.accounts.at(int(numKinds)+int(a.Sym), r) += seconds
	e.accounts.beside[a.Sym] = true
	if cost := e.costs.launch[r]; cost > 0 {
		rk.clock += cost
		e.charge(r, TimeOverhead)
	}
	q := int(r)*d.queues + int(a.Tag)
	d.parts[q] = parts{seconds / float64(max(n, 1)), n}
	e.runPart(rk, q)
	if a.Flags&trace.FlagBlocking != 0 {
		e.awaitDevice(r, rk, d.ready[q])
	}
	return nil
}

// runPart lets the next part of the kernel in a queue begin, now at the earliest.
func (e *engine) runPart(rk *rank, queue int) {
	d := e.devices
	if p := &d.parts[queue]; p.left > 0 {
		p.left--
		d.ready[queue] = later(d.ready[queue], rk.clock) + p.each
		d.busy[queue] += p.each
	}
}

// awaitDevice has rank r wait until a time.
func (e *engine) awaitDevice(r int32, rk *rank, until float64) {
	if until > rk.clock {
		rk.clock = until
		e.charge(r, TimeDevice)
	}
}

// onQueue plays what orders queues and rank.
func (e *engine) onQueue(r int32, rk *rank, a *trace.Action) {
	d := e.devices
	queue := int(r)*d.queues + int(a.Tag)
	event := int(r)*d.events + int(a.Sym)
	switch a.QueueVerb() {
	case trace.QueueRecord:
		d.over[event] = later(d.ready[queue], rk.clock)
	case trace.QueueWait:
		d.ready[queue] = later(d.ready[queue], d.over[event])
	case trace.QueueSyncEvent:
		e.awaitDevice(r, rk, d.over[event])
	case trace.QueueSync, trace.QueueTake:
		e.awaitDevice(r, rk, d.ready[queue])
	case trace.QueueSyncAll:
		e.awaitDevice(r, rk, slices.Max(d.ready[int(r)*d.queues:][:d.queues]))
	case trace.QueueGive:
		e.runPart(rk, queue)
	}
}

// bindLaunches finds what a launch costs each rank; without a model it costs nothing.
func (c *costs) bindLaunches(h *trace.Header, machine *Machine) {
	if len(h.Queues) == 0 {
		return
	}
	c.launch = make([]float64, len(c.hosts))
	for r, host := range c.hosts {
		if c.set != nil {
			ph := machine.Platform.Host(int(host))
			if m, err := c.set.Bind(kernels.Host{Name: ph.Name, Speed: ph.Speed, Factor: machine.factor(host)},
				kernels.Signature{Name: launchModel}); err == nil {
				c.launch[r] = m.Seconds(&[4]int64{})
			}
		}
	}
}

// gpusProperty is how many devices a host has.
const gpusProperty = "gpus"

// checkDevices refuses a trace with queues where a rank has no device of its own, and warns of one without where the
// models of kernels are those of devices.
func (l *loader) checkDevices() error {
	p := l.machine.Platform
	for host, n := range l.machine.ranksOnHosts() {
		if n == 0 {
			continue
		}
		gpus, line, err := stated(p, host, gpusProperty)
		switch {
		case err != nil:
			return err
		case len(l.header.Queues) > 0 && gpus < float64(n):
			return fmt.Errorf("%s: the trace has queues of a device for each rank, and host %s has %d ranks and %g devices: hosts state them as "+
				`<prop id="gpus" value="8"/>; calibrate machine --sheet makes such a machine`, p.Name(), p.Host(host).Name, n, gpus)
		case len(l.header.Queues) == 0 && gpus > 0:
			l.odd = append(l.odd, warning.At(p.Name(), line, "host %s has GPUs, whose models the kernels of the trace get, though it launches none on them",
				p.Host(host).Name).As(warning.Risk))
			return nil
		}
	}
	return nil
}

// shares returns how long queues ran, of the mean rank and of those that ran least and most.
func (d *devices) shares(names []string) (list []Share) {
	for q, name := range names {
		s := Share{Name: name, Min: d.busy[q], Max: d.busy[q]}
		n := len(d.busy) / d.queues
		for r := range n {
			v := d.busy[r*d.queues+q]
			s.Mean += v / float64(n)
			s.Min, s.Max = min(s.Min, v), max(s.Max, v)
		}
		list = append(list, s)
	}
	return list
}

// state saves or restores the devices.
func (d *devices) state(s *snapshot.State) {
	s.Vars(&d.ready, &d.over, &d.busy)
	snapshot.Slice(s, &d.parts, func(p *parts) { s.Vars(&p.each, &p.left) })
}
