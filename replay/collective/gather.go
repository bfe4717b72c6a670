package collective

import "reprise/trace"

// The algorithms of MPI_Gather, MPI_Scatter and MPI_Allgather. Of a gather o.send has the data that a rank sends to the
// root, o.recv those that the root receives from each rank; of a scatter the reverse.

// other returns the i-th rank that is not r, in increasing order.
func other(i, r int) int {
	if i >= r {
		return i + 1
	}
	return i
}

// withOthers has a round for each of the other ranks, in increasing order, in which it posts messages, and a last
// one that waits for all of them.
func (s *Schedule) withOthers(round int, post func(peer int)) bool {
	if round == s.p-1 {
		s.waitAll()
		return false
	}
	post(other(round, s.rank))
	return true
}

// gatherFlat posts all receives at the root, then waits for them. Cost: (p-1)(a + nb/p) at the root.
func gatherFlat(s *Schedule, o *operands, round int) bool {
	return s.collect(o.root, round, o.send.one(), o.recv.before(s.rank), &o.recv)
}

// collect sends so many bytes to the root, which receives a block of each of the others at once.
func (s *Schedule) collect(root, round int, out, offset int64, b *blocks) bool {
	if s.rank != root {
		s.isend(0, root, out, offset)
		s.waitAll()
		return false
	}
	return s.withOthers(round, func(from int) { s.irecv(round, from, b.bytes(from)) })
}

// gatherLinear receives one after the other, in the order of ranks. Cost: as of gatherFlat.
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

// gatherLinearSync lets the root ask one rank after the other for its first segment, so that not all send at once; the
// rest of the blocks comes as it can. Source: as of bcastPipeline.
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
	return s.withOthers(round, func(from int) {
		s.irecv(0, from, first)
		s.send(from, 0, 0)
		s.irecv(1+round, from, second)
		s.wait(0)
	})
}

