package hpl

import (
	"fmt"

	"reprise/trace"
)

// This file writes HPL's back substitution (generator.backSubstitution), and makes its blocks.

// Tags of the back substitution: messages along rows take the odd tags from firstRowTag on, those along columns
// the even ones from firstColTag on. Behind lastTag both start again. The last broadcast of the solution has a
// tag of its own.
const (
	firstRowTag = 3001
	firstColTag = 3002
	lastTag     = 4000
	treeTag     = 9001
)

// rhsBlock moves the right-hand side, m rows of it, to the process column of the last block.
func (l *library) rhsBlock(send bool) int64 {
	b := trace.NewBuilder("right-hand side", 2)
	out, in := directed(send, b.Scale(doubleBytes, b.Param(0)))
	b.Exchange(rowFamily, b.Member(rowFamily, b.Param(1)), trace.Const(firstRowTag), out, in)
	return int64(l.add(b))
}

// solutionBlock passes the solution of a block of kp unknowns up its process column and uses it on the rows of the
// window above: at distance d above the process row that solved it. Parameters: blocks of rows in the window, kp,
// that process row, the process column of the next block, tags.
func (l *library) solutionBlock(d int) int64 {
	b, a := newBlock(6, "solution d=%d", d)
	// The window comes in blocks of rows, as all of its blocks are whole.
	window, kp, prow, pcol, rowTag, colTag := b.Scale(int64(l.p.NB), a[0]), a[1], a[2], a[3], a[4], a[5]
	bytes := b.Scale(doubleBytes, kp)
	pass := func(op trace.Op, distance int) {
		l.settle(b, op)
		b.Message(op, colFamily, 0, b.Member(colFamily, prow.Plus(int64(-distance))), colTag, bytes)
	}
	// The solution comes from the row below, and goes on up the process column once it is used.
	switch {
	case d > 0:
		pass(trace.OpRecv, d-1)
	case l.p.P > 1:
		pass(trace.OpSend, 1)
	}
	// A process without rows in the window has nothing to compute, and no sums to send.
	b.If(window, func() {
		l.solve(b, dgemvN, window, kp)
		if l.p.Q > 1 {
			l.settle(b, trace.OpSend)
			b.Message(trace.OpSend, rowFamily, 0, b.Member(rowFamily, pcol), rowTag, b.Scale(doubleBytes, window))
		}
	})
	if d > 0 && d < l.p.P-1 {
		pass(trace.OpSend, d+1)
	}
	return int64(l.add(b))
}

// solve appends a kernel of the solve, which rocHPL runs on the device.
func (l *library) solve(b *trace.Builder, kernel int, dims ...trace.Operand) {
	if l.p.Program.roc() {
		launch(b, kernel, dims...)
	} else {
		b.Compute(kernel, dims...)
	}
}

// settle prepares a message of the solve: rocHPL has it in memory of the device, for which it waits before it sends.
func (l *library) settle(b *trace.Builder, op trace.Op) {
	if l.p.Program.roc() {
		b.In(trace.MemoryDevice)
		if op == trace.OpSend {
			b.Queue(trace.QueueSyncAll, 0, 0)
		}
	}
}

// solutionTree gives the kp unknowns of the last block to all of its process
// column: at distance d from the process row that solved it.
func (l *library) solutionTree(d int) int64 {
	if l.p.Program.roc() { // MPI_Bcast
		b := trace.NewBuilder("broadcast", 2)
		b.Queue(trace.QueueSyncAll, 0, 0)
		b.Collective(trace.CollBcast, trace.CollectiveOperands{Comm: trace.Comm(1 + colFamily), Root: b.Member(colFamily, b.Param(1)),
			Send: b.Param(0), SendSize: trace.Const(doubleBytes)})
		return int64(l.add(b))
	}
	b := trace.NewBuilder(fmt.Sprintf("tree d=%d", d), 2)
	kp, prow := b.Param(0), b.Param(1)
	b.Mark(beginTree, kp, prow)
	bytes := b.Scale(doubleBytes, kp)
	for bit := hi(max(1, l.p.P-1)); bit >= 1; bit /= 2 {
		if peer, receives, ok := treePeer(d, bit, l.p.P); ok {
			op := trace.OpSend
			if receives {
				op = trace.OpRecv
			}
			b.Message(op, colFamily, 0, b.Member(colFamily, prow.Plus(int64(peer))), trace.Const(treeTag), bytes)
		}
	}
	b.Mark(endTree)
	return int64(l.add(b))
}

