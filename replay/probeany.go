package replay

import "math"

// A rank that probes for a message from any source or with any tag until it sees one does
// not know whose post ends that: ranks run ahead of the event loop, one more than another,
// and what is posted first need not be what is known first. It is parked until the first of
// its probes that sees a message known so far, and earlier once an earlier one is known.
// When the event loop has come to that date, there is none before it.

// findFirst returns the message of src with tag that a probe of the rank sees first, or -1.
func (e *engine) findFirst(rk *rank, src, tag int32) int32 {
	if !isWild(src, tag) {
		m, _ := e.find(&rk.sends, src, tag)
		return m
	}
	best, date := int32(-1), math.Inf(1)
	for id := rk.sends.head; id >= 0; id = e.after[id] {
		if e.messages[id].accepts(src, tag) {
			if v := e.visible(id); v < date {
				best, date = id, v
			}
		}
	}
	return best
}

// lookForAny carries on probes of constant cost of rank r until one sees a message.
func (e *engine) lookForAny(r, src, tag int32) (verdict, error) {
	rk := &e.ranks[r]
	e.payProbe(r, rk)
	rk.guardPeer, rk.guardTag = src, tag
	for {
		m := e.findFirst(rk, src, tag)
		if m < 0 {
			return undecided, nil
		}
		turns, look := e.nextLook(rk, e.visible(m))
		if look > e.now {
			e.parked.Set(r, look)
			return undecided, nil
		}
		if rk.wild > 0 && unseen(&e.messages[m]) { // older receives come first
			if err := e.match(r); err != nil {
				return undecided, err
			}
			continue
		}
		rk.guardPeer = noGuard
		e.numPolls += turns
		rk.clock = look
		e.charge(r, TimePoll)
		return found, nil
	}
}

// lookEarlier has rank r look at the first of its probes that sees a message visible from
// the date on, unless it does before.
func (e *engine) lookEarlier(r int32, date float64) {
	if _, look := e.nextLook(&e.ranks[r], date); look < e.parked.Time(r) {
		e.parked.Set(r, look)
	}
}

// nextLook returns the date of the first probe of a rank, from that at its clock on, that
// sees what is visible from a date on, and how many there are before it.
func (e *engine) nextLook(rk *rank, date float64) (turns int64, look float64) {
	turn := e.options.IprobeCost
	if date <= rk.clock {
		return 0, rk.clock
	}
	if turn == 0 {
		return 0, date
	}
	n := math.Ceil((date - rk.clock) / turn)
	if look = rk.clock + float64(n*turn); look < date {
		n++
		look += turn
	}
	return int64(n), look
}
