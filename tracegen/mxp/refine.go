package mxp

import "reprise/trace"

// This file makes the refinement: residuals with a matrix that is generated, and triangular solves. A solve goes
// through the columns of blocks in a wavefront: of each column, the owner of the diagonal block solves for its part
// of the vector, which goes down the process column (up, in the second solve), and partial sums of the rows go on to
// the next process column.

// Tags of a solve, and its request slots: the receives, and the sends of columns of blocks in turn.
const (
	tagPart = 100
	tagSums = 200

	slotFirst  = 4
	slotSecond = 5

	vectorBytes = 8
	unitCalls   = 1 << 10 // of columns of blocks in a unit
)

// refine writes the refinement.
func (g *generator) refine() {
	p := g.p
	isRiken := p.Variant == riken
	g.vectors("begin refine", 0, func(b *trace.Builder, a []trace.Operand) {
		b.Mark(beginRefine)
		if isRiken {
			b.Compute(g.k("vcopy"), a[1])
			b.Compute(g.k("vdiv"), a[1])
		}
	})
	first := int(p.LUSteps())
	for it := range int64(p.Residuals) {
		if step := first + int(it); step > 0 {
			g.Step(step)
		}
		g.residual(it, first)
		if it == int64(p.Residuals)-1 && !p.NoSolution {
			break
		}
		g.solve(it, first, false)
		g.solve(it, first, true)
		g.vectors("add", it, func(b *trace.Builder, a []trace.Operand) {
			if isRiken {
				b.Compute(g.k("vadd"), a[1])
			} else {
				g.launch(b, "paxpy", a[0])
			}
		})
	}
	g.run("end refine", 0, func(b *trace.Builder, a []trace.Operand) {
		b.Mark(endRefine)
		if isRiken {
			barrier(b)
		}
	})
}

// residual writes the evaluation of a residual.
func (g *generator) residual(it int64, first int) {
	isRiken := g.p.Variant == riken
	norm := func(b *trace.Builder, rows, d trace.Operand) {
		if isRiken {
			b.Compute(g.k("vmax"), d)
		} else {
			g.launch(b, "plange", rows)
			g.launch(b, "d2h", trace.Const(vectorBytes))
			b.Queue(trace.QueueSyncAll, 0, 0)
		}
		reduce(b, 0, trace.OperatorMax, trace.Const(vectorBytes))
	}
	g.vectors("residual", it, func(b *trace.Builder, a []trace.Operand) {
		rows, d := a[0], a[1]
		b.Mark(beginResidual, a[2])
		if isRiken {
			b.Compute(g.k("vcopy"), d)
			norm(b, rows, d)
			b.Compute(g.k("vrow"), d)
			b.Compute(g.k("vinit"), rows)
			return
		}
		g.launch(b, "pcopy", rows)
		norm(b, rows, d)
		g.launch(b, "ptranspose", rows)
		b.Queue(trace.QueueSync, queueCompute, 0)
		g.launch(b, "vinit", rows)
	})
	if isRiken && g.rows == 1 {
		g.run("product", it, func(b *trace.Builder, a []trace.Operand) { b.Compute(g.k("otfgemv"), a[0], a[1]) })
	} else {
		columns := g.local(0, g.cols)
		start := int64(0)
		if isRiken {
			start = -1
		}
		for x := start; x < columns; x++ {
			g.again(x-start, first+int(it))
			blocks := g.By(g.cols, func(q int64) int64 {
				n := g.local(q, g.cols)
				if x >= n {
					return -1
				}
				return g.productBlock(x, x+1 < n)
			})
			// One ahead: the root is that of the next column of blocks.
			root := g.By(g.cols, func(q int64) int64 { return (q + (x-start)*g.cols) % g.rows })
			if isRiken {
				root = g.By(g.cols, func(q int64) int64 { return (q + (x+1)*g.cols) % g.rows })
			}
			g.call(callProduct, nil, blocks, root, g.height, g.row)
		}
	}
	g.vectors("end residual", it, func(b *trace.Builder, a []trace.Operand) {
		rows, d := a[0], a[1]
		if !isRiken {
			b.Queue(trace.QueueSync, queueCompute, 0)
		}
		reduce(b, trace.Communicator(rowFamily), trace.OperatorSum, b.Scale(vectorBytes, rows))
		norm(b, rows, d)
		b.Mark(endResidual, a[2])
	})
}

