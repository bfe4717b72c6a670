package mxp

import "reprise/trace"

// This file makes the factorization of RIKEN's HPL-AI, with library broadcasts or with relays ("chain").

// Request slots, and the relays of L, in process rows, and of D and U, in process columns.
const (
	slotDcol = iota
	slotDrow
	slotL
	slotU
	slotRelays = 16

	relayL = 0
	relayR = 1

	window     = 256  // slots of a relay
	leastChunk = 1024 // bytes
	mostChunks = 100
	back       = 32 // steps between writes of the back buffer
)

// factorize writes the factorization of either program, with what comes before and behind it.
func (g *generator) factorize() {
	p, n := g.p, g.p.LUSteps()
	isRiken := p.Variant == riken
	g.Step(0)
	g.run("begin", 0, func(b *trace.Builder, a []trace.Operand) {
		if isRiken {
			barrier(b)
		}
		if p.SkipLU {
			b.Compute(g.k("l1est"), a[0], a[1])
		} else {
			b.Mark(beginLU)
		}
	})
	for k := range n {
		if k > 0 {
			g.Step(int(k))
		}
		if !isRiken {
			g.rocStep(k)
			continue
		}
		key := blockKey{name: "ibcast", first: k == 0}
		step := g.libraryStep
		if p.Bcast == "chain" {
			key.name, step = "chain", g.chainStep
			key.parity = isOne(p.Deck == "back-buffer" && k > 0 && k%back == 0)
		}
		g.step(k, key, func(key blockKey) int64 {
			return g.block(key, 7, func(b *trace.Builder, a []trace.Operand) {
				b.Mark(markStep, a[0])
				step(b, key, a)
			})
		})
	}
	if p.SkipLU {
		return
	}
	g.run("end", 0, func(b *trace.Builder, a []trace.Operand) {
		if p.Warmup && p.Bcast == "chain" {
			barrier(b)
		}
		b.Mark(endLU)
		if !isRiken {
			return
		}
		barrier(b)
		if p.Checksum {
			op := trace.OperatorSum
			if p.Matrix == "higham" {
				op = trace.OperatorMax
			}
			b.Compute(g.k("checksum"), a[0], a[1])
			reduce(b, 0, op, trace.Const(24))
		}
	})
}

// step writes the calls of blocks of a step: those on its process column, and the others. Their parameters are k, its
// process row and column, the blocks left on the own process row and column, and rows and columns of the own panels
// of L and U (in packed form).
func (g *generator) step(k int64, key blockKey, block func(key blockKey) int64) {
	kr, kc := k%g.rows, k%g.cols
	padded := func(n int64, unit int) int64 {
		if g.p.packed() {
			return (n + int64(unit) - 1) / int64(unit) * int64(unit)
		}
		return n
	}
	own := func(is bool, blocks int64) int64 { return g.b * (blocks - isOne(is)) }
	m := g.By(g.rows, func(r int64) int64 { return g.left(k, r, g.rows) })
	n := g.By(g.cols, func(q int64) int64 { return g.left(k, q, g.cols) })
	l := g.By(g.rows, func(r int64) int64 { return padded(own(r == kr, m[r]), g.p.Pack.Rows) })
	u := g.By(g.cols, func(q int64) int64 { return padded(own(q == kc, n[q]), g.p.Pack.Cols) })
	for _, key.col = range []bool{true, false} {
		mask := g.By(g.cols, func(q int64) int64 { return isOne((q == kc) == key.col) })
		blocks := g.By(g.rows, func(r int64) int64 {
			key := key
			key.row = r == kr
			return block(key)
		})
		g.call(callStep, mask, blocks, g.One(k), g.One(kr), g.One(kc), m, n, l, u)
	}
}

// lazy appends the generation of m x n blocks.
func (g *generator) lazy(b *trace.Builder, m, n trace.Operand) {
	if suffix, ok := g.suffix(); ok {
		b.Compute(g.k("lazy"+suffix), b.Scale(g.b, m), b.Scale(g.b, n))
	}
}

// suffix returns the end of names of kernels that generate entries; it is false if they are there from the beginning.
func (g *generator) suffix() (string, bool) {
	if g.p.Deck == "back-buffer" {
		return "b", true
	}
	return "", g.p.Deck != "none"
}

