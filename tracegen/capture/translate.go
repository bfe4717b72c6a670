package capture

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"reprise/internal/textutil"
	"reprise/trace"
)

// This file translates the calls of a rank to steps (translator.translate), stage 3 of a merge; message.go,
// collective.go, window.go and waits.go have the calls of one kind each.

// translator turns the calls of a rank into steps. Of its merger it reads what the survey has found.
type translator struct {
	*merger
	s    *stream
	v    *survey
	rank int32
	own  []rankComm
	put  func(step int32) // takes the steps, in their order

	// Where the rank is in its program, and the time that belongs to the next computation.
	before  uint64 // the key of the last call
	by      trail
	pause             // since the last step
	each    []float64 // with Options.EachGap: the true computations of those put down, in flop
	started starts
	// Requests under way have slots, numbers from 0 on, which the trace uses again as MPI uses handles.
	slots   map[instance]slot
	free    []int32 // slots that are free below used
	used    int32
	plans   map[int64]plan // of persistent requests
	windows []window
	numbers map[int32][]bool  // by family: which numbers its windows have
	ours    int64             // number of the last request that the program does not know, below 0
	early   map[int64]request // by message of a matched probe: its receive, which is posted
	spin    spin
	drain   *drain     // nil: none
	open    *[]unended // nil: all receives have been answered
	made    persistent
	phase   int32 // that has begun, 0 for none

	unfinished error // why the rank ends before its recording
}

// slot is the trace's number of a request, or none if the trace has nothing that a wait could complete. A
// neighbourhood collective has no slot, but its messages have.
type slot struct {
	number int32
	none   bool
	rest   []request
}

// plan is the call that made a persistent request, which is done when the request is started.
type plan struct {
	event
	ready int64 // partitions of a message that are
}

// translate translates all calls of the rank; put takes their steps.
func (t *translator) translate() error {
	t.started, t.slots, t.plans, t.early = starts{}, map[instance]slot{}, map[int64]plan{}, map[int64]request{}
	t.numbers, t.made = map[int32][]bool{}, newPersistent()
	for e, err := range t.s.events() {
		if err != nil {
			return err
		}
		t.asking(e)

		// The computation before the call: the mean of its site with its variance, and its own time.
		site := t.v.sites.at(between(t.before, t.s.key), &t.by)
		t.before = t.s.key
		t.by.push(t.before)
		rate := t.o.Rate / 1e9
		t.pause.add(pause{math.Round(site.mean() * rate), float64(site.variance() * rate * rate), math.Round(e.gap * rate)})

		if err := t.event(e); t.o.Partial && errors.Is(err, errUnfinished) {
			t.unfinished = fmt.Errorf("%v: %w", e.called, err)
			t.undrain()
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: rank %d, call %d (%v): %w", t.s.name, t.rank, t.s.count, e.called, err)
		}
	}
	t.leaveSpin(false)
	t.undrain()
	t.pcontrol(0)
	t.settle()
	return nil
}

// settle adds the computation since the last step as a step.
func (t *translator) settle() {
	if t.mean > 0 {
		// The amount is the mean of the sites passed, so that equal turns of a loop have equal steps and can be folded.
		s := step{form: form{kind: trace.KindFlops}}
		s.args[argPeer] = trace.FloatArg(t.mean)
		if spread := rounded(math.Sqrt(t.variance)); spread >= 1 {
			s.spread, s.args[argSpread] = true, trace.FloatArg(spread)
		}
		if t.o.EachGap {
			t.each = append(t.each, t.real)
		}
		t.pause = pause{}
		t.write(s)
	}
}

// rounded returns a deviation rounded to four binary digits. It is known to a few percent at best, and takes a byte.
func rounded(spread float64) float64 {
	fraction, exponent := math.Frexp(spread)
	return math.Ldexp(math.Round(fraction*16)/16, exponent)
}

// write hands a step to put, or keeps it while a drain is under way.
func (t *translator) write(s step) {
	// During a drain steps are kept back: whether it is one is known only at its end.
	n := t.table.number(s)
	if t.drain != nil {
		t.drain.steps = append(t.drain.steps, n)
		if s.kind == trace.KindWait {
			t.drain.left--
		}
		return
	}
	t.put(n)
}

