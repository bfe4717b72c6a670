package replay

import (
	"math"

	"reprise/trace"
)

// A rank in a busy wait does nothing but probe until a message is there. Its probes are not played one by one: it is
// parked until the message is posted (notice), and goes on at the first of its probes that sees it (spinUntil).
//
// A busy wait for a message from any source or with any tag (lookForAny) may be ended by many ranks. These run ahead of
// the event loop, some further than others, so that the send known first need not be the one posted first. The rank is
// parked until its first probe that sees a send known so far, and until an earlier one if an earlier send becomes known
// (notice). Once the event loop has come to that time, no earlier send can follow.
//
// If costs grow, the turns of busy waits are events, which takeTurns plays without running the ranks.

// spinUntil lets a rank in a busy wait take all turns up to the first one that sees a send visible at a time. How long
// a turn lasts is known from the second probe on: the first one is a plain miss.
func (e *engine) spinUntil(r int32, at float64) probeResult {
	rk := &e.ranks[r]
	if rk.lastMiss < 0 {
		return miss
	}
	turn, look := rk.clock-rk.lastMiss, at
	if turn > 0 {
		turns := math.Ceil((at - rk.clock) / turn)
		look = rk.clock + float64(turns*turn)
		if look < at {
			turns++
			look += turn
		}
		e.prober.numPolls += int64(turns)
	}
	rk.clock = look
	e.charge(r, TimePoll)
	return hit
}

// notice tells a rank that is parked on a message that it has been posted.
func (e *engine) notice(r, id int32) {
	rk := &e.ranks[r]
	wild := isWild(rk.awaitedPeer, rk.awaitedTag)
	if !wild {
		rk.awaitedPeer = noneAwaited
	}
	switch {
	case rk.spinning:
		rk.arrival = earlier(rk.arrival, e.visible(id))
	case wild:
		if _, look := e.prober.nextLook(rk, e.visible(id)); look < e.wakeups.Time(r) {
			e.wakeups.Set(r, look)
		}
	default:
		e.wake(r)
	}
}

// stuck reports whether the queue has nothing but ranks in busy waits that nobody will
// end: for messages that have not been posted.
func (e *engine) stuck() bool {
	for r := range e.wakeups.All() {
		src, l, busy := e.busyWait(r)
		if !busy {
			return false
		}
		if e.findFirst(&e.ranks[r], src, l) >= 0 {
			return false
		}
	}
	return true
}

// busyWait returns the message for which a rank that is not blocked does nothing but probe, and whether there is one.
func (e *engine) busyWait(r int32) (src int32, l label, busy bool) {
	rk := &e.ranks[r]
	if rk.pos == rk.filled {
		return 0, l, false
	}
	a := e.action(r, int(rk.pos))
	switch a.Kind {
	case trace.KindPoll:
		busy = a.Flags&trace.FlagSpin != 0
	case trace.KindProbe:
		busy = true
	case trace.KindRecv, trace.KindIrecv:
		busy = a.X[0] < 0
	}
	return a.Peer, e.label(a), busy
}

// lookForAny carries on probes of constant cost of rank r until one sees a message.
func (e *engine) lookForAny(r, src int32, l label) (probeResult, error) {
	rk := &e.ranks[r]
	e.payProbe(r, rk)
	rk.await(src, l)
	// Of the messages that are known by now the first decides, unless its probe lies ahead of the event loop:
	// then another rank may yet post an earlier one, and the rank is called again.
	for {
		m := e.findFirst(rk, src, l)
		if m < 0 {
			return notYetKnown, nil
		}
		turns, look := e.prober.nextLook(rk, e.visible(m))
		if look > e.now {
			e.wakeups.Set(r, look)
			return notYetKnown, nil
		}
		if rk.wild > 0 && unseen(&e.matcher.messages[m]) { // older receives come first
			if err := e.match(r); err != nil {
				return notYetKnown, err
			}
			continue
		}
		rk.awaitedPeer = noneAwaited
		e.prober.numPolls += turns
		rk.clock = look
		e.charge(r, TimePoll)
		return hit, nil
	}
}

// beginSpin notes that rank r does nothing but probe, and what it does between two probes takes the same time at each
// turn. From now on only the event loop deals with it (takeTurns), until a probe sees the message.
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
		// This probe sees nothing. The rank takes the time between two probes and probes again; if that time is 0, the
		// next probe is paid at once.
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
