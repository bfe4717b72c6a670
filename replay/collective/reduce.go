package collective

// The data of a reduction are o.send: count elements of size bytes at each rank.

// reduceFlat sends all to the root, which receives them at once. Cost: p(a + nb).
func reduceFlat(s *Schedule, o *operands, round int) bool {
	if s.rank != o.root {
		s.isend(0, o.root, o.send.one(), 0)
		s.waitAll()
		return false
	}
	return s.collect(&o.send, round)
}

// reduceLinear sends all to the root, which receives one after the other, the last
// rank first. Cost: p(a + nb).
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

// reduceBinomial goes up a binomial tree, from the smallest subtrees first. Cost:
// ceil(log2 p)(a + nb).
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

// reduceTree hands segments of at most about limit bytes up a tree. A rank
// receives a segment of each rank below it, one receive ahead, and sends it up
// while the next comes in. Source: as of bcastPipeline.
func (s *Schedule) reduceTree(t *tree, data *blocks, limit int64, round int) bool {
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

// reduceChains is reduceTree along p/2 chains, so that each has two ranks at most.
// Segments are of 64 KiB.
func reduceChains(s *Schedule, o *operands, round int) bool {
	t := s.newTree(chains, o.root, s.p/2)
	return s.reduceTree(&t, &o.send, 64<<10, round)
}

// reducePipeline is reduceTree along one chain. Segments grow with the data, as Open
// MPI measured.
func reducePipeline(s *Schedule, o *operands, round int) bool {
	p, n, limit := float64(s.p), float64(o.send.one()), int64(64<<10)
	switch {
	case p > float64(0.0410/1024.0*n)+9.7128:
		limit = 1 << 10
	case p > float64(0.0033/1024.0*n)+1.6761:
		limit = 32 << 10
	}
	t := s.newTree(chains, o.root, 1)
	return s.reduceTree(&t, &o.send, limit, round)
}

// reduceBinary is reduceTree up a binary tree in segments of 32 KiB.
func reduceBinary(s *Schedule, o *operands, round int) bool {
	t := s.newTree(binary, o.root, 2)
	return s.reduceTree(&t, &o.send, 32<<10, round)
}

// reduceBinomialSegments is reduceTree up a binomial tree; in segments of 1 KiB if
// the ranks are many for the data.
func reduceBinomialSegments(s *Schedule, o *operands, round int) bool {
	n, limit := o.send.one(), int64(0)
	whole := s.p < 8 && n < 20480 || n < 2048 || o.send.count <= 1
	if !whole && float64(s.p) > float64(0.6016/1024.0*float64(n))+1.3496 {
		limit = 1 << 10
	}
	t := s.newTree(binomial, o.root, 0)
	return s.reduceTree(&t, &o.send, limit, round)
}

// reduceInOrder is reduceTree up a binary tree whose subtrees are runs of ranks, so
// that the order of operands is kept: to the last rank, which sends the result to
// the root.
func reduceInOrder(s *Schedule, o *operands, round int) bool {
	t := s.newTree(inOrder, 0, 2)
	if s.reduceTree(&t, &o.send, 0, round) {
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
