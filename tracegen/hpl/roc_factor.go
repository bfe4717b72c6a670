package hpl

import (
	"fmt"

	"reprise/trace"
)

// This file makes the blocks of rocHPL's panel factorization (rocFactor). Version 7 runs it on the device, where a leaf
// is a kernel in as many parts as it has columns; the host exchanges a pivot between two. Version 6 runs it on the host.

// rocFactor makes the blocks of the factorization of a panel of w columns. Parameters of the blocks are
//
//	m      local rows from the current diagonal row on if the process row is the current one, else all of the panel
//	off    first column of the recursion or leaf, in the panel
//	peers  world ranks, as pivotHops lists them
//
// Source: rocHPL 7.0.1 and 6.0.0 control flow, panel factorization.
type rocFactor struct {
	lib     *library
	w       int
	current bool // the process row is the current one
	hops    []hop
	params  int // of recursions and leaves
	columns [2]int
}

// rocFactorKey names a rocFactor, rocPartKey the block of a part of n columns.
type (
	rocFactorKey struct {
		w       int
		current bool
		hops    string
	}
	rocPartKey struct {
		rocFactorKey
		n int
	}
)

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
	hops, distances := pivotHops(l.p.P, d)
	f := &rocFactor{lib: l, w: w, current: d == 0, hops: hops, params: 2 + len(distances)}
	args := []trace.Operand{mp, trace.Const(0)}
	for _, at := range distances {
		args = append(args, b.Member(colFamily, prow.Plus(int64(at))))
	}
	b.Mark(beginRecur, mp, trace.Const(int64(w)), trace.Const(0))
	b.Call(f.part(w), args...)
	b.Mark(endRecur)
	if !l.host() {
		b.Queue(trace.QueueRecord, queueCompute, eventFactStop)
		if d == 0 { // L1 goes back into the matrix
			b.Launch(queueCompute, byForm(l.p.L1, dlatcpy, dlacpy), false, trace.Const(int64(w)), trace.Const(int64(w)))
		}
	}
	b.Mark(endRocFact)
}

// key returns what the blocks depend on.
func (f *rocFactor) key() rocFactorKey { return rocFactorKey{f.w, f.current, fmt.Sprint(f.hops)} }

// part returns the block for n columns: a recursion or a leaf.
func (f *rocFactor) part(n int) int {
	return f.lib.once(rocPartKey{f.key(), n}, func() *trace.Builder {
		if n <= f.lib.p.NBMin {
			return f.leaf(n)
		}
		return f.recur(n)
	})
}

// rows returns where in the panel the rows of an operand begin, behind the first ones of the diagonal block.
func (f *rocFactor) rows(at trace.Operand) trace.Operand {
	if f.current {
		return at
	}
	return trace.Const(0)
}

// compute appends a kernel of the recursion: one of the device, or that of the host in its place, which needs to know
// where the rows of the operand begin if it is cut into tiles.
func (f *rocFactor) compute(b *trace.Builder, device, host int, at trace.Operand, dims ...trace.Operand) {
	if !f.lib.host() {
		b.Launch(queueCompute, device, false, dims...)
		return
	}
	if host < hostGemvN {
		dims = append(dims, f.rows(at))
	}
	b.Compute(host, dims...)
}