// scatterFlat posts all sends at the root, then waits for them. Cost: (p-1)(a + nb/p) at the root.
func scatterFlat(s *Schedule, o *operands, round int) bool {
	if s.rank != o.root {
		s.irecv(0, o.root, o.recv.one())
		s.waitAll()
		return false
	}
	return s.withOthers(round, func(to int) { s.isend(round, to, o.send.bytes(to), o.send.before(to)) })
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

// Of an allgather o.send is the block of the rank, o.recv those that it receives; they may differ in size (allgatherv),
// so that one function serves both. In costs n is what a rank receives.

// allgatherFlat posts a send to and a receive from each of the others, in the order of ranks. Cost: (p-1)a + nb.
func allgatherFlat(s *Schedule, o *operands, round int) bool {
	return s.withOthers(round, func(peer int) {
		s.isend(2*round, peer, o.send.one(), o.recv.before(s.rank))
		s.irecv(2*round+1, peer, o.recv.bytes(peer))
	})
}

// allgatherRing sends blocks on around the ring, with all receives posted before.
// Blocks of different sizes on the two sides go by allgatherFlat. Cost: (p-1)a + nb.
func allgatherRing(s *Schedule, o *operands, round int) bool {
	bytes, left := o.recv.one(), s.at(s.rank, -1)
	switch {
	case o.send.one() != bytes:
		return allgatherFlat(s, o, round)
	case round < s.p-1:
		s.irecv(round, left, bytes)
		return true
	}
	k := round - (s.p - 1)
	s.isend(s.p, s.at(s.rank, 1), bytes, int64(s.at(s.rank, -k))*bytes)
	s.wait(k)
	s.wait(s.p)
	return k+2 < s.p
}

// allgatherBruck sends, in round k, what a rank has of the blocks after its own to the rank 2^k places back. Source: J.
// Bruck et al., "Efficient Algorithms for All-to-All Communications in Multiport Message-Passing Systems", IEEE TPDS
// 8(11), 1997. Cost: ceil(log2 p)a + nb.
func allgatherBruck(s *Schedule, o *operands, round int) bool {
	d := 1 << round
	n := min(d, s.p-d)
	to, from := s.at(s.rank, -d), s.at(s.rank, d)
	s.exchange(to, o.recv.around(s.rank, n, s.p), o.recv.before(s.rank), from, o.recv.around(from, n, s.p))
	return 2*d < s.p
}

// allgatherDoubling is recursive doubling. Cost for a power of two: log2 p a + nb.
func allgatherDoubling(s *Schedule, o *operands, round int) bool {
	d, more := newDoubling(s.rank, s.p, round)
	mine, theirs := o.recv.between(d.mine, d.mine+d.mask, s.p), o.recv.between(d.theirs, d.theirs+d.mask, s.p)
	s.double(d.move, d.peer, mine, o.recv.before(d.mine), theirs, o.recv.before(min(d.theirs, s.p)))
	return more
}

// allgatherShift sends the own block to the rank i places ahead and receives that of
// the rank i places back, for i = 1 to p-1. SMPI calls it ring. Cost: (p-1)a + nb.
func allgatherShift(s *Schedule, o *operands, round int) bool {
	from := s.at(s.rank, -1-round)
	s.exchange(s.at(s.rank, 1+round), o.send.one(), o.recv.before(s.rank), from, o.recv.bytes(from))
	return round+2 < s.p
}

// allgatherPairs exchanges blocks with rank xor i, for i = 1 to p-1; for other
// numbers of ranks than powers of two it is allgatherShift. Cost: (p-1)a + nb.
func allgatherPairs(s *Schedule, o *operands, round int) bool {
	if !isPower(s.p) {
		return allgatherShift(s, o, round)
	}
	peer := s.rank ^ (round + 1)
	s.exchange(peer, o.send.one(), o.recv.before(s.rank), peer, o.recv.bytes(peer))
	return round+2 < s.p
}

// allgatherNeighbors exchanges with the two neighbours in turn: the own block first, then the two that came last. For
// an odd number of ranks it is allgatherShift. Source: J. Chen et al., "Performance Evaluation of Allgather Algorithms
// on Terascale Linux Cluster with Fast Ethernet", HPCAsia 2005. Cost: p/2 a + nb.
func allgatherNeighbors(s *Schedule, o *operands, round int) bool {
	if s.p%2 != 0 {
		return allgatherShift(s, o, round)
	}
	sign := 1 - 2*(s.rank%2) // even ranks begin with their right neighbour
	if round == 0 {
		peer := s.at(s.rank, sign)
		s.exchange(peer, o.recv.bytes(s.rank), o.recv.before(s.rank), peer, o.recv.bytes(peer))
		return s.p > 2
	}
	// The pair of blocks that comes in round k, by its first rank.
	pair := func(k int) int {
		if k%2 == 1 {
			k = -k - 1
		}
		return s.at(s.rank-s.rank%2, sign*k)
	}
	peer := s.at(s.rank, sign)
	if round%2 == 1 {
		peer = s.at(s.rank, -sign)
	}
	out, in := pair(round-1), pair(round)
	s.exchange(peer, o.recv.around(out, 2, s.p), o.recv.before(out), peer, o.recv.around(in, 2, s.p))
	return round+1 < s.p/2
}

// allgatherGatherBcast gathers at rank 0 and broadcasts what the receive buffer spans.
func allgatherGatherBcast(s *Schedule, o *operands, _ int) bool {
	s.thenRun(gatherFlat, operands{send: o.send, recv: o.recv})
	s.then(trace.CollBcast, operands{send: blocks{count: o.span, size: o.recv.size}})
	return false
}

// ringChunk is what allgatherRingChunks sends at least at a time, in bytes.
const ringChunk = 256 << 10

// allgatherRingChunks sends blocks on around the ring in chunks: of the size of the smallest block, or ringChunk if
// that is more. Source: MPICH, MPI_Allgatherv. Cost: about (p-1)a + nb.
func allgatherRingChunks(s *Schedule, o *operands, round int) bool {
	chunk, sent, received := &s.memory[0], s.memory[1:3], s.memory[3:5]
	if round == 0 {
		*chunk, _ = o.recv.extremes(s.p)
		if *chunk*o.recv.size < ringChunk {
			*chunk = max(1, ringChunk/o.recv.size)
		}
	}
	left, right := s.at(s.rank, -1), s.at(s.rank, 1)
	out, offset := s.nextChunk(o, sent, s.rank, *chunk)
	in, _ := s.nextChunk(o, received, left, *chunk)
	switch {
	case out > 0 && in > 0:
		s.exchange(right, out, offset, left, in)
	case out > 0:
		s.send(right, out, offset)
	case in > 0:
		s.recv(left, in)
	}
	return min(sent[0], received[0]) < int64(s.p-1)
}

// nextChunk returns the bytes of the next chunk of the p-1 blocks of ranks first, first-1, ..., and where it begins.
// Done is the number of blocks that are through, and of elements of the next one.
func (s *Schedule) nextChunk(o *operands, done []int64, first int, chunk int64) (bytes, offset int64) {
	if done[0] == int64(s.p-1) {
		return 0, 0
	}
	block := s.at(first, -int(done[0]))
	n := min(chunk, o.recv.of(block)-done[1])
	offset = o.recv.before(block) + done[1]*o.recv.size
	if done[1] += n; done[1] == o.recv.of(block) {
		done[0], done[1] = done[0]+1, 0
	}
	return n * o.recv.size, offset
}
