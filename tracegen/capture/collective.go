package capture

import (
	"errors"
	"fmt"
	"slices"

	"reprise/trace"
)

// collective adds a collective operation, which r, if it is a request, completes.
func (t *translator) collective(e *event, r request) error {
	kind, ok := e.proc.known().does.(trace.CollectiveKind)
	if !ok {
		return errors.New("a call that cannot be translated")
	}
	id := t.own.of[e.comm]
	switch {
	case id < 0:
		return fmt.Errorf("a communicator that not all of its ranks have made: %w", errUnfinished)
	case id == alone, len(t.comms[id].members) == 1 && len(t.comms[id].others) == 0:
		t.nothing(r)
		return nil
	}
	var s step
	if len(t.comms[id].others) > 0 {
		joins, err := false, error(nil)
		if s, joins, err = t.twoGroups(e, kind); err != nil || !joins {
			t.nothing(r)
			return err
		}
	} else {
		s = t.oneGroup(e, kind)
	}
	waits := r.number == 0 && t.split[id]
	if waits { // of all ranks, as it is of one
		t.ours--
		r.number = t.ours
	}
	if r.number != 0 {
		s.kind, s.request = trace.KindIcollective, t.take(r)
	}
	t.add(s)
	if waits {
		t.release(r, trace.KindWait)
	}
	return nil
}

// oneGroup returns a collective operation of a communicator.
func (t *translator) oneGroup(e *event, kind trace.CollectiveKind) step {
	id := t.own.of[e.comm]
	s := step{form: form{kind: trace.KindCollective, collective: kind, family: t.families.of(id)}}
	if e.nth > 0 && t.crossed[id] {
		s.family = t.families.ofPlan(id, e.nth, t.comms[id].members)
	}
	if kind.Rooted() {
		s.args[argPeer] = int64(e.ranks[0])
	}
	if kind.Reduces() {
		s.operator = trace.Operator(e.operator)
	}
	out, in := e.of[sends], e.of[receives]
	if c := e.of[anySide]; c.stated {
		out, in = c, c
	} else if c.size > 0 {
		in.size = c.size // of MPI_Reduce_scatter, whose type is that of both sides
	}
	t.directions(&s, out, in, len(t.comms[id].members), t.s.comms[e.comm].rank)
	if kind.Spans() {
		s.args[argTag] = e.span
		if s.recvSize == 1 && in.size != 1 {
			s.args[argTag] *= in.size
		}
	}
	return s
}

// directions says what the rank, me of so many, sends and receives. Where it is only known to
// others, as what the root receives is to the root, it is what the rank itself says, or nothing.
func (t *translator) directions(s *step, out, in counted, ranks, me int) {
	kind := s.collective
	if !out.stated {
		out = in.as(kind.SendsPerRank(), me, ranks)
	}
	if !in.stated {
		in = out.as(kind.RecvsPerRank(), me, ranks)
	}
	if kind.Sends() {
		s.sendSize, s.args[argBytes], s.lists[0] = t.direction(out, kind.SendsPerRank(), ranks)
	}
	if kind.Receives() {
		s.recvSize, s.args[argReceived], s.lists[1] = t.direction(in, kind.RecvsPerRank(), ranks)
	}
}

// as returns what one direction says of the other one, if that is not stated.
func (c counted) as(perRank bool, me, ranks int) counted {
	other := counted{stated: true, size: c.size, sizes: c.sizes, count: c.count, counts: c.counts}
	switch {
	case perRank && c.counts == nil:
		other.counts = make([]int64, ranks) // only the root knows
	case !perRank && c.counts != nil && me < len(c.counts):
		other.count, other.counts = c.counts[me], nil
	}
	return other
}

