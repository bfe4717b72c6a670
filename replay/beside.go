package replay

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"reprise/internal/eventqueue"
	"reprise/kernels/noise"
	"reprise/replay/collective"
	"reprise/trace"
)

// This file plays actions beside ranks (engine.beside). Such an action begins when others beside the same rank have ended,
// or begun, by an event of its own (engine.goOn), whatever the rank does then. A message is one step, a collective
// operation a schedule of steps: a step is posted at the time of the event, and the end of the last message that the step
// waits for is the next event. The rank waits for all of them in a WaitAll.

// asides has the actions beside ranks that have not ended.
type asides struct {
	list    []aside // by number
	idle    []int32 // numbers that are in no use
	times   eventqueue.Queue
	due     []int32 // those of one time
	ranks   []rankAsides
	waiting map[request]int32 // by what an action waits for: its number
}

func newAsides(ranks int) *asides {
	return &asides{ranks: make([]rankAsides, ranks), waiting: map[request]int32{}, times: eventqueue.New(0)}
}

// rankAsides has those of a rank.
type rankAsides struct {
	numbers []int32   // of those that were let go, in their order; -1 once one has ended
	open    int       // that have not ended
	before  []link    // what the next one waits for
	free    []float64 // by processor, of those that were used: from when on it is
	busy    int       // that compute
	joined  bool      // the rank waits for all of them
}

// link names what an action waits for, by the order in which it was let go.
type link struct {
	order int
	begin bool // for its begin only
}

// aside is an action beside its rank.
type aside struct {
	order   int
	seconds float64         // of a computation or a sleep, or what a send costs
	at      float64         // when the last that it waits for has ended or begun
	step    collective.Step // of a message
	call    *trace.Collective
	run     *collectiveRun // of the call, once it has begun
	label   label          // of messages
	posted  []request      // that its step waits for
	begins  []int32        // what waits for its begin
	ends    []int32        // what waits for its end
	rank    int32
	left    int32 // that it waits for
	pending int32 // of what is posted, how many have not ended
	on      int32 // processor, 0: none
	kind    trace.Kind
	stage   asideStage
}

// asideStage says what the next event of an action beside a rank is.
type asideStage uint8

const (
	asideBegins asideStage = iota // nothing keeps it any more
	asideStarts                   // its processor is free
	asideSteps                    // its schedule goes on
	asidePosts                    // what its send costs is paid
	asideLooks                    // the messages of its step have ended
	asideOver                     // its only step is over
	asideEnds                     // its computation has ended
)

// after notes what the next action beside rank r waits for.
func (e *engine) after(r int32, a *trace.Action) error {
	if e.asides == nil || a.X[0] > int64(len(e.asides.ranks[r].numbers)) {
		return fmt.Errorf("the action %d before: so many have not gone beside the rank", a.X[0])
	}
	of := &e.asides.ranks[r]
	of.before = append(of.before, link{len(of.numbers) - int(a.X[0]), a.Tag != 0})
	return nil
}

// beside lets the action go that follows on a.
func (e *engine) beside(r int32, rk *rank, a *trace.Action) error {
	if e.asides == nil {
		e.asides = newAsides(len(e.ranks))
	}
	t := e.asides
	of := &t.ranks[r]
	s := aside{rank: r, order: len(of.numbers), on: a.Tag, at: rk.clock, left: 1}
	if rk.pos++; rk.pos == rk.filled {
		if err := e.fillAhead(r); err != nil {
			return err
		}
		if rk.filled == 0 {
			return errors.New("no action follows")
		}
	}
	if err := e.prepare(&s, rk, e.action(r, int(rk.pos))); err != nil {
		return err
	}

	n := int32(len(t.list))
	if last := len(t.idle) - 1; last >= 0 {
		n, t.idle = t.idle[last], t.idle[:last]
		t.list[n] = s
	} else {
		t.list = append(t.list, s)
		t.times.Grow(len(t.list))
	}
	for _, b := range of.before {
		m := of.numbers[b.order]
		if m < 0 || b.begin && t.list[m].stage > asideStarts {
			continue
		}
		if other := &t.list[m]; b.begin {
			other.begins = append(other.begins, n)
		} else {
			other.ends = append(other.ends, n)
		}
		t.list[n].left++
	}
	of.before = of.before[:0]
	of.numbers = append(of.numbers, n)
	of.open++
	t.release(n, rk.clock)
	return nil
}

