package replay

import (
	"cmp"
	"fmt"
	"slices"

	"reprise/internal/snapshot"
	"reprise/platforms"
	"reprise/trace"
)

// This file plays what ranks do with their devices (devices). A queue is a clock beside the rank's: the time at which all
// that is in it has run. An event is the time that its queue had. Both concern their rank alone and are known as soon as
// the rank comes to the action, so that nothing here needs the event loop.

// Properties of hosts whose ranks have a device each.
const (
	launchProperty  = "device_launch"  // seconds that a call which puts something into a queue takes the rank
	latencyProperty = "device_latency" // seconds until device or host sees what the other one hands over
)

// devices has the devices of all ranks; it is empty if the trace has no queues.
type devices struct {
	queues, events int // of a rank
	kernels        []trace.Kernel

	launch, latency []float64    // by rank
	clocks          []queueClock // [ranks][queues]
	recorded        []float64    // [ranks][events]: when the last of a number is over
	running         [][]span     // of each rank: when any queue runs, from its clock on; ascending, with gaps between them
}

// deviceStates are what a device does. Without work it waits for the host, or for messages while the host does.
var deviceStates = [...]string{"busy", "waits for messages", "waits for the host"}

// queueClock is the state of a queue.
type queueClock struct {
	end float64 // of all that is in it, or of the running part
	// Of the launch in parts that runs, if there is one: the parts that have not ended, and the seconds of each. Taken says
	// that the host has seen the end of the last one.
	parts  int64
	part   float64
	taken  bool
	kernel int32
}

// newDevices returns the devices of the ranks of a trace, as their hosts state them.
func newDevices(h *trace.Header, m *Machine) (d devices, err error) {
	if len(h.Queues) == 0 {
		return d, nil
	}
	n := len(m.Hosts)
	d = devices{queues: len(h.Queues), events: len(h.Events), kernels: h.Kernels,
		launch: make([]float64, n), latency: make([]float64, n), clocks: make([]queueClock, n*len(h.Queues)),
		recorded: make([]float64, n*len(h.Events)), running: make([][]span, n)}
	for r, host := range m.Hosts {
		for name, to := range map[string]*float64{launchProperty: &d.launch[r], latencyProperty: &d.latency[r]} {
			prop, ok := m.Platform.HostProp(int(host), name)
			if !ok {
				return d, fmt.Errorf("host %s has no device, and the trace puts kernels into queues of one: want the properties %s and %s of the host, in seconds",
					m.Platform.Host(int(host)).Name, launchProperty, latencyProperty)
			}
			if *to, err = platforms.ParseLatency(prop.Value); err != nil || !(*to >= 0 && *to < maxTime) {
				return d, fmt.Errorf("%s:%d: %s %q, want a time of at least 0", m.Platform.Name(), prop.Line, name, prop.Value)
			}
		}
		d.latency[r] *= cmp.Or(m.HandOver, 1)
	}
	return d, nil
}

// state saves or restores the queues.
func (d *devices) state(s *snapshot.State) {
	snapshot.Slice(s, &d.clocks, func(q *queueClock) { s.Vars(&q.end, &q.parts, &q.part, &q.taken, &q.kernel) })
	s.Vars(&d.running, &d.recorded)
}

// enqueue plays a call that puts a kernel into a queue. One with a size of 0 only costs the call.
func (e *engine) enqueue(r int32, rk *rank, a *trace.Action) error {
	d := &e.devices
	if uint(a.Tag) >= uint(d.queues) || int(a.Sym) >= len(d.kernels) {
		return fmt.Errorf("kernel %d in queue %d, the trace has %d and %d", a.Sym, a.Tag, len(d.kernels), d.queues)
	}
	rk.clock += d.launch[r]
	e.charge(r, TimeOverhead)
	q := &d.clocks[int(r)*d.queues+int(a.Tag)]
	if q.parts > 0 {
		return fmt.Errorf("behind a launch of which %d parts have not ended", q.parts)
	}
	for i, dim := range d.kernels[a.Sym].Dims {
		if a.X[i] == 0 && dim.Enum == nil && !dim.Label {
			return nil
		}
	}
	m := &e.costs.models[int(e.costs.rowOf[r])+int(a.Sym)]
	switch {
	case m.err != nil:
		return e.costs.noModel(r, a.Sym)
	case m.flop:
		return fmt.Errorf("the model of %s is in flop, at the speed of the host: want one of the device, in seconds",
			e.costs.kernelNames[a.Sym])
	}
	seconds := 0.0
	if m.Noisy() {
		seconds = m.Draw(&a.X, e.costs.random.computation(r))
	} else {
		seconds = m.Seconds(&a.X)
	}
	*e.accounts.at(e.accounts.device()+len(deviceStates)+int(a.Sym), r) += seconds
	q.end = max(q.end, rk.clock)
	q.kernel = int32(a.Sym)
	if a.Flags&trace.FlagParts != 0 && a.X[3] > 0 {
		q.parts, q.part = a.X[3], seconds/float64(a.X[3])
		e.runQueued(r, a.Tag, q, q.part)
		return nil
	}
	e.runQueued(r, a.Tag, q, seconds)
	if a.Flags&trace.FlagBlocking != 0 {
		e.waitDevice(r, rk, a.Tag, q.end)
	}
	return nil
}

