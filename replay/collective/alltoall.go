package collective

import (
	"math/bits"

	"reprise/trace"
)

// The algorithms of MPI_Alltoall and MPI_Barrier, and those of nonblocking operations (...Posted). Of an alltoall
// o.send has the data that a rank sends to each rank, o.recv those that it receives from each; they may differ from
// rank to rank (alltoallv). In costs n is the number of bytes that a rank sends in all.

// alltoallLinear posts all receives, from the next rank on, and all sends, from the
// rank before back. Cost: (p-1)a + nb.
func alltoallLinear(s *Schedule, o *operands, round int) bool {
	return s.receiveAndSend(o, round, s.at(s.rank, 1+round), s.at(s.rank, s.p-2-round))
}

// alltoallFlat is alltoallLinear in the order of ranks.
func alltoallFlat(s *Schedule, o *operands, round int) bool {
	return s.receiveAndSend(o, round, other(round, s.rank), other(round-(s.p-1), s.rank))
}

// receiveAndSend posts one receive a round, then one send a round, and waits for all of them.
func (s *Schedule) receiveAndSend(o *operands, round, from, to int) bool {
	switch others := s.p - 1; {
	case round < others:
		s.irecv(round, from, o.recv.bytes(from))
	case round < 2*others:
		s.isend(round, to, o.send.bytes(to), o.send.before(to))
	default:
		s.waitAll()
		return false
	}
	return true
}

// alltoallShift sends to the rank i places ahead and receives from that i places back,
// for i = 1 to p-1. SMPI calls it ring. Cost: (p-1)a + nb.
func alltoallShift(s *Schedule, o *operands, round int) bool {
	to, from := s.at(s.rank, 1+round), s.at(s.rank, -1-round)
	s.exchange(to, o.send.bytes(to), o.send.before(to), from, o.recv.bytes(from))
	return round+2 < s.p
}

// alltoallPairs exchanges with rank xor i, for i = 1 to p-1; for other numbers of
// ranks than powers of two it is alltoallShift. Cost: (p-1)a + nb.
func alltoallPairs(s *Schedule, o *operands, round int) bool {
	if !isPower(s.p) {
		return alltoallShift(s, o, round)
	}
	peer := s.rank ^ (round + 1)
	s.exchange(peer, o.send.bytes(peer), o.send.before(peer), peer, o.recv.bytes(peer))
	return round+2 < s.p
}

// alltoallBruck sends, in round k, all blocks whose way still to go has bit k set 2^k
// places ahead. Source: as of allgatherBruck. Cost: ceil(log2 p)(a + nb/2).
func alltoallBruck(s *Schedule, o *operands, round int) bool {
	bit, n := 1<<round, int64(0)
	for way := 1; way < s.p; way++ {
		if way&bit != 0 {
			n++
		}
	}
	bytes := n * o.send.count * o.recv.size
	s.exchange(s.at(s.rank, bit), bytes, -1, s.at(s.rank, -bit), bytes)
	return 2*bit < s.p
}

// throttle is the number of peers at a time of throttled algorithms.
const throttle = 4

// alltoallThrottled is alltoallLinear with four receives and sends at a time, as
// suggested by T. Ladd for MPICH. Cost: (p-1)a + nb.
func alltoallThrottled(s *Schedule, o *operands, round int) bool {
	return o.recv.one() > 0 && s.throttled(o, round, 0)
}

// alltoallvThrottled is alltoallThrottled without messages to oneself. SMPI calls it bruck.
func alltoallvThrottled(s *Schedule, o *operands, round int) bool { return s.throttled(o, round, 1) }

// throttled is round k of a throttled algorithm; the peers begin at distance first.
func (s *Schedule) throttled(o *operands, round, first int) bool {
	begin := round * throttle
	end := min(begin+throttle, s.p)
	begin = max(begin, first)
	for d := begin; d < end; d++ {
		from := s.at(s.rank, d)
		s.irecv(d-begin, from, o.recv.bytes(from))
	}
	for d := begin; d < end; d++ {
		to := s.at(s.rank, -d)
		s.isend(throttle+d-begin, to, o.send.bytes(to), o.send.before(to))
	}
	s.waitAll()
	return end < s.p
}

