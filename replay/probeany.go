package replay

import "math"

// A rank that probes for a message from any source or with any tag until it sees one does
// not know whose post ends that: ranks run ahead of the event loop, one more than another,
// and what is posted first need not be what is known first. It is parked until the first of
// its probes that sees a message known so far, and earlier once an earlier one is known.
// When the event loop has come to that time, there is none before it.

// findFirst returns the message of src with tag that a probe of the rank sees first, or -1.
func (e *engine) findFirst(rk *rank, src, tag int32) int32 {
	if !isWild(src, tag) {
		m, _ := e.find(&rk.sends, src, tag)
		return m
	}
	best, at := int32(-1), math.Inf(1)
	for id := rk.sends.head; id >= 0; id = e.after[id] {
		if e.messages[id].accepts(src, tag) {
			if v := e.visible(id); v < at {
				best, at = id, v
			}
		}
	}
	return best
}

// lookForAny carries on probes of constant cost of rank r until one sees a message.
func (e *engine) lookForAny(r, src, tag int32) (probeResult, error) {
	rk := &e.ranks[r]
	e.payProbe(r, rk)
	rk.awaitedPeer, rk.awaitedTag = src, tag
	for {
		m := e.findFirst(rk, src, tag)
		if m < 0 {
			return notYetKnown, nil
		}
		turns, look := e.nextLook(rk, e.visible(m))
		if look > e.now {
			e.wakeups.Set(r, look)
			return notYetKnown, nil
		}
		if rk.wild > 0 && unseen(&e.messages[m]) { // older receives come first
			if err := e.match(r); err != nil {
				return notYetKnown, err
			}
			continue
		}
		rk.awaitedPeer = noneAwaited
		e.numPolls += turns
		rk.clock = look
		e.charge(r, TimePoll)
		return hit, nil
	}
}

// lookEarlier has rank r look at the first of its probes that sees a message visible from
// the time on, unless it does before.
func (e *engine) lookEarlier(r int32, at float64) {
	if _, look := e.nextLook(&e.ranks[r], at); look < e.wakeups.Time(r) {
		e.wakeups.Set(r, look)
	}
}

// nextLook returns the time of the first probe of a rank, from that at its clock on, that
// sees what is visible from a time on, and how many there are before it.
func (e *engine) nextLook(rk *rank, at float64) (turns int64, look float64) {
	turn := e.options.IprobeCost
	if at <= rk.clock {
		return 0, rk.clock
	}
	if turn == 0 {
		return 0, at
	}
	n := math.Ceil((at - rk.clock) / turn)
	if look = rk.clock + float64(n*turn); look < at {
		n++
		look += turn
	}
	return int64(n), look
}
