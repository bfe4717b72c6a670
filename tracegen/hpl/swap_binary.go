package hpl

import "reprise/trace"

// binarySwap emits the row swap by binary exchange of the process row at
// distance d. Each swapped row that a process owns travels as its columns and an
// index; U travels whole. A poll of the pending broadcast follows each round.
//
// The operands are the panel's column (for its marker), the columns to swap, the
// panel's process row, and the vector of the counts K, the rows that take part,
// by distance from it. Source: HPL 2.3 control flow, binary exchange.
func (l *library) binarySwap(b *trace.Builder, w int64, d int, panel, n, prow, counts trace.Operand) {
	size, cube := l.p.P, hi(l.p.P) // process rows; those of the hypercube, the largest power of two among them
	none := trace.Const(0)
	u := b.Scale(doubleBytes*w, n)
	rowBytes := b.Scale(doubleBytes, n.Plus(1)) // a row in transit, with its index
	count := func(d int) trace.Operand { return b.VectorAt(counts, trace.Const(int64(d))) }
	bytes := func(rows trace.Operand) trace.Operand { return b.Mul(rows, rowBytes) }
	swap := func(peer int, out, in trace.Operand) {
		b.Exchange(colFamily, b.Member(colFamily, prow.Plus(int64(peer))), trace.Const(swapTag), out, in)
	}
	b.Mark(beginSwap00, panel, n)

	// The own rows are gathered: those of the current process row into U, others into a buffer.
	if d == 0 {
		b.Compute(byForm(l.p.U, dlaswp01T, dlaswp01N), count(0), n)
	} else {
		b.Compute(dlaswp02N, count(d), n)
	}
	b.Poll(slotBcast)

	// The rows of the extra processes, if there are any, come into the hypercube. Only the
	// partner of the current process row gets U at this stage.
	switch peer := d ^ cube; {
	case peer >= size:
	case d == 0:
		rows := count(peer)
		swap(peer, u, bytes(rows))
		b.If(rows, func() { b.Compute(byForm(l.p.U, dlaswp03T, dlaswp03N), rows, n) })
	case peer == 0:
		swap(peer, bytes(count(d)), u)
	case d < peer:
		swap(peer, none, bytes(count(peer)))
	default:
		swap(peer, bytes(count(d)), none)
	}
	b.Poll(slotBcast)

	// gathered returns how many rows the process at distance d has collected after a number of
	// rounds: those of its subcube, with the extra processes that were folded into it. Rows of
	// the current process row, and those of its extra partner, never travel on.
	gathered := func(d, round int) trace.Operand {
		lo := d >> round << round
		end := lo + 1<<round
		if lo = max(lo, 1); lo >= end {
			return none
		}
		rows := b.VectorSum(counts, trace.Const(int64(lo)), trace.Const(int64(end)))
		if end = min(end, size-cube); lo < end {
			extra := b.VectorSum(counts, trace.Const(int64(lo+cube)), trace.Const(int64(end+cube)))
			rows = b.Sum(rows, extra)
		}
		return rows
	}

	// Rounds of the hypercube: U spreads from the current process row to one more dimension in
	// each, and rows come back; those who have no U yet collect rows among themselves.
	for round := 0; d < cube && 1<<round < cube; round++ {
		bit := 1 << round
		peer := d ^ bit
		switch {
		case d < bit:
			rows := gathered(peer, round)
			swap(peer, u, bytes(rows))
			b.Compute(byForm(l.p.U, dlaswp03T, dlaswp03N), rows, n)
		case d < 2*bit:
			rows := gathered(d, round)
			swap(peer, bytes(rows), u)
			b.Compute(byForm(l.p.U, dlaswp04T, dlaswp04N), count(d), rows, n)
		default:
			swap(peer, bytes(gathered(d, round)), bytes(gathered(peer, round)))
		}
		b.Poll(slotBcast)
	}

	// The extra processes pass the original rows along a tree of their own, from the partner of
	// the current process row, and take their own out of them.
	if d >= cube {
		extra := size - cube
		for bit := hi(max(1, extra-1)); extra > 1 && bit >= 1; bit /= 2 {
			if peer, receives, ok := treePeer(d-cube, bit, extra); ok {
				out, in := directed(!receives, u)
				swap(peer+cube, out, in)
			}
			b.Poll(slotBcast)
		}
		b.Compute(byForm(l.p.U, dlaswp05T, dlaswp05N), count(d), n)
	}

	// The hypercube gives the final U to the extra processes.
	if peer := d ^ cube; peer < size {
		out, in := directed(d < peer, u)
		swap(peer, out, in)
	}
	b.Poll(slotBcast)
	b.Mark(endSwap00)
}
