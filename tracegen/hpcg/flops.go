package hpcg

// Parts of a run that HPCG rates.
const (
	partDDOT = iota
	partWAXPBY
	partSpMV
	partMG
	numParts
)

var partNames = [numParts]string{"DDOT", "WAXPBY", "SpMV", "MG"}

// Flops returns HPCG's counts for all timed sets, of all ranks, by part. With N rows, Z_k
// nonzeros of level k and I = sets*iterations they are
//
//	DDOT, WAXPBY  2N(3I + sets)
//	SpMV          2 Z_0 (I + sets)
//	MG            I (10 (Z_0 + Z_1 + Z_2) + 4 Z_3)
//
// The parameters must be complete. Source: HPCG 3.1, ReportResults.cpp, which adds up doubles
// as well.
func (p *Params) Flops() [numParts]float64 {
	g := p.global()
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
	return [numParts]float64{vectors, vectors, 2 * nonzeros[0] * sets * float64(p.Iterations+1), turns * (float64(10*fine) + float64(4*nonzeros[3]))}
}

// total returns the sum over the parts.
func total(flops [numParts]float64) float64 {
	sum := 0.0
	for _, f := range flops {
		sum += f
	}
	return sum
}
