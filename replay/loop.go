package replay

import (
	"math"
	"slices"

	"reprise/netmodel"
)

// The event loop (engine.loop). Between two events all ranks are blocked or parked: each has run ahead on its own clock
// as far as it could without knowing what others do. The time of the loop never goes back. A rank that runs ahead
// affects others by its posts alone, which carry its clock. An action that must see posts in the order of time parks
// its rank until the loop has come to its clock.

// loop plays everything that is left.
func (e *engine) loop() error {
	var done []int32
	changes, observed := e.changes, e.observers != nil
	for {
		if err := e.runAll(); err != nil {
			return err
		}
		// All ranks wait. The next event is the earliest of: the end of a transfer or another change in the
		// network (flows), a send for which receives with wildcards wait (matches), a transfer that waits for a
		// change of its links, a change of the machine, and the time of a parked rank.
		flows, matches := e.network.Next(), e.matcher.pending.Next()
		if e.pauser.due() {
			if err := e.pauser.call(); err != nil {
				return err
			}
		}
		others := earlier(flows, matches)
		if changes != nil {
			others = earlier(others, changes.starts.Next())
		}
		beside := math.Inf(1)
		if e.asides != nil {
			beside = e.asides.times.Next()
			others = earlier(others, beside)
		}
		// If there are only parked ranks, all of these may probe in vain for ever.
		if others > maxTime {
			if !math.IsInf(others, 1) {
				return e.slowestLink()
			}
			if e.stuck() && (changes == nil || !e.revives()) {
				return e.checkComplete()
			}
		}
		if changes != nil {
			others = earlier(others, changes.next())
		}
		// Busy waits whose probes see nothing are played here as long as nothing else comes.
		if e.takeTurns(others) {
			continue
		}
		if e.repeats != nil && e.repeats.standing == len(e.ranks) {
			if jumps, err := e.atCut(); jumps || err != nil {
				if err != nil {
					return err
				}
				continue
			}
		}
		// Of events at one time changes of the machine come first, then sends, then transfers, then actions beside ranks,
		// then ranks.
		parked := e.wakeups.Next()
		if changes != nil {
			if changed, err := e.change(earlier(earlier(flows, matches), earlier(beside, parked))); changed || err != nil {
				if err != nil {
					return err
				}
				continue
			}
		}
		if beside < flows && beside < matches && beside <= parked {
			if err := e.playBeside(beside); err != nil {
				return err
			}
			continue
		}
		if matches <= flows && matches <= parked && !math.IsInf(matches, 1) {
			e.now = later(e.now, matches)
			if err := e.match(e.matcher.pending.Pop()); err != nil {
				return err
			}
			continue
		}
		e.now = later(e.now, earlier(flows, parked))
		if flows <= parked {
			done = e.network.Advance(e.now, done[:0])
			if len(done) > 1 && len(e.ranks) > netmodel.Cached {
				e.fetch(done)
			}
			for _, id := range done {
				if observed {
					e.notifyEnd(id)
				}
				if err := e.end(id); err != nil {
					return err
				}
			}
			continue
		}
		e.unpark(e.wakeups.Pop())
	}
}

// fetch reads what the ends of several transfers touch. One by one, each end waits for main memory several times; here
// these waits overlap, as few reads need the one before.
func (e *engine) fetch(ended []int32) {
	sum := 0.0
	for _, id := range ended {
		sum += e.matcher.messages[id].at
	}
	for _, id := range ended {
		m := &e.matcher.messages[id]
		for _, r := range [...]int32{m.src, m.dst} {
			sum += e.ranks[r].clock + *e.accounts.at(0, r) + float64(e.action(r, 0).Kind)
		}
	}
	e.fetched = sum
}

// earlier and later are min and max of times, which are never NaN. The builtin functions look for NaN, and take several
// times as long.
func earlier(a, b float64) float64 {
	if b < a {
		return b
	}
	return a
}

// later returns the later of two times.
func later(a, b float64) float64 {
	if b > a {
		return b
	}
	return a
}

// unpark lets a parked rank go on: the event loop has come to its clock.
func (e *engine) unpark(r int32) {
	rk := &e.ranks[r]
	switch rk.stage {
	case stageCompute:
		rk.clock = e.now
		rk.stage = stageLook
		if e.meter != nil {
			e.meter.sharedUntil(e.machine.Hosts[r], e.now)
		}
		p := &e.cpus.hosts[e.cpus.index[e.machine.Hosts[r]]-1]
		i := slices.Index(p.active, r)
		p.active = slices.Delete(p.active, i, i+1)
		e.share(p, e.now)
	case stageStands:
		rk.stage = stageFresh
		if e.repeats != nil {
			e.repeats.standing--
		}
	}
	e.wake(r)
}

// runAll runs every runnable rank until it blocks.
func (e *engine) runAll() error {
	for e.first >= 0 {
		r := e.first
		e.first = e.ranks[r].next
		if err := e.run(r); err != nil {
			return err
		}
	}
	return nil
}

// wake appends a rank to the list of runnable ones.
func (e *engine) wake(r int32) {
	e.ranks[r].next = -1
	if e.first < 0 {
		e.first = r
	} else {
		e.ranks[e.last].next = r
	}
	e.last = r
}
