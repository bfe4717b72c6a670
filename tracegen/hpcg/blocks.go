package hpcg

import (
	"fmt"

	"reprise/trace"
	"reprise/tracegen"
)

// This file makes the blocks of the trace: library.halo, and a body for each piece of a run, such as library.before.

// library makes the blocks of the trace, each once.
type library struct {
	p     *Params
	out   *tracegen.Generator
	halos map[haloKey]int
}

// haloKey names the block of a halo exchange.
type haloKey struct {
	column column
	level  int
	timed  bool
}

// haloTag is the tag of all messages of a run.
const haloTag = 99

// halo returns the block that exchanges the halo of a vector: receives are posted for all neighbours, by rank, the
// values are packed and sent, and the receives are waited for in the same order. Parameters: own rank, position in
// x, values of the halo. Source: HPCG 3.1, ExchangeHalo.cpp.
func (l *library) halo(k haloKey) int {
	if n, ok := l.halos[k]; ok {
		return n
	}
	b := trace.NewBuilder(fmt.Sprintf("halo %d", k.level), 3)
	begin, end := beginHalo, endHalo
	if k.timed {
		begin, end = beginTimedHalo, endTimedHalo
	}
	level := trace.Const(int64(k.level))
	b.Mark(begin, level)
	rows, g := l.p.rows(k.column, k.level), l.p.Grid
	var left, right trace.Operand // not 0: there are neighbours at dx = -1, 1
	if g.NX > 1 {
		left, right = b.Param(1), b.Scale(-1, b.Param(1)).Plus(int64(g.NX-1))
	}
	each := func(action func(peer, bytes trace.Operand, request int32)) {
		request := int32(0)
		at := func(r row, dx int, values int64) {
			action(b.Param(0).Plus(int64(dx+g.NX*(r.dy+g.NY*r.dz))), trace.Const(doubleBytes*values), request)
		}
		for _, r := range rows {
			b.If(left, func() { at(r, -1, r.values) })
			request++
			if r.middle > 0 {
				at(r, 0, r.middle)
				request++
			}
			b.If(right, func() { at(r, 1, r.values) })
			request++
		}
	}
	if len(rows) > 1 || g.NX > 1 {
		each(func(peer, bytes trace.Operand, request int32) {
			b.Message(trace.OpIrecv, familyWorld, request, peer, trace.Const(haloTag), bytes)
		})
		b.Compute(kernelPack, level, b.Param(2))
		each(func(peer, bytes trace.Operand, _ int32) {
			b.Message(trace.OpSend, familyWorld, 0, peer, trace.Const(haloTag), bytes)
		})
		each(func(_, _ trace.Operand, request int32) { b.Wait(request) })
	}
	b.Mark(end, level)
	l.halos[k] = int(l.out.Block(b))
	return l.halos[k]
}

// body is a block under construction, for the ranks of a column. Its one parameter is the rank's position in x.
type body struct {
	*trace.Builder
	library *library
	column  column
	timed   bool
	rank    trace.Operand
	sizes   [levels]sizes
}

// sizes are the sizes of a rank's part of a level.
type sizes struct{ rows, nonzeros, columns, values trace.Operand }

// newBody begins a block.
func (l *library) newBody(name string, c column, timed bool) *body {
	b := &body{Builder: trace.NewBuilder(name, 1), library: l, column: c, timed: timed}
	b.rank = b.Member(familyLine, b.Param(0))
	first, last := b.ends()

	// Nonzeros are the product of those along x and of the cross-section; the halo has two points
	// less along x for each end of the global grid there.
	for level := range b.sizes {
		var beside, middle int64
		for _, r := range l.p.rows(c, level) {
			beside, middle = beside+r.values, middle+r.middle
		}
		cross, nx := l.p.crossSection(c, level), int64(l.p.NX>>level)
		rows := nx * int64(l.p.NY>>level) * int64(c.nz>>level)
		values := b.Affine([]int64{-beside, -beside}, first, last).Plus(middle + 2*beside)
		b.sizes[level] = sizes{rows: trace.Const(rows), columns: values.Plus(rows), values: values,
			nonzeros: b.Affine([]int64{-cross, -cross}, first, last).Plus(3 * nx * cross)}
	}
	return b
}

// ends tells whether the own box is at the first or the last end of the grid in x, as 1 or 0. That is only known
// when the block is called, as the position in x is its parameter.
func (b *body) ends() (first, last trace.Operand) {
	x, n := b.Param(0), int64(b.library.p.Grid.NX)
	if n == 1 {
		return trace.Const(1), trace.Const(1)
	}
	return b.Eq(x, trace.Const(0)), b.Eq(x, trace.Const(n-1))
}

