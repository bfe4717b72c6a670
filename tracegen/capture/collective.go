package capture

import (
	"errors"
	"slices"

	"reprise/internal/textutil"
	"reprise/trace"
)

// This file translates collective operations (translator.collective) and neighbourhood collectives
// (translator.neighbours), stage 3 of a merge.

// collective adds a collective operation to the trace. r is its request; a blocking operation has none.
func (t *translator) collective(e *event, r request) {
	kind, ok := e.proc.known().does.(trace.CollectiveKind)
	if !ok {
		textutil.Stop(errors.New("a call that cannot be translated"))
	}
	id := t.comm(e, "a communicator")
	c := &t.comms[id]
	// An operation of one rank moves nothing, and waits for nobody.
	if id == alone || len(c.members) == 1 && len(c.others) == 0 {
		t.nothing(r)
		return
	}
	s := step{form: form{kind: trace.KindCollective, collective: kind, family: t.families.index[id]}}
	if kind.Reduces() {
		s.operator = trace.Operator(e.operator)
	}
	// The trace knows operations within one group, so those between the two groups of an intercommunicator
	// are rewritten.
	if len(c.others) > 0 {
		if !t.twoGroups(&s, e) {
			t.nothing(r)
			return
		}
	} else {
		// Operations of a family are matched by their order, which the ranks of this communicator did not keep.
		if e.nth > 0 && t.crossed[id] {
			s.family = t.families.apart(operations{comm: id, nth: e.nth}, c.members)
		}
		if kind.Rooted() {
			s.args[argPeer] = int64(e.ranks[0])
		}
		// MPI_Bcast, MPI_Allreduce and their like state one count, which holds for both directions.
		out, in := e.of[sends], e.of[receives]
		if both := e.of[anySide]; both.stated {
			out, in = both, both
		} else if both.size > 0 {
			in.size = both.size // of MPI_Reduce_scatter, whose type is that of both sides
		}
		t.directions(&s, out, in, len(c.members), t.s.comms[e.comm].rank)
		if kind.Spans() {
			s.args[argTag] = e.span
			if s.recvSize == 1 && in.size != 1 { // counts were turned into bytes
				s.args[argTag] *= in.size
			}
		}
	}
	// A blocking operation of a communicator that has nonblocking ones on other ranks becomes one of these, with a
	// wait, so that all ranks have the same.
	waits := r.number == 0 && t.split[id]
	if waits {
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
}

// directions sets the counts that the rank sends and receives; me is its number among the ranks. A count that only
// other ranks state, such as what each rank sends to the root, is taken from the rank's own other direction.
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

// as returns the counts of the other direction, if they are not stated, by those of this one.
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

// direction returns the size of an element in bytes, and a count or the number of a list of counts. Where elements
// differ in size, or one is larger than a trace allows, the element is a byte.
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
	// All counts of a list are in one unit: elements, or bytes.
	values := make([]int64, ranks)
	for i := range values {
		if values[i] = c.to(i); bytes {
			values[i] = c.bytes(i)
		}
	}
	return size, 0, t.table.list(values)
}

