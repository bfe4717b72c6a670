package hpl

import (
	"fmt"
	"slices"

	"reprise/trace"
)

// This file makes the blocks of panel factorizations (library.factBlock), with their pivot exchanges (pivotHops). What
// rocHPL does otherwise is in roc_factor.go.

// factor makes the blocks of the factorization of a panel of w columns. Process rows whose pivot exchanges have the
// same hops share them. Parameters of the blocks are
//
//	m       local rows from the current diagonal row on if the process row is the current one, else all of the panel
//	off     first column of the recursion or leaf, in the panel
//	pivots  vector of the pivots' owners, not of rocHPL
//	owner   the process row as such an owner: 1 + its distance, not of rocHPL
//	peers   world ranks, as pivotHops lists them
//
// Source: HPL 2.3, rocHPL 7.0.1 and 6.0.0 control flow, panel factorization.
type factor struct {
	lib     *library
	w       int
	current bool // the process row is the current one
	hops    []hop
	params  int    // of recursions and leaves
	columns [2]int // blocks of a column of a leaf, and of its last column
}

// factorKey names a factor.
type factorKey struct {
	w       int
	current bool
	hops    string
}

// factor returns the blocks for a panel of w columns on the process row at distance d, and the distances of its peers.
// Of parameters, those in front of the peers are counted.
func (l *library) factor(w, d, params int) (*factor, []int) {
	hops, distances := pivotHops(l.p.P, d)
	// Process rows of the same hops share the blocks: there are few lists of hops, whatever P is.
	key := factorKey{w, d == 0, fmt.Sprint(hops)}
	f := l.factors[key]
	if f == nil {
		f = &factor{lib: l, w: w, current: d == 0, hops: hops, params: params + len(distances)}
		column := f.column
		if l.p.Program.roc() {
			column = f.rocColumn
		}
		f.columns = [2]int{l.add(column(false)), l.add(column(true))}
		l.factors[key] = f
	}
	return f, distances
}

// factBlock factors a panel of w columns on the process row at distance d. Its parameters are the panel's column,
// the rows below its diagonal block, its process row, and the pivots.
func (l *library) factBlock(w int64, d int) int64 {
	b, a := newBlock(4, "pdfact w=%d d=%d", w, d) // j ml2 prow pivots
	m := a[1]
	if d == 0 {
		m = m.Plus(w)
	}
	// An empty panel, of a look-ahead deeper than the matrix, is called for and has nothing to factor.
	b.Mark(beginFact, a[0])
	if w > 0 {
		l.factorize(b, int(w), d, a[2], m, a[3], trace.Const(int64(d)+1))
	}
	b.Mark(endFact, a[0])
	return int64(l.add(b))
}

// factorize emits the call for a whole panel of w columns, with m rows, on the process row at distance d from that of
// the panel. Args are the block's own behind the first column.
func (l *library) factorize(b *trace.Builder, w, d int, prow, m trace.Operand, args ...trace.Operand) {
	first := trace.Const(0)
	args = append([]trace.Operand{m, first}, args...)
	f, distances := l.factor(w, d, len(args))
	for _, at := range distances {
		args = append(args, b.Member(colFamily, prow.Plus(int64(at))))
	}
	b.Mark(beginRecur, m, trace.Const(int64(w)), first)
	b.Call(f.part(w), args...)
	b.Mark(endRecur)
}

// partKey names the block of a part of n columns.
type partKey struct {
	*factor
	n int
}

// part returns the block for n columns: a recursion or a leaf.
func (f *factor) part(n int) int {
	return f.lib.once(partKey{f, n}, func() *trace.Builder {
		if n <= f.lib.p.NBMin {
			return f.leaf(n)
		}
		return f.recur(n)
	})
}

// rows returns where in the panel the rows of an operand begin, behind the first ones of the diagonal block.
func (f *factor) rows(at trace.Operand) trace.Operand {
	if f.current {
		return at
	}
	return trace.Const(0)
}

// compute emits a kernel of the recursion, which rocHPL launches on the device. Its version 6 has one of the host in
// the place, which needs to know where the rows of the operand begin if it is cut into tiles.
func (f *factor) compute(b *trace.Builder, kernel, host int, at trace.Operand, dims ...trace.Operand) {
	switch f.lib.p.Program {
	case HPL23:
		b.Compute(kernel, dims...)
	case RocHPL:
		b.Launch(queueCompute, kernel, false, dims...)
	case RocHPL6:
		if host < hostGemvN {
			dims = append(dims, f.rows(at))
		}
		b.Compute(host, dims...)
	}
}

