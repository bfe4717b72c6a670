package collective

import "math/bits"

// Long messages are broadcast by a scatter and an allgather: place v, counted from
// the root, gets the v-th of p pieces of equal size (in bytes, rounded up; the last
// may be empty), then all collect all pieces. Source: M. Barnett et al., "Building a
// high-performance collective communication library", SC 1994; R. Thakur, R.
// Rabenseifner, W. Gropp (as of doubling), section 4.2. Cost of the scatter: ceil(log2
// p)a + (p-1)/p nb.

// bcastScatterRing collects the pieces around the ring. Cost: the scatter's and
// (p-1)a + (p-1)/p nb.
func bcastScatterRing(s *Schedule, o *operands, round int) bool {
	d := newPieces(o.send.one(), s.p)
	if s.scatterPieces(o.root, d, &round) {
		return true
	}
	v := s.relative(o.root)
	out, in := s.at(v, -round), s.at(v, -round-1)
	s.exchange(s.at(s.rank, 1), d.between(out, out+1), d.before(out), s.at(s.rank, -1), d.between(in, in+1))
	return round+2 < s.p
}

// bcastScatterDoubling collects the pieces by recursive doubling. Cost: the scatter's
// and ceil(log2 p)a + (p-1)/p nb for a power of two.
func bcastScatterDoubling(s *Schedule, o *operands, round int) bool {
	if o.send.one() == 0 {
		return false
	}
	d := newPieces(o.send.one(), s.p)
	if s.scatterPieces(o.root, d, &round) {
		return true
	}
	m, more := newDoubling(s.relative(o.root), s.p, round)
	peer := (m.peer + o.root) % s.p
	mine, theirs := d.between(m.mine, m.mine+m.mask), d.between(m.theirs, m.theirs+m.mask)
	switch m.move {
	case swap:
		s.exchange(peer, mine, d.before(m.mine), peer, theirs)
	case pass:
		s.send(peer, theirs, d.before(m.theirs))
	case take:
		s.recv(peer, theirs)
	}
	return more
}

// scatterPieces sends pieces down a binomial tree, to the largest subtree first, in a
// round of its own for each level. After these it takes their number off round.
func (s *Schedule) scatterPieces(root int, d pieces, round *int) bool {
	v := s.relative(root)
	top := v & -v
	if v == 0 {
		top = powerAbove(s.p)
	}
	if *round == 0 && v != 0 {
		if bytes := d.between(v, v+top); bytes > 0 {
			s.recv(s.at(s.rank, -top), bytes)
		}
	}
	mask := top >> (*round + 1)
	if mask == 0 {
		*round -= bits.Len(uint(top)) - 1
		return false
	}
	if v+mask < s.p {
		if bytes := d.between(v+mask, v+2*mask); bytes > 0 {
			s.send(s.at(s.rank, mask), bytes, d.before(v+mask))
		}
	}
	return true
}
