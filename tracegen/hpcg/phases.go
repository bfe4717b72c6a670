package hpcg

import "reprise/trace"

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
		lines, n := int64(len(l.p.rows(c, 0))), l.p.Grid.NX
		neighbours := func() trace.Operand {
			if n == 1 {
				return trace.Const(lines - 1)
			}
			x := b.Param(0)
			first, last := b.Eq(x, trace.Const(0)), b.Eq(x, trace.Const(int64(n-1)))
			return b.Affine([]int64{-lines, -lines}, first, last).Plus(3*lines - 1)
		}
		b.Mark(beginGenerate, k)
		b.allreduce(trace.OperatorSum)
		b.Mark(endGenerate, k, s.rows, s.nonzeros)
		b.Mark(beginSetupHalo, k)
		b.Mark(endSetupHalo, k, neighbours(), s.values, s.columns)
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

// after returns the block of the report: minimum, maximum and sum of a time.
func (l *library) after() int64 {
	b := l.newBody("report", l.p.columnAt(0, 0), false)
	b.Mark(beginReport)
	b.allreduce(trace.OperatorMin)
	b.allreduce(trace.OperatorMax)
	b.allreduce(trace.OperatorSum)
	b.Mark(endReport)
	return b.done()
}
