package hpl

import "reprise/trace"

// swapArgs are the operands of a row swap: the panel's column (for its marker),
// the columns to swap, the panel's process row, and the vector of counts K by
// distance from it.
type swapArgs struct{ panel, n, prow, counts trace.Operand }

// binarySwap emits the row swap by binary exchange of the process row at
// distance d. Each swapped row that a process owns travels as its columns and an
// index; U travels whole. A poll of the pending broadcast follows each round.
// Source: HPL 2.3 control flow, binary exchange.
func (l *library) binarySwap(b *trace.Builder, w int64, d int, a swapArgs) {
	s := &binary{lib: l, b: b, w: w, d: d, size: l.p.P, cube: hi(l.p.P), a: a}
	s.u = b.Scale(doubleBytes*w, a.n)
	s.rowBytes = b.Scale(doubleBytes, a.n.Plus(1))
	b.Mark(beginSwap00, a.panel, a.n)
	s.gather()
	s.foldIn()
	s.hypercube()
	s.extraTree()
	s.foldOut()
	b.Mark(endSwap00)
}

// binary emits the messages and copies of one binary exchange.
type binary struct {
	lib        *library
	b          *trace.Builder
	w          int64
	d          int // own distance
	size, cube int // process rows; the largest power of two among them
	a          swapArgs
	u          trace.Operand // bytes of U
	rowBytes   trace.Operand // bytes of a row in transit
}

func (s *binary) poll() { s.b.Poll(slotBcast) }

func (s *binary) swap(peer int, out, in trace.Operand) {
	to := s.b.Member(colFamily, s.a.prow.Plus(int64(peer)))
	s.b.Exchange(colFamily, to, trace.Const(swapTag), out, in)
}

// bytes returns the size of a message of rows.
func (s *binary) bytes(rows trace.Operand) trace.Operand { return s.b.Mul(rows, s.rowBytes) }

// kernel emits a copy in the form of U.
func (s *binary) kernel(transposed, noTransposed int, dims ...trace.Operand) {
	s.b.Compute(byForm(s.lib.p.U, transposed, noTransposed), dims...)
}

// own returns the rows that this process row itself sends away.
func (s *binary) own() trace.Operand { return s.count(s.d) }

// count returns K of one distance.
func (s *binary) count(d int) trace.Operand {
	return s.b.VectorAt(s.a.counts, trace.Const(int64(d)))
}

func (s *binary) gather() {
	if s.d == 0 {
		s.kernel(dlaswp01T, dlaswp01N, s.count(0), s.a.n)
	} else {
		s.b.Compute(dlaswp02N, s.own(), s.a.n)
	}
	s.poll()
}

// foldIn brings the rows of the extra processes, if there are any, into the
// hypercube.
func (s *binary) foldIn() {
	nothing := trace.Const(0)
	switch peer := s.d ^ s.cube; {
	case peer >= s.size:
	case s.d == 0:
		rows := s.count(peer)
		s.swap(peer, s.u, s.bytes(rows))
		s.b.If(rows, func() { s.kernel(dlaswp03T, dlaswp03N, rows, s.a.n) })
	case peer == 0:
		s.swap(peer, s.bytes(s.own()), s.u)
	case s.d < peer:
		s.swap(peer, nothing, s.bytes(s.count(peer)))
	default:
		s.swap(peer, s.bytes(s.own()), nothing)
	}
	s.poll()
}

// gathered returns how many rows the process at distance d has collected after
// the given number of rounds: those of its subcube, with the extra processes
// that were folded into it. Rows of the current process row, and those of its
// extra partner, never travel on.
func (s *binary) gathered(d, round int) trace.Operand {
	lo := d >> round << round
	end := lo + 1<<round
	if lo = max(lo, 1); lo >= end {
		return trace.Const(0)
	}
	rows := s.b.VectorSum(s.a.counts, trace.Const(int64(lo)), trace.Const(int64(end)))
	if end = min(end, s.size-s.cube); lo < end {
		extra := s.b.VectorSum(s.a.counts, trace.Const(int64(lo+s.cube)), trace.Const(int64(end+s.cube)))
		rows = s.b.Sum(rows, extra)
	}
	return rows
}

func (s *binary) hypercube() {
	if s.d >= s.cube {
		return
	}
	for round := 0; 1<<round < s.cube; round++ {
		bit := 1 << round
		peer := s.d ^ bit
		switch {
		case s.d < bit:
			rows := s.gathered(peer, round)
			s.swap(peer, s.u, s.bytes(rows))
			s.kernel(dlaswp03T, dlaswp03N, rows, s.a.n)
		case s.d < 2*bit:
			rows := s.gathered(s.d, round)
			s.swap(peer, s.bytes(rows), s.u)
			s.kernel(dlaswp04T, dlaswp04N, s.own(), rows, s.a.n)
		default:
			s.swap(peer, s.bytes(s.gathered(s.d, round)), s.bytes(s.gathered(peer, round)))
		}
		s.poll()
	}
}

// extraTree gives the original rows to the extra processes.
func (s *binary) extraTree() {
	if s.d < s.cube {
		return
	}
	extra := s.size - s.cube
	for bit := hi(max(1, extra-1)); extra > 1 && bit >= 1; bit /= 2 {
		peer, receives, ok := treePeer(s.d-s.cube, bit, extra)
		switch {
		case !ok:
		case receives:
			s.swap(peer+s.cube, trace.Const(0), s.u)
		default:
			s.swap(peer+s.cube, s.u, trace.Const(0))
		}
		s.poll()
	}
	s.kernel(dlaswp05T, dlaswp05N, s.own(), s.a.n)
}

// foldOut gives the final U to the extra processes.
func (s *binary) foldOut() {
	switch peer := s.d ^ s.cube; {
	case peer >= s.size:
	case s.d < peer:
		s.swap(peer, s.u, trace.Const(0))
	default:
		s.swap(peer, trace.Const(0), s.u)
	}
	s.poll()
}