// nextTag returns the tag of the step after that of tag, in the sequence that begins with first.
func nextTag(tag, first int64) int64 {
	if tag += 2; tag > lastTag {
		return first
	}
	return tag
}

// backSubstitution emits the solve, a unit per block of unknowns, from the last block up. Source: HPL 2.3 control
// flow, back substitution.
func (g *generator) backSubstitution() {
	l := g.lib

	// A diagonal block of the given order is solved.
	b := trace.NewBuilder("diagonal", 1)
	l.solve(b, dtrsvUNN, b.Param(0))
	l.solve(b, dcopy, b.Param(0))
	diag := int64(l.add(b))

	// The sums of the process column before are added for the window.
	b, a := newBlock(3, "partial sums") // window pcol tag
	rows := b.Scale(int64(l.p.NB), a[0])
	b.If(rows, func() {
		source := b.Member(rowFamily, a[1])
		l.settle(b, trace.OpRecv)
		b.Message(trace.OpRecv, rowFamily, 0, source, a[2], b.Scale(doubleBytes, rows))
		l.solve(b, daxpy, rows)
	})
	partial := int64(l.add(b))

	// The solution of kp unknowns is used on the rows above the window.
	b = trace.NewBuilder("rest", 2)
	rows = b.Scale(int64(l.p.NB), b.Param(0))
	b.If(rows, func() { l.solve(b, dgemvN, rows, b.Param(1)) })
	above := int64(l.add(b))
	passing := l.each(l.p.P, l.solutionBlock) // by distance above the row of the previous block
	tree := l.each(l.p.P, l.solutionTree)     // by distance from the root
	last := (g.n - 1) / g.nb
	kp := g.n - last*g.nb // unknowns of the block at hand; all blocks but the last have nb
	prow, pcol := last%g.p, last%g.q

	// The right-hand side goes to the process column of the last block.
	if owner := g.colOwner(g.n); l.p.Program.roc() {
		g.rocRightHandSide(owner, pcol)
	} else if owner != pcol {
		sendRHS, recvRHS := l.rhsBlock(true), l.rhsBlock(false)
		blocks := g.byCol(func(q int64) int64 {
			switch q {
			case owner:
				return sendRHS
			case pcol:
				return recvRHS
			}
			return trace.NoBlock
		})
		rows := g.byRow(func(r int64) int64 { return g.rows(0, g.n, r) })
		// Each side's peer is the other: their sum less the own column.
		g.call(callRHS, nil, blocks, rows, g.byCol(func(q int64) int64 { return owner + pcol - q }))
	}

	// Only the owner of a diagonal block solves it.
	diagonal := func(order, prow, pcol int64) {
		g.call(callDiag, [][]int64{g.only(g.p, prow), g.only(g.q, pcol)}, g.One(diag), g.One(order))
	}
	diagonal(kp, prow, pcol)
	rowTag, colTag := int64(firstRowTag+2), int64(firstColTag)
	for n := g.n - kp; n > 0 && g.OK(); n -= g.nb {
		g.Step(g.params.Steps())
		// The kp unknowns are used on the n rows above them, which are whole blocks: first on
		// the window, the rows whose partial sums the next process columns wait for.
		nextRow, nextCol := mod(prow-1, g.p), mod(pcol-1, g.q)
		reach := min(n, max(g.nb, (g.q-1)*g.nb))
		window := g.byRow(func(r int64) int64 { return g.rows(n-reach, reach, r) / g.nb })
		rest := g.byRow(func(r int64) int64 { return g.rows(0, n-reach, r) / g.nb })
		blocks := g.byRow(func(r int64) int64 { return passing[mod(prow-r, g.p)] })
		g.call(callBlock, g.onColumn(pcol), blocks, window, g.One(kp), g.One(prow), g.One(nextCol), g.One(rowTag),
			g.One(colTag))
		if nextCol != pcol {
			g.call(callPartial, g.onColumn(nextCol), g.One(partial), window, g.One(pcol), g.One(rowTag))
		}
		diagonal(g.nb, nextRow, nextCol)
		// The rows above the window come last, off the critical path.
		g.call(callRest, g.onColumn(pcol), g.One(above), rest, g.One(kp))
		kp, prow, pcol = g.nb, nextRow, nextCol
		rowTag, colTag = nextTag(rowTag, firstRowTag), nextTag(colTag, firstColTag)
	}
	g.call(callTree, g.onColumn(pcol), g.byRow(func(r int64) int64 { return tree[mod(r-prow, g.p)] }), g.One(kp),
		g.One(prow))
}
