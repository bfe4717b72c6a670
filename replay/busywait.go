package replay

import (
	"math"

	"reprise/trace"
)

// A rank in a busy wait does nothing but probe until a message is there. Its probes are not
// played one by one: it is parked until the message is posted, and goes on at the first of
// its probes that sees it.
//
// A rank that does so for a message from any source or with any tag
// does not know whose post ends that: ranks run ahead of the event loop, one more than another,
// and what is posted first need not be what is known first. It is parked until the first of
// its probes that sees a message known so far, and earlier once an earlier one is known.
// When the event loop has come to that time, there is none before it.

// spinUntil lets a rank that does nothing but probe take all the turns up to
// the first one that sees a send posted at a time. What a turn takes is known
// from the second probe on: the first one is a plain miss.
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
		e.lookEarlier(r, e.visible(id))
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

// busyWait returns the message for which a rank that is not blocked does nothing but
// probe, and whether there is one.
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

// lookEarlier has rank r look at the first of its probes that sees a message visible from
// a time on, unless it does before.
func (e *engine) lookEarlier(r int32, at float64) {
	if _, look := e.prober.nextLook(&e.ranks[r], at); look < e.wakeups.Time(r) {
		e.wakeups.Set(r, look)
	}
}
