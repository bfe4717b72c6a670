package replay

import (
	"math"

	"reprise/smpi"
	"reprise/trace"
)

// probeResult is what a look at a message or a request brings.
type probeResult uint8

const (
	notYetKnown probeResult = iota // the rank is parked; it looks again when it runs next
	miss
	hit
)

// Probes see a message once its send is posted, whether or not a byte of it
// has moved: SMPI's rule; or, on request, once an envelope sent with the post
// would have arrived. A probe first costs its time, then looks; so at its
// own time T the rank must know which sends its source had posted by T.
//
// With a constant cost nothing but the order of two clocks matters. The answer
// is known at once if the send is in the list already, or if the source has
// run past T; else the rank has an event at T, when all posts up to T are
// known. A rank that has nothing to do but to poll (trace.FlagSpin) has no
// events at all: it is parked until the send is posted, wherever that is in
// its future, and goes on at the first of its polls that sees it.
//
// Growing costs (smpi/grow-injected-times) are different: the number that a
// cost is multiplied with is one for the whole run, so every probe is an event
// in the order of all. Growth keeps them few: k ranks that poll for W seconds
// without success do so about sqrt(2kW/cost) times. Turns of busy waits are taken
// by a loop of their own (spin), which runs no rank.

// probe carries on a probe of rank r for a message of src with tag. With spin
// the rank does nothing but probe until it is there.
func (e *engine) probe(r, src, tag int32, spin bool) (probeResult, error) {
	if src != trace.AnySource {
		if err := e.checkPeer(src); err != nil {
			return notYetKnown, err
		}
	}
	switch {
	case (e.orderedProbes || e.ranks[r].shared) && e.options.IprobeCost > 0:
		return e.eventProbe(r, src, tag, spin), nil
	case spin && isWild(src, tag):
		return e.lookForAny(r, src, tag)
	}
	return e.clockProbe(r, src, tag, spin), nil
}

// visible returns the time from which on probes see an unmatched send.
func (e *engine) visible(id int32) float64 {
	m := &e.messages[id]
	if e.options.Poll == smpi.PollPosted {
		return m.at
	}
	src, dst := int(e.machine.Hosts[m.src]), int(e.machine.Hosts[m.dst])
	return m.at + float64(e.network.Latency(src, dst)*e.options.EnvelopeFactor(src == dst))
}

// payProbe pays a probe of constant cost, unless it is under way.
func (e *engine) payProbe(r int32, rk *rank) {
	if rk.stage == stageFresh {
		rk.clock += e.options.IprobeCost
		e.charge(r, TimePoll)
		e.numPolls++
		rk.stage = stageLook
	}
}

// clockProbe is probe for a constant cost on a processor of one's own.
func (e *engine) clockProbe(r, src, tag int32, spin bool) probeResult {
	rk := &e.ranks[r]
	e.payProbe(r, rk)
	if rk.wild > 0 || isWild(src, tag) {
		return e.lookAmongWild(r, src, tag, spin)
	}
	m, _ := e.find(&rk.sends, src, tag)
	switch {
	case m >= 0 && e.visible(m) <= rk.clock:
		return hit
	case m >= 0 && spin:
		return e.spinUntil(r, e.visible(m))
	case m >= 0:
		return miss
	case spin:
		rk.awaitedPeer, rk.awaitedTag = src, tag
		return notYetKnown
	case e.ranks[src].over || e.ranks[src].clock > rk.clock || rk.clock <= e.now:
		return miss
	}
	e.wakeups.Set(r, rk.clock)
	return notYetKnown
}

// lookAmongWild is what a probe sees while the rank has receives pending that may take
// the message: the event loop must come to its time, so that they have had it first. A
// busy wait whose probes cost nothing lasts until the message can be seen.
func (e *engine) lookAmongWild(r, src, tag int32, spin bool) probeResult {
	rk := &e.ranks[r]
	if rk.clock > e.now {
		e.wakeups.Set(r, rk.clock)
		return notYetKnown
	}
	m := e.findFirst(rk, src, tag)
	switch {
	case m >= 0 && (rk.wild == 0 || !unseen(&e.messages[m])) && e.visible(m) <= rk.clock:
		return hit
	case !spin || e.options.IprobeCost > 0:
		return miss
	case m < 0:
		rk.awaitedPeer, rk.awaitedTag = src, tag
		return notYetKnown
	}
	rk.clock = max(rk.clock, e.visible(m))
	e.charge(r, TimePoll)
	e.wakeups.Set(r, rk.clock)
	return notYetKnown
}

