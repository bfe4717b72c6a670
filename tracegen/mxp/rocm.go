package mxp

import "reprise/trace"

// This file makes what rocHPL-MxP does in another way: kernels in a queue of the device, blocking broadcasts of panels
// with their padding, products with inverses in place of triangular solves.

// launch puts a kernel into the queue.
func (g *generator) launch(b *trace.Builder, name string, dims ...trace.Operand) {
	b.Launch(queueCompute, g.k(name), false, dims...)
}

// event and sync record an event, and wait for it.
func event(b *trace.Builder, event int)     { b.Queue(trace.QueueRecord, queueCompute, event) }
func syncEvent(b *trace.Builder, event int) { b.Queue(trace.QueueSyncEvent, 0, event) }

// rocStep writes a step of the factorization.
func (g *generator) rocStep(k int64) {
	kr, kc := k%g.rows, k%g.cols
	step := func(name string, body func(b *trace.Builder, key blockKey, a []trace.Operand)) {
		g.step(k, blockKey{name: name, first: k == 0}, func(key blockKey) int64 {
			return g.block(key, 7, func(b *trace.Builder, a []trace.Operand) { body(b, key, a) })
		})
	}
	nb := trace.Const(g.b)
	copying := func(b *trace.Builder, name string, m, n trace.Operand) { g.launch(b, name, m, n) }
	gemm := func(b *trace.Builder, key blockKey, m, n trace.Operand) {
		if !key.first {
			g.launch(b, "shgemm", m, n, nb, trace.Const(0))
		}
	}
	// The panel of L in m rows, and that of U in n columns: before the diagonal block is there, and behind that.
	before := func(b *trace.Builder, key blockKey, l bool, m trace.Operand) {
		if l {
			gemm(b, key, m, nb)
			copying(b, "lacpy sh", m, nb)
		} else {
			gemm(b, key, nb, m)
			copying(b, "latcpy sh", m, nb)
		}
	}
	behind := func(b *trace.Builder, l bool, m trace.Operand) {
		if l {
			copying(b, "latcpyU sh", nb, nb)
			g.launch(b, "shgemm", m, nb, nb, trace.Const(1))
			copying(b, "lacpy sh", m, nb)
			event(b, eventL)
		} else {
			copying(b, "lacpyL sh", nb, nb)
			g.launch(b, "shgemm", nb, m, nb, trace.Const(1))
			copying(b, "latcpy sh", m, nb)
			event(b, eventU)
		}
	}
	// a[5] and a[6] are rows and columns behind the diagonal block.
	step("factor", func(b *trace.Builder, key blockKey, a []trace.Operand) {
		b.Mark(markStep, a[0])
		switch {
		case key.row && key.col:
			gemm(b, key, nb, nb)
			copying(b, "lacpy ss", nb, nb)
			g.launch(b, "sgetrf", nb)
			copying(b, "lacpy ss", nb, nb)
			g.launch(b, "strtri U", nb)
			g.launch(b, "strtri L", nb)
			event(b, eventGetrf)
			before(b, key, true, a[5])
			behind(b, true, a[5])
			before(b, key, false, a[6])
			behind(b, false, a[6])
			gemm(b, key, a[5], a[6])
			syncEvent(b, eventGetrf)
		case key.col:
			before(b, key, true, a[5])
		case key.row:
			before(b, key, false, a[6])
		default:
			gemm(b, key, a[5], a[6])
		}
	})
	elements := func(own bool, blocks int64) int64 { return leading(g.b*(blocks-isOne(own))) * g.b }
	l := g.By(g.rows, func(r int64) int64 { return elements(r == kr, g.left(k, r, g.rows)) })
	u := g.By(g.cols, func(q int64) int64 { return elements(q == kc, g.left(k, q, g.cols)) })
	onRow := g.By(g.rows, func(r int64) int64 { return isOne(r == kr) })
	onCol := g.By(g.cols, func(q int64) int64 { return isOne(q == kc) })
	g.cast(castDrow, onRow, kc, g.By(g.rows, func(int64) int64 { return g.b * g.b }))
	g.cast(castDcol, onCol, kr, g.By(g.cols, func(int64) int64 { return g.b * g.b }))
	step("panels", func(b *trace.Builder, key blockKey, a []trace.Operand) {
		switch {
		case key.row && key.col:
		case key.col:
			behind(b, true, a[5])
			gemm(b, key, a[5], a[6])
		case key.row:
			behind(b, false, a[6])
			gemm(b, key, a[5], a[6])
		}
		if key.col {
			syncEvent(b, eventL)
		}
	})
	everyone := func(n int64) []int64 { return g.By(n, func(int64) int64 { return 1 }) }
	g.cast(castL, everyone(g.rows), kc, l)
	step("synced", func(b *trace.Builder, key blockKey, a []trace.Operand) {
		if key.row {
			syncEvent(b, eventU)
		}
	})
	g.cast(castU, everyone(g.cols), kr, u)
	g.run("step ends", 0, func(b *trace.Builder, a []trace.Operand) { b.Queue(trace.QueueSyncAll, 0, 0) })
}

