package replay

import (
	"errors"
	"fmt"
	"math"

	"reprise/replay/collective"
	"reprise/smpi"
	"reprise/trace"
)

// This file plays collective operations (engine.collective; icollective if they do not block). An operation is
// point-to-point messages: package collective says which, by the algorithms that the options choose, and this file
// posts them one step after the other. In the midst of a schedule a rank is blocked by a step, as in any send or
// receive, or parked until the event loop has come to its clock.

// CollectiveTag is the tag of the messages of collective operations, which no action has. One is enough: all ranks of a
// communicator call the same operations in the same order, and in each the messages of one rank to another are received
// in the order in which they are sent. Communicators are told apart by labels, and so are nonblocking operations, which
// may be under way while others begin and end.
const CollectiveTag = math.MinInt32

// collectives knows the algorithms of collective operations, and how far each rank has come in its schedule of sends
// and receives.
type collectives struct {
	selector  *collective.Selector
	families  []trace.CommFamily
	hosts     []int32             // by rank
	nodes     []*collective.Nodes // of all ranks, as of a communicator's groups
	comms     []communicator      // by family; empty before a rank calls an operation on one
	runs      []collectiveRun     // by rank; nil before the first
	open      []openCollective
	idle      []int32 // of open, those that are not in use
	sums      rankSums
	linear    int64 // bits of the operations that were called by linear algorithms
	agreement int64 // 0 once all ranks have made all their calls, if these agree
}

// collectiveRun is the state of a rank in a collective operation.
type collectiveRun struct {
	schedule collective.Schedule
	steps    []collective.Step // not yet taken
	rounds   int               // taken from schedule, but for the end
	requests []request         // by slot
	flops    float64           // to compute at the end
	members  *trace.Group      // nil: all ranks
	comm     uint16            // of its messages
}

