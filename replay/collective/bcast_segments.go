package collective

// segmentCount returns how many elements of size bytes go into a segment of at
// most about limit bytes: all of them if they fit, as many as fit otherwise, and
// one more if more than half of one is left over. A limit below the size of an
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

// segments is a number of elements cut into segments of each elements, the last of
// which may be shorter.
type segments struct{ count, each, size int64 }

func (g segments) number() int {
	if g.count == 0 {
		return 0
	}
	return int((g.count + g.each - 1) / g.each)
}

// bytes returns the bytes of segment i, 0 past the last.
func (g segments) bytes(i int) int64 {
	return max(0, min(g.each, g.count-int64(i)*g.each)) * g.size
}

// offset returns where segment i begins, in bytes.
func (g segments) offset(i int) int64 { return int64(i) * g.each * g.size }

// bcastPipeline hands segments along the chain root, root+1, ...; each rank has
// two receives and one send under way. The larger the data for the number of ranks, the
// larger the segments; the limits are those that Open MPI measured. Source: J.
// Pjesivac-Grbovic et al., "Performance Analysis of MPI Collective Operations",
// Cluster Computing 10, 2007. Cost for k segments: (p + k - 2)(a + nb/k).
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

// bcastSplitBinary sends one half of the data down each side of a binary tree, in
// segments; then each rank swaps halves with one of the other side. Source: as of
// bcastPipeline. Data of less than a segment go along a chain.
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