// spinUntil lets a rank that does nothing but probe take all the turns up to
// the first one that sees a send posted at the time. What a turn takes is known
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
		e.numPolls += int64(turns)
	}
	rk.clock = look
	e.charge(r, TimePoll)
	return hit
}

// eventProbe is probe event by event, in the order of all ranks.
func (e *engine) eventProbe(r, src, tag int32, spin bool) probeResult {
	rk := &e.ranks[r]
	switch rk.stage {
	case stageFresh:
		rk.stage = stageBegin
		if spin && rk.lastMiss >= 0 && !rk.shared {
			e.beginSpin(r, src, tag)
		}
		if rk.clock > e.now {
			e.wakeups.Set(r, rk.clock)
			return notYetKnown
		}
		fallthrough
	case stageBegin:
		cost := float64(float64(e.probeFactor) * e.options.IprobeCost)
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
	rk.spinning = false
	rk.awaitedPeer = noneAwaited
	e.charge(r, TimePoll)
	e.numPolls++
	if e.watch != nil {
		e.watch.looks(r)
	}
	if m := e.findFirst(rk, src, tag); m >= 0 && e.visible(m) <= rk.clock {
		e.probeFactor = 1
		return hit
	}
	e.growProbes()
	return miss
}

func (e *engine) growProbes() {
	if e.options.GrowInjectedTimes {
		e.probeFactor++
	}
}

// beginSpin notes that rank r does nothing but probe, and what it does between
// two probes takes the same time at each turn. From now on only the event loop
// deals with it (spin), until a probe sees the message.
func (e *engine) beginSpin(r, src, tag int32) {
	rk := &e.ranks[r]
	rk.spinning = true
	rk.turn = rk.clock - rk.lastMiss
	rk.arrival = math.Inf(1)
	m := e.findFirst(rk, src, tag)
	if m >= 0 {
		rk.arrival = e.visible(m)
	}
	if m < 0 || isWild(src, tag) { // another rank may yet post an earlier one
		rk.awaitedPeer, rk.awaitedTag = src, tag
	}
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
		src, tag, busy := e.busyWait(r)
		if !busy {
			return false
		}
		if e.findFirst(&e.ranks[r], src, tag) >= 0 {
			return false
		}
	}
	return true
}

// busyWait returns the message for which a rank that is not blocked does nothing but
// probe, and whether there is one.
func (e *engine) busyWait(r int32) (src, tag int32, busy bool) {
	rk := &e.ranks[r]
	if rk.pos == rk.filled {
		return 0, 0, false
	}
	a := &e.actions[int(r)*bufferedActions+int(rk.pos)]
	switch a.Kind {
	case trace.KindPoll:
		busy = a.Flags&trace.FlagSpin != 0
	case trace.KindRecv, trace.KindIrecv:
		busy = a.X[0] < 0
	}
	return a.Peer, a.Tag, busy
}

// maxTurns is how many turns of busy waits are taken before the event loop asks whether
// it should pause: a rank may wait for as long as somebody computes.
const maxTurns = 1 << 12

// takeTurns takes the first events of the queue up to the time, as long as they are
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
		if rk.stage == stageLook {
			e.numPolls++
			e.growProbes()
			if e.watch != nil {
				e.watch.looks(r)
			}
			rk.stage = stageBegin
			rk.clock += rk.turn
		}
		if rk.clock <= at {
			rk.clock += float64(float64(e.probeFactor) * e.options.IprobeCost)
			rk.stage = stageLook
		}
		e.wakeups.Set(r, rk.clock)
	}
	return true
}

