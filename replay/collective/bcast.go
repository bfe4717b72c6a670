package collective

import "reprise/trace"

// The data of a broadcast are o.send: count elements of size bytes.

// bcastBinomial sends down a binomial tree, to the largest subtree first. Cost:
// ceil(log2 p)(a + nb).
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

// bcastLine hands segments along the ranks 0, 1, 2, ...; a root other than 0 first
// sends all to rank 0. What does not fill a segment is broadcast anew. Source: A.
// Faraj, X. Yuan, "Automatic Generation and Tuning of MPI Collective Communication
// Routines", ICS 2005. Cost for k segments: (p + k - 2)(a + nb/k).
func bcastLine(s *Schedule, o *operands, round int) bool {
	f := forwarding{from: s.rank - 1}
	if s.rank+1 < s.p {
		f.add(s.rank + 1)
	}
	return f.round(s, o, round)
}

// bcastTree is bcastLine along the binary tree in which ranks 2r+1 and 2r+2 are
// below rank r.
func bcastTree(s *Schedule, o *operands, round int) bool {
	f := forwarding{from: (s.rank - 1) / 2}
	for r := 2*s.rank + 1; r <= 2*s.rank+2 && r < s.p; r++ {
		f.add(r)
	}
	return f.round(s, o, round)
}

// forwarding hands segments on in a tree whose root is rank 0.
type forwarding struct {
	from int
	to   [2]int
	n    int
}

func (f *forwarding) add(rank int) {
	f.to[f.n] = rank
	f.n++
}

func (f *forwarding) round(s *Schedule, o *operands, round int) bool {
	if round == 0 && o.root != 0 {
		switch s.rank {
		case o.root:
			s.send(0, o.send.one(), 0)
		case 0:
			s.recv(o.root, o.send.one())
		}
	}
	elements := max(1, lineSegment/o.send.size)
	segments, remainder := int(o.send.count/elements), o.send.count%elements
	if o.send.count <= elements {
		f.whole(s, o.send.one())
		return false
	}
	if f.segment(s, round, segments, elements*o.send.size) {
		return true
	}
	if remainder > 0 {
		done := (o.send.count - remainder) * o.send.size
		s.then(trace.CollBcast, operands{root: o.root, send: o.send.part(remainder), at: o.at + done})
	}
	return false
}

// whole hands on data of less than a segment.
func (f *forwarding) whole(s *Schedule, bytes int64) {
	if s.rank > 0 {
		s.recv(f.from, bytes)
	}
	for _, to := range f.to[:f.n] {
		s.send(to, bytes, 0)
	}
}

// segment posts the receives of all segments, one a round; then it waits for one
// after the other and hands it on; then it waits for the sends.
func (f *forwarding) segment(s *Schedule, round, segments int, bytes int64) bool {
	if s.rank > 0 {
		if round < segments {
			s.irecv(round, f.from, bytes)
			return true
		}
		round -= segments
	}
	if round == segments || f.n == 0 {
		s.waitAll()
		return false
	}
	if s.rank > 0 {
		s.wait(round)
	}
	for i, to := range f.to[:f.n] {
		s.isend((1+i)*segments+round, to, bytes, int64(round)*bytes)
	}
	return true
}
