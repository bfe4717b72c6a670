package replay

import "reprise/trace"

// openCollective is a nonblocking collective operation that a rank has begun and not
// completed: its messages have been posted, and the request in its slot stands for all of
// theirs.
type openCollective struct {
	requests []request
	flops    float64 // to compute once they are complete
}

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
	if err != nil {
		return goOn, err
	}
	// The posts of the run are kept until they are waited for, in a place that is idle or new.
	c := &e.collectives
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
	*slot = ^n
	return goOn, nil
}

// complete carries on the wait of rank r for the open collective operation in a slot.
func (e *engine) complete(r int32, rk *rank, slot *request) outcome {
	// First all messages of the operation, then its computation; rank.collective says that the first is under
	// way or over.
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

// waitAll carries on the wait of rank r for all its requests.
func (e *engine) waitAll(r int32, rk *rank) outcome {
	lists := [2][]request{rk.reqs[:], e.slots.overflow[rk.overflow]}
	if len(e.collectives.open) > len(e.collectives.idle) { // collective operations first, by their slots
		for _, list := range lists {
			for i := range list {
				if list[i] < noRequest && e.complete(r, rk, &list[i]) == parkedHere {
					return parkedHere
				}
			}
		}
	}
	rk.serial = true
	for _, list := range lists {
		for i := range list {
			e.finish(r, &list[i])
		}
	}
	return e.settled(r, TimeWait)
}

// collects reports whether actions of a kind are collective operations.
func collects(k trace.Kind) bool { return k == trace.KindCollective || k == trace.KindIcollective }
