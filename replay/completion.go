package replay

import (
	"fmt"

	"reprise/trace"
)

// A completion is one of MPI_Waitall, Waitany, Waitsome and the tests: it waits for all requests of a list or for one,
// or looks which are complete. completeList plays it. Which requests are complete depends on the time of the rank, so
// the event loop must have come to its clock. This file also keeps the request slots of ranks (request, requestSlots)
// and has ranks wait for transfers (join, proceed).

// completion is how far a rank has got in its completion.
type completion struct {
	waited bool // for one, of which the others are tested
	at     int  // in the list of requests: those before have been tested
	sub    int  // of the messages of a collective operation that is tested: 1 + the next; 0: none yet
	open   bool // a message of it has not ended
}

// completions holds the completion of each rank.
type completions struct {
	ranks  []completion // nil before the first
	factor int64        // of the cost of the next testany, which grows with each that finds nothing
}

// of returns the completion of a rank.
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

// waitForAny waits for one request of a list and returns its slot, nil if none is pending. One that needs no waiting
// comes before the others: a detached send, or a collective operation, which SMPI waits for.
func (e *engine) waitForAny(r int32, rk *rank, slots []int32) (*request, outcome, error) {
	if rk.stage != stageAny && !rk.collective && !e.comeToTime(r) {
		return nil, parkedHere, nil
	}
	// First requests that need no waiting, in the order of the list; then those whose messages have ended.
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
	e.wakeFor(rk, slots)
	return nil, parkedHere, nil
}

// hasEnded reports whether the message of a request has ended. If the receive was merged with a send, the request names
// the message of the send from then on (resolve).
func (e *engine) hasEnded(slot *request) bool {
	if *slot <= completeRequest {
		return false
	}
	*slot = requestOf(e.matcher.resolve(*slot>>1-1), side(*slot&1))
	return e.matcher.messages[*slot>>1-1].flags&msgEnded != 0
}

// take completes the request of a message that has ended by now, for which the rank may have waited.
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

// notify wakes the ranks that wait for one of several messages, as this one has ended: they look again. So do actions
// beside ranks.
func (e *engine) notify(id int32, m *message) {
	if e.asides != nil {
		e.endedBeside(id)
	}
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

// Slots of requests are numbered by the trace, small numbers first, so that nearly all ranks have theirs in the
// rank itself. A request names a message and the side that the rank holds; that side keeps the message alive
// until the request is completed or let go of (MPI 3.1, section 3.7).

// A request is what a slot holds: noRequest, completeRequest, one side of a
// message as (id+1)<<1 | side, or ^n, the open collective operation n.
type request = int32

const (
	noRequest       request = 0
	completeRequest request = 1 // a detached send, or a message to nobody: complete, but not yet waited for
)

// side is the end of a message that a rank holds.
type side uint8

const (
	sender side = iota
	receiver
)

// requestOf returns the request of one side of a message.
func requestOf(message int32, s side) request { return (message+1)<<1 | request(s) }

// requestSlots knows the requests of ranks that have more of them than inlineRequests. The
// others are with the ranks (rank.reqs).
type requestSlots struct {
	overflow [][]request // by rank.overflow
}

// at returns slot n of a rank, which must be in [0, trace.MaxRequests).
func (s *requestSlots) at(rk *rank, n int32) (*request, error) {
	if uint32(n) < inlineRequests {
		return &rk.reqs[n], nil
	}
	if uint32(n) >= trace.MaxRequests {
		return nil, fmt.Errorf("request slot %d out of [0,%d)", n, trace.MaxRequests)
	}
	if rk.overflow == 0 {
		s.overflow = append(s.overflow, nil)
		rk.overflow = int32(len(s.overflow) - 1)
	}
	more := &s.overflow[rk.overflow]
	for int(n-inlineRequests) >= len(*more) {
		*more = append(*more, noRequest)
	}
	return &(*more)[n-inlineRequests], nil
}

// free returns slot n of a rank for a new request.
func (s *requestSlots) free(rk *rank, n int32) (*request, error) {
	slot, err := s.at(rk, n)
	if err == nil && *slot != noRequest {
		return nil, fmt.Errorf("request slot %d is taken: its request was not waited for", n)
	}
	return slot, err
}

// finish makes rank r wait for a request of a message, which leaves its slot.
func (e *engine) finish(r int32, slot *request) {
	q := *slot
	*slot = noRequest
	if q > completeRequest {
		e.join(r, q>>1-1, side(q&1))
	}
}

// freeRequest takes a request of rank r out of its slot without waiting for it.
func (e *engine) freeRequest(r, n int32) error {
	slot, err := e.slots.at(&e.ranks[r], n)
	if err != nil {
		return err
	}
	q := *slot
	if q < noRequest {
		return fmt.Errorf("request slot %d is of a collective operation, which must be waited for", n) // as MPI says
	}
	*slot = noRequest
	if q > completeRequest {
		e.matcher.release(e.matcher.resolve(q>>1 - 1))
	}
	return nil
}

// join makes rank r wait for the end of a message of which it holds one side; if
// the transfer has ended, it only pays what completing it costs.
func (e *engine) join(r, id int32, s side) {
	// A receive with a wildcard whose send came as another message leads to that.
	m, rk := &e.matcher.messages[id], &e.ranks[r]
	if m.flags&msgAlias != 0 {
		id = e.matcher.resolve(id)
		m = &e.matcher.messages[id]
	}
	if m.flags&msgEnded == 0 {
		m.flags |= msgSendWait << s
		rk.waits++
		return
	}
	if s == receiver || m.ofWindow() {
		if overhead := e.costs.recvOverhead(r, m); rk.serial {
			e.pay(r, overhead)
		} else {
			rk.after += overhead
		}
	}
	e.matcher.release(id)
}

// proceed reports whether rank r can go on at once; if not, it is blocked until
// the transfers that it joined have ended, and the time is charged to k.
func (e *engine) proceed(r int32, k TimeKind) bool {
	rk := &e.ranks[r]
	if rk.waits > 0 {
		rk.charge = k
		return false
	}
	if rk.after > 0 {
		e.pay(r, rk.after)
		rk.after = 0
	}
	return true
}
