package collective

import "reprise/trace"

// scanLinear receives from all ranks before, sends to all after, and waits for each in
// turn: scan and exscan alike. With an operator, all of which commute, the order of the
// waits does not matter. Cost: (p-1)(a + nb).
func scanLinear(s *Schedule, o *operands, round int) bool {
	if o.operator != trace.NoOperator {
		return scanPosted(s, o, round)
	}
	others := s.p - 1
	if round >= others {
		s.wait(round - others)
		return round+1 < 2*others
	}
	if peer := other(round, s.rank); peer < s.rank {
		s.irecv(round, peer, o.send.one())
	} else {
		s.isend(round, peer, o.send.one(), 0)
	}
	return true
}
