package hpl

import "reprise/trace"

// This file has what is rocHPL's own in a panel factorization (factor). Version 7 runs it on the device, where a leaf
// is a kernel in as many parts as it has columns; the host exchanges a pivot between two. Version 6 runs it on the host.

// host reports whether panels are factored on the host.
func (l *library) host() bool { return l.p.Program == RocHPL6 }

// rocFactorize appends the factorization of the panel of w columns at column j, with mp rows, on the process row at
// distance d from the panel's.
func (l *library) rocFactorize(b *trace.Builder, w, d int, j, prow, mp trace.Operand) {
	b.Mark(beginFact, j)
	if !l.host() {
		b.Launch(queueCompute, dlacpy, false, mp, trace.Const(int64(w)))
		b.Queue(trace.QueueRecord, queueCompute, eventFactStart)
	}
	l.factorize(b, w, d, prow, mp)
	if !l.host() {
		b.Queue(trace.QueueRecord, queueCompute, eventFactStop)
		if d == 0 { // L1 goes back into the matrix
			b.Launch(queueCompute, byForm(l.p.L1, dlatcpy, dlacpy), false, trace.Const(int64(w)), trace.Const(int64(w)))
		}
	}
	b.Mark(endRocFact)
}

// rocColumn treats one column of a leaf as column does: its parameters are m, the column in the panel, the columns of
// the leaf before it and after it, and the peers. On the host the last column of a leaf only scales.
func (f *factor) rocColumn(last bool) *trace.Builder {
	b, a := newBlock(f.params+2, "column w=%d last=%t", f.w, last)
	m, col, i, rest := a[0], a[1], a[2], a[3]
	memory, w := trace.MemoryHost, int64(f.w)
	if f.lib.host() { // rows in messages are as wide as full panels
		memory, w = trace.MemoryPageable, int64(f.lib.p.NB)
	} else {
		b.If(m, func() { b.Queue(trace.QueueTake, queueCompute, 0) })
	}
	b.In(memory)
	b.Mark(beginRocPivot, col)
	f.exchange(b, w, a[4:])
	b.Mark(endPivot)
	if !f.lib.host() {
		b.If(m, func() { b.Queue(trace.QueueGive, queueCompute, 0) })
		return b
	}

	// The computation of the variant, whose parts for all rows are cut into tiles.
	if f.current {
		m = m.Plus(-1)
	}
	at := f.rows(col.Plus(1))
	if f.lib.p.PFact == Left && !last {
		b.Compute(byForm(f.lib.p.L1, hostTrsvU, hostTrsvL), i.Plus(1))
	}
	if f.lib.p.PFact == Crout && !last {
		b.If(i, func() { computeByForm(b, f.lib.p.L1, hostGemvN, hostGemvT, rest, i) })
	}
	b.Compute(hostScal, m, at)
	if last {
		return b
	}
	if f.lib.p.PFact == Right {
		b.Compute(hostAxpy, m, at)
	} else {
		b.Compute(hostGemvTiles, m, i.Plus(1), at)
	}
	f.localMax(b, m, col.Plus(1))
	if f.lib.p.PFact == Right {
		b.If(rest.Plus(-1), func() { b.Compute(hostGer, m, rest.Plus(-1), at) })
	}
	return b
}
