package replay

import (
	"fmt"

	"reprise/trace"
)

// openCollective is a nonblocking collective operation that a rank has begun and not
// completed: its messages have been posted, and the request in its slot stands for all of
// theirs.
type openCollective struct {
	requests []request
	flops    float64 // to compute once they are complete
}

// collectiveRequest is the request of an open collective operation.
func collectiveRequest(n int32) request { return ^n }

// icollective begins a nonblocking collective operation of rank r.
func (e *engine) icollective(r int32, rk *rank, a *trace.Action) (outcome, error) {
	if !rk.collective {
		if _, err := e.slots.free(rk, a.Req); err != nil {
			return goOn, err
		}
		if err := e.callCollective(r, rk, a); err != nil {
			return goOn, err
		}
	}
	run := &e.collectives.runs[r]
	if out, err := e.playSchedule(r, rk, run); out != goOn || err != nil {
		return out, err
	}
	rk.collective = false
	slot, err := e.slots.free(rk, a.Req)
	if err == nil {
		*slot = e.collectives.keep(run)
	}
	return goOn, err
}

// keep keeps what a run has posted until it is waited for, and returns its request.
func (c *collectives) keep(run *collectiveRun) request {
	if len(c.idle) == 0 {
		c.idle = append(c.idle, int32(len(c.open)))
		c.open = append(c.open, openCollective{})
	}
	n := c.idle[len(c.idle)-1]
	c.idle = c.idle[:len(c.idle)-1]
	o := &c.open[n]
	o.flops = run.flops
	o.requests = append(o.requests[:0], run.requests...)
	run.requests = run.requests[:0]
	run.steps = nil
	return collectiveRequest(n)
}

// complete carries on the wait of rank r for the open collective operation in a slot.
func (e *engine) complete(r int32, rk *rank, slot *request) outcome {
	o := &e.collectives.open[^*slot]
	if !rk.collective {
		rk.collective, rk.serial = true, true
		for i := range o.requests {
			e.finish(r, &o.requests[i])
		}
		if e.settled(r, TimeWait) != goOn {
			return parkedHere
		}
	}
	if e.computation(r, rk, o.flops) == parkedHere {
		return parkedHere
	}
	rk.collective = false
	e.collectives.close(slot)
	return goOn
}

// close takes an open collective operation that is complete out of its slot.
func (c *collectives) close(slot *request) {
	c.idle = append(c.idle, ^*slot)
	*slot = noRequest
}

// completeAll carries on the wait of rank r for all its collective operations, in the order
// of their slots.
func (e *engine) completeAll(r int32, rk *rank) outcome {
	for _, list := range e.requestsOf(rk) {
		for i := range list {
			if list[i] < noRequest && e.complete(r, rk, &list[i]) == parkedHere {
				return parkedHere
			}
		}
	}
	return goOn
}

// requestsOf returns the slots of a rank.
func (e *engine) requestsOf(rk *rank) [2][]request {
	return [2][]request{rk.reqs[:], e.slots.overflow[rk.overflow]}
}

// waitAll carries on the wait of rank r for all its requests.
func (e *engine) waitAll(r int32, rk *rank) outcome {
	if len(e.collectives.open) > len(e.collectives.idle) {
		if out := e.completeAll(r, rk); out != goOn {
			return out
		}
	}
	rk.serial = true
	e.finishAll(r)
	return e.settled(r, TimeWait)
}

// null plays a message to or from nobody.
func (e *engine) null(rk *rank, a *trace.Action) error {
	switch trace.Kind(a.X[1]) {
	case trace.KindIsend, trace.KindIssend, trace.KindIrecv, trace.KindStart:
	default:
		return nil
	}
	slot, err := e.slots.free(rk, a.Req)
	if err == nil {
		*slot = completeRequest
	}
	return err
}

// errFreed is the error of a collective operation that is let go of, as MPI forbids.
func errFreed(n int32) error {
	return fmt.Errorf("request slot %d is of a collective operation, which must be waited for", n)
}

// collects reports whether actions of a kind are collective operations.
func collects(k trace.Kind) bool { return k == trace.KindCollective || k == trace.KindIcollective }
