package collective

// Of an alltoall o.send is what a rank sends to each, o.recv what it receives from
// each; they may differ from rank to rank (alltoallv). In costs n is what a rank sends
// in all.

// alltoallLinear posts all receives, from the next rank on, and all sends, from the
// rank before back. Cost: (p-1)a + nb.
func alltoallLinear(s *Schedule, o *operands, round int) bool {
	others := s.p - 1
	switch {
	case round < others:
		from := s.at(s.rank, 1+round)
		s.irecv(round, from, o.recv.bytes(from))
	case round < 2*others:
		to := s.at(s.rank, others-1-round)
		s.isend(round, to, o.send.bytes(to), o.send.before(to))
	default:
		s.waitAll()
		return false
	}
	return true
}

// alltoallFlat is alltoallLinear in the order of ranks.
func alltoallFlat(s *Schedule, o *operands, round int) bool {
	others := s.p - 1
	switch {
	case round < others:
		from := other(round, s.rank)
		s.irecv(round, from, o.recv.bytes(from))
	case round < 2*others:
		to := other(round-others, s.rank)
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

// alltoallvThrottled is alltoallThrottled without messages to oneself. SMPI calls it
// bruck.
func alltoallvThrottled(s *Schedule, o *operands, round int) bool {
	return s.throttled(o, round, 1)
}

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
