package hpcg

import "reprise/trace"

// cgForm is how conjugate gradients are called.
type cgForm uint8

const (
	timedCG     cgForm = iota // a timed set
	referenceCG               // CG_ref
	plainCG                   // without preconditioner
	testedCG                  // with it, up to a tolerance
)

// begin and end are the markers of a form.
func (f cgForm) begin() int {
	return [...]int{timedCG: beginTimed, referenceCG: beginRef, plainCG: beginPlain, testedCG: beginCG}[f]
}

func (f cgForm) end() int {
	return [...]int{timedCG: endTimed, referenceCG: endRef, plainCG: endCG, testedCG: endCG}[f]
}

// start appends what is done before the first of at most max iterations: the zero of x,
// which is outside of the call and of its clock, and the residual of x. Source: HPCG 3.1,
// CG.cpp, CG_ref.cpp.
func (b *body) start(f cgForm, max int) {
	b.vector(kernelZero)
	b.Mark(f.begin(), trace.Const(int64(max)))
	b.clock(clockCG, func() {
		b.vector(kernelCopy)
		b.spmv()
		b.waxpby(aliasNone)
		b.dot(dotSame)
	})
}

// iteration appends an iteration.
func (b *body) iteration(f cgForm, first bool) {
	b.clock(clockCG, func() { b.turn(f, first) })
}

// turn appends what an iteration does.
func (b *body) turn(f cgForm, first bool) {
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
}

// cg appends a whole call of n of at most max iterations.
func (b *body) cg(f cgForm, n, max int) {
	b.start(f, max)
	b.iteration(f, true)
	b.Loop(trace.Const(int64(n-1)), func() { b.iteration(f, false) })
	b.Mark(f.end(), trace.Const(int64(n)))
}
