package replay

import "math"

// Where the costs of probes grow, each miss of a rank makes the next probe of any rank
// costlier, so that all probes are events in one order. So are those of ranks on shared
// processors, which compute for them.

// eventProbe is probe event by event, in the order of all ranks.
func (e *engine) eventProbe(r, src int32, l label, spin bool) probeResult {
	rk := &e.ranks[r]
	switch rk.stage {
	case stageFresh:
		rk.stage = stageBegin
		if spin && rk.lastMiss >= 0 && !rk.shared {
			e.beginSpin(r, src, l)
		}
		if rk.clock > e.now {
			e.wakeups.Set(r, rk.clock)
			return notYetKnown
		}
		fallthrough
	case stageBegin:
		// The event loop has come to the begin of the probe, so the factor is that which all misses before it
		// have left. On a shared core the probe is a computation, as long as it gets its usual share.
		cost := float64(float64(e.prober.factor) * e.prober.cost)
		if rk.shared {
			bound := e.options.IprobeCPUUsage * e.speed(e.machine.Hosts[r])
			rk.stage = stageCompute
			e.compute(r, cost*bound, bound)
			return notYetKnown
		}
		rk.clock += cost
		rk.stage = stageLook
		e.wakeups.Set(r, rk.clock)
		return notYetKnown
	}
	// The probe has been paid and looks.
	rk.spinning = false
	rk.awaitedPeer = noneAwaited
	e.charge(r, TimePoll)
	e.prober.numPolls++
	if spin && e.observers != nil && e.waitObservers[r].looked == noTime {
		e.looks(r)
	}
	if m := e.findFirst(rk, src, l); m >= 0 && e.sees(r, m, spin) {
		e.prober.factor = 1
		return hit
	}
	e.prober.grow()
	return miss
}

// beginSpin notes that rank r does nothing but probe, and what it does between
// two probes takes the same time at each turn. From now on only the event loop
// deals with it (takeTurns), until a probe sees the message.
func (e *engine) beginSpin(r, src int32, l label) {
	rk := &e.ranks[r]
	rk.spinning = true
	rk.between = rk.clock - rk.lastMiss
	rk.arrival = math.Inf(1)
	m := e.findFirst(rk, src, l)
	if m >= 0 {
		rk.arrival = e.visible(m)
	}
	if m < 0 || isWild(src, l.tag) { // another rank may yet post an earlier one
		rk.await(src, l)
	}
}

// maxTurns is how many turns of busy waits are taken before the event loop asks whether
// it should pause: a rank may wait for as long as somebody computes.
const maxTurns = 1 << 12

// takeTurns takes the first events of the queue up to a time, as long as they are
// turns of busy waits that see nothing. It reports whether there may be more of them.
func (e *engine) takeTurns(until float64) bool {
	for range maxTurns {
		at := e.wakeups.Next()
		if at >= until {
			return false
		}
		r := e.wakeups.First()
		rk := &e.ranks[r]
		if !rk.spinning || rk.stage == stageLook && rk.arrival <= at {
			return false
		}
		e.now = max(e.now, at)
		// This probe sees nothing: the rank does what lies between two probes, and probes again. Where that
		// takes no time, the next probe is paid at once.
		if rk.stage == stageLook {
			e.prober.numPolls++
			e.prober.grow()
			if e.observers != nil && e.waitObservers[r].looked == noTime {
				e.looks(r)
			}
			rk.stage = stageBegin
			rk.clock += rk.between
		}
		if rk.clock <= at {
			rk.clock += float64(float64(e.prober.factor) * e.prober.cost)
			rk.stage = stageLook
		}
		e.wakeups.Set(r, rk.clock)
	}
	return true
}