// world returns the rank of a member of the communicator.
func (c *collectiveRun) world(member int32) int32 {
	if c.members == nil {
		return member
	}
	return c.members.Member(int(member))
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

// fewRanks is how many ranks are too few for a linear algorithm to be slower than others.
const fewRanks = 2

// rankSums gives schedules the vectors that the actions of a rank name.
type rankSums struct {
	source Source
	rank   int32
}

// Sums implements trace.Sums.
func (s *rankSums) Sums(list int64) []int64 { return s.source.Sums(s.rank, list) }

// collective carries on a collective operation of rank r, step by step, until the rank is blocked or all is done.
func (e *engine) collective(r int32, rk *rank, a *trace.Action) (outcome, error) {
	if !rk.collective {
		if err := e.callCollective(r, rk, a); err != nil {
			return goOn, err
		}
	}
	run := &e.collectives.runs[r]
	if out, err := e.playSchedule(r, rk, run); out != goOn || err != nil {
		return out, err
	}
	out := e.computation(r, rk, run.flops)
	rk.collective = out == parkedHere
	return out, nil
}

// callCollective begins a call and counts it.
func (e *engine) callCollective(r int32, rk *rank, a *trace.Action) error {
	call, err := e.beginCollective(r, rk, a)
	if err == nil {
		e.countCall(r, rk, &call)
	}
	return err
}

// countCall counts a call, and returns its number among those of its rank on the communicator.
func (e *engine) countCall(r int32, rk *rank, call *trace.Collective) int64 {
	// Each member adds its part of a sum that is 0 once all members of a group have made equal calls, by
	// number and in all their arguments (trace.Collective.Agreement): so no call need be kept.
	count, member, size := &rk.calls, int(r), len(e.ranks)
	group := int32(-1)
	if call.Comm > 0 {
		c := &e.collectives.comms[call.Comm-1]
		count, member = &c.calls[r], int(c.member[r])
		group, size = c.of[r], c.groups[c.of[r]].Len()
	}
	e.collectives.agreement += int64(call.Agreement(group, *count, member, size)) // modulo 2^64
	*count++
	return *count
}

// playSchedule takes the steps of a schedule until the rank is blocked or all are taken. The last step of a nonblocking
// operation, its completion, is left.
func (e *engine) playSchedule(r int32, rk *rank, run *collectiveRun) (outcome, error) {
	for {
		if len(run.steps) == 0 {
			run.nextRound()
			if err := run.schedule.Err(); err != nil {
				return goOn, err
			}
		}
		if len(run.steps) == 0 {
			return goOn, nil
		}
		step := &run.steps[0]
		// The last step of a nonblocking operation is left to its wait. A receive from any member depends on
		// what others have sent by now.
		switch {
		case step.Op == collective.WaitAll && run.comm&commNonblocking != 0:
			return goOn, nil
		case step.Peer == collective.AnyPeer && !e.comeToTime(r):
			return parkedHere, nil
		}
		run.steps = run.steps[1:]
		if out, err := e.collectiveStep(r, rk, run, step); out != goOn || err != nil {
			return parkedHere, err
		}
	}
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
	if err := e.schedule(r, &e.collectives.runs[r], &call); err != nil {
		return call, err
	}
	rk.collective = true
	return call, nil
}

// schedule has a run begin a call of rank r.
func (e *engine) schedule(r int32, run *collectiveRun, call *trace.Collective) error {
	// Members are numbered within their group; the schedule names peers by these numbers, which world turns into ranks.
	size, member := len(e.ranks), int(r)
	run.members = nil
	nodes, group := e.collectives.nodes, int32(0)
	if call.Comm != 0 {
		c, err := e.collectives.communicator(call.Comm-1, len(e.ranks))
		if err != nil {
			return err
		}
		nodes, group = c.nodes, c.of[r]
		run.members, member = &c.groups[group], int(c.member[r])
		size = run.members.Len()
	}
	if err := call.Check(size); err != nil {
		return err
	}
	run.flops, run.rounds, run.comm = call.Flops, 0, uint16(call.Comm)
	if call.Nonblocking {
		run.comm |= commNonblocking
		if call.Kind == trace.CollBarrier {
			run.comm |= commBarrier
		}
	}
	if size > fewRanks && !call.Nonblocking && e.collectives.selector.Linear(call.Kind) {
		e.collectives.linear |= 1 << call.Kind
	}
	var of *collective.Nodes
	if nodes != nil {
		of = nodes[group]
	}
	run.schedule.Start(e.collectives.selector, call, size, member, of)
	return nil
}

// nextRound takes the next round of steps from the schedule. There are none at its end.
func (c *collectiveRun) nextRound() {
	if c.steps = c.schedule.Next(); len(c.steps) > 0 {
		c.rounds++
	}
}

// collectiveStep takes one step; the outcome is goOn unless the rank is blocked.
func (e *engine) collectiveStep(r int32, rk *rank, run *collectiveRun, s *collective.Step) (outcome, error) {
	// A step is what MPI_Send, MPI_Recv, MPI_Isend, MPI_Irecv, MPI_Wait or MPI_Waitall does, and costs the same.
	// Posts let the rank go on at once; the others may block it, in the kind of time of collective operations.
	rk.serial = false
	var err error
	l := label{CollectiveTag, run.comm}
	switch s.Op {
	case collective.Isend:
		e.pay(r, e.costs.isendOverhead(r, s.Bytes))
		*run.slot(s.Slot), err = e.postIsend(r, run.world(s.Peer), l, s.Bytes, false)
		return goOn, err
	case collective.Irecv:
		var id int32
		if s.Peer == collective.AnyPeer {
			id, err = e.postWild(r, trace.AnySource, l, s.Bytes)
		} else {
			id, err = e.postRecv(r, run.world(s.Peer), l, s.Bytes)
		}
		if err == nil {
			*run.slot(s.Slot) = requestOf(id, receiver)
		}
		return goOn, err
	case collective.Send:
		err = e.postAndJoin(r, run.world(s.Peer), l, s.Bytes, false)
	case collective.Recv:
		var id int32
		if id, err = e.postRecv(r, run.world(s.Peer), l, s.Bytes); err == nil {
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

// communicator is a family of communicators: groups of ranks on which collective operations are called.
type communicator struct {
	groups []trace.Group
	of     []int32             // by rank: its group
	member []int32             // by rank: its place in the group
	calls  []int64             // by rank: collective operations that were begun
	nodes  []*collective.Nodes // by group; nil: no algorithm goes by them
}

// communicator returns the communicator of a family, in a run of so many ranks.
func (c *collectives) communicator(family int32, ranks int) (*communicator, error) {
	if uint32(family) >= uint32(len(c.families)) {
		return nil, fmt.Errorf("communicator of family %d out of [0,%d)", family, len(c.families))
	}
	if c.comms == nil {
		c.comms = make([]communicator, len(c.families))
	}
	comm := &c.comms[family]
	if comm.groups == nil {
		groups := c.families[family].Groups // a partition of the ranks
		*comm = communicator{groups: groups, of: make([]int32, ranks), member: make([]int32, ranks),
			calls: make([]int64, ranks), nodes: c.nodesOf(groups)}
		for g := range groups {
			for m := range groups[g].Len() {
				r := groups[g].Member(m)
				comm.of[r], comm.member[r] = int32(g), int32(m)
			}
		}
	}
	return comm, nil
}

// nodesOf returns the nodes of groups, if algorithms go by them.
func (c *collectives) nodesOf(groups []trace.Group) []*collective.Nodes {
	if !c.selector.ByNodes() {
		return nil
	}
	nodes := make([]*collective.Nodes, len(groups))
	for i := range groups {
		world := func(member int) int32 { return groups[i].Member(member) }
		nodes[i] = collective.NewNodes(groups[i].Len(), world, func(member int) int32 { return c.hosts[world(member)] })
	}
	return nodes
}

// openCollective is a nonblocking collective operation that a rank has begun and not completed: its messages have been
// posted, and the request in its slot stands for the requests of all of them.
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
	// Only its posts are played here; its last step, the wait for all of them, is left to the completion.
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
	if e.asides != nil && e.asides.ranks[r].open > 0 { // all actions beside the rank must end, too
		e.asides.ranks[r].joined = true
		rk.waits++
	}
	return e.settled(r, TimeWait)
}

// collects reports whether actions of a kind are collective operations.
func collects(k trace.Kind) bool { return k == trace.KindCollective || k == trace.KindIcollective }