// poll carries on a KindPoll of rank r and tells the source what it found. It
// reports whether the action is over.
func (e *engine) poll(r int32, a *trace.Action) (bool, error) {
	spin := a.Flags&trace.FlagSpin != 0
	rk := &e.ranks[r]
	if !spin {
		rk.lastMiss = -1
	}
	v, err := e.probe(r, a.Peer, a.Tag, spin)
	if v == notYetKnown || err != nil {
		return false, err
	}
	rk.lastMiss = -1
	if spin && v == miss {
		rk.lastMiss = rk.clock
	}
	rk.stage = stageFresh
	e.source.Answer(r, v == hit)
	if e.watch != nil && spin {
		e.watch.polled(r, a, v == hit)
	}
	return true, nil
}

// probeUntil lets rank r probe until a message of src with tag is posted, and
// returns the message, or -1 while the rank is parked.
func (e *engine) probeUntil(r, src, tag int32) (int32, error) {
	rk := &e.ranks[r]
	for {
		rk.lastMiss = rk.clock
		if rk.stage != stageFresh {
			rk.lastMiss = rk.clock - e.options.IprobeCost
		}
		v, err := e.probe(r, src, tag, true)
		if v == notYetKnown || err != nil {
			return -1, err
		}
		rk.lastMiss = -1
		rk.stage = stageFresh
		if v == hit {
			return e.findFirst(rk, src, tag), nil
		}
	}
}

// iprobe carries on a recorded MPI_Iprobe whose outcome decides nothing; with
// growing costs it still matters to the probes after it. It reports whether the
// action is over.
func (e *engine) iprobe(r int32, a *trace.Action) (bool, error) {
	rk := &e.ranks[r]
	if !e.orderedProbes && !rk.shared {
		rk.clock += e.options.IprobeCost
		e.charge(r, TimePoll)
		e.numPolls++
		return true, nil
	}
	v, err := e.probe(r, a.Peer, a.Tag, false)
	if v != notYetKnown {
		rk.stage = stageFresh
	}
	return v != notYetKnown, err
}

// test carries on a recorded MPI_Test of the request in slot n of rank r: a
// sleep, then a look whether the request is complete. Like probes, tests share
// one growing factor; unlike them, they look at the network, so that each has
// an event. Success resets the factor once the completion has been paid for.
func (e *engine) test(r int32, rk *rank, n int32) (outcome, error) {
	if rk.stage == stageTested {
		e.tested(rk)
		return goOn, nil
	}
	slot, err := e.slot(r, n)
	if err != nil || *slot == noRequest {
		return goOn, err
	}
	switch rk.stage {
	case stageFresh:
		rk.stage = stageBegin
		if e.options.GrowInjectedTimes && rk.clock > e.now {
			e.wakeups.Set(r, rk.clock)
			return parkedHere, nil
		}
		fallthrough
	case stageBegin:
		cost := e.sleepTime(float64(e.testFactor) * e.options.TestCost)
		rk.clock += cost
		e.charge(r, TimePoll)
		rk.stage = stageLook
		if rk.clock > e.now {
			e.wakeups.Set(r, rk.clock)
			return parkedHere, nil
		}
	}
	e.numPolls++
	rk.stage = stageFresh
	if *slot != completeRequest {
		*slot = requestOf(e.resolve(*slot>>1-1), side(*slot&1))
	}
	if q := *slot; q != completeRequest && e.messages[q>>1-1].flags&msgEnded == 0 {
		if e.options.GrowInjectedTimes {
			e.testFactor++
		}
		return goOn, nil
	}
	if e.watch != nil {
		e.watch.spends(r, TimeOverhead)
	}
	e.finish(r, slot)
	e.proceed(r, TimeWait)
	if e.options.GrowInjectedTimes && rk.clock > e.now {
		rk.stage = stageTested
		e.wakeups.Set(r, rk.clock)
		return parkedHere, nil
	}
	e.tested(rk)
	return goOn, nil
}

// tested ends a test that has succeeded.
func (e *engine) tested(rk *rank) {
	rk.stage = stageFresh
	e.testFactor = 1
}
