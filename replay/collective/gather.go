package collective

// Of a gather o.send is what a rank sends to the root, o.recv what the root receives
// from each; of a scatter the reverse.

// other returns the i-th rank that is not r, in increasing order.
func other(i, r int) int {
	if i >= r {
		return i + 1
	}
	return i
}

// gatherFlat posts all receives at the root, then waits for them. Cost: (p-1)(a + nb/p)
// at the root.
func gatherFlat(s *Schedule, o *operands, round int) bool {
	if s.rank != o.root {
		s.isend(0, o.root, o.send.one(), o.recv.before(s.rank))
		s.waitAll()
		return false
	}
	return s.collect(&o.recv, round)
}

// collect receives a block of each of the others at once.
func (s *Schedule) collect(b *blocks, round int) bool {
	if round < s.p-1 {
		from := other(round, s.rank)
		s.irecv(round, from, b.bytes(from))
		return true
	}
	s.waitAll()
	return false
}

// gatherLinear receives one after the other, in the order of ranks. Cost: as of
// gatherFlat.
func gatherLinear(s *Schedule, o *operands, round int) bool {
	if s.rank != o.root {
		s.send(o.root, o.send.one(), o.recv.before(s.rank))
		return false
	}
	from := other(round, s.rank)
	s.recv(from, o.recv.bytes(from))
	return round+2 < s.p
}

// gatherBinomial goes up a binomial tree, from the smallest subtrees first, with the
// blocks of whole subtrees. Cost: ceil(log2 p)a + (p-1)/p nb.
func gatherBinomial(s *Schedule, o *operands, round int) bool {
	t := s.newTree(binomial, o.root, 0)
	block := o.send.one()
	if t.top {
		block = o.recv.one()
	}
	if round < t.children {
		kid := t.place + 1<<round
		s.recv(t.child(round), int64(t.subtree(kid))*block)
		return true
	}
	if !t.top {
		s.send(t.up(), int64(t.subtree(t.place))*block, int64(s.rank)*block)
	}
	return false
}

// gatherLinearSync lets the root ask one rank after the other for its first segment, so
// that not all send at once; the rest of the blocks comes as it can. Source: as of
// bcastPipeline.
func gatherLinearSync(s *Schedule, o *operands, round int) bool {
	b := &o.send
	if s.rank == o.root {
		b = &o.recv
	}
	limit := int64(1024)
	if b.one() > 92160 {
		limit = 32768
	}
	first := segmentCount(limit, b.size, b.count) * b.size
	second := b.one() - first
	if s.rank != o.root {
		at := int64(s.rank) * b.one()
		s.recv(o.root, 0)
		s.send(o.root, first, at)
		s.send(o.root, second, at+first)
		return false
	}
	if round == s.p-1 {
		s.waitAll()
		return false
	}
	from := other(round, s.rank)
	s.irecv(0, from, first)
	s.send(from, 0, 0)
	s.irecv(1+round, from, second)
	s.wait(0)
	return true
}

// scatterFlat posts all sends at the root, then waits for them. Cost: (p-1)(a + nb/p) at
// the root.
func scatterFlat(s *Schedule, o *operands, round int) bool {
	switch {
	case s.rank != o.root:
		s.irecv(0, o.root, o.recv.one())
	case round < s.p-1:
		to := other(round, s.rank)
		s.isend(round, to, o.send.bytes(to), o.send.before(to))
		return true
	}
	s.waitAll()
	return false
}

// scatterLinearNonblocking is scatterFlat with blocking receives.
func scatterLinearNonblocking(s *Schedule, o *operands, round int) bool {
	if s.rank != o.root {
		s.recv(o.root, o.recv.one())
		return false
	}
	return scatterFlat(s, o, round)
}

// scatterLinear sends one block after the other, in the order of ranks.
func scatterLinear(s *Schedule, o *operands, round int) bool {
	if s.rank != o.root {
		s.recv(o.root, o.recv.one())
		return false
	}
	to := other(round, s.rank)
	s.send(to, o.send.bytes(to), o.send.before(to))
	return round+2 < s.p
}

// scatterBinomial goes down a binomial tree, to the smallest subtrees first, with the
// blocks of whole subtrees. Cost: ceil(log2 p)a + (p-1)/p nb.
func scatterBinomial(s *Schedule, o *operands, round int) bool {
	t := s.newTree(binomial, o.root, 0)
	block := o.recv.one()
	if t.top {
		block = o.send.one()
	} else if round == 0 {
		room := block
		if t.place%2 == 0 {
			room = int64(s.p) * block
		}
		s.recv(t.up(), room)
	}
	if round < t.children {
		kid := t.place + 1<<round
		s.send(t.child(round), int64(t.subtree(kid))*block, int64(t.child(round))*block)
	}
	return round+1 < t.children
}
