package replay

import "reprise/trace"

// This file plays the actions that look for messages: poll (KindPoll, such as HPL's MPI_Iprobe between slices of an
// update), iprobe, test, and lookFor (MPI_Probe). prober.go says what a probe sees and when; busywait.go skips the
// probes of busy waits.
//
// With late polls (reprise/poll-late) a poll sees only messages that had come when its rank last let messages in: in a
// poll that missed, an MPI_Iprobe, a test or a wait. Each of these notes its time for that (prober.letsIn).

// poll carries on a KindPoll of rank r and tells the source what it found. It reports whether the action is over.
func (e *engine) poll(r int32, a *trace.Action) (bool, error) {
	spin := a.Flags&trace.FlagSpin != 0
	rk := &e.ranks[r]
	if !spin {
		rk.lastMiss = -1
	}
	if spin && e.observers != nil && rk.stage == stageFresh && rk.lastMiss < 0 {
		e.beginsToLook(r)
	}
	v, err := e.probe(r, a.Peer, e.label(a), spin)
	if v == notYetKnown || err != nil {
		return false, err
	}
	// The time of a miss tells how long a turn of a busy wait takes: up to the next probe.
	rk.lastMiss = -1
	if spin && v == miss {
		rk.lastMiss = rk.clock
	}
	// Now the poll is over: the next action of the rank begins afresh.
	rk.stage = stageFresh
	// The source goes on by the answer. Of late polls a miss lets in the messages that the next poll sees.
	if v == miss {
		e.prober.letsIn(r, rk.clock)
	}
	e.source.Answer(r, v == hit)
	if e.observers != nil && spin {
		if e.observers.busy[r] = v != hit; v == hit {
			e.probed(r, e.findFirst(rk, a.Peer, e.label(a)))
		}
	}
	return true, nil
}

// iprobe carries on a recorded MPI_Iprobe, whose outcome decides nothing; if costs grow, it changes that of later
// probes. It reports whether the action is over.
func (e *engine) iprobe(r int32, a *trace.Action) (bool, error) {
	rk := &e.ranks[r]
	// Its cost is constant, so the rank pays it and runs ahead: it need not learn what the probe would see.
	if !e.prober.ordered && !rk.shared {
		rk.clock += e.prober.cost
		e.charge(r, TimePoll)
		e.prober.numPolls++
		e.prober.letsIn(r, rk.clock)
		return true, nil
	}
	v, err := e.probe(r, a.Peer, e.label(a), false)
	if v != notYetKnown {
		rk.stage = stageFresh
		e.prober.letsIn(r, rk.clock)
	}
	return v != notYetKnown, err
}

// test carries on a recorded MPI_Test of the request in slot n of rank r.
func (e *engine) test(r int32, rk *rank, n int32) (outcome, error) {
	slot, err := e.slots.at(rk, n)
	// A test of no request takes no time. One that has begun goes on, even if its slot has become empty meanwhile.
	if err != nil || *slot == noRequest && rk.stage == stageFresh {
		return goOn, err
	}
	return parkedUnless(e.testRequest(r, rk, slot)), nil
}

// testRequest carries on a test of a request. It reports whether it is over.
func (e *engine) testRequest(r int32, rk *rank, slot *request) bool {
	if *slot < noRequest {
		return e.testCollective(r, rk, slot)
	}
	return e.testMessage(r, rk, slot)
}

// testMessage tests the request of one message: it sleeps, then looks whether the request is complete. Like probes,
// tests share one growing factor; unlike probes, they look at the network, so that each has an event. Success resets
// the factor once the completion has been paid for.
func (e *engine) testMessage(r int32, rk *rank, slot *request) bool {
	if rk.stage == stageTested {
		e.tested(rk)
		return true
	}
	switch {
	case !e.testSleep(r, rk, e.prober.testFactor, e.prober.grows):
		return false
	case *slot == noRequest: // of a collective operation, and taken before
		return true
	case *slot != completeRequest && !e.hasEnded(slot):
		if e.prober.grows {
			e.prober.testFactor++
		}
		return true
	}
	// The message is there: the rank completes its request, which may cost time.
	e.finish(r, slot)
	e.proceed(r, TimeWait)
	if e.prober.grows && rk.clock > e.now {
		rk.stage = stageTested
		e.wakeups.Set(r, rk.clock)
		return false
	}
	e.tested(rk)
	return true
}

