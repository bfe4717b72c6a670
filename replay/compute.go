package replay

import (
	"fmt"
	"math"
	"slices"

	"reprise/kernels/noise"
	"reprise/platforms"
	"reprise/trace"
)

// This file plays what takes processor time: calls of kernels (kernel; the common case is in engine.do), amounts of
// flop (flops) and accesses to files (file). If a host has fewer cores than ranks, the time of an amount of flop
// depends on how many ranks compute there at once (processors), and kernel models in flop get a fixed part of the speed
// (bindModels). If the speed of a host changes with time, the time of a kernel follows it.

// kernel plays a call of a kernel that has noise, or no model, or whose time changes with the speed of the host.
func (e *engine) kernel(r int32, rk *rank, m *kernelModel, a *trace.Action) (outcome, error) {
	// Where the speed changes, the time is an amount of flop at the speed that the model goes by, which the rank
	// computes as others do.
	changes := m.speed > 0
	switch {
	case m.err != nil:
		return goOn, e.costs.noModel(r, a.Sym)
	case changes && rk.stage == stageLook:
		e.chargeKernel(r, rk, a.Sym)
		rk.stage = stageFresh
		return goOn, nil
	case changes && e.putOff(r, rk):
		return parkedHere, nil
	}
	seconds := m.Seconds(&a.X)
	if m.Noisy() {
		seconds = m.Draw(&a.X, e.costs.random.computation(r))
	}
	switch {
	case changes && seconds > 0:
		e.compute(r, rk, seconds*m.speed, e.workBound(r))
		return parkedHere, nil
	case changes:
		rk.stage = stageFresh
	case seconds > 0:
		rk.clock += seconds
		e.chargeKernel(r, rk, a.Sym)
	}
	return goOn, nil
}

// flops plays an amount of flop: scaled by Options.ComputeScale, and with ComputeNoise drawn by its spread.
func (e *engine) flops(r int32, rk *rank, a *trace.Action) outcome {
	amount := a.Flops()
	if spread := a.Spread(); spread > 0 && amount > 0 && e.costs.spread && rk.stage != stageLook {
		if rk.shared && e.putOff(r, rk) {
			return parkedHere
		}
		if amount = noise.Skewed(amount, spread, e.costs.random.computation(r)); amount == 0 {
			rk.stage = stageFresh
		}
	}
	return e.computation(r, rk, amount*e.costs.scale)
}

// computation computes an amount of flop, at the rank's share of its host.
func (e *engine) computation(r int32, rk *rank, amount float64) outcome {
	if amount <= 0 {
		return goOn
	}
	switch {
	case !rk.shared:
		rk.clock += amount / e.speed(e.machine.Hosts[r])
		e.charge(r, TimeCompute)
		return goOn
	case e.putOff(r, rk):
		return parkedHere
	case rk.stage != stageLook:
		e.compute(r, rk, amount, e.workBound(r))
		return parkedHere
	}
	e.charge(r, TimeCompute)
	rk.stage = stageFresh
	return goOn
}

// files counts accesses to files and gives them time. No file system is simulated: an access is a
// pause of its rank, by its bytes, and ranks that access a file together do not wait for each other.
type files struct {
	bandwidth float64 // of each rank, byte/s; 0: accesses take no time

	numBytes, freeBytes int64
}

// file plays an access of rank r to a file.
func (e *engine) file(r int32, rk *rank, a *trace.Action) error {
	if a.X[0] < 0 || a.X[0] > maxBytes {
		return fmt.Errorf("%d bytes, want a number in [0,%d]", a.X[0], int64(maxBytes))
	}
	e.files.numBytes += a.X[0]
	if e.files.bandwidth == 0 {
		e.files.freeBytes += a.X[0]
		return nil
	}
	rk.clock += e.costs.sleepTime(float64(a.X[0]) / e.files.bandwidth)
	if rk.clock > maxTime {
		return errTooLate
	}
	e.charge(r, TimeSleep)
	return nil
}

// processors shares the cores of hosts with more ranks than cores, and of hosts whose speed changes: of n computations
// at once each gets the smaller of its bound and a fair share. There is no pinning. Other hosts are not in it.
type processors struct {
	index []int32 // by host: 1 + index into hosts, 0: not shared; nil: no host is
	hosts []processor
	work  []work // by rank
}

type processor struct {
	speed  float64 // flop/s of a core, now
	limit  float64 // the same if it changes, else +Inf: of a single computation
	cores  float64
	active []int32 // ranks that compute, in the order in which they began
}

// work is the computation of one rank.
type work struct {
	left  float64 // flop at time
	rate  float64 // flop/s
	bound float64 // flop/s
	at    float64 // seconds
}

