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
	return s.forward(o, round, s.rank-1, s.rank+1, s.rank+1)
}

// bcastTree is bcastLine along the binary tree in which ranks 2r+1 and 2r+2 are
// below rank r.
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
