package collective

import "reprise/trace"

// The algorithms of MPI_Reduce, MPI_Reduce_scatter and MPI_Scan. The data of a reduction are o.send: count elements of
// size bytes at each rank.

// reduceFlat sends all to the root, which receives them at once. Cost: p(a + nb).
func reduceFlat(s *Schedule, o *operands, round int) bool {
	return s.collect(o.root, round, o.send.one(), 0, &o.send)
}

// reduceLinear sends all to the root, which receives one after the other, the last rank first. Cost: p(a + nb).
func reduceLinear(s *Schedule, o *operands, round int) bool {
	if s.rank != o.root {
		s.send(o.root, o.send.one(), 0)
		return false
	}
	if other := s.p - 1 - round; other != s.rank {
		s.recv(other, o.send.one())
	}
	return round+1 < s.p
}

// reduceBinomial goes up a binomial tree, from the smallest subtrees first. Cost: ceil(log2 p)(a + nb).
func reduceBinomial(s *Schedule, o *operands, round int) bool {
	if o.send.count == 0 {
		return false
	}
	v, mask := s.relative(o.root), 1<<round
	if v&mask != 0 {
		s.send(s.at(s.rank, -mask), o.send.one(), 0)
		return false
	}
	if v+mask < s.p {
		s.recv(s.at(s.rank, mask), o.send.one())
	}
	return 2*mask < s.p
}

// reduceTree hands segments of at most about limit bytes up a tree. A rank receives a segment of each rank below it,
// one receive ahead, and sends it up while the next comes in. Source: as of bcastPipeline.
func (s *Schedule) reduceTree(sh shape, root, fanout int, data *blocks, limit int64, round int) bool {
	t := s.newTree(sh, root, fanout)
	g := segments{data.count, segmentCount(limit, data.size, data.count), data.size}
	if t.children == 0 {
		if round < g.number() {
			s.send(t.up(), g.bytes(round), g.offset(round))
		}
		return round+1 < g.number()
	}
	segment, child := round/t.children, round%t.children
	if segment < g.number() {
		s.irecv(round%2, t.child(child), g.bytes(segment))
	}
	s.wait((round + 1) % 2)
	if child == 0 && segment > 0 && !t.top {
		s.send(t.up(), g.bytes(segment-1), g.offset(segment-1))
	}
	return segment < g.number()
}

// reduceChains is reduceTree along p/2 chains, so that each has two ranks at most. Segments are of 64 KiB.
func reduceChains(s *Schedule, o *operands, round int) bool {
	return s.reduceTree(chains, o.root, s.p/2, &o.send, 64<<10, round)
}

// reducePipeline is reduceTree along one chain. Segments grow with the data, as Open MPI measured.
func reducePipeline(s *Schedule, o *operands, round int) bool {
	p, n, limit := float64(s.p), float64(o.send.one()), int64(64<<10)
	switch {
	case p > float64(0.0410/1024.0*n)+9.7128:
		limit = 1 << 10
	case p > float64(0.0033/1024.0*n)+1.6761:
		limit = 32 << 10
	}
	return s.reduceTree(chains, o.root, 1, &o.send, limit, round)
}

// reduceBinary is reduceTree up a binary tree in segments of 32 KiB.
func reduceBinary(s *Schedule, o *operands, round int) bool {
	return s.reduceTree(binary, o.root, 2, &o.send, 32<<10, round)
}

// reduceBinomialSegments is reduceTree up a binomial tree; in segments of 1 KiB if the ranks are many for the data.
func reduceBinomialSegments(s *Schedule, o *operands, round int) bool {
	n, limit := o.send.one(), int64(0)
	whole := s.p < 8 && n < 20480 || n < 2048 || o.send.count <= 1
	if !whole && float64(s.p) > float64(0.6016/1024.0*float64(n))+1.3496 {
		limit = 1 << 10
	}
	return s.reduceTree(binomial, o.root, 0, &o.send, limit, round)
}

// reduceInOrder is reduceTree up a binary tree whose subtrees are runs of ranks, so that the order of operands is kept:
// to the last rank, which sends the result to the root.
func reduceInOrder(s *Schedule, o *operands, round int) bool {
	if s.reduceTree(inOrder, 0, 2, &o.send, 0, round) {
		return true
	}
	last := s.p - 1
	switch {
	case last == o.root:
	case s.rank == o.root:
		s.recv(last, o.send.one())
	case s.rank == last:
		s.send(o.root, o.send.one(), 0)
	}
	return false
}

// Of a reduce-scatter o.recv are the blocks of the result, one for each rank. n is the bytes of all of them.

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

// ofPlaces returns the bytes of the blocks of places from to to-1, and where they begin.
func (f *folded) ofPlaces(b *blocks, from, to int) (bytes, offset int64) {
	first, last := f.firstRank(from), f.firstRank(to)
	return b.before(last) - b.before(first), b.before(first)
}

// reduceScatterHalving is recursive halving, from the largest distance down. Where one side of an exchange is empty
// SMPI leaves out both. Source: as of doubling, section 4.4. Cost for a power of two: log2 p a + (p-1)/p nb.
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

// reduceScatterButterfly is recursive halving from distance 1 up, which leaves the blocks in the order of reversed
// bits; an exchange puts them right. Source: J. L. Träff, "An Improved Algorithm for (Non-commutative) Reduce-Scatter
// with an Application", EuroPVM/MPI 2005. Cost: (log2 p + 1)a + nb.
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

// reduceScatterPairwise sends the rank i places ahead its block and receives its own from the one i places back, for i
// = 1 to p-1. Source: as of doubling, section 4.4. Cost: (p-1)a + (p-1)/p nb.
func reduceScatterPairwise(s *Schedule, o *operands, round int) bool {
	if o.recv.before(s.p) == 0 {
		return false
	}
	to, from := s.at(s.rank, 1+round), s.at(s.rank, -1-round)
	s.exchange(to, o.recv.bytes(to), o.recv.before(to), from, o.recv.bytes(s.rank))
	return round+2 < s.p
}

// reduceScatterDoubling is recursive doubling: a rank sends all that its group need not keep. Source: as of doubling,
// section 4.4. Cost for a power of two: log2 p a + n(log2 p - (p-1)/p)b.
func reduceScatterDoubling(s *Schedule, o *operands, round int) bool {
	d, more := newDoubling(s.rank, s.p, round)
	all := o.recv.before(s.p)
	mine := all - o.recv.between(d.mine, d.mine+d.mask, s.p)
	theirs := all - o.recv.between(d.theirs, d.theirs+d.mask, s.p)
	after := func(place int) int64 { return o.recv.before(min(place+d.mask, s.p)) }
	s.double(d.move, d.peer, mine, after(d.mine), theirs, after(d.theirs))
	return more
}

// scanLinear receives from all ranks before, sends to all after, and waits for each in turn: scan and exscan alike.
// With an operator, all of which commute, the order of the waits does not matter. Cost: (p-1)(a + nb).
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
