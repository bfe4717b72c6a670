package capture

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"reprise/trace"
)

// translator turns the calls of a rank into steps.
type translator struct {
	o        *Options
	s        *stream
	v        *survey
	rank     int32
	comms    []communicator
	own      *rankComms
	families *families
	table    *table
	put      func(step int32)

	at      site
	by      trail
	pause             // since the last step
	each    []float64 // of the computations put down, what they were, if that is kept
	started starts
	slots   map[instance]slot
	free    []int32 // slots that are free below used
	used    int32
	plans   map[int64]plan // of persistent requests
	windows []window
	numbers map[int32]*numbers // of windows, by family
	ours    int64              // number of the last request that the program does not know, below 0
	early   map[int64]request  // by message of a matched probe: its receive, which is posted
	phases  *phases
	spin    spin
	drain   *drain     // nil: none
	open    *[]unended // nil: all receives have been answered
	kernels *kernelTable
	split   map[int]bool // communicators of the run whose operations are waited for
	crossed map[int]bool // those whose persistent operations have families of their own
	made    persistent
	recalls bool  // a probe does not wait, as its message may have been cancelled
	phase   int32 // that has begun, 0 for none

	unfinished error // why the rank ends before its recording
}

// slot is where the trace has a request: none if nothing waits for it.
type slot struct {
	number int32
	none   bool
	rest   []request // of the messages of a neighbourhood collective
}

// plan is what a persistent request does when it is started.
type plan struct {
	event
	active bool
	ready  int64 // partitions of a message that are
}

// translate returns the steps of a rank.
func (t *translator) translate() error {
	t.started, t.slots, t.plans, t.early, t.numbers = starts{}, map[instance]slot{}, map[int64]plan{}, map[int64]request{}, map[int32]*numbers{}
	t.made = newPersistent()
	var e event
	for t.s.rewind(); ; {
		err := t.s.next(&e)
		if errors.Is(err, io.EOF) {
			t.leaveSpin(false)
			t.undrain()
			t.pcontrol(0)
			t.settle()
			return nil
		}
		if err != nil {
			return err
		}
		t.asking(&e)
		t.gap(&e)
		if err := t.event(&e); t.o.Partial && errors.Is(err, errUnfinished) {
			t.unfinished = fmt.Errorf("%v: %w", e.called, err)
			t.undrain()
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: rank %d, call %d (%v): %w", t.s.name, t.rank, t.s.count, e.called, err)
		}
	}
}

// gap notes the computation before a call: the mean of its site with its variance, and its own.
func (t *translator) gap(e *event) {
	t.at.after = t.s.key
	site := t.v.sites.at(t.at, &t.by)
	t.at.before = t.at.after
	t.by.push(t.at.after)
	rate := t.o.Rate / 1e9
	t.pause.add(pause{math.Round(site.mean() * rate), float64(site.variance() * rate * rate), math.Round(e.gap * rate)})
}

// settle puts down the computation since the last step.
func (t *translator) settle() {
	if t.mean > 0 {
		s := step{form: form{kind: trace.KindFlops}}
		s.args[argPeer] = trace.FloatArg(t.mean)
		// A deviation is known to a few percent at best: rounded to four binary digits it takes a byte.
		fraction, exponent := math.Frexp(math.Sqrt(t.variance))
		if spread := math.Ldexp(math.Round(fraction*16)/16, exponent); spread >= 1 {
			s.spread, s.args[argSpread] = true, trace.FloatArg(spread)
		}
		if t.o.EachGap {
			t.each = append(t.each, t.real)
		}
		t.pause = pause{}
		t.write(s)
	}
}