// add adds a step, behind the computation before it. It ends a spin, as the rank has found what it asked for.
func (t *translator) add(s step) {
	t.leaveSpin(true)
	t.settle()
	t.write(s)
}

// event adds the steps of a call. A call that cannot be translated is an error.
func (t *translator) event(e *event) (err error) {
	defer textutil.Stopped(&err)
	t.draining(e)
	if e.strange && !e.request.persistent {
		t.nothing(e.request) // counted by the survey
		return nil
	}
	// Persistent operations are performed at each start, long after the call that described them.
	kept := func() event { // the next event overwrites the lists of this one
		c := *e
		c.ranks, c.tags = slices.Clone(e.ranks), slices.Clone(e.tags)
		return c
	}
	switch e.proc {
	// Point-to-point communication, and the completion of requests.
	case procSend, procRsend, procSsend, procBsend, procIsend, procIrsend, procIssend, procIbsend, procRecv, procIrecv,
		procMrecv, procImrecv:
		t.message(e, e.request)
	case procSendinit, procRsendinit, procSsendinit, procBsendinit, procRecvinit, procPsendinit, procPrecvinit:
		t.plans[e.request.number] = plan{event: kept()}
	case procSendrecv, procSendrecvreplace:
		t.sendrecv(e)
	case procIsendrecv, procIsendrecvreplace:
		t.isendrecv(e)
	case procPready, procPreadyrange, procPreadylist:
		t.makeReady(e)
	case procProbe, procMprobe, procIprobe, procImprobe:
		t.probe(e)
	case procStart, procStartall:
		t.start(e)
	case procRequestfree:
		if r := e.requests[0]; r.number > 0 {
			t.release(r, trace.KindFree) // no later call waits for one that is under way
		}
	case procWait, procWaitall, procWaitany, procWaitsome, procTest, procTestall, procTestany, procTestsome,
		procRequestgetstatus, procParrived:
		t.completion(e)
	// The survey has used these; the trace has no action for them.
	case procCancel, procFinalize, procSessioninit, procSessionfinalize, procAbort, procCommfree, procCommdisconnect,
		procFileopen, procFileclose:
	case procPcontrol:
		t.pcontrol(e.code)
	case procKernel:
		s := step{form: form{kind: trace.KindCompute, marker: int32(slices.Index(t.kernels, e.kernel.used)),
			dims: int32(len(kernels[e.kernel.number].dims))}}
		copy(s.args[:], e.kernel.dims[:])
		t.add(s)
	default:
		switch p := e.proc.known(); {
		case p.refused: // counted by the survey
		case e.made != nil, !p.byHand && (len(p.fields) == 0 || p.fields[0].role == roleRequest):
			t.nothing(e.request) // a communicator was made, or the call says nothing
		case len(p.fields) > 0 && p.fields[0].role == roleFile:
			t.file(e)
		case e.window >= 0:
			t.oneSided(e)
		case p.persistent:
			planned := plan{event: kept()}
			planned.nth = t.made.add(e)
			t.plans[e.request.number] = planned
		case p.neighbourhood:
			t.neighbours(e, e.request)
		default:
			t.collective(e, e.request)
		}
	}
	return nil
}

// nothing notes that the trace has no action for a request, so that waits for it add none.
func (t *translator) nothing(r request) {
	if r.number > 0 {
		t.slots[t.started.instance(r)] = slot{none: true}
	}
}

// take gives a request the lowest slot that is free.
func (t *translator) take(r request) int32 {
	// The lowest free slot keeps the numbers the same in each turn of a loop.
	n := t.used
	if len(t.free) > 0 {
		n = slices.Min(t.free)
		i := slices.Index(t.free, n)
		t.free = slices.Delete(t.free, i, i+1)
	} else {
		t.used++
	}
	t.slots[t.started.instance(r)] = slot{number: n}
	return n
}

// comm returns the communicator of a call; what names in errors. With Options.Partial, one may not have been made by
// all of its ranks.
func (t *translator) comm(e *event, what string) int {
	id := t.own[e.comm].of
	if id < 0 {
		textutil.Stop(fmt.Errorf("%s that not all of its ranks have made: %w", what, errUnfinished))
	}
	return id
}