// done adds the block.
func (b *body) done() int64 { return b.library.out.Block(b.Builder) }

// clockCG is the number of HPCG's clock of a whole timed set, behind the numbers of the parts. Each step begins
// and ends it, so that it also runs if only some steps are played.
const clockCG = numParts

// clock appends what do appends, between the markers of HPCG's clock of a part, or of all.
func (b *body) clock(part int, do func()) {
	if b.timed {
		b.Mark(beginClock + part)
	}
	do()
	if b.timed {
		b.Mark(endClock + part)
	}
}

// halo calls the exchange of the halo of a level; the block is shared by all ranks of the column.
func (b *body) halo(level int) {
	b.Call(b.library.halo(haloKey{b.column, level, b.timed}), b.rank, b.Param(0), b.sizes[level].values)
}

// matrix calls a kernel on the matrix of a level, behind its halo exchange.
func (b *body) matrix(kernel, level int) {
	b.halo(level)
	s := &b.sizes[level]
	b.Compute(kernel, trace.Const(int64(level)), s.rows, s.nonzeros, s.columns)
}

// vector calls a kernel on the rows of the finest level.
func (b *body) vector(kernel int, labels ...int64) {
	args := []trace.Operand{b.sizes[0].rows}
	for _, v := range labels {
		args = append(args, trace.Const(v))
	}
	b.Compute(kernel, args...)
}

// allreduce reduces one number of 8 bytes.
func (b *body) allreduce(o trace.Operator) {
	b.Collective(trace.CollAllreduce,
		trace.CollectiveOperands{Send: trace.Const(1), SendSize: trace.Const(doubleBytes), Operator: o})
}

// dot appends a dot product: the local part, and the sum over all ranks. Both count for the clock.
func (b *body) dot(vectors int64) {
	b.clock(partDDOT, func() {
		b.vector(kernelDot, vectors)
		b.allreduce(trace.OperatorSum)
	})
}

// waxpby appends w = alpha x + beta y. HPCG never leaves the branch for alpha = 1.
func (b *body) waxpby(alias int64) {
	b.clock(partWAXPBY, func() { b.vector(kernelWAXPBY, alphaOne, alias) })
}

// spmv appends the product with the matrix of the finest level, the halo exchange included.
func (b *body) spmv() { b.clock(partSpMV, func() { b.matrix(kernelSpMV, 0) }) }

// mg appends a multigrid cycle from a level on. Source: HPCG 3.1, ComputeMG_ref.cpp.
func (b *body) mg(level int) {
	k := trace.Const(int64(level))
	b.Mark(beginMG, k)
	b.Compute(kernelZero, b.sizes[level].columns)
	b.matrix(kernelSymGS, level)
	if level < levels-1 {
		coarse := b.sizes[level+1].rows
		b.matrix(kernelSpMV, level)
		b.Compute(kernelRestrict, k, coarse)
		b.mg(level + 1)
		b.Compute(kernelProlong, k, coarse)
		b.matrix(kernelSymGS, level)
	}
	b.Mark(endMG, k)
}

// cgForm is how conjugate gradients are called.
type cgForm uint8

// Calls of conjugate gradients: in timed sets, and before them.
const (
	timedCG     cgForm = iota // a timed set
	referenceCG               // CG_ref
	plainCG                   // without preconditioner
	testedCG                  // with it, up to a tolerance
)

// cgMarkers are the markers at the begin and the end of a call.
var cgMarkers = [...][2]int{timedCG: {beginTimed, endTimed}, referenceCG: {beginRef, endRef},
	plainCG: {beginPlain, endCG}, testedCG: {beginCG, endCG}}

// start appends what a call does before its first iteration: it sets x to zero, outside of the call's markers and
// clock, and computes the residual of x. max is the call's bound of iterations. Source: HPCG 3.1, CG.cpp, CG_ref.cpp.
func (b *body) start(f cgForm, max int) {
	b.vector(kernelZero)
	b.Mark(cgMarkers[f][0], trace.Const(int64(max)))
	b.clock(clockCG, func() {
		b.vector(kernelCopy)
		b.spmv()
		b.waxpby(aliasNone)
		b.dot(dotSame)
	})
}