// testSleep lets the rank pay factor times the cost of a test before the test looks, and
// reports whether that is paid. Tests of growing cost happen in the order of time of all ranks.
func (e *engine) testSleep(r int32, rk *rank, factor int64, grows bool) bool {
	// A rank comes here up to three times: when it begins, when the event loop has come to its clock, as the
	// factor must be that of this time, and when the sleep is over.
	switch rk.stage {
	case stageFresh:
		rk.stage = stageBegin
		if grows && rk.clock > e.now {
			e.wakeups.Set(r, rk.clock)
			return false
		}
		fallthrough
	case stageBegin:
		rk.clock += e.costs.sleepTime(float64(factor) * e.prober.testCost)
		e.charge(r, TimePoll)
		rk.stage = stageLook
		if rk.clock > e.now {
			e.wakeups.Set(r, rk.clock)
			return false
		}
	}
	e.prober.numPolls++
	e.prober.letsIn(r, rk.clock)
	rk.stage = stageFresh
	return true
}

// tested ends a test that has succeeded: the next test of any rank costs what the first one did, however far misses
// have raised the cost.
func (e *engine) tested(rk *rank) {
	rk.stage = stageFresh
	e.prober.testFactor = 1
}

// lookFor carries on a blocking probe of rank r and returns the message that it has found, -1 while the rank is parked.
func (e *engine) lookFor(r int32, a *trace.Action) (int32, error) {
	rk, l := &e.ranks[r], e.label(a)
	if e.observers != nil && rk.stage == stageFresh {
		e.beginsToLook(r)
	}
	// The rank probes until its message is posted.
	for {
		rk.lastMiss = rk.clock
		// Nothing lies between the probes of a blocking probe, so that a turn is the cost of one.
		if rk.stage != stageFresh {
			rk.lastMiss = rk.clock - e.prober.cost
		}
		v, err := e.probe(r, a.Peer, l, true)
		if v == notYetKnown || err != nil {
			return -1, err
		}
		rk.lastMiss = -1
		rk.stage = stageFresh
		if v == hit {
			id := e.findFirst(rk, a.Peer, l)
			if e.observers != nil {
				e.probed(r, id)
			}
			return id, nil
		}
	}
}

// ask carries on a KindAsk of rank r, a poll of requests, and tells the source what it found. A test costs what an
// MPI_Test does, that of several what as many do.
func (e *engine) ask(r int32, rk *rank, a *trace.Action) (outcome, error) {
	slots := requestsOf(a)
	c := e.completions.of(r, len(e.ranks))
	if trace.Completion(a.Sym) != trace.CompleteAny {
		out, err := e.testEach(r, rk, slots, c)
		if out == parkedHere || err != nil {
			return out, err
		}
		*c = completion{}
		open := false
		for _, n := range slots {
			slot, _ := e.slots.at(rk, n)
			open = open || *slot != noRequest
		}
		e.source.Answer(r, !open)
		return out, nil
	}
	// The first of the questions waits for one; c.at is which.
	if a.Tag == 0 {
		slot, out, err := e.waitForAny(r, rk, slots)
		if out == parkedHere || err != nil {
			return out, err
		}
		for i, n := range slots {
			if s, _ := e.slots.at(rk, n); s == slot {
				c.at = i
			}
		}
	}
	found := int(a.Tag) == c.at
	if found {
		*c = completion{}
	}
	e.source.Answer(r, found)
	return goOn, nil
}

// requestsOf returns the request slots that a KindAsk or KindRound names.
func requestsOf(a *trace.Action) (slots []int32) {
	for _, n := range a.X {
		if n >= 0 {
			slots = append(slots, int32(n))
		}
	}
	return slots
}

// round carries on a KindRound: the rank would poll its requests in turn until one is complete, which the next round
// then finds.
func (e *engine) round(r int32, rk *rank, a *trace.Action) (outcome, error) {
	slots := requestsOf(a)
	waited := rk.stage == stageAny
	if len(slots) == 0 || !waited && !e.comeToTime(r) {
		return parkedUnless(len(slots) == 0), nil
	}
	for _, n := range slots {
		slot, err := e.slots.at(rk, n)
		if err != nil {
			return goOn, err
		}
		if *slot <= completeRequest || e.hasEnded(slot) {
			if rk.stage = stageFresh; waited {
				rk.charge = TimeWait
				rk.clock = later(rk.clock, e.now)
				e.chargeWait(r, *slot>>1-1)
			}
			return goOn, nil
		}
	}
	e.wakeFor(rk, slots)
	return parkedHere, nil
}

// wakeFor has the end of the first of several messages wake the rank, which looks again then.
func (e *engine) wakeFor(rk *rank, slots []int32) {
	for _, n := range slots {
		if slot, _ := e.slots.at(rk, n); *slot > completeRequest {
			e.matcher.messages[*slot>>1-1].flags |= msgNotify
		}
	}
	rk.stage = stageAny
}
