package collective

import "math/bits"

// barrierLinear lets rank 0 collect an empty message of each and answer them all.
// Cost: about 2pa at rank 0.
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

// barrierRecursiveDoubling lets pairs at distances 1, 2, 4, ... exchange empty
// messages; the ranks beyond the largest power of two sign on with a partner first and
// are told at the end. Cost: (log2 p + 2)a.
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

// barrierDissemination tells the rank 2^k places ahead, in round k, what is known;
// after ceil(log2 p) rounds all have heard of all. Open MPI calls it after Bruck.
// Source: D. Hensgen, R. Finkel, U. Manber, "Two Algorithms for Barrier
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
