package replay

import (
	"math"

	"reprise/smpi"
	"reprise/trace"
)

// Probes see a message once its send is posted, whether or not a byte of it has moved: SMPI's rule. With another
// smpi.Options.Poll they see it once an envelope sent with the post would have arrived. A probe first costs its time,
// then looks, at clock T of its rank: the replay must know then which sends its source had posted by T.
//
// The entry is engine.probe, which poll.go calls. It has three ways:
//
//   - clockProbe, if the cost is constant: only the order of two clocks matters. The answer is known at once if the
//     send is in the list already, or if the source has run past T; else the rank has an event at T, when all posts
//     up to T are known. A rank in a busy wait (trace.FlagSpin) has no events: it is parked until the send is posted,
//     at whatever time, and goes on at its first probe that sees the send.
//   - eventProbe, if costs grow (smpi/grow-injected-times) or ranks share processors: one factor of the cost holds
//     for all ranks, so every probe is an event in the order of all. Growth keeps them few: k ranks that poll for W
//     seconds without success do so about sqrt(2kW/cost) times. A loop that runs no rank takes the turns of busy
//     waits (takeTurns).
//   - lookForAny (busywait.go), for busy waits for a message from any source or with any tag.

// prober knows what probes and tests cost, how many there have been, and how far their costs have grown: one factor for
// all ranks, as in SMPI. The posted messages are the matcher's.
type prober struct {
	cost     float64 // of a probe, seconds, before it grows
	testCost float64 // of a test, the same
	grows    bool    // every miss makes the next one costlier
	ordered  bool    // costs grow from more than 0: the probes of all ranks are events in one order

	// by rank, if polls are late (smpi.Options.LatePolls), else nil: the time in seconds at which it last let messages
	// in, which a poll then sees: that of its last poll that missed, MPI_Iprobe or test, or the end of its last wait
	letIn []float64

	factor     int64 // of the cost of the next probe
	testFactor int64
	numPolls   int64 // probes and tests
}

// newProber returns the prober of a replay with these options: nothing has been polled, no cost has grown.
func newProber(o *smpi.Options, ranks int) prober {
	p := prober{
		cost: o.IprobeCost, testCost: o.TestCost, grows: o.GrowInjectedTimes,
		ordered: o.GrowInjectedTimes && o.IprobeCost > 0, factor: 1, testFactor: 1,
	}
	if o.LatePolls {
		p.letIn = make([]float64, ranks)
		for r := range p.letIn {
			p.letIn[r] = noTime
		}
	}
	return p
}

// letsIn notes that rank r lets in, at a time, all messages that have come: a late poll after it sees these.
func (p *prober) letsIn(r int32, at float64) {
	if p.letIn != nil {
		p.letIn[r] = at
	}
}

// grow makes the next probe costlier if costs grow.
func (p *prober) grow() {
	if p.grows {
		p.factor++
	}
}