// cast writes a broadcast from a process column in process rows (Drow, L), or the other way round, on those of the mask
// that have so many elements.
func (g *generator) cast(which int, mask []int64, root int64, elements []int64) {
	family, members, site := rowFamily, g.cols, callRowcast
	if which == castDcol || which == castU {
		family, members, site = colFamily, g.rows, callColcast
	}
	modified := g.p.Code%2 == 1
	pieces := members - isOne(modified)
	piece := g.By(int64(len(elements)), func(i int64) int64 { return max(1, elements[i]/max(1, pieces)) })
	blocks := g.By(members, func(m int64) int64 {
		key := blockKey{name: "bcast " + casts[which], distance: (m - root + members) % members}
		return g.block(key, 3, func(b *trace.Builder, a []trace.Operand) {
			b.Mark(beginCasts + 2*which)
			if members > 1 {
				g.castBlock(b, which, family, members, key.distance, a)
			}
			b.Mark(beginCasts + 2*which + 1)
		})
	})
	g.call(site, mask, blocks, g.One(root), elements, piece)
}

// castBlock appends the broadcast for the member at distance d. Its parameters are the root, and the elements of all
// and of a piece.
func (g *generator) castBlock(b *trace.Builder, which, family int, members, d int64, a []trace.Operand) {
	code := g.p.Code
	modified, long := code%2 == 1, code >= 4
	root, size := a[0], g.lowBytes
	if which == castDrow || which == castDcol {
		size = g.highBytes
	}
	bytes := b.Scale(size, a[1])
	peer := func(distance int64) trace.Operand { return b.Member(family, root.Plus(distance)) }
	// The modified forms serve the member behind the root first.
	if modified && d <= 1 {
		op := trace.OpSend
		if d == 1 {
			op = trace.OpRecv
		}
		b.Message(op, family, 0, peer(1-d), root, bytes)
	}
	switch {
	case modified && (d == 1 || members == 2):
	case long:
		n, at := members, func(y int64) int64 { return y }
		if modified {
			n--
			at = func(y int64) int64 { return y + isOne(y > 0) }
			d = max(0, d-1)
		}
		tag := trace.Const(0)
		if modified {
			tag = root
		}
		// sizeOf returns the bytes of pieces [from, to).
		sizeOf := func(from, to int64) trace.Operand {
			if to == n {
				return b.Affine([]int64{1, -size * from}, bytes, a[2])
			}
			return b.Scale(size*(to-from), a[2])
		}
		g.long(b, n, d, func(op trace.Op, to, first, last int64) {
			b.Message(op, family, 0, peer(at(to)), tag, sizeOf(first, last))
		})
	default:
		b.Ring(family, slotRing, bytes, root, g.p.ChunkBytes, code >= 2, modified)
	}
}

// slotRing is the first request slot of a ring.
const slotRing = 8

// long appends the messages of a long broadcast for the member at place d of n: pieces are spread, and then go round.
func (g *generator) long(b *trace.Builder, n, d int64, message func(op trace.Op, peer, first, last int64)) {
	most := int64(1)
	for 2*most <= n-1 {
		most *= 2
	}
	for step := most; step >= 1; step /= 2 {
		switch {
		case d%step != 0:
		case d%(2*step) != 0:
			message(trace.OpRecv, d-step, d, min(d+step, n))
		case d+step < n:
			message(trace.OpSend, d+step, d+step, min(d+2*step, n))
		}
	}
	mod := func(x int64) int64 { return (x%n + n) % n }
	for k := range n - 1 {
		peer, out, in := mod(d+1), mod(d-k/2), mod(d+k/2+1)
		if (d+k)%2 == 1 {
			peer, out, in = mod(d-1), mod(d+k/2), mod(d-k/2-1)
		}
		message(trace.OpIrecv, peer, in, in+1)
		message(trace.OpSend, peer, out, out+1)
		b.Wait(0)
	}
}

// rocSolveBlock appends what a rank does for a column of blocks of a triangular solve.
func (g *generator) rocSolveBlock(b *trace.Builder, key blockKey, a []trace.Operand) {
	up, nb := key.col, trace.Const(g.b)
	s := g.newSolver(b, up, a)
	rest, forward := a[2], a[4]
	tri := "L"
	if up {
		tri = "U"
	}
	sync := func() { b.Queue(trace.QueueSync, queueCompute, 0) }
	gemv := func(n trace.Operand) { g.launch(b, "gemv ds", b.Scale(g.b, n), nb) }
	axpy := func(n trace.Operand) { g.launch(b, "axpy d", b.Scale(g.b, n)) }
	one := trace.Const(1)
	s.receive()
	if key.row {
		g.launch(b, "lacpy"+tri+" sd", nb, nb)
		s.wait(slotFirst)
		axpy(one)
		g.launch(b, "dtrsv "+tri, nb)
		event(b, eventPiv)
		b.If(rest, func() { gemv(one) })
		if g.rows > 1 {
			b.If(forward, func() {
				syncEvent(b, eventPiv)
				s.part(trace.OpSend)
			})
		}
		b.If(rest, func() {
			s.wait(slotSecond)
			axpy(one)
			sync()
			more := rest.Plus(-1)
			b.If(more, func() {
				gemv(more)
				axpy(more)
			})
			s.sums(trace.OpSend, 0, s.block)
			b.If(more, func() {
				sync()
				s.sums(trace.OpSend, 0, b.Scale(vectorBytes*g.b, more))
			})
		})
		return
	}
	s.part(trace.OpRecv)
	gemv(one)
	b.If(forward, func() { s.part(trace.OpSend) })
	s.wait(slotFirst)
	axpy(one)
	sync()
	b.If(rest, func() { gemv(rest) })
	s.sums(trace.OpSend, 0, s.block)
	b.If(rest, func() {
		s.wait(slotSecond)
		axpy(rest)
		sync()
		s.sums(trace.OpSend, 0, s.restBytes)
	})
}
