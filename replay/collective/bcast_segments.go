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
	g := segments{o.send.count, segmentCount(s.pipelineSegment(o.send.one()), o.send.size, o.send.count), o.send.size}
	if round >= g.number() {
		return false
	}
	t := s.newTree(chains, o.root, 1)
	if t.top {
		s.isend(2, t.child(0), g.bytes(round), g.offset(round))
		s.wait(2)
		return true
	}
	if round == 0 {
		s.irecv(0, t.up(), g.bytes(0))
	}
	if round+1 < g.number() {
		s.irecv((round+1)%2, t.up(), g.bytes(round+1))
	}
	s.wait(round % 2)
	if t.children > 0 {
		s.isend(2, t.child(0), g.bytes(round), g.offset(round))
		s.wait(2)
	}
	return true
}

// pipelineSegment returns the size of a segment for data of so many bytes.
func (s *Schedule) pipelineSegment(bytes int64) int64 {
	p, n := float64(s.p), float64(bytes)
	switch {
	case p < float64(1.6134e-6*n)+2.1102:
		return 128 << 10
	case p < float64(2.3679e-6*n)+1.1787:
		return 64 << 10
	case p < float64(3.2118e-6*n)+8.7936:
		return 16 << 10
	}
	return 128 << 10
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
	h := halves{first: segments{o.send.count - second, limit / o.send.size, o.send.size}}
	h.second = segments{second, h.first.each, o.send.size}
	if second == 0 || limit > second*o.send.size {
		return bcastPipeline(s, o, round)
	}
	t := s.newTree(binary, o.root, 2)
	switch {
	case t.top && round < h.first.number():
		h.feed(s, &t, round)
		return true
	case !t.top && round < h.of(&t).number():
		h.forward(s, &t, round)
		return true
	}
	h.swap(s, &t)
	return false
}

// halves are the parts of bcastSplitBinary: the first half of the data is for the
// places of odd number, which are below place 1, the second for the others.
type halves struct{ first, second segments }

func (h *halves) bytes() (first, second int64) {
	return h.first.count * h.first.size, h.second.count * h.second.size
}

// of returns the half that comes down to a place.
func (h *halves) of(t *tree) *segments {
	if t.place%2 == 1 {
		return &h.first
	}
	return &h.second
}

// feed sends the next segment of each half from the root.
func (h *halves) feed(s *Schedule, t *tree, round int) {
	s.send(t.child(0), h.first.bytes(round), h.first.offset(round))
	if t.children > 1 && round < h.second.number() {
		first, _ := h.bytes()
		s.send(t.child(1), h.second.bytes(round), first+h.second.offset(round))
	}
}

// forward receives a segment and hands it on; a rank that has others below posts
// one receive ahead.
func (h *halves) forward(s *Schedule, t *tree, round int) {
	g, start := h.of(t), int64(0)
	if g == &h.second {
		start, _ = h.bytes()
	}
	if t.children == 0 {
		s.recv(t.up(), g.bytes(round))
		return
	}
	if round == 0 {
		s.irecv(0, t.up(), g.bytes(0))
	}
	if round+1 < g.number() {
		s.irecv((round+1)%2, t.up(), g.bytes(round+1))
	}
	s.wait(round % 2)
	for i := range t.children {
		s.send(t.child(i), g.bytes(round), start+g.offset(round))
	}
}

// swap exchanges halves. Places 1 and 2, 3 and 4, ... are pairs; a last place that
// has no partner gets its second half from the root.
func (h *halves) swap(s *Schedule, t *tree) {
	first, second := h.bytes()
	last := s.p - 1
	switch {
	case t.top && s.p%2 == 0:
		s.send(s.at(s.rank, -1), second, first)
	case t.top:
	case t.place == last && s.p%2 == 0:
		s.recv(s.at(s.rank, 1), second)
	case t.place%2 == 1:
		s.exchange(s.at(s.rank, 1), first, 0, s.at(s.rank, 1), second)
	default:
		s.exchange(s.at(s.rank, -1), second, first, s.at(s.rank, -1), first)
	}
}
