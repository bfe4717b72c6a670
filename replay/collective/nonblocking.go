package collective

import "reprise/trace"

// AnyPeer is the peer of a receive that takes what comes from any rank.
const AnyPeer = -1

// nonblocking are the algorithms of nonblocking operations, for which there is no choice:
// each rank posts all its messages at once, and waits for them where the operation is
// completed, in the last step. Source: SimGrid 3.32, which has no others.
var nonblocking = [trace.NumCollectives]algorithm{
	trace.CollBarrier: barrierPosted, trace.CollBcast: bcastPosted, trace.CollReduce: reduceFlat, trace.CollAllreduce: allreducePosted,
	trace.CollAlltoall: alltoallLinear, trace.CollAlltoallv: alltoallFlat, trace.CollGather: gatherFlat, trace.CollGatherv: gatherFlat,
	trace.CollAllgather: allgatherFlat, trace.CollAllgatherv: allgatherFlat, trace.CollScatter: scatterFlat, trace.CollScatterv: scatterFlat,
	trace.CollReduceScatter: reduceScatterPosted, trace.CollScan: scanPosted, trace.CollExscan: scanPosted,
}

// barrierPosted lets rank 0 take a message from whoever comes, and then send one to the next
// rank, as often as there are others.
func barrierPosted(s *Schedule, _ *operands, round int) bool {
	switch {
	case round == s.p-1 || s.rank > 0 && round > 0:
		s.waitAll()
		return false
	case s.rank > 0:
		s.isend(0, 0, 0, 0)
		s.irecv(1, 0, 0)
	default:
		s.irecv(2*round, AnyPeer, 0)
		s.isend(2*round+1, round+1, 0, 0)
	}
	return true
}

// bcastPosted sends from the root to each of the others. Cost: (p-1)(a + nb) at the root.
func bcastPosted(s *Schedule, o *operands, round int) bool {
	switch {
	case s.rank != o.root:
		s.irecv(0, o.root, o.send.one())
	case round < s.p-1:
		s.isend(round, other(round, s.rank), o.send.one(), 0)
		return true
	}
	s.waitAll()
	return false
}

// allreducePosted sends all of the data to each of the others. Cost: (p-1)(a + nb).
func allreducePosted(s *Schedule, o *operands, round int) bool {
	if round == s.p-1 {
		s.waitAll()
		return false
	}
	peer := other(round, s.rank)
	s.isend(2*round, peer, o.send.one(), 0)
	s.irecv(2*round+1, peer, o.send.one())
	return true
}

// reduceScatterPosted sends each of the others its block. Cost: (p-1)a + nb.
func reduceScatterPosted(s *Schedule, o *operands, round int) bool {
	if round == s.p-1 {
		s.waitAll()
		return false
	}
	peer := other(round, s.rank)
	s.isend(2*round, peer, o.recv.bytes(peer), o.recv.before(peer))
	s.irecv(2*round+1, peer, o.recv.bytes(s.rank))
	return true
}

// scanPosted receives from all ranks before and sends to all after. Cost: (p-1)(a + nb).
func scanPosted(s *Schedule, o *operands, round int) bool {
	switch {
	case round == s.p-1:
		s.waitAll()
		return false
	case round < s.rank:
		s.irecv(round, round, o.send.one())
	default:
		s.isend(round, round+1, o.send.one(), 0)
	}
	return true
}