// recur is the recursion over n columns, as factor.recur has it for HPL.
func (f *rocFactor) recur(n int) *trace.Builder {
	p := f.lib.p
	b, a := newBlock(f.params, "pdrpan w=%d n=%d", f.w, n)
	m := a[0]
	gemm := func(at, m, n, k trace.Operand) {
		f.compute(b, byForm(p.L1, dgemmNT, dgemmNN), byForm(p.L1, hostGemmTilesT, hostGemmTilesN), at, m, n, k)
	}
	triangle := func(order, columns trace.Operand) {
		if p.L1 == Transposed {
			f.compute(b, dtrsmRUNU, hostTrsmR, trace.Operand{}, columns, order)
		} else {
			f.compute(b, dtrsmLLNU, hostTrsmL, trace.Operand{}, order, columns)
		}
	}
	ceilDiv := func(a, b int) int { return (a + b - 1) / b }
	width := ceilDiv(ceilDiv(n, p.NBMin), p.NDiv) * p.NBMin
	for done := 0; done < n; done += width {
		width = min(width, n-done)
		off := a[1].Plus(int64(done))
		part, before, behind := trace.Const(int64(width)), trace.Const(int64(done)), trace.Const(int64(n-done-width))
		if p.RFact == Left {
			triangle(before, part)
		}
		if p.RFact != Right {
			gemm(off, m, part, before)
		}
		b.Call(f.part(width), append([]trace.Operand{m, off}, a[2:]...)...)
		if f.current {
			m = m.Plus(int64(-width))
		}
		switch {
		case p.RFact == Right:
			triangle(part, behind)
			gemm(off.Plus(int64(width)), m, behind, part)
		// HPL leaves the last pass of Crout out.
		case p.RFact == Crout && (behind.Const > 0 || !f.lib.host()):
			rows, columns := behind, part
			if p.L1 != Transposed {
				rows, columns = part, behind
			}
			f.compute(b, dgemmNN, hostGemm, trace.Operand{}, rows, columns, before)
			triangle(part, behind)
		}
		if f.current && f.lib.host() {
			b.Compute(byForm(p.L1, hostLatcpy, hostLacpy), off, part)
		}
	}
	return b
}

// leaf factors n columns without recursion.
func (f *rocFactor) leaf(n int) *trace.Builder {
	if f.columns == [2]int{} {
		for last := range 2 {
			f.columns[last] = f.lib.once(rocPartKey{f.key(), -last}, func() *trace.Builder { return f.column(last == 1) })
		}
	}
	b, a := newBlock(f.params, "pdpan w=%d n=%d", f.w, n)
	columns := trace.Const(int64(n))
	b.Mark(beginLeaf, a[0], columns, a[1])
	if f.lib.host() {
		f.search(b, a[0], a[1])
	} else {
		b.If(a[0], func() {
			b.LaunchParts(queueCompute, leafKernel(f.lib.p.PFact, f.lib.p.L1), columns, a[0], columns)
		})
	}
	for i := range n {
		m, last := a[0], 0
		if f.lib.host() {
			if f.current {
				m = m.Plus(int64(-i))
			}
			if i == n-1 {
				last = 1
			}
		}
		args := []trace.Operand{m, a[1].Plus(int64(i)), trace.Const(int64(i)), trace.Const(int64(n - 1 - i))}
		b.Call(f.columns[last], append(args, a[2:]...)...)
	}
	b.Mark(endLeaf)
	return b
}

// search appends the search of a column's local maximum over m rows on the host.
func (f *rocFactor) search(b *trace.Builder, m, at trace.Operand) {
	b.If(m, func() { b.Compute(hostIamax, m, f.rows(at)) })
}

// column treats one column of a leaf: its parameters are m, the column in the panel, the columns of the leaf before it
// and after it, and the peers. On the host the last column of a leaf only scales.
func (f *rocFactor) column(last bool) *trace.Builder {
	b, a := newBlock(f.params+2, "column w=%d last=%t", f.w, last)
	m, col, i, rest := a[0], a[1], a[2], a[3]
	memory, w := trace.MemoryHost, int64(f.w)
	if f.lib.host() { // rows in messages are as wide as full panels
		memory, w = trace.MemoryPageable, int64(f.lib.p.NB)
	} else {
		b.If(m, func() { b.Queue(trace.QueueTake, queueCompute, 0) })
	}

	// The pivot exchange has the messages of HPL's; where both sides send they are one MPI_Sendrecv.
	bytes := map[payload]trace.Operand{nothing: trace.Const(0), row: trace.Const(doubleBytes * w),
		candidate: trace.Const(doubleBytes * (w + 4)), both: trace.Const(doubleBytes * (2*w + 4))}
	tag := trace.Const(swapTag)
	b.In(memory)
	b.Mark(beginRocPivot, col)
	for _, h := range f.hops {
		peer := a[4+h.peer]
		if h.out != nothing && h.in != nothing {
			b.Sendrecv(colFamily, peer, tag, bytes[h.out], peer, tag, bytes[h.in])
		} else {
			b.Exchange(colFamily, peer, tag, bytes[h.out], bytes[h.in])
		}
	}
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
	f.search(b, m, col.Plus(1))
	if f.lib.p.PFact == Right {
		b.If(rest.Plus(-1), func() { b.Compute(hostGer, m, rest.Plus(-1), at) })
	}
	return b
}