// recur is the recursion over n columns. HPL divides them into parts of a multiple of NBMIN columns and factors one
// after the other. Depending on the variant, a part is updated with the columns done before it is factored, or the
// columns behind are updated with the part afterwards.
func (f *factor) recur(n int) *trace.Builder {
	p := f.lib.p
	b, a := newBlock(f.params, "pdrpan w=%d n=%d", f.w, n)
	m := a[0] // local rows from the part on
	gemm := func(at, m, n, k trace.Operand) {
		f.compute(b, byForm(p.L1, dgemmNT, dgemmNN), byForm(p.L1, hostGemmTilesT, hostGemmTilesN), at, m, n, k)
	}
	// The dtrsm with a triangle, whose side is that of the form.
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
		rest := n - done - width
		off := a[1].Plus(int64(done))
		part, before, behind := trace.Const(int64(width)), trace.Const(int64(done)), trace.Const(int64(rest))

		// The left-looking variants update the part with the columns done.
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

		// The others update the rest: right-looking all of it, Crout its rows of U alone. The last pass of Crout, with
		// nothing behind it, is left out on the host.
		switch {
		case p.RFact == Right:
			triangle(part, behind)
			gemm(off.Plus(int64(width)), m, behind, part)
		case p.RFact == Crout && (rest > 0 || p.Program == RocHPL):
			rows, columns := behind, part
			if p.L1 != Transposed {
				rows, columns = part, behind
			}
			f.compute(b, dgemmNN, hostGemm, trace.Operand{}, rows, columns, before)
			triangle(part, behind)
		}
		switch {
		case !f.current:
		case p.Program == HPL23:
			b.Compute(byForm(p.L1, dlatcpy, dlacpy), off, part)
		case p.Program == RocHPL6:
			b.Compute(byForm(p.L1, hostLatcpy, hostLacpy), off, part)
		}
	}
	return b
}

// leaf factors n columns without recursion, one after the other.
func (f *factor) leaf(n int) *trace.Builder {
	b, a := newBlock(f.params, "pdpan w=%d n=%d", f.w, n)
	columns, device := trace.Const(int64(n)), f.lib.p.Program == RocHPL
	b.Mark(beginLeaf, a[0], columns, a[1])
	if device {
		b.If(a[0], func() {
			b.LaunchParts(queueCompute, rocLeaf+2*int(f.lib.p.PFact)+int(f.lib.p.L1), columns, a[0], columns)
		})
	} else {
		f.localMax(b, a[0], a[1])
	}
	for i := range n {
		m, last := a[0], 0
		if f.current && !device {
			m = m.Plus(int64(-i))
		}
		if i == n-1 && !device {
			last = 1
		}
		args := []trace.Operand{m, a[1].Plus(int64(i)), trace.Const(int64(i)), trace.Const(int64(n - 1 - i))}
		b.Call(f.columns[last], append(args, a[2:]...)...)
	}
	b.Mark(endLeaf)
	return b
}

// localMax emits the search of a column's local maximum over m rows.
func (f *factor) localMax(b *trace.Builder, m, col trace.Operand) {
	if f.lib.host() {
		b.If(m, func() { b.Compute(hostIamax, m, f.rows(col)) })
		return
	}
	b.Compute(dlocmax, m, col)
	b.If(m, func() { b.Compute(idamax, m) })
}

// exchange emits the messages of a pivot exchange, whose rows have w columns. Two ranks that send to each other do so by
// one MPI_Sendrecv in rocHPL.
func (f *factor) exchange(b *trace.Builder, w int64, peers []trace.Operand) {
	bytes := map[payload]trace.Operand{nothing: trace.Const(0), row: trace.Const(doubleBytes * w),
		candidate: trace.Const(doubleBytes * (w + 4)), both: trace.Const(doubleBytes * (2*w + 4))}
	tag := trace.Const(swapTag)
	for _, h := range f.hops {
		peer := peers[h.peer]
		if f.lib.p.Program.roc() && h.out != nothing && h.in != nothing {
			b.Sendrecv(colFamily, peer, tag, bytes[h.out], peer, tag, bytes[h.in])
		} else {
			b.Exchange(colFamily, peer, tag, bytes[h.out], bytes[h.in])
		}
	}
}

