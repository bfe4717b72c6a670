package replay

import (
	"errors"
	"math"

	"reprise/replay/collective"
	"reprise/smpi"
	"reprise/trace"
)

// CollectiveTag is the tag of the messages of collective operations, which no
// action has. One is enough: all ranks call the same operations in the same order,
// and in each the messages of one rank to another are received in the order in
// which they are sent.
const CollectiveTag = math.MinInt32

// collectives knows which algorithms collective operations take, and how far the ranks have
// come in theirs. engine.collective plays them: a schedule of sends and receives each, which
// go the way of all others.
type collectives struct {
	selector  *collective.Selector
	runs      []collectiveRun // by rank; nil before the first
	sums      rankSums
	agreement int64 // 0 once all ranks have made all their calls, if these agree
}

// collectiveRun is what a rank does in a collective operation.
type collectiveRun struct {
	schedule collective.Schedule
	steps    []collective.Step // not yet taken
	rounds   int               // taken from schedule, but for the end
	requests []request         // by slot
	flops    float64           // to compute at the end
}

// Validate checks the options of the network and of the collective operations.
func (o *Options) Validate() error {
	if err := o.Network.Validate(); err != nil {
		return err
	}
	_, err := newSelector(&o.Network)
	return err
}

// newSelector returns the algorithms that the options choose.
func newSelector(o *smpi.Options) (*collective.Selector, error) {
	s, err := collective.NewSelector(o.CollSelector)
	errs := []error{err}
	if err == nil {
		for _, a := range o.CollAlgorithms {
			errs = append(errs, s.Set(a.Operation, a.Algorithm))
		}
	}
	return s, errors.Join(errs...)
}

// rankSums finds the vectors of a rank's actions.
type rankSums struct {
	source Source
	rank   int32
}

// Sums implements trace.Sums.
func (s *rankSums) Sums(list int64) []int64 { return s.source.Sums(s.rank, list) }

// collective carries on a collective operation of rank r, step by step, until the rank
// is blocked or all is done.
func (e *engine) collective(r int32, rk *rank, a *trace.Action) (outcome, error) {
	if !rk.collective {
		call, err := e.beginCollective(r, rk, a)
		if err != nil {
			return goOn, err
		}
		e.collectives.agreement += int64(call.Agreement(rk.calls, int(r), len(e.ranks))) // modulo 2^64
		rk.calls++
	}
	run := &e.collectives.runs[r]
	for {
		if len(run.steps) == 0 {
			run.nextRound()
			if err := run.schedule.Err(); err != nil {
				return goOn, err
			}
		}
		if len(run.steps) == 0 {
			break
		}
		step := &run.steps[0]
		run.steps = run.steps[1:]
		if out, err := e.collectiveStep(r, rk, run, step); out != goOn || err != nil {
			return parkedHere, err
		}
	}
	out := e.computation(r, rk, run.flops)
	rk.collective = out == parkedHere
	return out, nil
}

// beginCollective prepares the schedule of a call and returns the call.
func (e *engine) beginCollective(r int32, rk *rank, a *trace.Action) (call trace.Collective, err error) {
	if int(a.Sym) >= trace.NumCollectives {
		return call, errUnsupported
	}
	if e.collectives.runs == nil {
		e.collectives.runs = make([]collectiveRun, len(e.ranks))
	}
	e.collectives.sums.rank = r
	call = a.Collective(&e.collectives.sums)
	if err := call.Check(len(e.ranks)); err != nil {
		return call, err
	}
	run := &e.collectives.runs[r]
	run.flops, run.rounds = call.Flops, 0
	run.schedule.Start(e.collectives.selector, &call, len(e.ranks), int(r))
	rk.collective = true
	return call, nil
}

func (c *collectiveRun) nextRound() {
	if c.steps = c.schedule.Next(); len(c.steps) > 0 {
		c.rounds++
	}
}

// collectiveStep takes one step; the outcome is goOn unless the rank is blocked.
func (e *engine) collectiveStep(r int32, rk *rank, run *collectiveRun, s *collective.Step) (outcome, error) {
	rk.serial = false
	var err error
	switch s.Op {
	case collective.Isend:
		*run.slot(s.Slot), err = e.postIsend(r, s.Peer, CollectiveTag, s.Bytes, false)
		return goOn, err
	case collective.Irecv:
		id, err := e.postRecv(r, s.Peer, CollectiveTag, s.Bytes)
		if err == nil {
			*run.slot(s.Slot) = requestOf(id, receiver)
		}
		return goOn, err
	case collective.Send:
		err = e.postAndJoin(r, s.Peer, CollectiveTag, s.Bytes, false)
	case collective.Recv:
		var id int32
		if id, err = e.postRecv(r, s.Peer, CollectiveTag, s.Bytes); err == nil {
			e.join(r, id, receiver)
		}
	case collective.Wait:
		e.finish(r, run.slot(s.Slot))
	case collective.WaitAll:
		rk.serial = true
		for i := range run.requests {
			e.finish(r, &run.requests[i])
		}
		run.requests = run.requests[:0]
	}
	if err != nil {
		return goOn, err
	}
	return e.settled(r, TimeCollective), nil
}

// slot returns a slot for a request.
func (c *collectiveRun) slot(n int32) *request {
	for int(n) >= len(c.requests) {
		c.requests = append(c.requests, noRequest)
	}
	return &c.requests[n]
}
