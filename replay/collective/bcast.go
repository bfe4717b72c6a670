package collective

import (
	"math/bits"

	"reprise/trace"
)

// The algorithms of MPI_Bcast. The data are o.send: count elements of size bytes.

// bcastBinomial sends down a binomial tree, to the largest subtree first. Cost: ceil(log2 p)(a + nb).
func bcastBinomial(s *Schedule, o *operands, round int) bool {
	return s.binomial(s.relative(o.root), s.p, 1, o.send.one(), round)
}

// binomial is a round of a broadcast from place 0 to so many places, of which the rank has
// place v and the next place is stride ranks away.
func (s *Schedule) binomial(v, places, stride int, bytes int64, round int) bool {
	top := v & -v // places below the own subtree's end
	if v == 0 {
		top = powerAbove(places)
	}
	if round == 0 && v != 0 {
		s.recv(s.at(s.rank, -top*stride), bytes)
	}
	mask := top >> (round + 1)
	if mask > 0 && v+mask < places {
		s.send(s.at(s.rank, mask*stride), bytes, 0)
	}
	return mask > 1
}

// knomial is the fan-out of bcastKnomial.
const knomial = 4

// bcastKnomial sends down a tree whose levels have distances 4^k, to the three
// ranks at a distance at once. MVAPICH2's for the ranks of a node; the messages by which
// SimGrid 3.32 finds the nodes before it are left out. Cost: ceil(log4 p)(a + 3nb).
func bcastKnomial(s *Schedule, o *operands, round int) bool {
	v, bytes := s.relative(o.root), o.send.one()
	top := 1
	for top < s.p && v%(knomial*top) == 0 {
		top *= knomial
	}
	if round == 0 && v != 0 {
		s.recv(s.at(o.root, v-v%(knomial*top)), bytes)
	}
	for range round + 1 {
		top /= knomial
	}
	for k := 1; top > 0 && k < knomial && v+k*top < s.p; k++ {
		s.isend(k, s.at(s.rank, k*top), bytes, 0)
	}
	if top > 0 && v+top < s.p {
		s.waitAll()
	}
	return top > 1
}

// lineSegment is the size of a segment of bcastLine and bcastTree, in bytes.
const lineSegment = 8192

// bcastLine hands segments along the ranks 0, 1, 2, ...; a root other than 0 first sends all to rank 0. The rest,
// shorter than a segment, is broadcast by another call.
// Source: A. Faraj, X. Yuan, "Automatic Generation and Tuning of MPI Collective
// Communication Routines", ICS 2005. Cost for k segments: (p + k - 2)(a + nb/k).
func bcastLine(s *Schedule, o *operands, round int) bool {
	return s.forward(o, round, s.rank-1, s.rank+1, s.rank+1)
}

// bcastTree is bcastLine along the binary tree in which ranks 2r+1 and 2r+2 are below rank r.
func bcastTree(s *Schedule, o *operands, round int) bool {
	return s.forward(o, round, (s.rank-1)/2, 2*s.rank+1, 2*s.rank+2)
}

// forward hands segments on in a tree whose root is rank 0, from the rank above to those from first to last, as
// far as these exist.
func (s *Schedule) forward(o *operands, round, from, first, last int) bool {
	bytes, below := o.send.one(), min(last, s.p-1)-first+1
	if round == 0 && o.root != 0 {
		switch s.rank {
		case o.root:
			s.send(0, bytes, 0)
		case 0:
			s.recv(o.root, bytes)
		}
	}
	elements := max(1, lineSegment/o.send.size)
	segments, remainder := int(o.send.count/elements), o.send.count%elements
	if o.send.count <= elements { // less than a segment
		if s.rank > 0 {
			s.recv(from, bytes)
		}
		for i := range below {
			s.send(first+i, bytes, 0)
		}
		return false
	}
	// The receives of all segments are posted, one a round; then one after the other is waited for and
	// handed on; then the sends are waited for.
	bytes = elements * o.send.size
	if s.rank > 0 && round < segments {
		s.irecv(round, from, bytes)
		return true
	}
	if s.rank > 0 {
		round -= segments
	}
	if round < segments && below > 0 {
		if s.rank > 0 {
			s.wait(round)
		}
		for i := range below {
			s.isend((1+i)*segments+round, first+i, bytes, int64(round)*bytes)
		}
		return true
	}
	s.waitAll()
	if remainder > 0 {
		done := (o.send.count - remainder) * o.send.size
		s.then(trace.CollBcast, operands{root: o.root, send: o.send.part(remainder), at: o.at + done})
	}
	return false
}

// Long messages are broadcast by a scatter and an allgather: place v, counted from the root, gets the v-th of p pieces
// of equal size (in bytes, rounded up; the last may be empty), then all collect all pieces. Source: M. Barnett et al.,
// "Building a high-performance collective communication library", SC 1994; R. Thakur, R. Rabenseifner, W. Gropp (as of
// doubling), section 4.2. Cost of the scatter: ceil(log2 p)a + (p-1)/p nb.

// bcastScatterRing collects the pieces around the ring. Cost: the scatter's and (p-1)a + (p-1)/p nb.
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
	s.double(m.move, peer, mine, d.before(m.mine), theirs, d.before(m.theirs))
	return more
}