// column treats one column of a leaf: pivot exchange, local swap, and the variant's computation; the last column of
// a leaf only scales. Its parameters are m, the column in the panel, the columns of the leaf before it and after
// it, the pivots, the owner, and the peers.
func (f *factor) column(last bool) *trace.Builder {
	b, a := newBlock(f.params+2, "column w=%d last=%t", f.w, last)
	m, col, i, rest, pivots, owner := a[0], a[1], a[2], a[3], a[4], a[5]

	// The pivot exchange: the search of the maximum of a column over the process column together with the exchange of
	// the two rows: full panel rows, whatever the recursion level. Copies made after a message depend on who held the
	// larger value and are left out. Source: HPL 2.3 control flow, pivot exchange.
	w := int64(f.w)
	b.Mark(beginPivot, m, col)
	b.If(m, func() {
		b.Compute(dcopy, trace.Const(w)) // own candidate
		if f.current {
			b.Compute(dcopy, trace.Const(w)) // current row
		}
	})
	f.exchange(b, w, a[6:])
	b.Mark(endPivot)

	// The part of the process row in the local swap follows from the pivot's owner, 0 where the pivot
	// is the current row itself and else 1 + its distance (see pivotRows.owners).
	role := b.VectorAt(pivots, col)
	if f.current {
		role = b.Min(role, trace.Const(roleIn)) // 0: roleSame, 1: roleSwap, else roleIn
	} else {
		role = b.Affine([]int64{roleOut - roleNone, 1}, b.Eq(role, owner), trace.Const(roleNone))
	}
	b.Compute(byForm(f.lib.p.L1, dlocswpT, dlocswpN), trace.Const(w), col, role)
	if f.current {
		m = m.Plus(-1)
	}
	switch {
	case last:
		b.Compute(dscal, m)
	case f.lib.p.PFact == Right:
		b.Compute(dscal, m)
		b.Compute(daxpy, m)
		f.localMax(b, m, col.Plus(1))
		b.If(rest.Plus(-1), func() { b.Compute(dger, m, rest.Plus(-1)) })
	case f.lib.p.PFact == Crout:
		b.If(i, func() {
			computeByForm(b, f.lib.p.L1, dgemvN, dgemvT, rest, i)
			if f.current {
				b.Compute(dcopy, rest)
			}
		})
		b.Compute(dscal, m)
		b.Compute(dgemvN, m, i.Plus(1))
		f.localMax(b, m, col.Plus(1))
	default:
		b.Compute(byForm(f.lib.p.L1, dtrsvUTU, dtrsvLNU), i.Plus(1))
		b.Compute(dscal, m)
		b.Compute(dgemvN, m, i.Plus(1))
		f.localMax(b, m, col.Plus(1))
		if f.current {
			b.Compute(dcopy, i.Plus(1))
		}
	}
	return b
}

// swapTag is the tag of pivot exchanges and row swaps.
const swapTag = 1001

// doubleBytes is the size of a matrix element in a message.
const doubleBytes = 8

// treePeer returns whom member x of n talks to at level bit of the binomial tree from member 0, whether it
// receives, and whether it talks at all. Levels run from hi(n-1) down to 1.
func treePeer(x, bit, n int) (peer int, receives, ok bool) {
	switch {
	case n < 2 || x%bit != 0:
		return 0, false, false
	case x&bit != 0:
		return x - bit, true, true
	}
	return x + bit, false, x+bit < n
}

// payload is what a message of a pivot exchange carries.
type payload uint8

// Payloads of pivot exchanges.
const (
	nothing   payload = iota
	row               // a row of the panel
	candidate         // value, place and row
	both              // the same with the current row
)

// hop is a pair of messages of a pivot exchange, of which an empty one is left out. Peer numbers the process rows
// that a process row talks to, in the order of their first hop.
type hop struct {
	peer    int
	out, in payload
}

// pivotHops lists the hops of a pivot exchange for the process row at distance d of n from the current one, and
// the distances of its peers. These are its partner among the extra processes, its neighbours in the hypercube,
// and its neighbours in the tree of the extra processes. Of all process rows there are about 4 log(n) different
// lists of hops, and n of peers.
func pivotHops(n, d int) (hops []hop, peers []int) {
	cube := hi(n)
	extra := n - cube // processes beyond the hypercube
	partner := d ^ cube
	swap := func(peer int, out, in payload) {
		i := slices.Index(peers, peer)
		if i < 0 {
			i = len(peers)
			peers = append(peers, peer)
		}
		hops = append(hops, hop{i, out, in})
	}

	// The extra processes give their candidates to their partners. The first of them receives
	// the current row at once, because its partner is the current process row.
	switch {
	case partner >= n:
	case d == 0:
		swap(partner, row, candidate)
	case partner == 0:
		swap(partner, candidate, row)
	case d < partner:
		swap(partner, nothing, candidate)
	default:
		swap(partner, candidate, nothing)
	}

	// In each round the current row reaches as many further processes of the hypercube as
	// have it already; all exchange their best candidates.
	for bit := 1; d < cube && bit < cube; bit *= 2 {
		out, in := candidate, candidate
		switch {
		case d < bit:
			out = both
		case d < 2*bit:
			in = both
		}
		swap(d^bit, out, in)
	}

	// The first extra process passes the current row on to the others.
	for bit := hi(max(1, extra-1)); d >= cube && bit >= 1; bit /= 2 {
		peer, receives, ok := treePeer(d-cube, bit, extra)
		switch {
		case !ok:
		case receives:
			swap(peer+cube, nothing, row)
		default:
			swap(peer+cube, row, nothing)
		}
	}

	// The winner goes back to the extra processes.
	switch {
	case partner >= n:
	case d < partner:
		swap(partner, candidate, nothing)
	default:
		swap(partner, nothing, candidate)
	}
	return hops, peers
}
