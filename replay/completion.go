package replay

import (
	"fmt"

	"reprise/trace"
)

// A completion concerns several requests of a rank: it waits for all, for one, or looks
// which are complete. Which these are follows from the time of the rank: the event loop must
// have come there.

// completion is how far a rank is in one.
type completion struct {
	waited bool // for one, of which the others are tested
	at     int  // in the list of requests: those before have been tested
	sub    int  // of the messages of a collective operation that is tested: 1 + the next; 0: none yet
	open   bool // a message of it has not ended
}

// completions knows how far ranks are in theirs.
type completions struct {
	ranks  []completion // nil before the first
	factor int64        // of the cost of the next testany, which grows with each that finds nothing
}

// of returns how far a rank is.
func (c *completions) of(r int32, ranks int) *completion {
	if c.ranks == nil {
		c.ranks = make([]completion, ranks)
		c.factor = max(c.factor, 1)
	}
	return &c.ranks[r]
}

// completeList carries on a KindComplete of rank r.
func (e *engine) completeList(r int32, rk *rank, a *trace.Action) (outcome, error) {
	// How far the rank is stays in e.completions while it is parked, and is forgotten at the end.
	slots, err := e.requestList(r, a.X[0])
	if err != nil {
		return goOn, err
	}
	c := e.completions.of(r, len(e.ranks))
	var out outcome
	switch trace.Completion(a.Sym) {
	case trace.CompleteAll:
		// Collective operations come first.
		for _, n := range slots {
			slot, err := e.slots.at(rk, n)
			if err != nil {
				return goOn, err
			}
			if *slot < noRequest && e.complete(r, rk, slot) == parkedHere {
				return parkedHere, nil
			}
		}
		rk.serial = true
		for _, n := range slots {
			slot, _ := e.slots.at(rk, n)
			e.finish(r, slot)
		}
		return e.settled(r, TimeWait), nil
	case trace.CompleteAny:
		_, out, err = e.waitForAny(r, rk, slots)
	case trace.CompleteSome:
		if !c.waited { // for one request; then the others are tested
			var slot *request
			if slot, out, err = e.waitForAny(r, rk, slots); slot == nil || out == parkedHere || err != nil {
				break
			}
			c.waited = true
		}
		out, err = e.testEach(r, rk, slots, c)
	case trace.TestAll, trace.TestSome:
		out, err = e.testEach(r, rk, slots, c)
	case trace.TestAny:
		out, err = e.testForAny(r, rk, slots)
	default:
		return goOn, errUnsupported
	}
	if out != parkedHere {
		*c = completion{}
	}
	return out, err
}

// requestList returns the slots that an action names.
func (e *engine) requestList(r int32, list int64) ([]int32, error) {
	s, ok := e.source.(Requester)
	if !ok {
		return nil, errUnsupported
	}
	slots := s.Requests(r, list)
	if len(slots) == 0 {
		return nil, fmt.Errorf("no list %d of requests", list)
	}
	return slots, nil
}

// waitForAny waits for one request of a list and returns its slot, nil if none is pending. One
// that needs no waiting comes before the others: a detached send, or a collective operation,
// which SMPI waits for.
func (e *engine) waitForAny(r int32, rk *rank, slots []int32) (*request, outcome, error) {
	if rk.stage != stageAny && !rk.collective && !e.comeToTime(r) {
		return nil, parkedHere, nil
	}
	// First those that need no waiting, in the order of the list; then those that have ended by now.
	pending := false
	for _, n := range slots {
		slot, err := e.slots.at(rk, n)
		switch {
		case err != nil:
			return nil, goOn, err
		case *slot < noRequest:
			return slot, e.complete(r, rk, slot), nil
		case *slot == completeRequest:
			*slot = noRequest
			return slot, goOn, nil
		}
		pending = pending || *slot != noRequest
	}
	for _, n := range slots {
		if slot, _ := e.slots.at(rk, n); e.hasEnded(slot) {
			return slot, e.take(r, rk, slot), nil
		}
	}
	if !pending {
		return nil, goOn, nil
	}
	// None has: the end of the first of them wakes the rank (notify).
	for _, n := range slots {
		if slot, _ := e.slots.at(rk, n); *slot != noRequest {
			e.matcher.messages[*slot>>1-1].flags |= msgNotify
		}
	}
	rk.stage = stageAny
	return nil, parkedHere, nil
}

// hasEnded reports whether a request is of a message that has ended. From then on it is
// that message's own.
func (e *engine) hasEnded(slot *request) bool {
	if *slot <= completeRequest {
		return false
	}
	*slot = requestOf(e.matcher.resolve(*slot>>1-1), side(*slot&1))
	return e.matcher.messages[*slot>>1-1].flags&msgEnded != 0
}

