package collective

import "reprise/trace"

// The algorithms of MPI_Allreduce, and the patterns of messages that other operations share with them: recursive
// doubling (doubling) and halving (halving), and ranks beyond a power of two (folded).

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

// allreduceDoubling lets pairs at distances 1, 2, 4, ... exchange what they have combined. Source: as of doubling,
// section 4.5. Cost for a power of two: log2 p (a + nb).
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
	h := newHalving(&f, s.rank, o.send.count, o.send.size)
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

// allreduceRing combines p blocks on their way around the ring, then sends the results around. The rest of the
// elements, fewer than ranks, is reduced by another call.
// Source: P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for
// clusters of workstations", JPDC 69, 2009. Cost: 2(p-1)a + 2(p-1)/p nb.
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

// allreduceRingSegments is allreduceRing with blocks cut into segments of about 1 MiB, whose combination overlaps with
// the next transfer; the results go around in whole blocks. Source: as of bcastPipeline.
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

// doubling is a round of recursive doubling for any number p of places: in step i groups of 2^i places, which begin at
// multiples of 2^i and know the data of their members, join with their neighbours. Place v exchanges with v xor 2^i. If
// p is no power of two, the last group is smaller than its neighbour, of which some find no partner; they get the data
// from the others, in i further rounds, by recursive halving. Source: R. Thakur, R. Rabenseifner, W. Gropp,
// "Optimization of Collective Communication Operations in MPICH", IJHPCA 19(1), 2005, section 4.1.
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

// double plays a round of recursive doubling with a rank: the data of the own group and of the other one are so many
// bytes, from these places on.
func (s *Schedule) double(move doublingMove, peer int, mine, mineAt, theirs, theirsAt int64) {
	switch move {
	case swap:
		s.exchange(peer, mine, mineAt, peer, theirs)
	case pass:
		s.send(peer, theirs, theirsAt)
	case take:
		s.recv(peer, theirs)
	}
}

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

// halving is Rabenseifner's algorithm for a power of two of ranks: in step i a pair at distance 2^i halves the shares
// that both are responsible for; then a rank has the result of one share of p. To collect the shares the steps are gone
// back. Source: R. Rabenseifner, "Optimization of Collective Reduction Operations", ICCS 2004. place is that among the
// ranks of the power of two; shares are numbered as these.
type halving struct {
	place, power int
	shares       shares
	size         int64 // bytes of an element
}

// newHalving returns the part of a rank in that of a number of elements. Shares are rounded down, as those of
// MPICH are: the last one gets the rest.
func newHalving(f *folded, rank int, count, size int64) halving {
	return halving{f.place(rank), f.power, shares{count, count / int64(f.power), f.power}, size}
}

// span returns the first share and the number of shares of a place after so many steps.
func (h *halving) span(place, steps int) (first, n int) {
	n = h.power
	for i := range steps {
		n /= 2
		if place>>i&1 != 0 {
			first += n
		}
	}
	return first, n
}

// bytes returns the bytes that a place is responsible for after so many steps, and where they begin.
func (h *halving) bytes(place, steps int) (bytes, offset int64) {
	first, n := h.span(place, steps)
	return h.shares.between(first, first+n) * h.size, h.shares.before(first) * h.size
}

// folded is the reduction of p ranks to a power of two of them: of the first
// 2*extra ranks those of one parity hand their data to the neighbour and leave.
type folded struct {
	power, extra int
	keepOdd      bool // the odd ones stay
}

func newFolded(p int, keepOdd bool) folded {
	power := powerBelow(p)
	return folded{power, p - power, keepOdd}
}

// place returns the place of a rank among those that stay, -1 if it leaves.
func (f *folded) place(rank int) int {
	switch {
	case rank >= 2*f.extra:
		return rank - f.extra
	case rank%2 == 1 == f.keepOdd:
		return rank / 2
	}
	return -1
}

// rank returns the rank of a place.
func (f *folded) rank(place int) int {
	switch {
	case place >= f.extra:
		return place + f.extra
	case f.keepOdd:
		return 2*place + 1
	}
	return 2 * place
}

// fold sends or receives the data of a rank that leaves.
func (s *Schedule) fold(f *folded, bytes int64) {
	switch {
	case s.rank >= 2*f.extra:
	case f.place(s.rank) < 0:
		s.send(s.rank^1, bytes, 0)
	default:
		s.recv(s.rank^1, bytes)
	}
}

// unfold sends or receives the result for a rank that left.
func (s *Schedule) unfold(f *folded, bytes, offset int64) {
	switch {
	case s.rank >= 2*f.extra:
	case f.place(s.rank) < 0:
		s.recv(s.rank^1, bytes)
	default:
		s.send(s.rank^1, bytes, offset)
	}
}

// reduceScatterGather is Rabenseifner's reduction: a reduce-scatter by recursive halving and a gather up a binomial
// tree. If the root is one of those that leave, it takes the part of the rank in place 0. Cost for a power of two: 2
// log2 p a + 2(p-1)/p nb.
func reduceScatterGather(s *Schedule, o *operands, round int) bool {
	if o.send.count == 0 {
		return false
	}
	f := newFolded(s.p, false)
	count := max(o.send.count, int64(s.p)) // MPICH's way to deal less than an element per rank
	h := newHalving(&f, s.rank, count, o.send.size)
	steps := log2(f.power)
	switch {
	case round == 0:
		s.fold(&f, count*o.send.size)
		return true
	case round <= steps:
		if h.place >= 0 {
			s.halve(&f, &h, round-1, false)
		}
		return true
	}

	// The shares are collected at the root, round by round. A root that left is the guest of place 0, for which
	// it stands in once that has sent it its share.
	round -= steps + 1
	rootPlace := f.place(o.root)
	guest := rootPlace < 0
	if guest {
		rootPlace = 0
		if round == 0 {
			first, _ := h.bytes(0, steps)
			switch {
			case s.rank == o.root:
				s.recv(f.rank(0), first)
			case h.place == 0:
				s.send(o.root, first, 0)
			}
			return true
		}
		if h.place == 0 {
			return false
		}
		round--
	}
	if s.rank == o.root {
		h.place = rootPlace
	}
	step := steps - 1 - round
	if h.place < 0 || step < 0 {
		return false
	}
	partner := h.place ^ 1<<step
	peer := f.rank(partner)
	if guest && partner == 0 {
		peer = o.root
	}
	if (h.place^rootPlace)>>step&1 != 0 {
		bytes, at := h.bytes(h.place, step+1)
		s.send(peer, bytes, at)
		return false
	}
	bytes, _ := h.bytes(partner, step+1)
	s.recv(peer, bytes)
	return step > 0
}

// halve is a step of halving, in which partners exchange what the other goes on with; or back, as the steps
// are gone back, in which they exchange what each is responsible for.
func (s *Schedule) halve(f *folded, h *halving, step int, back bool) {
	partner := h.place ^ 1<<step
	from, to := partner, h.place
	if back {
		from, to = to, from
	}
	out, at := h.bytes(from, step+1)
	in, _ := h.bytes(to, step+1)
	peer := f.rank(partner)
	s.exchange(peer, out, at, peer, in)
}