// again begins another unit now and then, of many calls in one step.
func (g *generator) again(calls int64, step int) {
	if calls%unitCalls == unitCalls-1 {
		g.Step(step)
	}
}

// productBlock returns the block of the product with column x of blocks; more: there is a next one.
func (g *generator) productBlock(x int64, more bool) int64 {
	key := blockKey{name: "product", parity: (x + 2) % 2, first: x < 0, row: more}
	return g.block(key, 3, func(b *trace.Builder, a []trace.Operand) {
		root, rows, row := a[0], a[1], a[2]
		c := trace.CollectiveOperands{Send: trace.Const(vectorBytes * g.b), SendSize: trace.Const(1), Root: root,
			Comm: trace.Communicator(colFamily)}
		if g.p.Variant == rocm {
			product := func() { g.launch(b, "otfgemv", rows, trace.Const(g.b)) }
			if g.rows == 1 {
				product()
				return
			}
			own := b.Eq(row, root)
			b.If(own, product)
			b.Collective(trace.CollBcast, c)
			b.If(not(b, own), product)
			return
		}
		if more {
			b.Icollective(int32(1-key.parity), trace.CollBcast, c)
		}
		if x >= 0 {
			b.Wait(int32(key.parity))
			b.Compute(g.k("otfgemv"), rows, trace.Const(g.b))
		}
	})
}

// solve writes a triangular solve, with L or upwards with U.
func (g *generator) solve(it int64, first int, up bool) {
	isRiken := g.p.Variant == riken
	begin, name := beginTrsvL, "trsvL"
	if up {
		begin, name = beginTrsvU, "trsvU"
	}
	g.run(name, it, func(b *trace.Builder, a []trace.Operand) {
		b.Mark(begin, a[2])
		if isRiken {
			b.Compute(g.k("vzero"), a[0])
		} else {
			g.launch(b, "set d", a[0])
			b.Queue(trace.QueueSyncAll, 0, 0)
		}
	})
	for i := range g.nb {
		g.again(i, first+int(it))
		at := i // column of blocks
		if up {
			at = g.nb - 1 - i
		}
		prow, pcol := at%g.rows, at%g.cols
		mask := g.By(g.cols, func(q int64) int64 { return isOne(q == pcol) })
		rest, forward := g.Column(int(g.rows)), g.Column(int(g.rows))
		blocks := g.By(g.rows, func(r int64) int64 {
			if up {
				if at < r {
					return -1
				}
				rest[r] = at/g.rows + isOne(r <= prow) - 1
				forward[r] = isOne((r-1+g.rows)%g.rows != prow && !(at < g.rows && r == 0))
				if r == prow {
					forward[r] = isOne(at > 0)
				}
			} else {
				t := (at - r + g.rows - 1) / g.rows // first block of the process row that is not above
				if r > at {
					t = 0
				}
				if r+t*g.rows >= g.nb {
					return -1
				}
				rest[r] = g.local(r, g.rows) - t - 1
				forward[r] = isOne((r+1)%g.rows != prow && r+t*g.rows+1 < g.nb)
				if r == prow {
					forward[r] = isOne(r+t*g.rows+1 < g.nb)
				}
			}
			if g.rows == 1 {
				forward[r] = 0
			}
			// Requests of columns of blocks of a process column take turns.
			key := blockKey{name: name, row: r == prow, col: up, parity: at / g.cols % 2, first: true}
			return g.block(key, 5, func(b *trace.Builder, a []trace.Operand) {
				if isRiken {
					g.solveBlock(b, key, a)
				} else {
					g.rocSolveBlock(b, key, a)
				}
			})
		})
		g.call(callSolve, mask, blocks, g.row, g.col, rest, g.One(isOne(i == 0)), forward)
	}
	g.run("end "+name, it, func(b *trace.Builder, a []trace.Operand) {
		if isRiken && g.cols > 1 {
			b.Complete(trace.CompleteAll, 0, 1, 2, 3)
		}
		b.Mark(begin+1, a[2])
	})
}

// solver has what blocks of solves have in common.
type solver struct {
	b                *trace.Builder
	g                *generator
	left, right      trace.Operand // where sums come from, and go
	before, behind   trace.Operand // in the process column
	rest, notFirst   trace.Operand
	block, restBytes trace.Operand
}