// write puts a step down, or with what may be a drain.
func (t *translator) write(s step) {
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

func (t *translator) add(s step) {
	t.leaveSpin(true)
	t.settle()
	t.write(s)
}

func (t *translator) event(e *event) error {
	t.draining(e)
	if e.strange && !e.request.persistent {
		t.nothing(e.request) // counted by the survey
		return nil
	}
	switch e.proc {
	case procSend, procRsend, procSsend, procBsend, procIsend, procIrsend, procIssend, procIbsend, procRecv, procIrecv,
		procMrecv, procImrecv:
		return t.message(e, e.request)
	case procSendinit, procRsendinit, procSsendinit, procBsendinit, procRecvinit, procPsendinit, procPrecvinit:
		t.plans[e.request.number] = plan{event: copied(e)}
		return nil
	case procSendrecv, procSendrecvreplace:
		return t.sendrecv(e)
	case procIsendrecv, procIsendrecvreplace:
		return t.isendrecv(e)
	case procPready, procPreadyrange, procPreadylist:
		return t.makeReady(e)
	case procProbe, procMprobe, procIprobe, procImprobe:
		return t.probe(e)
	case procStart, procStartall:
		return t.start(e)
	case procRequestfree:
		if r := e.requests[0]; r.number > 0 {
			t.release(r, trace.KindFree) // of one that is under way, nobody will wait
		}
		return nil
	case procWait, procWaitall, procWaitany, procWaitsome, procTest, procTestall, procTestany, procTestsome,
		procRequestgetstatus, procParrived:
		return t.completion(e)
	case procCancel, procFinalize, procSessioninit, procSessionfinalize, procAbort, procCommfree, procCommdisconnect,
		procFileopen, procFileclose:
		return nil
	case procPcontrol:
		t.pcontrol(e.code)
		return nil
	}
	switch {
	case e.proc == procKernel:
		s := step{form: form{kind: trace.KindCompute, marker: t.kernels.of[e.kernel.used],
			dims: int32(len(kernels[e.kernel.number].dims))}}
		copy(s.args[:], e.kernel.dims[:])
		t.add(s)
		return nil
	case e.proc.known().refused:
		return nil // counted by the survey
	case e.made != nil, e.proc.known().quiet():
		t.nothing(e.request)
		return nil
	case e.proc.known().file():
		return t.file(e)
	case e.window >= 0:
		return t.oneSided(e)
	case e.proc.known().persistent:
		p := plan{event: copied(e)}
		p.nth = t.made.add(e)
		t.plans[e.request.number] = p
		return nil
	case e.proc.known().neighbourhood:
		return t.neighbours(e, e.request)
	}
	return t.collective(e, e.request)
}

func copied(e *event) event {
	c := *e
	c.ranks, c.tags = slices.Clone(e.ranks), slices.Clone(e.tags)
	return c
}

// nothing has the trace have nothing of a request.
func (t *translator) nothing(r request) {
	if r.number > 0 {
		t.slots[t.started.instance(r)] = slot{none: true}
	}
}

// take gives a request the lowest slot that is free.
func (t *translator) take(r request) int32 {
	n := t.used
	if len(t.free) > 0 {
		i := 0
		for j, v := range t.free {
			if v < t.free[i] {
				i = j
			}
		}
		n = t.free[i]
		t.free = slices.Delete(t.free, i, i+1)
	} else {
		t.used++
	}
	t.slots[t.started.instance(r)] = slot{number: n}
	return n
}

// peerOf returns the rank of the world that is meant, and the family that the message is of.
func (t *translator) peerOf(e *event, rank int32) (peer int64, family int32, err error) {
	id := t.own.of[e.comm]
	if id < 0 {
		return 0, 0, fmt.Errorf("a communicator that not all of its ranks have made: %w", errUnfinished)
	}
	p, err := t.comms[id].peer(t.rank, rank)
	return int64(p), t.families.of(id), err
}

// release adds an action that ends a request, and reports whether the trace has it.
func (t *translator) release(r request, kind trace.Kind) bool {
	i := t.started.instance(r)
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
		if len(t.free) == int(t.used) {
			t.free, t.used = t.free[:0], 0
		}
	}
	return !at.none || len(at.rest) > 0
}

// start starts persistent requests.
func (t *translator) start(e *event) error {
	for _, r := range e.requests {
		if r.number == 0 {
			continue // of a call that was left out
		}
		p, ok := t.plans[r.number]
		if !ok || !r.persistent {
			return errors.New("starts a request that was not made")
		}
		t.started[r.number]++
		p.active, p.ready = true, 0
		t.plans[r.number] = p
		if err := t.begin(&p.event, r); err != nil {
			return err
		}
	}
	return nil
}

func (t *translator) begin(e *event, r request) error {
	if e.strange {
		t.nothing(r)
		return nil
	}
	switch _, sends := sendKinds[e.proc]; {
	case e.proc == procPsendinit:
		return nil // it is sent when its partitions are ready
	case sends, e.proc == procRecvinit, e.proc == procPrecvinit:
		return t.message(e, r)
	}
	if e.proc.known().neighbourhood {
		return t.neighbours(e, r)
	}
	return t.collective(e, r)
}

// completion adds waits for what has ended, and for a call that found nothing, a test.
func (t *translator) completion(e *event) error {
	if e.proc == procWaitall && t.endsAll(e) {
		t.add(step{form: form{kind: trace.KindWaitAll}})
		clear(t.slots)
		t.free, t.used = t.free[:0], 0
		return nil
	}
	something := false
	for _, i := range e.ended {
		if r := e.requests[i]; r.number > 0 {
			something = t.release(r, trace.KindWait) || something
		}
	}
	t.drained()
	switch {
	case !e.proc.asks() || something:
		return nil
	case len(e.ended) > 0 || e.flag:
		t.hold(e, nil) // of requests that have ended before
		return nil
	}
	for _, r := range e.requests {
		if at, ok := t.slots[t.started.instance(r)]; ok && r.number > 0 && !at.none {
			t.hold(e, &step{form: form{kind: trace.KindTest, request: at.number}})
			return nil
		}
	}
	return nil
}

// endsAll reports whether a call ends two requests or more, and all that there are.
func (t *translator) endsAll(e *event) bool {
	n := 0
	for _, r := range e.requests {
		if at, ok := t.slots[t.started.instance(r)]; ok && r.number > 0 && !at.none {
			n++
		}
	}
	return n > 1 && n == int(t.used)-len(t.free)
}

// pcontrol adds the marks of MPI_Pcontrol: a level above 0 begins a phase, any ends the one before.
func (t *translator) pcontrol(level int64) {
	if t.phase > 0 {
		t.add(step{form: form{kind: trace.KindMark, marker: 2*t.phase - 1}})
	}
	if t.phase = t.phases.of[level]; t.phase > 0 {
		t.add(step{form: form{kind: trace.KindMark, marker: 2*t.phase - 2}})
	}
}