// prepare has an action ready for its begin.
func (e *engine) prepare(s *aside, rk *rank, a *trace.Action) error {
	r := s.rank
	s.kind = a.Kind
	switch a.Kind {
	case trace.KindFlops:
		amount := a.Flops()
		if spread := a.Spread(); spread > 0 && e.costs.spread {
			amount = noise.Skewed(amount, spread, e.costs.random.computation(r))
		}
		if e.options.SimulateComputation && amount > 0 {
			s.seconds = amount * e.costs.scale / e.speed(e.machine.Hosts[r])
		}
		return nil
	case trace.KindSleep:
		s.seconds = e.costs.sleepTime(a.Seconds())
		return nil
	case trace.KindCollective:
		// Ranks may begin the operations on a communicator in different orders. So they are counted here, where they have one
		// order, and their messages are matched by their number.
		if int(a.Sym) >= trace.NumCollectives {
			return errUnsupported
		}
		e.collectives.sums.rank = r
		call := a.Collective(&e.collectives.sums)
		call.SendSums, call.RecvSums = slices.Clone(call.SendSums), slices.Clone(call.RecvSums)
		if call.Comm > 0 {
			if _, err := e.collectives.communicator(call.Comm-1, len(e.ranks)); err != nil {
				return err
			}
		}
		s.call = &call
		s.label = label{int32(e.countCall(r, rk, &call)), uint16(call.Comm) | commNonblocking}
		return nil
	case trace.KindSend, trace.KindSsend, trace.KindRecv:
		s.step, s.label = collective.Step{Op: collective.Send, Peer: a.Peer, Bytes: a.X[0]}, e.label(a)
		peer := a.Peer
		if a.Kind != trace.KindRecv {
			s.seconds = e.costs.isendOverhead(r, a.X[0])
		} else if s.step.Op = collective.Recv; peer == trace.AnySource {
			peer = 0
		}
		return e.checkPost(peer, a.X[0])
	}
	return fmt.Errorf("%v cannot go beside its rank", a.Kind)
}

// release tells an action that one thing less keeps it from its begin, from a time on.
func (t *asides) release(n int32, at float64) {
	s := &t.list[n]
	s.at = later(s.at, at)
	if s.left--; s.left == 0 {
		t.times.Set(n, s.at)
	}
}

// playBeside plays the events of a time, by rank and in the order of the trace: what begins at the same time is posted, and
// gets a processor, in that order.
func (e *engine) playBeside(at float64) error {
	t := e.asides
	e.now = later(e.now, at)
	for t.due = t.due[:0]; t.times.Next() <= at; {
		t.due = append(t.due, t.times.Pop())
	}
	slices.SortFunc(t.due, func(a, b int32) int {
		x, y := &t.list[a], &t.list[b]
		return cmp.Or(cmp.Compare(x.rank, y.rank), cmp.Compare(x.order, y.order))
	})
	for _, n := range t.due {
		if err := e.goOn(n); err != nil {
			return fmt.Errorf("rank %d: %v beside it: %w", t.list[n].rank, t.list[n].kind, err)
		}
	}
	return nil
}