// direction returns the size of an element, and a count or the number of a list of counts.
func (t *translator) direction(c counted, perRank bool, ranks int) (size, count int64, list int32) {
	size = c.size
	bytes := size < 1 || size > trace.MaxElementSize || c.sizes != nil
	if bytes {
		size = 1
	}
	if !perRank {
		if bytes {
			return size, c.count * c.size, 0
		}
		return size, c.count, 0
	}
	values := make([]int64, ranks)
	for i := range values {
		switch {
		case c.counts == nil: // each as many, as in MPI_Reduce_scatter_block
			values[i] = c.count
		default:
			values[i] = c.counts[i]
		}
		if c.sizes != nil {
			values[i] *= c.sizes[i]
		} else if bytes {
			values[i] *= c.size
		}
	}
	return size, 0, t.table.list(values)
}

// twoGroups returns a collective operation of an intercommunicator as one of a communicator that
// moves the same bytes: a rooted one of the root, which is rank 0 there, and the other group; all
// others of both groups, in which the ranks of one exchange nothing with each other. Joins is false
// of the ranks beside the root, which take no part.
func (t *translator) twoGroups(e *event, kind trace.CollectiveKind) (s step, joins bool, err error) {
	id := t.own.of[e.comm]
	c := &t.comms[id]
	mine, theirs, from := c.members, c.others, len(c.members)
	if !slices.Contains(mine, t.rank) {
		mine, theirs, from = c.others, c.members, 0
	}
	s = step{form: form{kind: trace.KindCollective, collective: kind, family: t.families.of(id)}}
	if kind.Reduces() {
		s.operator = trace.Operator(e.operator)
	}
	out, in := e.of[sends], e.of[receives]
	both := e.of[anySide]
	n := len(mine) + len(theirs)
	if kind.Rooted() {
		root, group := t.rank, theirs
		switch {
		case e.ranks[0] == procNull:
			return s, false, nil
		case e.ranks[0] == rootHere:
			out, in = out.behindRoot(), in.behindRoot()
			if kind == trace.CollGather || kind == trace.CollGatherv {
				out = counted{stated: true, size: 1}
			} else if kind == trace.CollScatter || kind == trace.CollScatterv {
				in = counted{stated: true, size: 1}
			}
		case int(e.ranks[0]) >= len(theirs):
			return s, false, errors.New("a root that the other group does not have")
		default:
			root, group = theirs[e.ranks[0]], mine
		}
		s.family = t.families.ofRoot(id, root, group)
		n = 1 + len(group)
	} else {
		switch kind {
		case trace.CollAllgather, trace.CollAllgatherv, trace.CollAlltoall, trace.CollAlltoallv:
			s.collective = trace.CollAlltoallv
			out, in = out.toOthers(from, len(theirs), n), in.toOthers(from, len(theirs), n)
		case trace.CollReduceScatter: // both groups have as many elements in all
			s.collective = trace.CollAllreduce
			total := counted{stated: true, size: both.size, count: in.count * int64(len(mine))}
			if in.counts != nil {
				total.count = 0
				for _, k := range in.counts {
					total.count += k
				}
			}
			out, in = total, total
		}
	}
	if both.stated {
		out, in = both, both
	}
	t.directions(&s, out, in, n, 0)
	return s, true, nil
}

// behindRoot returns counts by rank of a group as those of a communicator in which the root,
// which has none, comes first.
func (c counted) behindRoot() counted {
	if c.counts != nil {
		c.counts = slices.Insert(slices.Clone(c.counts), 0, 0)
	}
	return c
}

// toOthers returns what goes to each of the ranks of a communicator of n, of which the other
// group are some from one on.
func (c counted) toOthers(from, others, n int) counted {
	list := counted{stated: true, size: c.size, counts: make([]int64, n)}
	for i := range others {
		if c.sizes != nil {
			list.size, list.counts[from+i] = 1, c.bytes(i)
			continue
		}
		list.counts[from+i] = c.count
		if c.counts != nil {
			list.counts[from+i] = c.counts[i]
		}
	}
	return list
}

// neighbourTag is the first of the tags of messages that stand for neighbourhood collectives:
// no program has tags below 0.
const neighbourTag = -1000