// diagonalBlock appends what becomes of the diagonal block, with send once it is factored.
func (g *generator) diagonalBlock(b *trace.Builder, behind string, send func()) {
	nb, tile := trace.Const(g.b), g.p.Layout == "tile"
	if suffix, ok := g.suffix(); ok {
		b.Compute(g.k("lazydiag"+suffix), nb)
	}
	if !tile {
		b.Compute(g.k(g.high+"copy"), nb, nb)
	}
	b.Compute(g.k(g.high+"getrf"), nb)
	if behind == "copy" {
		send()
	}
	if !tile {
		b.Compute(g.k(g.high+behind), nb, nb)
	}
	if behind != "copy" {
		send()
	}
}

// panel appends the triangular solve and the conversion of a panel of n blocks, on side R for L.
func (g *generator) panel(b *trace.Builder, side string, n trace.Operand) {
	nb, trsm := trace.Const(g.b), g.k(g.high+"trsm "+side)
	call := func(kernel int, n trace.Operand) {
		if side == "R" {
			b.Compute(kernel, n, nb)
		} else {
			b.Compute(kernel, nb, n)
		}
	}
	if g.p.Layout == "tile" {
		b.Loop(n, func() { call(trsm, nb) })
		b.Loop(n, func() { call(g.k("conv"), nb) })
		return
	}
	conv := "conv"
	if g.p.packed() {
		conv = map[string]string{"R": "convp L", "L": "convp R"}[side]
	}
	b.If(n, func() { call(trsm, b.Scale(g.b, n)) })
	call(g.k(conv), b.Scale(g.b, n))
}

// product appends the product with the panels before, of m x n units: blocks, or rows and columns if they are packed.
func (g *generator) product(b *trace.Builder, m, n trace.Operand) {
	nb, gemm := trace.Const(g.b), g.k(g.gemm)
	if g.p.Layout == "tile" {
		b.Loop(m, func() { b.Loop(n, func() { b.Compute(gemm, nb, nb, nb) }) })
		return
	}
	unit := g.b
	if g.p.packed() {
		unit = 1
	}
	b.If(m, func() { b.If(n, func() { b.Compute(gemm, b.Scale(unit, m), b.Scale(unit, n), nb) }) })
}

// strip returns the block of a part of the product.
func (g *generator) strip() int {
	return int(g.block(blockKey{name: "strip"}, 2, func(b *trace.Builder, a []trace.Operand) { g.product(b, a[0], a[1]) }))
}

// libraryStep appends a step with nonblocking broadcasts of the library.
func (g *generator) libraryStep(b *trace.Builder, key blockKey, a []trace.Operand) {
	prow, pcol, m, n := a[1], a[2], a[3], a[4]
	one := trace.Const(1)
	strip := g.strip()
	product := func(m, n trace.Operand) {
		if !key.first {
			g.product(b, m, n)
		}
	}
	bcast := func(slot int32, bytes trace.Operand) {
		c := trace.CollectiveOperands{Send: bytes, SendSize: one, Root: prow, Comm: trace.Communicator(colFamily)}
		if slot == slotDrow || slot == slotL {
			c.Root, c.Comm = pcol, trace.Communicator(rowFamily)
		}
		b.Icollective(slot, trace.CollBcast, c)
	}
	diagonal := trace.Const(g.highBytes * g.b * g.b)
	bcastL := func(m trace.Operand) { bcast(slotL, b.Scale(g.lowBytes*g.b*g.b, m)) }
	bcastU := func(n trace.Operand) { bcast(slotU, b.Scale(g.lowBytes*g.b*g.b, n)) }
	// await waits for the diagonal block; it returns the blocks of rows that are left of the product.
	await := func(slot int32, m, n trace.Operand) trace.Operand {
		if key.first {
			b.Complete(trace.CompleteAll, slot)
			return m
		}
		return b.UntilComplete([]int32{slot}, m, one, strip, n)
	}
	panels := []int32{slotL, slotU}
	switch {
	case key.row && key.col:
		product(one, one)
		g.diagonalBlock(b, "copy", func() {
			bcast(slotDcol, diagonal)
			bcast(slotDrow, diagonal)
		})
		m, n = m.Plus(-1), n.Plus(-1)
		product(m, one)
		g.lazy(b, m, one)
		g.panel(b, "R", m)
		bcastL(m)
		product(one, n)
		g.lazy(b, one, n)
		g.panel(b, "L", n)
		bcastU(n)
	case key.row:
		bcast(slotDrow, diagonal)
		product(one, n)
		g.lazy(b, one, n)
		own := m.Plus(-1)
		m = await(slotDrow, own, n)
		bcastL(own)
		g.panel(b, "L", n)
		bcastU(n)
	case key.col:
		bcast(slotDcol, diagonal)
		product(m, one)
		n = n.Plus(-1)
		g.lazy(b, m, one)
		own := m
		m = await(slotDcol, own, n)
		bcastU(n)
		g.panel(b, "R", own)
		bcastL(own)
		panels = []int32{slotU, slotL}
	default:
		bcastL(m)
		bcastU(n)
	}
	product(m, n)
	if key.row && key.col {
		b.Complete(trace.CompleteAll, slotDcol, slotDrow)
	}
	b.Complete(trace.CompleteAll, panels...)
}