// barrierLinear lets rank 0 collect an empty message of each and answer them all. Cost: about 2pa at rank 0.
func barrierLinear(s *Schedule, _ *operands, round int) bool {
	if s.rank > 0 {
		s.send(0, 0, 0)
		s.recv(0, 0)
		return false
	}
	others := s.p - 1
	switch {
	case round < others:
		s.irecv(round, round+1, 0)
	case round == others:
		s.waitAll()
	case round <= 2*others:
		s.isend(round, round-others, 0, 0)
	default:
		s.waitAll()
		return false
	}
	return true
}

// barrierDoubleRing sends an empty message around the ring of ranks, twice. Cost: 2pa.
func barrierDoubleRing(s *Schedule, _ *operands, round int) bool {
	left, right := s.at(s.rank, -1), s.at(s.rank, 1)
	if s.rank > 0 {
		s.recv(left, 0)
	}
	s.send(right, 0, 0)
	if s.rank == 0 {
		s.recv(left, 0)
	}
	return round == 0
}

// barrierRecursiveDoubling lets pairs at distances 1, 2, 4, ... exchange empty messages; the ranks beyond the largest
// power of two sign on with a partner first and are told at the end. Cost: (log2 p + 2)a.
func barrierRecursiveDoubling(s *Schedule, _ *operands, round int) bool {
	power := powerBelow(s.p)
	extra := s.p - power
	if s.rank >= power {
		s.exchange(s.rank-power, 0, 0, s.rank-power, 0)
		return false
	}
	if round == 0 {
		if s.rank < extra {
			s.recv(s.rank+power, 0)
		}
		return true
	}
	if mask := 1 << (round - 1); mask < power {
		s.exchange(s.rank^mask, 0, 0, s.rank^mask, 0)
		return true
	}
	if s.rank < extra {
		s.send(s.rank+power, 0, 0)
	}
	return false
}

// barrierDissemination tells the rank 2^k places ahead, in round k, what is known; after ceil(log2 p) rounds all have
// heard of all. Open MPI calls it after Bruck. Source: D. Hensgen, R. Finkel, U. Manber, "Two Algorithms for Barrier
// Synchronization", IJPP 17(1), 1988. Cost: ceil(log2 p)a.
func barrierDissemination(s *Schedule, _ *operands, round int) bool {
	d := 1 << round
	s.exchange(s.at(s.rank, d), 0, 0, s.at(s.rank, -d), 0)
	return 2*d < s.p
}

// barrierTree goes up a binomial tree to rank 0 and down again. Cost: 2 ceil(log2 p)a.
func barrierTree(s *Schedule, _ *operands, round int) bool {
	levels := bits.Len(uint(s.p - 1))
	up := round < levels
	jump := 1 << round
	if !up {
		jump = 1 << (2*levels - 1 - round)
	}
	partner := s.rank ^ jump
	switch {
	case s.rank&(jump-1) != 0 || partner >= s.p:
	case (partner > s.rank) == up:
		s.recv(partner, 0)
	default:
		s.send(partner, 0, 0)
	}
	return round < 2*levels-1
}

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
	if s.rank != o.root {
		s.irecv(0, o.root, o.send.one())
		s.waitAll()
		return false
	}
	return s.withOthers(round, func(to int) { s.isend(round, to, o.send.one(), 0) })
}

// allreducePosted sends all of the data to each of the others. Cost: (p-1)(a + nb).
func allreducePosted(s *Schedule, o *operands, round int) bool {
	return s.withOthers(round, func(peer int) {
		s.isend(2*round, peer, o.send.one(), 0)
		s.irecv(2*round+1, peer, o.send.one())
	})
}

// reduceScatterPosted sends each of the others its block. Cost: (p-1)a + nb.
func reduceScatterPosted(s *Schedule, o *operands, round int) bool {
	return s.withOthers(round, func(peer int) {
		s.isend(2*round, peer, o.recv.bytes(peer), o.recv.before(peer))
		s.irecv(2*round+1, peer, o.recv.bytes(s.rank))
	})
}

// scanPosted receives from all ranks before and sends to all after. Cost: (p-1)(a + nb).
func scanPosted(s *Schedule, o *operands, round int) bool {
	return s.withOthers(round, func(peer int) {
		if peer < s.rank {
			s.irecv(round, peer, o.send.one())
		} else {
			s.isend(round, peer, o.send.one(), 0)
		}
	})
}
