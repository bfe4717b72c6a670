package hpcg

import "reprise/trace"

// Kernels of the trace, in the order of Kernels.
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

// Kernels returns the kernels that traces of HPCG declare, with their dimensions and the flop that HPCG counts for a
// call: none for those that move data, less than is done for symgs.
func Kernels() []trace.Kernel {
	level := trace.Dim{Name: "LEVEL", Label: true}
	rows, nonzeros, columns, n := trace.Dim{Name: "ROWS"}, trace.Dim{Name: "NNZ"}, trace.Dim{Name: "COLS"}, trace.Dim{Name: "N"}
	kernel := func(name string, flops []trace.Term, dims ...trace.Dim) trace.Kernel {
		return trace.Kernel{Name: name, Dims: dims, Flops: flops}
	}
	byNonzeros := func(coef float64) []trace.Term { return []trace.Term{{Coef: coef, Pow: [4]uint8{0, 0, 1}}} }
	byN := []trace.Term{{Coef: 2, Pow: [4]uint8{1}}}
	return []trace.Kernel{
		kernelSpMV:     kernel("spmv", byNonzeros(2), level, rows, nonzeros, columns),
		kernelSymGS:    kernel("symgs", byNonzeros(4), level, rows, nonzeros, columns),
		kernelRestrict: kernel("restrict", nil, level, n),
		kernelProlong:  kernel("prolong", nil, level, n),
		kernelDot:      kernel("dot", byN, n, trace.Dim{Name: "VECTORS", Enum: []string{"same", "diff"}}),
		kernelWAXPBY: kernel("waxpby", byN, n, trace.Dim{Name: "BRANCH", Enum: []string{"ab", "a1", "b1"}},
			trace.Dim{Name: "ALIAS", Enum: []string{"none", "xy", "wx", "wy"}}),
		kernelZero:          kernel("zero", nil, n),
		kernelCopy:          kernel("copy", nil, n),
		kernelPack:          kernel("pack", nil, level, n),
		kernelFill:          kernel("fill", nil, n),
		kernelGetDiagonal:   kernel("getdiag", nil, n),
		kernelSetDiagonal:   kernel("setdiag", nil, n),
		kernelMaxDifference: kernel("maxdiff", nil, n),
	}
}

// Parts of a run that HPCG rates.
const (
	partDDOT = iota
	partWAXPBY
	partSpMV
	partMG
	numParts
)

// partNames are the names of the parts that HPCG rates.
var partNames = [numParts]string{"DDOT", "WAXPBY", "SpMV", "MG"}

// Flops returns HPCG's counts for all timed sets, of all ranks, by part. With N rows, Z_k
// nonzeros of level k and I = sets*iterations they are
//
//	DDOT, WAXPBY  2N(3I + sets)
//	SpMV          2 Z_0 (I + sets)
//	MG            I (10 (Z_0 + Z_1 + Z_2) + 4 Z_3)
//
// The parameters must be complete. Source: HPCG 3.1, ReportResults.cpp, which adds up doubles as well.
func (p *Params) Flops() [numParts]float64 {
	z := p.Grid.NZ * p.NZ
	if p.slabs() {
		z = p.PZ*p.ZL + (p.Grid.NZ-p.PZ)*p.ZU
	}
	g := [3]int64{int64(p.Grid.NX * p.NX), int64(p.Grid.NY * p.NY), int64(z)} // points of the global grid
	rows := float64(g[0] * g[1] * g[2])
	var nonzeros [levels]float64
	for k := range nonzeros {
		nonzeros[k] = 1
		for _, n := range g {
			nonzeros[k] *= float64(3*(n>>k) - 2)
		}
	}
	sets := float64(p.Sets)
	turns := sets * float64(p.Iterations)
	vectors := 2 * rows * sets * float64(3*p.Iterations+1)
	fine := nonzeros[0] + nonzeros[1] + nonzeros[2]
	return [numParts]float64{vectors, vectors, 2 * nonzeros[0] * sets * float64(p.Iterations+1),
		turns * (float64(10*fine) + float64(4*nonzeros[3]))}
}

// Total returns the sum over the parts.
func Total(flops [numParts]float64) float64 {
	sum := 0.0
	for _, f := range flops {
		sum += f
	}
	return sum
}