// iteration appends an iteration: z from the residual by multigrid, p from z, the step along p,
// and the norm of the new residual.
func (b *body) iteration(f cgForm, first bool) {
	b.clock(clockCG, func() {
		b.clock(partMG, func() {
			if f == plainCG {
				b.vector(kernelCopy)
			} else {
				b.mg(0)
			}
		})
		switch {
		case first && f == referenceCG:
			b.Compute(kernelCopy, b.sizes[0].columns)
		case first:
			b.waxpby(aliasXY)
		}
		b.dot(dotDifferent)
		if !first {
			b.waxpby(aliasWY)
		}
		b.spmv()
		b.dot(dotDifferent)
		b.waxpby(aliasWX)
		b.waxpby(aliasWX)
		b.dot(dotSame)
	})
}

// cg appends a whole call that does n iterations, of at most max.
func (b *body) cg(f cgForm, n, max int) {
	b.start(f, max)
	b.iteration(f, true)
	b.Loop(trace.Const(int64(n-1)), func() { b.iteration(f, false) })
	b.Mark(cgMarkers[f][1], trace.Const(int64(n)))
}

// Rounds of the reference timing, and of the quick path.
const (
	timingRounds      = 10
	quickTimingRounds = 1
)

// before returns the block of everything before the timed sets. Source: HPCG 3.1, main.cpp.
func (l *library) before(c column) int64 {
	b := l.newBody("before", c, false)
	// Rank 0 alone reads an hpcg.dat.
	if l.p.FromFile {
		b.Collective(trace.CollBcast, trace.CollectiveOperands{Send: trace.Const(datNumbers),
			SendSize: trace.Const(datBytes)})
	}

	// The matrices are generated; their nonzeros are summed up over all ranks.
	for level := range levels {
		k := trace.Const(int64(level))
		fine := trace.Const(int64(level - 1))
		if level > 0 {
			b.Mark(beginCoarsen, fine)
		}
		s := &b.sizes[level]
		b.Mark(beginGenerate, k)
		b.allreduce(trace.OperatorSum)
		b.Mark(endGenerate, k, s.rows, s.nonzeros)
		b.Mark(beginSetupHalo, k)
		// Each line of the neighbourhood has three ranks, less one at each end of the grid; the own rank is none.
		lines := int64(len(l.p.rows(c, 0)))
		first, last := b.ends()
		neighbours := b.Affine([]int64{-lines, -lines}, first, last).Plus(3*lines - 1)
		b.Mark(endSetupHalo, k, neighbours, s.values, s.columns)
		if level > 0 {
			b.Mark(endCoarsen, fine)
		}
	}

	// The generated problem is checked on each level.
	for level := range levels {
		k := trace.Const(int64(level))
		b.Mark(beginCheck, k)
		b.allreduce(trace.OperatorSum)
		b.Mark(endCheck, k)
	}

	// The reference kernels are timed.
	rounds := int64(timingRounds)
	if l.p.Seconds == 0 {
		rounds = quickTimingRounds
	}
	b.Compute(kernelFill, b.sizes[0].columns)
	b.Loop(trace.Const(rounds), func() {
		b.spmv()
		b.mg(0)
	})

	b.cg(referenceCG, refIterations, refIterations)
	b.Mark(beginOptimize)
	b.Mark(endOptimize)

	// The convergence test. Source: HPCG 3.1, TestCG.cpp.
	b.Mark(beginTestCG)
	b.vector(kernelGetDiagonal)
	b.vector(kernelCopy)
	b.vector(kernelCopy)
	b.vector(kernelSetDiagonal)
	for i, n := range l.p.TestIterations {
		f := plainCG
		if i >= 2 {
			f = testedCG
		}
		b.cg(f, n, maxTestIterations)
	}
	b.vector(kernelSetDiagonal)
	b.vector(kernelCopy)
	b.Mark(endTestCG)

	// The symmetry test. Source: HPCG 3.1, TestSymmetry.cpp.
	b.Mark(beginSymmetry)
	b.Compute(kernelFill, b.sizes[0].columns)
	b.Compute(kernelFill, b.sizes[0].columns)
	for range 2 {
		b.dot(dotSame)
		b.spmv()
		b.dot(dotDifferent)
	}
	for range 2 {
		b.mg(0)
		b.dot(dotDifferent)
	}
	b.vector(kernelCopy)
	for range 2 {
		b.spmv()
		b.vector(kernelMaxDifference)
		b.allreduce(trace.OperatorMax)
	}
	b.Mark(endSymmetry)

	b.cg(testedCG, l.p.SetupIterations, maxSetupIterations)
	b.allreduce(trace.OperatorMax) // its time
	return b.done()
}

// Numbers that rank 0 broadcasts when they come from hpcg.dat, and their size.
const (
	datNumbers = 10
	datBytes   = 4
)