// nextLook returns the time of the first probe of a rank, from its clock on, that sees a message visible from a time
// on, and the number of probes before it.
func (p *prober) nextLook(rk *rank, at float64) (turns int64, look float64) {
	turn := p.cost
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

// probeResult is what a look at a message or a request brings.
type probeResult uint8

const (
	notYetKnown probeResult = iota // the rank is parked; it looks again when it runs next
	miss
	hit
)

// probe carries on a probe of rank r for a message of src with a label. With spin
// the rank does nothing but probe until it is there.
func (e *engine) probe(r, src int32, l label, spin bool) (probeResult, error) {
	if src != trace.AnySource {
		if err := e.checkPeer(src); err != nil {
			return notYetKnown, err
		}
	}
	switch {
	case (e.prober.ordered || e.ranks[r].shared) && e.prober.cost > 0:
		return e.eventProbe(r, src, l, spin), nil
	case spin && isWild(src, l.tag):
		return e.lookForAny(r, src, l)
	}
	return e.clockProbe(r, src, l, spin), nil
}

// payProbe pays a probe of constant cost, unless it is under way.
func (e *engine) payProbe(r int32, rk *rank) {
	if rk.stage == stageFresh {
		rk.clock += e.prober.cost
		e.charge(r, TimePoll)
		e.prober.numPolls++
		rk.stage = stageLook
	}
}

// clockProbe is probe for a constant cost on a processor of one's own. The first call pays the cost and leaves
// stageLook, so that a rank which was parked only looks when it is called again.
func (e *engine) clockProbe(r, src int32, l label, spin bool) probeResult {
	rk := &e.ranks[r]
	e.payProbe(r, rk)
	if rk.wild > 0 || isWild(src, l.tag) {
		return e.lookAmongWild(r, src, l, spin)
	}
	m, _ := e.matcher.find(&rk.sends, src, l)
	switch {
	// The send is known, but may be in the future of rank r, as its source runs ahead.
	case m >= 0 && e.sees(r, m, spin):
		return hit
	case m >= 0 && spin:
		return e.spinUntil(r, e.visible(m))
	case m >= 0:
		return miss
	// The send is not known. A busy wait waits for it; else it is a miss if no send up to the clock can follow.
	case spin:
		rk.await(src, l)
		return notYetKnown
	case e.ranks[src].over || e.ranks[src].clock > rk.clock || rk.clock <= e.now:
		return miss
	}
	e.wakeups.Set(r, rk.clock)
	return notYetKnown
}

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
			e.compute(r, rk, cost*bound, bound)
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

// lookAmongWild is what a probe sees while the rank has receives pending that may take the message: the event loop
// comes to the rank's clock first, so that such a receive takes the message before the probe looks. A busy wait whose
// probes cost nothing lasts until the message can be seen.
func (e *engine) lookAmongWild(r, src int32, l label, spin bool) probeResult {
	rk := &e.ranks[r]
	if rk.clock > e.now {
		e.wakeups.Set(r, rk.clock)
		return notYetKnown
	}
	m := e.findFirst(rk, src, l)
	switch {
	case m >= 0 && (rk.wild == 0 || !unseen(&e.matcher.messages[m])) && e.sees(r, m, spin):
		return hit
	case !spin || e.prober.cost > 0:
		return miss
	case m < 0:
		rk.await(src, l)
		return notYetKnown
	}
	rk.clock = max(rk.clock, e.visible(m))
	e.charge(r, TimePoll)
	e.wakeups.Set(r, rk.clock)
	return notYetKnown
}

// sees reports whether a probe of rank r at its clock sees an unmatched send. If polls are late, a probe outside a busy
// wait sees only messages that were let in before it.
func (e *engine) sees(r, id int32, spin bool) bool {
	at := e.visible(id)
	return at <= e.ranks[r].clock && (spin || e.prober.letIn == nil || at <= e.prober.letIn[r])
}

// visible returns the time from which on probes see an unmatched send.
func (e *engine) visible(id int32) float64 {
	m := &e.matcher.messages[id]
	if e.options.Poll == smpi.PollPosted {
		return m.at
	}
	src, dst := int(e.machine.Hosts[m.src]), int(e.machine.Hosts[m.dst])
	return m.at + float64(e.network.Latency(src, dst)*e.options.EnvelopeFactor(src == dst))
}

// findFirst returns the message of src with a label that a probe of the rank sees first, or -1.
func (e *engine) findFirst(rk *rank, src int32, l label) int32 {
	if !isWild(src, l.tag) {
		m, _ := e.matcher.find(&rk.sends, src, l)
		return m
	}
	best, at := int32(-1), math.Inf(1)
	for id := rk.sends.head; id >= 0; id = e.matcher.after[id] {
		if e.matcher.messages[id].accepts(src, l) {
			if v := e.visible(id); v < at {
				best, at = id, v
			}
		}
	}
	return best
}
