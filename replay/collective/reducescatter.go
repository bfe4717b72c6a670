package collective

import "reprise/trace"

// Of a reduce-scatter o.recv are the blocks of the result, one for each rank. n is
// the bytes of all of them.

// reduceScatterDefault is reduceScatterFlat if all blocks are equal, else MPICH's choice.
func reduceScatterDefault(s *Schedule, o *operands, _ int) bool {
	run := reduceScatterFlat
	if least, most := o.recv.extremes(s.p); least != most {
		run = mpichReduceScatter(s, o)
	}
	s.thenRun(run, *o)
	return false
}

// reduceScatterFlat is reduceFlat to rank 0 and a scatter.
func reduceScatterFlat(s *Schedule, o *operands, _ int) bool {
	all := blocks{count: o.recv.before(s.p) / o.recv.size, size: o.recv.size}
	s.thenRun(reduceFlat, operands{send: all})
	s.then(trace.CollScatterv, operands{send: o.recv, recv: all.part(o.recv.of(s.rank))})
	return false
}

// firstRank returns the rank whose block is the first of place i, where a rank that
// leaves has its block before that of the neighbour that stays.
func (f *folded) firstRank(i int) int { return i + min(i, f.extra) }

// ofPlaces returns the bytes of the blocks of places from to to-1, and where they
// begin.
func (f *folded) ofPlaces(b *blocks, from, to int) (bytes, offset int64) {
	first, last := f.firstRank(from), f.firstRank(to)
	return b.before(last) - b.before(first), b.before(first)
}

// reduceScatterHalving is recursive halving, from the largest distance down. Where one
// side of an exchange is empty SMPI leaves out both. Source: as of doubling,
// section 4.4. Cost for a power of two: log2 p a + (p-1)/p nb.
func reduceScatterHalving(s *Schedule, o *operands, round int) bool {
	f := newFolded(s.p, true)
	all, place := o.recv.before(s.p), f.place(s.rank)
	if all == 0 {
		return false
	}
	if round == 0 {
		s.fold(&f, all)
		return true
	}
	mask := f.power >> round
	switch {
	case mask == 0: // the ranks that left get their blocks
		left := s.rank &^ 1
		if bytes := o.recv.bytes(left); s.rank < 2*f.extra && bytes > 0 {
			s.unfold(&f, bytes, o.recv.before(left))
		}
		return false
	case place < 0:
		return true
	}
	partner := place ^ mask
	out, at := f.ofPlaces(&o.recv, partner&^(mask-1), partner&^(mask-1)+mask)
	in, _ := f.ofPlaces(&o.recv, place&^(mask-1), place&^(mask-1)+mask)
	if out > 0 && in > 0 {
		s.irecv(0, f.rank(partner), in)
		s.send(f.rank(partner), out, at)
		s.wait(0)
	}
	return true
}

// reduceScatterRing combines blocks on their way around the ring, one receive ahead.
// Source: as of bcastPipeline. Cost: (p-1)a + (p-1)/p nb.
func reduceScatterRing(s *Schedule, o *operands, round int) bool {
	if o.recv.before(s.p) == 0 {
		return false
	}
	left, room := s.at(s.rank, -1), &s.memory[0]
	if round == 0 {
		_, most := o.recv.extremes(s.p)
		*room = most * o.recv.size
	}
	if round < s.p-1 {
		s.irecv(round%2, left, *room)
	}
	if round > 0 {
		s.wait((round - 1) % 2)
	}
	if round == s.p-1 {
		return false
	}
	block := s.at(s.rank, -1-round)
	s.send(s.at(s.rank, 1), o.recv.bytes(block), o.recv.before(block))
	return true
}

// reduceScatterButterfly is recursive halving from distance 1 up, which leaves the
// blocks in the order of reversed bits; an exchange puts them right. Source: J. L.
// Träff, "An Improved Algorithm for (Non-commutative) Reduce-Scatter with an
// Application", EuroPVM/MPI 2005. Cost: (log2 p + 1)a + nb.
func reduceScatterButterfly(s *Schedule, o *operands, round int) bool {
	f := newFolded(s.p, true)
	steps, all, place := log2(f.power), o.recv.before(s.p), f.place(s.rank)
	switch {
	case round == 0:
		s.fold(&f, all)
		return true
	case place < 0:
		s.recv(f.rank(mirror(s.rank/2, steps)), o.recv.bytes(s.rank))
		return false
	case round <= steps:
		h := halving{place: place, power: f.power}
		partner := place ^ 1<<(round-1)
		first, n := h.span(partner, round)
		out, at := f.ofPlaces(&o.recv, first, first+n)
		first, n = h.span(place, round)
		in, _ := f.ofPlaces(&o.recv, first, first+n)
		s.exchange(f.rank(partner), out, at, f.rank(partner), in)
		return true
	}
	// The block of a place goes to its ranks, and the own one comes.
	place = mirror(place, steps)
	owner := f.rank(place)
	if place < f.extra {
		s.send(owner-1, o.recv.bytes(owner-1), o.recv.before(owner-1))
	}
	if owner != s.rank {
		s.exchange(owner, o.recv.bytes(owner), o.recv.before(owner), owner, o.recv.bytes(s.rank))
	}
	return false
}

// reduceScatterPairwise sends the rank i places ahead its block and receives its
// own from the one i places back, for i = 1 to p-1. Source: as of doubling, section
// 4.4. Cost: (p-1)a + (p-1)/p nb.
func reduceScatterPairwise(s *Schedule, o *operands, round int) bool {
	if o.recv.before(s.p) == 0 {
		return false
	}
	to, from := s.at(s.rank, 1+round), s.at(s.rank, -1-round)
	s.exchange(to, o.recv.bytes(to), o.recv.before(to), from, o.recv.bytes(s.rank))
	return round+2 < s.p
}

// reduceScatterDoubling is recursive doubling: a rank sends all that its group need
// not keep. Source: as of doubling, section 4.4. Cost for a power of two: log2 p a +
// n(log2 p - (p-1)/p)b.
func reduceScatterDoubling(s *Schedule, o *operands, round int) bool {
	d, more := newDoubling(s.rank, s.p, round)
	all := o.recv.before(s.p)
	mine := all - o.recv.between(d.mine, d.mine+d.mask, s.p)
	theirs := all - o.recv.between(d.theirs, d.theirs+d.mask, s.p)
	switch d.move {
	case swap:
		s.exchange(d.peer, mine, o.recv.before(min(d.mine+d.mask, s.p)), d.peer, theirs)
	case pass:
		s.send(d.peer, theirs, o.recv.before(min(d.theirs+d.mask, s.p)))
	case take:
		s.recv(d.peer, theirs)
	}
	return more
}

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