// chainStep appends a step with relays.
func (g *generator) chainStep(b *trace.Builder, key blockKey, a []trace.Operand) {
	prow, pcol, m, n := a[1], a[2], a[3], a[4]
	one, strip := trace.Const(1), g.strip()
	// The product has a place in units: blocks, or rows and columns if operands are packed, as is what the owners do of
	// it.
	rows, cols, h, w := m, n, int64(1), int64(1)
	if p := g.p.Pack; g.p.packed() {
		rows, cols = b.Scale(g.b, m), b.Scale(g.b, n)
		h = (g.b + int64(p.Rows) - 1) / int64(p.Rows) * int64(p.Rows)
		w = (g.b + int64(p.Cols) - 1) / int64(p.Cols) * int64(p.Cols)
	}
	product := func(m, n trace.Operand) {
		if !key.first {
			g.product(b, m, n)
		}
	}
	start := func(relay int, bytes trace.Operand) {
		family, root := rowFamily, pcol
		if relay == relayR {
			family, root = colFamily, prow
		}
		b.Relay(relay, family, int32(slotRelays+relay*window), bytes, root, leastChunk, mostChunks, window)
		b.Advance(trace.RelayPoll, relay)
	}
	poll := func() {
		b.Advance(trace.RelayPoll, relayR)
		b.Advance(trace.RelayPoll, relayL)
	}
	diagonal := trace.Const(g.highBytes * g.b * g.b)
	startL := func() { start(relayL, b.Scale(g.lowBytes*g.b, a[5])) }
	startU := func() { start(relayR, b.Scale(g.lowBytes*g.b, a[6])) }
	height, width := b.Min(trace.Const(h), rows), b.Min(trace.Const(w), cols)
	// some returns the rows that are left, or 0 if no columns are.
	some := func() trace.Operand { return b.Mul(rows, b.Min(one, cols)) }
	// await waits for the diagonal block, and works until it is there.
	await := func(relay int) {
		if g.p.packed() && !key.first {
			left := b.UntilDone(relay, some(), trace.Const(h), strip, cols)
			rows = b.Diff(rows, b.Diff(some(), left))
		}
		b.Advance(trace.RelayFinish, relay)
	}
	switch {
	case key.row && key.col:
		product(height, width)
		g.diagonalBlock(b, "copy2", func() {
			start(relayR, diagonal)
			start(relayL, diagonal)
		})
		m, n = m.Plus(-1), n.Plus(-1)
		rows, cols = b.Diff(rows, height), b.Diff(cols, width)
		product(rows, width)
		g.lazy(b, m, one)
		poll()
		g.panel(b, "R", m)
		startL()
		product(height, cols)
		g.lazy(b, one, n)
		poll()
		g.panel(b, "L", n)
		startU()
	case key.row:
		m = m.Plus(-1)
		start(relayL, diagonal)
		product(height, cols)
		rows = b.Diff(rows, height)
		g.lazy(b, one, n)
		await(relayL)
		startL()
		g.panel(b, "L", n)
		startU()
	case key.col:
		n = n.Plus(-1)
		start(relayR, diagonal)
		product(rows, width)
		cols = b.Diff(cols, width)
		g.lazy(b, m, one)
		await(relayR)
		startU()
		g.panel(b, "R", m)
		startL()
	default:
		startL()
		startU()
	}
	if !key.first {
		left := b.WhilePending([]int{relayL, relayR}, some(), trace.Const(h), strip, cols)
		g.product(b, left, cols)
	}
	if key.parity == 1 {
		b.Compute(g.k("writeback"), b.Scale(g.b, m), b.Scale(g.b, n))
	}
	b.Advance(trace.RelayEither, relayL, relayR)
	b.Advance(trace.RelayFinish, relayL, relayR)
}
