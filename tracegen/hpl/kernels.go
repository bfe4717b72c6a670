package hpl

import (
	"strings"

	"reprise/trace"
	"reprise/tracegen"
)

// Kernels of the trace, in the order of Kernels. A kernel with attributes
// (which BLAS calls characters) is one kernel per combination that HPL uses.
const (
	dgemmNN = iota
	dgemmNT
	dtrsmLLNU
	dtrsmLUTU
	dtrsmRUNU
	dtrsmRLTU
	dgemvN
	dgemvT
	dger
	dtrsvLNU
	dtrsvUTU
	dtrsvUNN
	dscal
	daxpy
	dcopy
	idamax
	dlacpy
	dlatcpy
	dlaswp00N
	dlaswp10N
	dlaswp01N
	dlaswp01T
	dlaswp02N
	dlaswp03N
	dlaswp03T
	dlaswp04N
	dlaswp04T
	dlaswp05N
	dlaswp05T
	dlaswp06N
	dlaswp06T
	dlocmax
	dlocswpN
	dlocswpT
)

// Roles of a process in the local part of a swap of two panel rows.
const (
	roleSame = iota // the pivot is the current row
	roleSwap        // both rows are here
	roleIn          // the current row is here
	roleOut         // the pivot row is here
	roleNone
)

// roleNames are the names of the roles in listings.
var roleNames = []string{"same", "swap", "in", "out", "none"}

// Kernels returns the kernels that traces of HPL declare, with their dimensions as HPL passes them, and
// the flop that each call does; those that only move data do none.
func Kernels() []trace.Kernel {
	// C = A*B + C with M x N results of K products each: a multiplication and an addition for each.
	gemm := func(b string) trace.Kernel {
		return kernel("dgemm", attrs("transa", "N", "transb", b), dims("M", "N", "K"), tracegen.Term(2, 1, 1, 1))
	}
	// A triangular system for M x N unknowns: of order M from the left, of order N from the right.
	trsm := func(side, uplo, trans, diag string) trace.Kernel {
		flops := tracegen.Term(1, 2, 1)
		if side == "R" {
			flops = tracegen.Term(1, 1, 2)
		}
		return kernel("dtrsm", attrs("side", side, "uplo", uplo, "trans", trans, "diag", diag), dims("M", "N"), flops)
	}
	// A triangular system for one vector of N unknowns.
	trsv := func(uplo, trans, diag string) trace.Kernel {
		return kernel("dtrsv", attrs("uplo", uplo, "trans", trans, "diag", diag), dims("N"), tracegen.Term(1, 2))
	}
	// A matrix of M x N times a vector.
	gemv := func(trans string) trace.Kernel {
		return kernel("dgemv", attrs("trans", trans), dims("M", "N"), tracegen.Term(2, 1, 1))
	}
	// The swap of two panel rows of JB columns; how much moves depends on which rows are here.
	locswp := func(name string) trace.Kernel {
		role := trace.Dim{Name: "ROLE", Enum: roleNames}
		return kernel(name, nil, append(dims("JB"), label("COL"), role))
	}
	kernels := []trace.Kernel{
		dgemmNN:   gemm("N"),
		dgemmNT:   gemm("T"),
		dtrsmLLNU: trsm("L", "L", "N", "U"),
		dtrsmLUTU: trsm("L", "U", "T", "U"),
		dtrsmRUNU: trsm("R", "U", "N", "U"),
		dtrsmRLTU: trsm("R", "L", "T", "U"),
		dgemvN:    gemv("N"),
		dgemvT:    gemv("T"),
		dger:      kernel("dger", nil, dims("M", "N"), tracegen.Term(2, 1, 1)),
		dtrsvLNU:  trsv("L", "N", "U"),
		dtrsvUTU:  trsv("U", "T", "U"),
		dtrsvUNN:  trsv("U", "N", "N"),
		dscal:     kernel("dscal", nil, dims("N"), tracegen.Term(1, 1)),
		daxpy:     kernel("daxpy", nil, dims("N"), tracegen.Term(2, 1)),
		dcopy:     kernel("dcopy", nil, dims("N")),
		idamax:    kernel("idamax", nil, dims("N")),
		dlocmax:   kernel("dlocmax", nil, append(dims("M"), label("COL"))),
		dlocswpN:  locswp("dlocswpN"),
		dlocswpT:  locswp("dlocswpT"),
	}
	// Copies of M x N doubles: between matrix, U and buffers, some of them transposed. Of the M1 rows of dlaswp04, M0
	// are the process's own.
	for i, name := range strings.Fields(`dlacpy dlatcpy dlaswp00N dlaswp10N dlaswp01N dlaswp01T dlaswp02N dlaswp03N
		dlaswp03T dlaswp04N dlaswp04T dlaswp05N dlaswp05T dlaswp06N dlaswp06T`) {
		kernels[dlacpy+i] = kernel(name, nil, dims("M", "N"))
	}
	for _, k := range []int{dlaswp04N, dlaswp04T} {
		kernels[k].Dims = append([]trace.Dim{label("M0")}, dims("M1", "N")...)
	}
	return kernels
}

// kernel describes a kernel. Attributes are what BLAS calls characters; flops is a sum of terms in
// the dimensions, in their order.
func kernel(name string, attrs []trace.Param, dims []trace.Dim, flops ...trace.Term) trace.Kernel {
	return trace.Kernel{Name: name, Attrs: attrs, Dims: dims, Flops: flops}
}

// attrs lists attributes from names and values in turn.
func attrs(pairs ...string) []trace.Param {
	var list []trace.Param
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, trace.Param{Name: pairs[i], Value: pairs[i+1]})
	}
	return list
}

// dims lists dimensions that are sizes, by which models of kernels go.
func dims(names ...string) []trace.Dim {
	var list []trace.Dim
	for _, name := range names {
		list = append(list, trace.Dim{Name: name})
	}
	return list
}

// label is a dimension that is not a size.
func label(name string) trace.Dim { return trace.Dim{Name: name, Label: true} }

// computeByForm calls the kernel of a form. The dimensions are swapped if the form is not transposed.
func computeByForm(b *trace.Builder, f Form, transposed, noTransposed int, x, y trace.Operand) {
	if f != Transposed {
		x, y = y, x
	}
	b.Compute(byForm(f, transposed, noTransposed), x, y)
}

// byForm picks the kernel of a form.
func byForm(f Form, transposed, noTransposed int) int {
	if f == Transposed {
		return transposed
	}
	return noTransposed
}