// peerOf returns the rank of the world that a call means by a rank of its communicator, and the family of the message.
func (t *translator) peerOf(e *event, rank int32) (peer int64, family int32) {
	id := t.comm(e, "a communicator")
	return int64(textutil.Must(t.comms[id].peer(t.rank, rank))), t.families.index[id]
}

// release adds an action that ends a request, and reports whether the trace has it.
func (t *translator) release(r request, kind trace.Kind) bool {
	i := t.started.instance(r)
	// An unknown request has been completed before, or was never made for the trace.
	at, ok := t.slots[i]
	if !ok {
		return false
	}
	delete(t.slots, i)
	for _, q := range at.rest {
		t.release(q, kind)
	}
	if !at.none {
		t.add(step{form: form{kind: kind, request: at.number}})
		t.free = append(t.free, at.number)
		// With nothing under way the numbers begin again at 0, wherever the rank is in its program.
		if len(t.free) == int(t.used) {
			t.free, t.used = t.free[:0], 0
		}
	}
	return !at.none || len(at.rest) > 0
}

// post adds a nonblocking message that has no request in the program, and appends a request of the translator's
// own to requests. For MPI_PROC_NULL it adds nothing.
func (t *translator) post(e *event, requests *[]request, kind trace.Kind, rank int32, tag, bytes int64) {
	if rank == procNull {
		return
	}
	peer, family := t.peerOf(e, rank)
	t.ours--
	q := request{number: t.ours}
	*requests = append(*requests, q)
	s := step{form: form{kind: kind, family: family, request: t.take(q)}}
	s.args[argPeer], s.args[argTag], s.args[argBytes] = peer, tag, bytes
	t.add(s)
}

// start starts persistent requests.
func (t *translator) start(e *event) {
	for _, r := range e.requests {
		if r.number == 0 {
			continue // of a call that was left out
		}
		// Each start is an instance of its own, for which the survey has noted a status.
		p, ok := t.plans[r.number]
		if !ok || !r.persistent {
			textutil.Stop(errors.New("starts a request that was not made"))
		}
		t.started[r.number]++
		p.ready = 0
		t.plans[r.number] = p
		_, sends := sendKinds[p.proc]
		switch {
		case p.strange:
			t.nothing(r)
		case p.proc == procPsendinit: // it is sent when its partitions are ready
		// The kept call is performed with the request of this start.
		case sends, p.proc == procRecvinit, p.proc == procPrecvinit:
			t.message(&p.event, r)
		case p.proc.known().neighbourhood:
			t.neighbours(&p.event, r)
		default:
			t.collective(&p.event, r)
		}
	}
}

// completion adds waits for the requests that have ended, and for a call that found nothing, a test.
func (t *translator) completion(e *event) {
	// The first of its requests that the trace has, and how many it has.
	first, n := int32(0), 0
	for _, r := range slices.Backward(e.requests) {
		if at, ok := t.slots[t.started.instance(r)]; ok && r.number > 0 && !at.none {
			first = at.number
			n++
		}
	}
	if e.proc == procWaitall && n > 1 && n == int(t.used)-len(t.free) { // all that are under way
		t.add(step{form: form{kind: trace.KindWaitAll}})
		clear(t.slots)
		t.free, t.used = t.free[:0], 0
		return
	}
	// Each request that has ended gets a wait, in the order in which the call lists them.
	something := false
	for _, i := range e.ended {
		if r := e.requests[i]; r.number > 0 {
			something = t.release(r, trace.KindWait) || something
		}
	}
	t.drained()
	switch {
	case !e.proc.asks() || something:
	case len(e.ended) > 0 || e.flag:
		t.hold(e, nil) // of requests that have ended before
	case n > 0:
		t.hold(e, &step{form: form{kind: trace.KindTest, request: first}})
	}
}

// pcontrol adds the markers of MPI_Pcontrol: each call ends the phase before, and a level above 0 begins a phase.
func (t *translator) pcontrol(level int64) {
	if t.phase > 0 {
		t.add(step{form: form{kind: trace.KindMark, marker: 2*t.phase - 1}})
	}
	if t.phase = int32(1 + slices.Index(t.levels, level)); t.phase > 0 {
		t.add(step{form: form{kind: trace.KindMark, marker: 2*t.phase - 2}})
	}
}