// scatterPieces sends pieces down a binomial tree, to the largest subtree first, in a
// round of its own for each level. After these it takes their number off round.
func (s *Schedule) scatterPieces(root int, d shares, round *int) bool {
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

// segmentCount returns how many elements of size bytes go into a segment of at most about limit bytes: all of them if
// they fit, as many as fit otherwise, and one more if more than half of one is left over. A limit below the size of an
// element means no limit. (Open MPI, COLL_BASE_COMPUTED_SEGCOUNT.)
func segmentCount(limit, size, count int64) int64 {
	if limit < size || limit >= size*count {
		return count
	}
	n := limit / size
	if limit-n*size > size/2 {
		n++
	}
	return n
}

// segments is a number of elements cut into segments of each elements, the last of which may be shorter.
type segments struct{ count, each, size int64 }

func (g segments) number() int {
	if g.count == 0 {
		return 0
	}
	return int((g.count + g.each - 1) / g.each)
}

// bytes returns the bytes of segment i, 0 past the last.
func (g segments) bytes(i int) int64 { return max(0, min(g.each, g.count-int64(i)*g.each)) * g.size }

// offset returns where segment i begins, in bytes.
func (g segments) offset(i int) int64 { return int64(i) * g.each * g.size }

// bcastPipeline hands segments along the chain root, root+1, ...; each rank has two receives and one send under way.
// The larger the data for the number of ranks, the larger the segments; the limits are those that Open MPI measured.
// Source: J. Pjesivac-Grbovic et al., "Performance Analysis of MPI Collective Operations", Cluster Computing 10, 2007.
// Cost for k segments: (p + k - 2)(a + nb/k).
func bcastPipeline(s *Schedule, o *operands, round int) bool {
	p, n, limit := float64(s.p), float64(o.send.one()), int64(128<<10)
	switch {
	case p < float64(1.6134e-6*n)+2.1102:
	case p < float64(2.3679e-6*n)+1.1787:
		limit = 64 << 10
	case p < float64(3.2118e-6*n)+8.7936:
		limit = 16 << 10
	}
	g := segments{o.send.count, segmentCount(limit, o.send.size, o.send.count), o.send.size}
	if round >= g.number() {
		return false
	}
	t := s.newTree(chains, o.root, 1)
	if !t.top {
		s.pull(&t, g, round)
	}
	if t.children > 0 {
		s.isend(2, t.child(0), g.bytes(round), g.offset(round))
		s.wait(2)
	}
	return true
}

// bcastSplitBinary sends one half of the data down each side of a binary tree, in segments; then each rank swaps halves
// with one of the other side. Source: as of bcastPipeline. Data of less than a segment go along a chain.
func bcastSplitBinary(s *Schedule, o *operands, round int) bool {
	limit := int64(1024)
	if o.send.one() >= 370728 {
		limit = 8192
	}
	limit = max(limit, o.send.size)
	second := o.send.count / 2
	if second == 0 || limit > second*o.send.size {
		return bcastPipeline(s, o, round)
	}
	// The first half is for the places of odd number, which are below place 1, the second for the others.
	each := limit / o.send.size
	halves := [2]segments{{o.send.count - second, each, o.send.size}, {second, each, o.send.size}}
	sizes := [2]int64{halves[0].count * o.send.size, halves[1].count * o.send.size}
	starts := [2]int64{0, sizes[0]}
	t := s.newTree(binary, o.root, 2)
	mine := 1 - t.place%2
	g := halves[mine]
	switch {
	case t.top && round < halves[0].number(): // the root sends the next segment of each half
		for i := range t.children {
			if round < halves[i].number() {
				s.send(t.child(i), halves[i].bytes(round), starts[i]+halves[i].offset(round))
			}
		}
		return true
	case !t.top && round < g.number() && t.children == 0:
		s.recv(t.up(), g.bytes(round))
		return true
	case !t.top && round < g.number(): // others hand it on, and post one receive ahead
		s.pull(&t, g, round)
		for i := range t.children {
			s.send(t.child(i), g.bytes(round), starts[mine]+g.offset(round))
		}
		return true
	}
	// Places 1 and 2, 3 and 4, ... are pairs, which swap halves; a last place that has no partner gets its
	// second half from the root.
	partner := s.at(s.rank, 1-2*mine)
	switch lonely := s.p%2 == 0; {
	case t.top && lonely:
		s.send(s.at(s.rank, -1), sizes[1], sizes[0])
	case t.top:
	case t.place == s.p-1 && lonely:
		s.recv(s.at(s.rank, 1), sizes[1])
	default:
		s.exchange(partner, sizes[mine], starts[mine], partner, sizes[1-mine])
	}
	return false
}

// pull waits for segment round of the rank above, of which each receive is posted one round ahead.
func (s *Schedule) pull(t *tree, g segments, round int) {
	if round == 0 {
		s.irecv(0, t.up(), g.bytes(0))
	}
	if round+1 < g.number() {
		s.irecv((round+1)%2, t.up(), g.bytes(round+1))
	}
	s.wait(round % 2)
}