// twoGroups turns an operation of an intercommunicator into one of a common communicator that moves the same
// bytes (MPI 4.1, section 6.2.3). For a rooted operation the communicator has the root, as rank 0, and the other
// group; joins is false for the ranks beside the root, which take no part. For all others it has both groups, and
// ranks of one group exchange nothing with each other.
func (t *translator) twoGroups(s *step, e *event) (joins bool) {
	id, kind := t.own[e.comm].of, s.collective
	c := &t.comms[id]
	// The common communicator has the ranks of c.members first, then those of c.others; from is the place of
	// the other group's first rank in it.
	mine, theirs, from := c.members, c.others, len(c.members)
	if !slices.Contains(mine, t.rank) {
		mine, theirs, from = c.others, c.members, 0
	}
	out, in := e.of[sends], e.of[receives]
	both := e.of[anySide]
	n := len(mine) + len(theirs)
	if kind.Rooted() {
		// Each rank names the root as it sees it: MPI_ROOT is the rank itself, MPI_PROC_NULL a rank of its
		// own group, and any other number a rank of the other group.
		root, group := t.rank, theirs
		switch {
		case e.ranks[0] == procNull:
			return false
		case e.ranks[0] == rootHere:
			// The root is rank 0 and has no count of its own.
			for _, c := range []*counted{&out, &in} {
				if c.counts != nil {
					c.counts = slices.Insert(slices.Clone(c.counts), 0, 0)
				}
			}
			if kind == trace.CollGather || kind == trace.CollGatherv {
				out = counted{stated: true, size: 1}
			} else if kind == trace.CollScatter || kind == trace.CollScatterv {
				in = counted{stated: true, size: 1}
			}
		case int(e.ranks[0]) >= len(theirs):
			textutil.Stop(errors.New("a root that the other group does not have"))
		default:
			root, group = theirs[e.ranks[0]], mine
		}
		s.family = t.families.apart(operations{comm: id, root: root}, append([]int32{root}, group...))
		n = 1 + len(group)
	} else {
		// Lists of counts get zeros for the ranks of the own group. Operations that exchange blocks of one
		// size become MPI_Alltoallv, since a rank exchanges no block with its own group.
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
	t.directions(s, out, in, n, 0)
	return true
}

// toOthers returns the counts as those of a communicator of n ranks, in which the other group is the ranks from
// number from on, others of them.
func (c counted) toOthers(from, others, n int) counted {
	list := counted{stated: true, size: c.size, counts: make([]int64, n)}
	for i := range others {
		if list.counts[from+i] = c.to(i); c.sizes != nil {
			list.size, list.counts[from+i] = 1, c.bytes(i)
		}
	}
	return list
}

// neighbourTag is the first of the tags of messages that stand for neighbourhood collectives:
// no program has tags below 0.
const neighbourTag = -1000

// neighbours adds the messages of a neighbourhood collective (MPI 4.1, chapter 8), as libraries make them: one from
// each source and one to each destination, all at once. In a grid the two neighbours 2d and 2d+1 of dimension d may be
// one rank. Their tags tell their messages apart: what a rank sends down a dimension comes from above at the receiver.
func (t *translator) neighbours(e *event, r request) {
	topology := t.own[e.comm].topology
	if topology == noTopology {
		textutil.Stop(errors.New("a neighbourhood collective of a communicator without neighbours"))
	}
	// Receives are posted before the sends, so that no message arrives unexpected.
	var requests []request
	for _, way := range []struct {
		ranks []int32
		kind  trace.Kind
		side  side
		turn  int // of neighbours into those of the other direction
	}{
		{t.own[e.comm].sources, trace.KindIrecv, receives, 0},
		{t.own[e.comm].destinations, trace.KindIsend, sends, 1},
	} {
		for i, rank := range way.ranks {
			tag := int64(neighbourTag)
			if topology == grid {
				tag -= int64(i ^ way.turn)
			}
			t.post(e, &requests, way.kind, rank, tag, e.of[way.side].bytes(i))
		}
	}
	if r.number > 0 {
		t.slots[t.started.instance(r)] = slot{none: true, rest: requests}
		return
	}
	for _, q := range requests {
		t.release(q, trace.KindWait)
	}
}

// to returns the elements to or from a peer; without counts all are the same, as in MPI_Reduce_scatter_block.
func (c *counted) to(i int) int64 {
	if c.counts != nil {
		return c.counts[i]
	}
	return c.count
}

// bytes returns the bytes to or from a peer.
func (c *counted) bytes(i int) int64 {
	if c.sizes != nil {
		return c.to(i) * c.sizes[i]
	}
	return c.to(i) * c.size
}

// persistent are the persistent collective operations of a rank, by its communicators. All ranks of a communicator
// make them in one order, but may start them in different ones (MPI 4.1, section 6.13).
type persistent struct {
	made  map[int]int64        // how many, by the rank's number of the communicator
	plans map[int64]operations // by request; comm is the rank's number
	order map[int]uint64       // a hash of the order in which they and other operations began
}

// newPersistent returns the persistent operations of a rank that has made none.
func newPersistent() persistent {
	return persistent{map[int]int64{}, map[int64]operations{}, map[int]uint64{}}
}

// add notes a persistent operation when it is made, and returns its number on its communicator, from 1; for any
// other call it returns 0.
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
	p.plans[e.request.number] = operations{comm: e.comm, nth: p.made[e.comm]}
	return p.made[e.comm]
}

// follow adds an operation that begins on a communicator to the hash of the order of its operations. nth is the
// number of a persistent operation, and 0 for any other.
func (p *persistent) follow(comm int, nth int64) {
	p.order[comm] = (p.order[comm] ^ uint64(nth+1)) * multiplier
}