// neighbours adds the messages of a neighbourhood collective, as libraries make them: from
// each source, to each destination, all at once. Of a grid, what goes down in a dimension
// comes from above, which tags tell apart: neighbours 2d and 2d+1 are those of dimension d.
func (t *translator) neighbours(e *event, r request) error {
	from, to := t.own.sources[e.comm], t.own.destinations[e.comm]
	of := t.own.topologies[e.comm]
	if of == noTopology {
		return errors.New("a neighbourhood collective of a communicator without neighbours")
	}
	var requests []request
	for i, source := range from {
		if err := t.neighbour(e, &requests, trace.KindIrecv, source, i, tagOf(of, i), receives); err != nil {
			return err
		}
	}
	for i, destination := range to {
		if err := t.neighbour(e, &requests, trace.KindIsend, destination, i, tagOf(of, i^1), sends); err != nil {
			return err
		}
	}
	if r.number > 0 {
		t.slots[t.started.instance(r)] = slot{none: true, rest: requests}
		return nil
	}
	for _, q := range requests {
		t.release(q, trace.KindWait)
	}
	return nil
}

func tagOf(of topology, i int) int64 {
	if of == grid {
		return neighbourTag - int64(i)
	}
	return neighbourTag
}

// neighbour adds a message of a neighbourhood collective.
func (t *translator) neighbour(e *event, requests *[]request, kind trace.Kind, rank int32, i int, tag int64,
	of side) error {
	if rank == procNull {
		return nil
	}
	peer, family, err := t.peerOf(e, rank)
	if err != nil {
		return err
	}
	t.ours--
	q := request{number: t.ours}
	*requests = append(*requests, q)
	s := step{form: form{kind: kind, family: family, request: t.take(q)}}
	s.args[argPeer], s.args[argTag], s.args[argBytes] = peer, tag, e.of[of].bytes(i)
	t.add(s)
	return nil
}

// bytes returns the bytes to or from a peer.
func (c *counted) bytes(i int) int64 {
	count, size := c.count, c.size
	if c.counts != nil {
		count = c.counts[i]
	}
	if c.sizes != nil {
		size = c.sizes[i]
	}
	return count * size
}

// persistent are the persistent collective operations of a rank, by its communicators. All ranks of a
// communicator make them in one order, but may start them in different ones (MPI 4.0, section 6.13).
type persistent struct {
	made  map[int]int64   // how many, by the rank's number of the communicator
	plans map[int64]nthOf // by request
	order map[int]uint64  // a hash of the order in which they and other operations began
}

// nthOf is the nth operation that was made of a communicator, from 1.
type nthOf struct {
	comm int
	nth  int64
}

func newPersistent() persistent {
	return persistent{map[int]int64{}, map[int64]nthOf{}, map[int]uint64{}}
}

// add notes an operation that is made, and returns which of its communicator it is; 0 for any other call.
func (p *persistent) add(e *event) int64 {
	if e.strange || !e.proc.collective() {
		return 0
	}
	if !e.request.persistent {
		if p.made[e.comm] > 0 {
			p.follow(e.comm, 0)
		}
		return 0
	}
	p.made[e.comm]++
	p.plans[e.request.number] = nthOf{e.comm, p.made[e.comm]}
	return p.made[e.comm]
}

func (p *persistent) start(request int64) {
	if plan, ok := p.plans[request]; ok {
		p.follow(plan.comm, plan.nth)
	}
}

func (p *persistent) follow(comm int, nth int64) {
	p.order[comm] = (p.order[comm] ^ uint64(nth+1)) * multiplier
}

// crossed returns the communicators of the run whose ranks started persistent operations in different
// orders. A trace matches the operations of a family by their order, so each persistent operation of such a
// communicator gets a family of its own.
func crossed(surveys []*survey, own []rankComms) map[int]bool {
	type started struct {
		hash  uint64
		known bool
	}
	first, found := map[int]started{}, map[int]bool{}
	for rank, v := range surveys {
		for local := range v.plans.made {
			id := own[rank].of[local]
			switch before := first[id]; {
			case !before.known:
				first[id] = started{v.plans.order[local], true}
			case before.hash != v.plans.order[local]:
				found[id] = true
			}
		}
	}
	return found
}