// goOn plays the event of an action beside a rank, at the present time.
func (e *engine) goOn(n int32) error {
	t := e.asides
	s := &t.list[n]
	of := &t.ranks[s.rank]
	switch s.stage {
	case asideBegins:
		// A processor takes computations, and what sends cost, one after the other.
		s.stage = asideStarts
		if s.on > 0 && s.kind != trace.KindRecv && s.call == nil {
			of.free = append(of.free, make([]float64, max(0, int(s.on)+1-len(of.free)))...)
			start := later(of.free[s.on], e.now)
			if of.free[s.on] = start + s.seconds; start > e.now {
				t.times.Set(n, start)
				return nil
			}
		}
		fallthrough
	case asideStarts:
		e.chargeBeside(s.rank, -1)
		s.stage = asideSteps
		for _, other := range s.begins {
			t.release(other, e.now)
		}
		switch {
		case s.kind == trace.KindFlops || s.kind == trace.KindSleep:
			return e.computeBeside(n, s.seconds)
		case s.call != nil:
			s.run = &collectiveRun{}
			if err := e.schedule(s.rank, s.run, s.call); err != nil {
				return err
			}
		case s.seconds > 0:
			t.times.Set(n, e.now+s.seconds)
			return nil
		}
	case asideLooks:
		cost := 0.0
		for _, q := range s.posted {
			id := e.matcher.resolve(q>>1 - 1)
			if side(q&1) == receiver {
				cost += e.costs.recvOverhead(s.rank, &e.matcher.messages[id])
			}
			e.matcher.release(id)
		}
		s.posted, s.stage = s.posted[:0], asideOver
		if s.run != nil {
			s.stage = asideSteps
		}
		if cost > 0 {
			t.times.Set(n, e.now+cost)
			return nil
		}
	case asideEnds:
		e.chargeBeside(s.rank, -1)
		of.busy--
		e.endBeside(n)
		return nil
	}
	return e.takeSteps(n)
}

// computeBeside has an action compute up to its end.
func (e *engine) computeBeside(n int32, seconds float64) error {
	t := e.asides
	s := &t.list[n]
	if !(e.now+seconds <= maxTime) {
		return errTooLate
	}
	t.ranks[s.rank].busy++
	s.stage = asideEnds
	t.times.Set(n, e.now+seconds)
	return nil
}

// takeSteps takes the steps of an action until one waits.
func (e *engine) takeSteps(n int32) error {
	t := e.asides
	s := &t.list[n]
	r, run := s.rank, s.run
	rk := &e.ranks[r]
	for {
		step := &s.step
		if run != nil {
			if len(run.steps) == 0 {
				run.nextRound()
			}
			switch err := run.schedule.Err(); {
			case err != nil:
				return err
			case len(run.steps) > 0:
				step = &run.steps[0]
			case run.flops > 0:
				return e.computeBeside(n, run.flops/e.speed(e.machine.Hosts[r]))
			default:
				e.endBeside(n)
				return nil
			}
		} else if s.stage == asideOver {
			e.endBeside(n)
			return nil
		}
		if run != nil && s.stage != asidePosts {
			cost := 0.0
			switch step.Op {
			case collective.Send:
				cost = e.costs.sendOverhead(r, step.Bytes, false)
			case collective.Isend:
				cost = e.costs.isendOverhead(r, step.Bytes)
			}
			if cost > 0 {
				s.stage = asidePosts
				t.times.Set(n, e.now+cost)
				return nil
			}
		}
		// The next step, if there is one, comes once this one waits no more.
		if s.stage = asideOver; run != nil {
			s.stage = asideSteps
			run.steps = run.steps[1:]
		}
		switch step.Op {
		case collective.Wait:
			s.posted = append(s.posted, *run.slot(step.Slot))
			*run.slot(step.Slot) = noRequest
		case collective.WaitAll:
			s.posted = append(s.posted, run.requests...)
			run.requests = run.requests[:0]
		default:
			q, err := e.postBeside(s, rk, step)
			switch {
			case err != nil:
				return err
			case step.Op == collective.Isend || step.Op == collective.Irecv:
				*run.slot(step.Slot) = q
				continue
			}
			s.posted = append(s.posted, q)
		}
		if e.await(n) {
			return nil
		}
	}
}