// newSolver returns the solver of a block; dir is -1 upwards.
func (g *generator) newSolver(b *trace.Builder, up bool, a []trace.Operand) *solver {
	s := &solver{b: b, g: g, rest: a[2], notFirst: not(b, a[3]), block: trace.Const(vectorBytes * g.b),
		restBytes: b.Scale(vectorBytes*g.b, a[2])}
	dir := int64(1)
	if up {
		dir = -1
	}
	if g.cols > 1 {
		s.left, s.right = b.Member(rowFamily, a[1].Plus(-dir)), b.Member(rowFamily, a[1].Plus(dir))
	}
	if g.rows > 1 {
		s.before, s.behind = b.Member(colFamily, a[0].Plus(-dir)), b.Member(colFamily, a[0].Plus(dir))
	}
	return s
}

// receive posts the receives of partial sums.
func (s *solver) receive() {
	if s.g.cols == 1 {
		return
	}
	s.b.If(s.notFirst, func() {
		tag := trace.Const(tagSums)
		s.b.Message(trace.OpIrecv, rowFamily, slotFirst, s.left, tag, s.block)
		s.b.If(s.rest, func() { s.b.Message(trace.OpIrecv, rowFamily, slotSecond, s.left, tag, s.restBytes) })
	})
}

// wait waits for one of them.
func (s *solver) wait(slot int32) {
	if s.g.cols > 1 {
		s.b.If(s.notFirst, func() { s.b.Wait(slot) })
	}
}

// sums sends partial sums on.
func (s *solver) sums(op trace.Op, slot int32, bytes trace.Operand) {
	if s.g.cols > 1 {
		s.b.Message(op, rowFamily, slot, s.right, trace.Const(tagSums), bytes)
	}
}

// part moves the own part of the vector along the process column.
func (s *solver) part(op trace.Op) {
	peer := s.behind
	if op == trace.OpRecv {
		peer = s.before
	}
	s.b.Message(op, colFamily, 0, peer, trace.Const(tagPart), s.block)
}

// solveBlock appends what a rank of riken does for a column of blocks.
func (g *generator) solveBlock(b *trace.Builder, key blockKey, a []trace.Operand) {
	up, nb := key.col, trace.Const(g.b)
	s := g.newSolver(b, up, a)
	rest, forward := a[2], a[4]
	h, tri := g.high, "l"
	if up {
		tri = "u"
	}
	sent := []int32{int32(2 * key.parity), int32(2*key.parity + 1)}
	previous := []int32{2 - sent[0], 3 - sent[0]}
	settle := func(slots ...int32) {
		if g.cols > 1 {
			b.Complete(trace.CompleteAll, slots...)
		}
	}
	gemv := func(n trace.Operand) {
		if g.p.Layout == "tile" {
			b.Loop(n, func() { b.Compute(g.k("d"+h+"gemv"), nb, nb) })
		} else {
			b.Compute(g.k("d"+h+"gemv"), b.Scale(g.b, n), nb)
		}
		b.Compute(g.k("vadd"), b.Scale(g.b, n))
		s.sums(trace.OpIsend, sent[1], b.Scale(vectorBytes*g.b, n))
	}
	near := func() { // of the next diagonal block
		b.Compute(g.k("vadd"), nb)
		s.sums(trace.OpIsend, sent[0], s.block)
	}
	s.receive()
	if key.row {
		b.Compute(g.k(h+"pack"+tri), nb)
		b.If(rest, func() { b.Compute(g.k(h+"pack"), nb) })
		s.wait(slotFirst)
		b.Compute(g.k("vsub"), nb)
		b.Compute(g.k("d"+h+"trsv "+map[bool]string{false: "L", true: "U"}[up]), nb)
		if g.rows > 1 {
			b.If(forward, func() { s.part(trace.OpSend) })
		}
		b.If(rest, func() {
			b.Compute(g.k("d"+h+"gemvp"), nb)
			s.wait(slotSecond)
			near()
			b.If(rest.Plus(-1), func() {
				settle(previous...)
				gemv(rest.Plus(-1))
			})
		})
		if up {
			settle(previous...)
			settle(sent...)
		}
	} else {
		b.Compute(g.k(h+"pack"), nb)
		s.part(trace.OpRecv)
		b.If(forward, func() { s.part(trace.OpSend) })
		b.Compute(g.k("d"+h+"gemvp"), nb)
		s.wait(slotFirst)
		near()
		b.If(rest, func() {
			s.wait(slotSecond)
			settle(previous...)
			gemv(rest)
		})
	}
	settle(previous...)
}
