package replay

import (
	"math"

	"reprise/platforms"
	"reprise/trace"
)

// Hosts whose speed changes are among the processors (processor.go), however few ranks are
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
