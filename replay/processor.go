package replay

import (
	"math"

	"reprise/platforms"
	"reprise/trace"
)

// processors shares the cores of the hosts that run more ranks than they have
// cores, and of those whose speed changes: n computations at once each get
// min(bound, what is left fairly). There is no pinning. Other hosts need none of this.
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

// compute begins a computation of flops on the shared host of rank r, which gets
// an event at its end.
func (e *engine) compute(r int32, flops, bound float64) {
	rk := &e.ranks[r]
	p := &e.cpus.hosts[e.cpus.index[e.machine.Hosts[r]]-1]
	e.cpus.work[r] = work{left: flops, bound: bound, at: rk.clock}
	p.active = append(p.active, r)
	e.share(p, rk.clock)
}

// computed ends the computation of rank r at a time.
func (e *engine) computed(r int32, at float64) {
	p := &e.cpus.hosts[e.cpus.index[e.machine.Hosts[r]]-1]
	for i, other := range p.active {
		if other == r {
			p.active = append(p.active[:i], p.active[i+1:]...)
			break
		}
	}
	e.share(p, at)
}

// share gives each computation on p its rate from a time on.
func (e *engine) share(p *processor, at float64) {
	if p.speed == 0 {
		return // as in SimGrid: who computes keeps his rate, and who begins waits
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

// level returns the max-min fair rate of the computations on p that are not
// held back by their bounds: those with a bound below the level leave the rest
// to the others.
func (c *processors) level(p *processor) float64 {
	// Computations with a bound below the level take that and leave the rest to the others, which raises the
	// level. It rises until no more of them fall below it.
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

// putOff has a rank wait for the event loop to come to its clock before it computes, and
// reports whether it must.
func (e *engine) putOff(r int32, rk *rank) bool {
	if rk.stage != stageFresh || rk.clock <= e.now {
		return false
	}
	rk.stage = stageBegin
	e.wakeups.Set(r, rk.clock)
	return true
}

// beginWork begins a computation of rank r, which gets an event at its end.
func (e *engine) beginWork(r int32, rk *rank, flops, bound float64) {
	rk.stage = stageCompute
	e.compute(r, flops, bound)
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
		e.cpus.hosts = append(e.cpus.hosts,
			processor{speed: e.speed(int32(h)), cores: float64(host.Cores), limit: math.Inf(1)})
		if varies[int32(h)] {
			e.cpus.hosts[len(e.cpus.hosts)-1].limit = e.speed(int32(h))
		}
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

// workBound returns the flop/s of a computation of rank r that has a core for itself: where
// the speed changes, processor.limit is the bound.
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
	for _, r := range c.hosts[c.index[host]-1].active {
		if c.work[r].rate == 0 {
			return true
		}
	}
	return false
}

// varyingKernel plays a call of a kernel whose time goes by the speed of a host that
// changes.
func (e *engine) varyingKernel(r int32, rk *rank, m *kernelModel, a *trace.Action) outcome {
	switch {
	case rk.stage == stageLook:
		rk.stage = stageFresh
		e.chargeKernel(r, rk, a.Sym)
		return goOn
	case e.putOff(r, rk):
		return parkedHere
	}
	seconds := 0.0
	if m.Noisy() {
		seconds = m.Draw(&a.X, e.costs.random.computation(r))
	} else {
		seconds = m.Seconds(&a.X)
	}
	if !(seconds > 0) {
		rk.stage = stageFresh
		return goOn
	}
	e.beginWork(r, rk, seconds*m.speed, e.workBound(r))
	return parkedHere
}
