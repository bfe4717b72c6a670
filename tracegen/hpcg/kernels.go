package hpcg

import "reprise/trace"

// Kernels of the trace, in the order of kernelTable.
const (
	kernelSpMV = iota
	kernelSymGS
	kernelRestrict
	kernelProlong
	kernelDot
	kernelWAXPBY
	kernelZero
	kernelCopy
	kernelPack
	kernelFill
	kernelGetDiagonal
	kernelSetDiagonal
	kernelMaxDifference
)

// Vectors of a dot product.
const (
	dotSame = iota
	dotDifferent
)

// The branch of waxpby for alpha = 1: the only one that HPCG comes to.
const alphaOne = 1

// Aliases of waxpby, w = alpha x + beta y.
const (
	aliasNone = iota
	aliasXY
	aliasWX
	aliasWY
)

// kernelTable names the kernels with their dimensions and the flop that HPCG counts for a
// call: none for those that move data, less than is done for symgs.
func kernelTable() []trace.Kernel {
	level := trace.Dim{Name: "LEVEL", Label: true}
	rows, nonzeros, columns, n := trace.Dim{Name: "ROWS"}, trace.Dim{Name: "NNZ"}, trace.Dim{Name: "COLS"}, trace.Dim{Name: "N"}
	kernel := func(name string, flops []trace.Term, dims ...trace.Dim) trace.Kernel {
		return trace.Kernel{Name: name, Dims: dims, Flops: flops}
	}
	byNonzeros := func(coef float64) []trace.Term { return []trace.Term{{Coef: coef, Pow: [4]uint8{0, 0, 1}}} }
	byN := []trace.Term{{Coef: 2, Pow: [4]uint8{1}}}
	return []trace.Kernel{
		kernelSpMV:          kernel("spmv", byNonzeros(2), level, rows, nonzeros, columns),
		kernelSymGS:         kernel("symgs", byNonzeros(4), level, rows, nonzeros, columns),
		kernelRestrict:      kernel("restrict", nil, level, n),
		kernelProlong:       kernel("prolong", nil, level, n),
		kernelDot:           kernel("dot", byN, n, trace.Dim{Name: "VECTORS", Enum: []string{"same", "diff"}}),
		kernelWAXPBY:        kernel("waxpby", byN, n, trace.Dim{Name: "BRANCH", Enum: []string{"ab", "a1", "b1"}}, trace.Dim{Name: "ALIAS", Enum: []string{"none", "xy", "wx", "wy"}}),
		kernelZero:          kernel("zero", nil, n),
		kernelCopy:          kernel("copy", nil, n),
		kernelPack:          kernel("pack", nil, level, n),
		kernelFill:          kernel("fill", nil, n),
		kernelGetDiagonal:   kernel("getdiag", nil, n),
		kernelSetDiagonal:   kernel("setdiag", nil, n),
		kernelMaxDifference: kernel("maxdiff", nil, n),
	}
}