// runQueued has a kernel, or a part of one, run at the end of a queue.
func (e *engine) runQueued(r, queue int32, q *queueClock, seconds float64) {
	begin := q.end
	if q.end += seconds; e.observers != nil {
		e.notifyQueued(r, queue, q.kernel, begin, q.end)
	}
	cover(&e.devices.running[r], begin, q.end)
}

// chargeDevice charges the time of the device of a rank, which the rank has spent on a kind. All that runs by then has
// been put into a queue.
func (e *engine) chargeDevice(r int32, k TimeKind, since, until float64) {
	list, busy, over := e.devices.running[r], 0.0, 0
	for _, t := range list {
		if t.From >= until {
			break
		}
		if busy += min(t.To, until) - max(t.From, since); t.To > until {
			break
		}
		over++
	}
	e.devices.running[r] = slices.Delete(list, 0, over)
	idle := 2
	if k.Waits() || k == TimePoll {
		idle = 1
	}
	first := e.accounts.device()
	*e.accounts.at(first, r) += busy
	*e.accounts.at(first+idle, r) += max(0, until-since-busy)
}

// waitDevice has a rank wait for a time of its device, when a queue, or behind the queues an event, has come there.
func (e *engine) waitDevice(r int32, rk *rank, place int32, until float64) {
	if until > rk.clock {
		rk.clock = until
		e.charge(r, TimeDevice)
		if e.log != nil {
			e.log.Synced(r, place, int32(TimeDevice))
		}
	}
}

// queue plays an action on a queue.
func (e *engine) queue(r int32, rk *rank, a *trace.Action) error {
	d, v := &e.devices, a.QueueVerb()
	if uint(a.Tag) >= uint(d.queues) || v.Named() && int(a.Sym) >= d.events {
		return fmt.Errorf("%v of queue %d and event %d, the trace has %d and %d", v, a.Tag, a.Sym, d.queues, d.events)
	}
	own := d.clocks[int(r)*d.queues:][:d.queues]
	q := &own[a.Tag]
	event := func() *float64 { return &d.recorded[int(r)*d.events+int(a.Sym)] }
	place := int32(d.queues) + int32(a.Sym) // of the event
	switch v {
	case trace.QueueRecord:
		if *event() = q.end; e.log != nil {
			e.log.Ordered(r, place, a.Tag)
		}
	case trace.QueueWait:
		if at := *event(); at > q.end {
			if q.end = at; e.log != nil {
				e.log.Ordered(r, a.Tag, place)
			}
		}
	case trace.QueueSyncEvent:
		e.waitDevice(r, rk, place, *event())
	case trace.QueueSync:
		e.waitDevice(r, rk, a.Tag, q.end)
	case trace.QueueSyncAll:
		for i := range own {
			e.waitDevice(r, rk, int32(i), own[i].end)
		}
	case trace.QueueTake:
		if q.parts == 0 || q.taken {
			return fmt.Errorf("%v, but no launch in parts runs that has not been taken", v)
		}
		e.waitDevice(r, rk, a.Tag, q.end+d.latency[r])
		q.taken = true
	case trace.QueueGive:
		if !q.taken {
			return fmt.Errorf("%v without %v before it", v, trace.QueueTake)
		}
		// The next part begins when the device has seen that it may; behind the last one the queue goes on.
		q.taken = false
		if q.end = rk.clock + d.latency[r]; e.log != nil {
			e.log.Queued(r, a.Tag, int32(TimeDevice), rk.clock, q.end)
		}
		if q.parts--; q.parts > 0 {
			e.runQueued(r, a.Tag, q, q.part)
		}
	default:
		return errUnsupported
	}
	return nil
}