// postBeside posts the message of a step at the present time.
func (e *engine) postBeside(s *aside, rk *rank, step *collective.Step) (request, error) {
	e.chargeBeside(s.rank, -1)
	clock, peer := rk.clock, step.Peer
	rk.clock = e.now
	defer func() { rk.clock = clock }()
	if s.run != nil {
		peer = s.run.world(peer)
	}
	if step.Op == collective.Send || step.Op == collective.Isend {
		return e.postIsend(s.rank, peer, s.label, step.Bytes, s.kind == trace.KindSsend)
	}
	post := e.postRecv
	if isWild(peer, s.label.tag) {
		post = e.postWild
	}
	id, err := post(s.rank, peer, s.label, step.Bytes)
	return requestOf(id, receiver), err
}

// await has an action wait for what its step has posted, and reports whether it must.
func (e *engine) await(n int32) bool {
	t := e.asides
	s := &t.list[n]
	kept := s.posted[:0]
	for _, q := range s.posted {
		if q <= completeRequest {
			continue
		}
		if !e.hasEnded(&q) {
			e.matcher.messages[q>>1-1].flags |= msgNotify
			t.waiting[q] = n
			s.pending++
		}
		kept = append(kept, q)
	}
	if s.posted = kept; len(kept) == 0 {
		return false
	}
	if s.stage = asideLooks; s.pending == 0 {
		t.times.Set(n, e.now)
	}
	return true
}

// endedBeside tells the actions that wait for a message that it has ended.
func (e *engine) endedBeside(id int32) {
	t := e.asides
	for _, side := range [...]side{sender, receiver} {
		q := requestOf(id, side)
		n, ok := t.waiting[q]
		if !ok {
			continue
		}
		delete(t.waiting, q)
		s := &t.list[n]
		e.chargeBeside(s.rank, id)
		if s.pending--; s.pending == 0 {
			t.times.Set(n, e.now)
		}
	}
}

// waitsBeside reports whether an action beside rank r waits for the request of a rank.
func (e *engine) waitsBeside(r, of int32, q request) bool {
	if e.asides == nil || r != of {
		return false
	}
	_, ok := e.asides.waiting[q]
	return ok
}

// merged tells that the request of a receive names another message from now on.
func (t *asides) merged(send, recv int32) {
	q := requestOf(recv, receiver)
	if n, ok := t.waiting[q]; ok {
		delete(t.waiting, q)
		t.waiting[requestOf(send, receiver)] = n
	}
}

// endBeside ends an action, and the wait of its rank if it is the last one.
func (e *engine) endBeside(n int32) {
	t := e.asides
	s := &t.list[n]
	e.chargeBeside(s.rank, -1)
	for _, other := range s.ends {
		t.release(other, e.now)
	}
	of, rk := &t.ranks[s.rank], &e.ranks[s.rank]
	of.numbers[s.order] = -1
	if of.open--; of.joined && of.open == 0 {
		of.joined = false
		if rk.waits--; rk.waits == 0 {
			e.pay(s.rank, rk.after)
			rk.after = 0
			e.prober.letsIn(s.rank, rk.clock)
			e.wake(s.rank)
		}
	}
	*s = aside{}
	t.idle = append(t.idle, n)
}

// chargeBeside charges a rank that waits for the actions beside it up to the present time: for their computations, or for the
// wait, which the end of a message ends.
func (e *engine) chargeBeside(r, message int32) {
	of, rk := &e.asides.ranks[r], &e.ranks[r]
	if !of.joined {
		return
	}
	rk.clock = later(rk.clock, e.now)
	switch {
	case of.busy > 0:
		e.charge(r, TimeCompute)
	case message >= 0:
		rk.charge = TimeWait
		e.chargeWait(r, message)
	default:
		e.charge(r, TimeWait)
	}
}
