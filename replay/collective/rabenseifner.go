package collective

// halving is Rabenseifner's algorithm for a power of two of ranks: in step i a
// pair at distance 2^i halves the shares that both are responsible for; then a
// rank has the result of one share of p. To collect the shares the steps are
// gone back. Source: R. Rabenseifner, "Optimization of Collective Reduction
// Operations", ICCS 2004. place is that among the ranks of the power of two;
// shares are numbered as these.
type halving struct {
	place, power int
	shares       lump
	size         int64 // bytes of an element
}

// span returns the first share and the number of shares of a place after so many
// steps.
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

// bytes returns the bytes that a place is responsible for after so many steps, and
// where they begin.
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

// reduceScatterGather is Rabenseifner's reduction: a reduce-scatter by recursive
// halving and a gather up a binomial tree. If the root is one of those that
// leave, it takes the part of the rank in place 0. Cost for a power of two: 2 log2 p
// a + 2(p-1)/p nb.
func reduceScatterGather(s *Schedule, o *operands, round int) bool {
	if o.send.count == 0 {
		return false
	}
	f := newFolded(s.p, false)
	count := max(o.send.count, int64(s.p)) // MPICH's way to deal less than an element per rank
	h := halving{f.place(s.rank), f.power, lump{count, f.power}, o.send.size}
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