// take completes the request of a message that has ended by now, for which the rank may have
// waited.
func (e *engine) take(r int32, rk *rank, slot *request) outcome {
	if rk.stage == stageAny {
		rk.stage = stageFresh
		rk.charge = TimeWait
		rk.clock = later(rk.clock, e.now)
		e.chargeWait(r, *slot>>1-1)
	}
	rk.serial = false
	e.finish(r, slot)
	return e.settled(r, TimeWait)
}

// notify lets the ranks look that wait for any of several messages, of which this one has
// ended.
func (e *engine) notify(m *message) {
	for _, r := range [2]int32{m.src, m.dst} {
		if e.ranks[r].stage == stageAny {
			e.wakeups.Set(r, e.now)
		}
	}
}

// testEach tests the requests of a list, one after the other.
func (e *engine) testEach(r int32, rk *rank, slots []int32, c *completion) (outcome, error) {
	for ; c.at < len(slots); c.at++ {
		slot, err := e.slots.at(rk, slots[c.at])
		if err != nil {
			return goOn, err
		}
		if (*slot != noRequest || rk.stage != stageFresh) && !e.testRequest(r, rk, slot) {
			return parkedHere, nil
		}
	}
	return goOn, nil
}

// testForAny looks once whether one request of a list is complete, and takes it. Its cost grows
// with each look that finds none, whatever the options say; without messages there is none.
func (e *engine) testForAny(r int32, rk *rank, slots []int32) (outcome, error) {
	// A list without messages costs nothing; one that is complete already is taken.
	pending, complete := false, (*request)(nil)
	for _, n := range slots {
		slot, err := e.slots.at(rk, n)
		if err != nil {
			return goOn, err
		}
		switch {
		case *slot == completeRequest && complete == nil:
			complete = slot
		case *slot != completeRequest && *slot != noRequest:
			pending = true
		}
	}
	if !pending {
		if complete != nil {
			*complete = noRequest
		}
		return goOn, nil
	}
	// The look costs a test, times a factor that is common to all ranks.
	if !rk.collective && !e.testSleep(r, rk, e.completions.factor, true) {
		return parkedHere, nil
	}
	for _, n := range slots {
		slot, _ := e.slots.at(rk, n)
		switch {
		case e.hasEnded(slot):
			e.completions.factor = 1
			return e.take(r, rk, slot), nil
		case *slot < noRequest && (rk.collective || e.allEnded(slot)):
			e.completions.factor = 1
			return e.complete(r, rk, slot), nil
		}
	}
	e.completions.factor++
	return goOn, nil
}

// allEnded reports whether all messages of an open collective operation have ended.
func (e *engine) allEnded(slot *request) bool {
	requests := e.collectives.open[^*slot].requests
	for i := range requests {
		if requests[i] > completeRequest && !e.hasEnded(&requests[i]) {
			return false
		}
	}
	return true
}

// testCollective carries on a test of an open collective operation: a test of its own, then one
// of each of its messages. It reports whether it is over.
func (e *engine) testCollective(r int32, rk *rank, slot *request) bool {
	c, o := e.completions.of(r, len(e.ranks)), &e.collectives.open[^*slot]
	if c.sub == 0 {
		if !e.testSleep(r, rk, e.prober.testFactor, e.prober.grows) {
			return false
		}
		c.sub, c.open = 1, false
	}
	// Each message is tested as one of its own, with its costs; c.sub says where a parked rank goes on.
	for ; c.sub <= len(o.requests); c.sub++ {
		q := &o.requests[c.sub-1]
		if !e.testMessage(r, rk, q) {
			return false
		}
		c.open = c.open || *q != noRequest
	}
	if c.open {
		c.sub = 0
		if e.prober.grows {
			e.prober.testFactor++
		}
		return true
	}
	// All messages have ended: what is left is the computation of a reduction, if there is one.
	e.prober.testFactor = 1
	if e.computation(r, rk, o.flops) == parkedHere {
		return false
	}
	c.sub = 0
	e.collectives.close(slot)
	return true
}

// startSend starts a persistent send: it costs what a blocking one does, and is complete when an
// isend is.
func (e *engine) startSend(r int32, a *trace.Action) error {
	slot, err := e.slots.free(&e.ranks[r], a.Req)
	if err != nil {
		return err
	}
	e.pay(r, e.costs.sendOverhead(r, a.X[0], false))
	id, err := e.postSend(r, a.Peer, e.label(a), a.X[0], false)
	if err == nil {
		*slot = completeRequest
		if !e.costs.protocol.Detached(a.X[0]) {
			*slot = requestOf(id, sender)
		}
	}
	return err
}
