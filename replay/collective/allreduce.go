package collective

import "reprise/trace"

// allreduceFlat is reduceFlat to rank 0 and bcastBinomial.
func allreduceFlat(s *Schedule, o *operands, _ int) bool {
	s.thenRun(reduceFlat, operands{send: o.send, at: o.at})
	s.thenRun(bcastBinomial, operands{send: o.send, at: o.at})
	return false
}

// allreduceReduceBcast is a reduction to rank 0 and a broadcast, as selected.
func allreduceReduceBcast(s *Schedule, o *operands, _ int) bool {
	s.then(trace.CollReduce, operands{send: o.send, at: o.at})
	s.then(trace.CollBcast, operands{send: o.send, at: o.at})
	return false
}

// allreduceDoubling lets pairs at distances 1, 2, 4, ... exchange what they have
// combined. Source: as of doubling, section 4.5. Cost for a power of two: log2 p
// (a + nb).
func allreduceDoubling(s *Schedule, o *operands, round int) bool {
	f := newFolded(s.p, true)
	bytes, place := o.send.one(), f.place(s.rank)
	switch steps := log2(f.power); {
	case round == 0:
		s.fold(&f, bytes)
	case round > steps:
		s.unfold(&f, bytes, 0)
		return false
	case place >= 0:
		peer := f.rank(place ^ 1<<(round-1))
		s.exchange(peer, bytes, 0, peer, bytes)
	}
	return true
}

// allreduceRabenseifner is a reduce-scatter by recursive halving and an allgather by
// recursive doubling (halving). Cost for a power of two: 2 log2 p a + 2(p-1)/p nb.
func allreduceRabenseifner(s *Schedule, o *operands, round int) bool {
	f := newFolded(s.p, true)
	h := halving{f.place(s.rank), f.power, lump{o.send.count, f.power}, o.send.size}
	steps := log2(f.power)
	switch {
	case round == 0:
		s.fold(&f, o.send.one())
	case round > 2*steps:
		s.unfold(&f, o.send.one(), 0)
		return false
	case h.place < 0:
	case round <= steps:
		s.halve(&f, &h, round-1, false)
	default:
		s.halve(&f, &h, 2*steps-round, true)
	}
	return true
}

// allreduceRing combines p blocks on their way around the ring, then sends the results
// around. What does not fill a block at each rank is reduced anew. Source: P.
// Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", JPDC 69, 2009. Cost: 2(p-1)a + 2(p-1)/p nb.
func allreduceRing(s *Schedule, o *operands, round int) bool {
	each := o.send.count / int64(s.p)
	if each == 0 {
		return allreduceReduceBcast(s, o, round)
	}
	block := s.at(s.rank, -1-round)
	if round >= s.p-1 {
		block = s.at(s.rank, s.p-1-round)
	}
	bytes := each * o.send.size
	s.exchange(s.at(s.rank, 1), bytes, int64(block)*bytes, s.at(s.rank, -1), bytes)
	if round+1 < 2*(s.p-1) {
		return true
	}
	if remainder := o.send.count % int64(s.p); remainder > 0 {
		s.then(trace.CollAllreduce, operands{send: o.send.part(remainder), at: o.at + int64(s.p)*bytes})
	}
	return false
}

// ringSegment is the size of a segment of allreduceRingSegments, in bytes.
const ringSegment = 1 << 20

// allreduceRingSegments is allreduceRing with blocks cut into segments of about 1
// MiB, whose combination overlaps with the next transfer; the results go around in
// whole blocks. Source: as of bcastPipeline.
func allreduceRingSegments(s *Schedule, o *operands, round int) bool {
	p := int64(s.p)
	turn := p * segmentCount(ringSegment, o.send.size, o.send.count) // elements of a phase
	if o.send.count < turn || turn == 0 {
		return allreduceRing(s, o, round)
	}
	phases := int(o.send.count / turn)
	if rest := o.send.count % turn; rest >= p && rest > turn/2 {
		phases++
	}
	// The data are cut into a block for each rank, and these into a segment for each phase.
	size, left, right := o.send.size, s.at(s.rank, -1), s.at(s.rank, 1)
	blocks := newCut(o.send.count, s.p)
	if k := round - phases*s.p; k >= 0 {
		block := s.at(s.rank, 1-k)
		s.exchange(right, blocks.of(block)*size, blocks.before(block)*size, left, blocks.most()*size)
		return k+2 < s.p
	}
	// In a phase a rank sends its own block on, then, one receive ahead, each that it got, and keeps the last.
	phase, k := round/s.p, round%s.p
	if k < s.p-1 {
		s.irecv(k%2, left, newCut(blocks.most(), phases).most()*size)
	}
	if k > 0 {
		s.wait((k - 1) % 2)
	}
	if k < s.p-1 {
		block := s.at(s.rank, -k)
		segments := newCut(blocks.of(block), phases)
		s.send(right, segments.of(phase)*size, (blocks.before(block)+segments.before(phase))*size)
	}
	return true
}

// doubling is a round of recursive doubling for any number p of places: in step i
// groups of 2^i places, which begin at multiples of 2^i and know the data of
// their members, join with their neighbours. Place v exchanges with v xor 2^i. If
// p is no power of two, the last group is smaller than its neighbour, of which
// some find no partner; they get the data from the others, in i further rounds, by
// recursive halving. Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of
// Collective Communication Operations in MPICH", IJHPCA 19(1), 2005, section 4.1.
type doubling struct {
	move         doublingMove
	peer         int // place
	mine, theirs int // first place of the own group and of the other one
	mask         int // places of a full group
}

type doublingMove uint8

const (
	idle doublingMove = iota
	swap              // the data of the own group for that of the other
	pass              // the data of the other group on
	take              // the data of the other group
)

// newDoubling returns what place v does in a round, and whether more follow.
func newDoubling(v, p, round int) (d doubling, more bool) {
	i := 0
	for ; round > i; i++ {
		round -= i + 1
	}
	d.mask = 1 << i
	d.mine = v &^ (d.mask - 1)
	d.theirs = d.mine ^ d.mask
	more = round < i || 2*d.mask < p
	if round == 0 {
		if d.peer = v ^ d.mask; d.peer < p {
			d.move = swap
		}
		return d, more
	}
	if d.theirs+d.mask <= p {
		return d, more
	}
	half := d.mask >> round
	d.peer = v ^ half
	served := v&^(2*half-1) + p - d.theirs // first place that has no partner, of those around v
	switch {
	case v < d.peer && v < served && d.peer >= served:
		d.move = pass
	case d.peer < v && d.peer < served && v >= served:
		d.move = take
	}
	return d, more
}