// compute begins a computation of flops on the shared host of rank r, which gets an event at its end.
func (e *engine) compute(r int32, rk *rank, flops, bound float64) {
	rk.stage = stageCompute
	p := &e.cpus.hosts[e.cpus.index[e.machine.Hosts[r]]-1]
	if e.meter != nil {
		e.meter.sharedUntil(e.machine.Hosts[r], rk.clock)
	}
	e.cpus.work[r] = work{left: flops, bound: bound, at: rk.clock}
	p.active = append(p.active, r)
	e.share(p, rk.clock)
}

// share gives each computation on p its fair rate from a time on.
func (e *engine) share(p *processor, at float64) {
	if p.speed == 0 {
		return // as in SimGrid: computations under way keep their rates, new ones wait
	}
	level := e.cpus.level(p)
	for _, r := range p.active {
		w := &e.cpus.work[r]
		rate := min(w.bound, p.limit, level)
		if rate != w.rate {
			w.left = max(0, w.left-float64(w.rate*(at-w.at)))
			w.at, w.rate = at, rate
			e.wakeups.Set(r, at+w.left/rate)
		}
	}
}

// level returns the max-min fair rate of the computations on p that their bounds do not hold back.
func (c *processors) level(p *processor) float64 {
	// Computations with a bound below the level take that bound and leave the rest to the others, which raises the
	// level. It rises until no further bound is below it.
	level, fixed := p.cores*p.speed/float64(len(p.active)), -1
	for {
		left, slow := p.cores*p.speed, 0
		for _, r := range p.active {
			if b := min(c.work[r].bound, p.limit); b <= level {
				left -= b
				slow++
			}
		}
		if slow == len(p.active) {
			return math.Inf(1)
		}
		if slow == fixed {
			return level
		}
		level, fixed = left/float64(len(p.active)-slow), slow
	}
}

// putOff has a rank wait for the event loop to come to its clock before it computes, and reports whether it must.
func (e *engine) putOff(r int32, rk *rank) bool {
	if rk.stage != stageFresh || rk.clock <= e.now {
		return false
	}
	rk.stage = stageBegin
	e.wakeups.Set(r, rk.clock)
	return true
}

// shareCores finds the hosts that run more ranks than they have cores, and those whose
// speed changes, unless they cannot compute at all.
func (e *engine) shareCores() {
	varies := e.machine.varyingHosts()
	for h, n := range e.machine.ranksOnHosts() {
		host := e.machine.Platform.Host(h)
		if host.Speed == 0 || n <= host.Cores && (n == 0 || !varies[int32(h)]) {
			continue
		}
		if e.cpus.index == nil {
			e.cpus.index = make([]int32, e.machine.Platform.NumHosts())
			e.cpus.work = make([]work, len(e.ranks))
		}
		// A host whose speed changes bounds a single computation, too; others leave that to its own bound.
		e.cpus.index[h] = int32(len(e.cpus.hosts) + 1)
		speed, limit := e.speed(int32(h)), math.Inf(1)
		if varies[int32(h)] {
			limit = speed
		}
		e.cpus.hosts = append(e.cpus.hosts, processor{speed: speed, cores: float64(host.Cores), limit: limit})
	}
	if e.cpus.index == nil {
		return
	}
	for r := range e.ranks {
		e.ranks[r].shared = e.cpus.index[e.machine.Hosts[r]] != 0
	}
}

// Hosts whose speed changes are among the processors, however few ranks are
// on them: a computation there has an event at its end, which moves with the speed.

// varyingHosts returns the hosts whose speed changes.
func (m *Machine) varyingHosts() map[int32]bool {
	hosts := map[int32]bool{}
	for _, use := range m.Platform.Profiles() {
		if use.Kind == platforms.HostSpeed {
			hosts[use.Host] = true
		}
	}
	return hosts
}

// workBound returns the flop/s of a computation of rank r that has a core for itself. It is unbounded where the speed
// changes: processor.limit bounds it there.
func (e *engine) workBound(r int32) float64 {
	host := e.machine.Hosts[r]
	if p := &e.cpus.hosts[e.cpus.index[host]-1]; !math.IsInf(p.limit, 1) {
		return math.MaxFloat64
	}
	return e.speed(host)
}

// setSpeed makes the cores of a host that many times as quick as they are declared.
func (e *engine) setSpeed(host int32, factor, at float64) {
	if e.cpus.index == nil || e.cpus.index[host] == 0 {
		return // no rank is there
	}
	// Computations under way go on at new rates from this time on.
	if e.meter != nil {
		e.meter.sharedUntil(host, at)
	}
	p := &e.cpus.hosts[e.cpus.index[host]-1]
	p.speed = factor * e.speed(host)
	p.limit = p.speed
	e.share(p, at)
}

// stands reports whether a computation waits on a host without speed.
func (c *processors) stands(host int32) bool {
	if c.index == nil || c.index[host] == 0 {
		return false
	}
	return slices.ContainsFunc(c.hosts[c.index[host]-1].active, func(r int32) bool { return c.work[r].rate == 0 })
}
