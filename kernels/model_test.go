package kernels_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"reprise/kernels"
	"reprise/kernels/noise"
)

// hpl is HPL's vocabulary, as traces write it.
var hpl = map[string]kernels.Signature{
	"dgemm":   sig("dgemm", "transa=N transb=T", "M", "N", "K"),
	"dtrsm/L": sig("dtrsm", "side=L uplo=U trans=T diag=U", "M", "N"),
	"dtrsm/R": sig("dtrsm", "side=R uplo=U trans=N diag=U", "M", "N"),
	"dgemv":   sig("dgemv", "trans=N", "M", "N"),
	"dger":    sig("dger", "", "M", "N"),
	"dtrsv":   sig("dtrsv", "uplo=U trans=N diag=N", "N"),
	"dscal":   sig("dscal", "", "N"),
	"daxpy":   sig("daxpy", "", "N"),
	"dcopy":   sig("dcopy", "", "N"),
	"dswap":   sig("dswap", "", "N"),
	"idamax":  sig("idamax", "", "N"),

	"dlaswp00N": sig("dlaswp00N", "", "M", "N"),
	"dlaswp10N": sig("dlaswp10N", "", "M", "N"),
	"dlaswp01N": sig("dlaswp01N", "", "M", "N"),
	"dlaswp01T": sig("dlaswp01T", "", "M", "N"),
	"dlaswp02N": sig("dlaswp02N", "", "M", "N"),
	"dlaswp03N": sig("dlaswp03N", "", "M", "N"),
	"dlaswp03T": sig("dlaswp03T", "", "M", "N"),
	"dlaswp04N": sig("dlaswp04N", "", "M0", "M1", "N"),
	"dlaswp04T": sig("dlaswp04T", "", "M0", "M1", "N"),
	"dlaswp05N": sig("dlaswp05N", "", "M", "N"),
	"dlaswp05T": sig("dlaswp05T", "", "M", "N"),
	"dlaswp06N": sig("dlaswp06N", "", "M", "N"),
	"dlaswp06T": sig("dlaswp06T", "", "M", "N"),
	"dlacpy":    sig("dlacpy", "", "M", "N"),
	"dlatcpy":   sig("dlatcpy", "", "M", "N"),
	"dlocmax":   sig("dlocmax", "", "M", "COL"),
	"dlocswpN":  sig("dlocswpN", "", "JB", "COL", "ROLE"),
	"dlocswpT":  sig("dlocswpT", "", "JB", "COL", "ROLE"),
}

// TestTables checks every formula of the reference simulations' and the
// published machines' tables, written out, at sizes that tell the dimensions
// apart.
func TestTables(t *testing.T) {
	gemmOnly := loadSet("gemm-only")
	full := loadSet("full")
	none := loadSet("none")
	tests := []struct {
		set    *kernels.Set
		kernel string
		dims   [4]int64
		want   float64
	}{
		{full, "dgemm", [4]int64{100, 20, 3}, 7.0e-11*100*20*3 + 2.0e-7},
		{full, "dtrsm/L", [4]int64{100, 20}, 3.5e-11*100*100*20 + 2.0e-7},
		{full, "dtrsm/R", [4]int64{100, 20}, 3.5e-11*100*20*20 + 2.0e-7},
		{full, "dgemv", [4]int64{100, 20}, 1.5e-10*100*20 + 1.0e-7},
		{full, "dger", [4]int64{100, 20}, 2.5e-10*100*20 + 1.0e-7},
		{full, "dtrsv", [4]int64{100}, 1.0e-10*100*100 + 1.0e-7},
		{full, "dscal", [4]int64{100}, 5.0e-10 * 100},
		{full, "daxpy", [4]int64{100}, 5.0e-10 * 100},
		{full, "dlocmax", [4]int64{100, 7}, 4.0e-10 * 100},
		{full, "dlocswpN", [4]int64{64, 7, 2}, 1.0e-9 * 64},
		{full, "dlocswpT", [4]int64{64, 0, 0}, 1.0e-9 * 64},
		{full, "dlaswp00N", [4]int64{100, 20}, 1.5e-9 * 100 * 20},
		{full, "dlaswp10N", [4]int64{100, 20}, 1.5e-9 * 100 * 20},
		{full, "dlaswp06T", [4]int64{100, 20}, 1.5e-9 * 100 * 20},
		{full, "dlaswp04N", [4]int64{3, 4, 20}, 1.5e-9 * (3 + 4) * 20},
		{full, "dlaswp04T", [4]int64{0, 4, 20}, 1.5e-9 * 4 * 20},
		{full, "dlacpy", [4]int64{100, 20}, 1.0e-9 * 100 * 20},
		{full, "dlatcpy", [4]int64{100, 20}, 1.0e-9 * 100 * 20},
		{full, "dcopy", [4]int64{100}, 0},
		{full, "dswap", [4]int64{100}, 0},
		{full, "idamax", [4]int64{100}, 0},
		{gemmOnly, "dgemm", [4]int64{100, 20, 3}, 1.029e-11 * 100 * 20 * 3},
		{gemmOnly, "dtrsm/L", [4]int64{100, 20}, 0},
		{none, "dgemm", [4]int64{100, 20, 3}, 0},

		// Nothing is charged for an empty call, not even the constant.
		{full, "dgemm", [4]int64{0, 20, 3}, 0},
		{full, "dgemm", [4]int64{100, 0, 3}, 0},
		{full, "dgemm", [4]int64{100, 20, 0}, 0},
		{full, "dtrsm/L", [4]int64{100, 0}, 0},
		{full, "dtrsv", [4]int64{0}, 0},
		{full, "dlaswp04N", [4]int64{3, 4, 0}, 0},

		// Stampede: the Phi takes what is over the thresholds in all dimensions.
		{builtin("stampede-constants"), "dgemm", [4]int64{1281, 1281, 257}, 1.981e-12*1281*1281*257 + 0.6316},
		{builtin("stampede-constants"), "dgemm", [4]int64{1280, 1281, 257}, 1.029e-11*1280*1281*257 + 0.02737},
		{builtin("stampede-constants"), "dgemm", [4]int64{1281, 1280, 257}, 1.029e-11*1281*1280*257 + 0.02737},
		{builtin("stampede-constants"), "dgemm", [4]int64{1281, 1281, 256}, 1.029e-11*1281*1281*256 + 0.02737},
		{builtin("stampede-constants"), "dtrsm/L", [4]int64{513, 514}, 1.954e-12*513*513*514 + 0.5222},
		{builtin("stampede-constants"), "dtrsm/L", [4]int64{512, 514}, 9.882e-12*512*512*514 + 0.04329},
		{builtin("stampede-constants"), "dtrsm/R", [4]int64{513, 514}, 1.954e-12*513*514*514 + 0.5222},
		{builtin("stampede-constants"), "dtrsm/R", [4]int64{513, 512}, 9.882e-12*513*512*512 + 0.04329},
		{builtin("stampede-constants"), "dlacpy", [4]int64{513, 512}, 0},
		{builtin("stampede"), "dgemm", [4]int64{1281, 1281, 257}, 1.981e-12 * 1281 * 1281 * 257},
		{builtin("stampede"), "dtrsm/R", [4]int64{513, 512}, 9.882e-12 * 513 * 512 * 512},

		// Dahu: a constant is charged for empty calls too.
		{builtin("dahu-a1"), "dgemm", [4]int64{100, 20, 3}, 6.484604e-11*100*20*3 + 1e-6},
		{builtin("dahu-a1"), "dgemm", [4]int64{100, 0, 3}, 1e-6},
		{builtin("dahu-c1"), "dtrsm/L", [4]int64{100, 20}, 5.44554e-11 * 100 * 100 * 20},
		{builtin("dahu-c1"), "dtrsm/R", [4]int64{100, 20}, 5.44554e-11 * 100 * 20 * 20},
		{builtin("dahu-c1"), "dgemv", [4]int64{100, 20}, 1.278804e-09 * 100 * 20},
		{builtin("dahu-c1"), "dtrsv", [4]int64{100}, 2.438651e-05},
		{builtin("dahu-c1"), "daxpy", [4]int64{0}, 6.680085e-07},
		{builtin("dahu-c1"), "dscal", [4]int64{100}, 3.798686e-10 * 100},
		{builtin("dahu-c1"), "idamax", [4]int64{100}, 6.052262e-10 * 100},
		{builtin("dahu-c1"), "dlaswp01T", [4]int64{100, 20}, 7.547639e-09 * 100 * 20},
		{builtin("dahu-c1"), "dlaswp02N", [4]int64{100, 20}, 2.822241e-08 * 100 * 20},
		{builtin("dahu-c1"), "dlaswp03T", [4]int64{100, 20}, 3.77524e-09 * 100 * 20},
		{builtin("dahu-c1"), "dlaswp04T", [4]int64{3, 4, 20}, 8.498957e-09 * 4 * 20},
		{builtin("dahu-c1"), "dlaswp04N", [4]int64{3, 4, 20}, 0},
		{builtin("dahu-c1"), "dlacpy", [4]int64{100, 20}, 3.871806e-09 * 100 * 20},
		{builtin("dahu-c1"), "dlatcpy", [4]int64{100, 20}, 4.8939e-09 * 100 * 20},
		{builtin("dahu-c1"), "dger", [4]int64{100, 20}, 0},
	}
	for _, tt := range tests {
		m := bind(tt.set, kernels.Host{Name: "node-0", Speed: 1e9}, hpl[tt.kernel])
		takes(t, m, tt.dims, tt.want, rounding, tt.set.Name(), tt.kernel)
	}
}

// TestSetsCoverHPL checks that each set has a model for every kernel of HPL
// and that those that cost nothing are marked as free.
func TestSetsCoverHPL(t *testing.T) {
	sets := []*kernels.Set{loadSet("full"), loadSet("gemm-only"), loadSet("none")}
	for _, name := range kernels.BuiltinNames() {
		sets = append(sets, builtin(name))
	}
	dims := [4]int64{2000, 2000, 2000, 1}
	for _, s := range sets {
		for name, sig := range hpl {
			m := bind(s, kernels.Host{Name: "node-1", Speed: 1e9}, sig)
			if free := m.Seconds(&dims) == 0; free != m.Free() {
				t.Errorf("%s: %s: Free() = %v, but 2000s take %g s", s.Name(), name, m.Free(), m.Seconds(&dims))
			}
		}
	}
}

// TestDefaultMovesC: a product with few K takes as long as reading and writing C, 16
// bytes an element, at 0.1 byte/flop from memory and 0.4 from the cache, beside the
// 80 flop for an element of each operand and 1e4 for the call; and no step is larger
// than 2.5 % where that ends: 16/0.1 = 160 flop are 72.7 K of 2.2 flop, 16/0.4 = 40 are 18.2.
func TestDefaultMovesC(t *testing.T) {
	m := bind(builtin("default"), kernels.Host{Name: "n", Speed: 1e9}, hpl["dgemm"])
	at := func(rows, columns, k int64) float64 { return m.Seconds(&[4]int64{rows, columns, k}) }
	for dims, want := range map[[4]int64]float64{
		{1000, 2000, 1}:  160*1000*2000 + 80*1000*1 + 80*2000*1 + 1e4,
		{1000, 200, 1}:   40*1000*200 + 80*1000*1 + 80*200*1 + 1e4,
		{1000, 2000, 73}: 2.2*1000*2000*73 + 80*1000*73 + 80*2000*73 + 1e4,
		{1000, 200, 19}:  2.2*1000*200*19 + 80*1000*19 + 80*200*19 + 1e4,
	} {
		takes(t, m, dims, want/1e9, rounding)
	}
	fast := bind(builtin("default"), kernels.Host{Name: "n", Speed: 2e9}, hpl["dgemm"])
	takes(t, fast, [4]int64{1000, 2000, 73}, at(1000, 2000, 73)/2, rounding, "at twice the speed")
	for _, edge := range [][2]int64{{2000, 72}, {200, 18}} {
		below, above := at(1000, edge[0], edge[1]), at(1000, edge[0], edge[1]+1)
		grows := float64(edge[1]+1) / float64(edge[1])
		if above < below || above > below*grows*1.025 {
			t.Errorf("N = %d: K = %d takes %g s, one more %g s", edge[0], edge[1], below, above)
		}
	}
}

// TestUnit: what is in flop, what is in seconds, and what has neither.
func TestUnit(t *testing.T) {
	s := parse(`dgemm: {unit: flop, terms: {M*N*K: 2}}`, `dger: {terms: {M*N: 2}}`, `dcopy: free`)
	for name, want := range map[string]kernels.CostUnit{"dgemm": kernels.Flop, "dger": kernels.Seconds, "dcopy": kernels.NoUnit, "dscal": kernels.NoUnit} {
		for range 2 { // bound anew, and known
			if got := s.CostUnit(kernels.Host{Name: "n", Speed: 1e9}, hpl[name]); got != want {
				t.Errorf("%s: unit %d, want %d", name, got, want)
			}
		}
	}
}

// TestNegativeTotalsAreFree: without K, CPU 0 of dahu's host 1 takes
// 5.393244e-7 - 5.740287e-10*M*N, below zero from M*N = 940 on.
func TestNegativeTotalsAreFree(t *testing.T) {
	m := bind(builtin("dahu"), kernels.Host{Name: "dahu-1"}, hpl["dgemm"])
	if got, want := m.Seconds(&[4]int64{939, 1, 0}), 5.393244e-7-5.740287e-10*939; math.Abs(got-want) > 1e-20 {
		t.Errorf("939x1x0: %g s, want %g", got, want)
	}
	takes(t, m, [4]int64{940, 1, 0}, 0, 0)
	s := parse("dgemm: {empty: charged, terms: {M*N: -1.0e-9, 1: 1.0e-6}}")
	m = bind(s, kernels.Host{}, hpl["dgemm"])
	for dims, want := range map[[4]int64]float64{
		{10, 10, 1}:  0.9e-6,
		{50, 20, 1}:  0,
		{100, 20, 1}: 0,
	} {
		takes(t, m, dims, want, rounding)
	}
}

// TestEmpty checks which calls are free, and which of them cost the constant.
func TestEmpty(t *testing.T) {
	tests := []struct {
		name, model string
		sig         kernels.Signature
		dims        [4]int64
		want        float64
	}{
		{"a factor of the terms", "k: {terms: {M*N: 2, 1: 1}}", sig("k", "", "M", "N", "COL"), [4]int64{3, 0, 5}, 0},
		{"not a factor", "k: {terms: {M*N: 2, 1: 1}}", sig("k", "", "M", "N", "COL"), [4]int64{3, 4, 0}, 25},
		{"one summand", "k: {terms: {(M0+M1)*N: 2, 1: 1}}", sig("k", "", "M0", "M1", "N"), [4]int64{0, 4, 3}, 25},
		{"all summands", "k: {terms: {(M0+M1)*N: 2, 1: 1}}", sig("k", "", "M0", "M1", "N"), [4]int64{0, 0, 3}, 0},
		{"factors of another piece", "k: [{if: M > 9, terms: {M*N: 1}}, {terms: {M: 1, 1: 1}}]", sig("k", "", "M", "N"), [4]int64{3, 0}, 0},
		{"constant", "k: 5", sig("k", "", "M", "N"), [4]int64{3, 4}, 5},
		{"empty constant", "k: 5", sig("k", "", "M", "N"), [4]int64{3, 0}, 0},
		{"constant without dimensions", "k: 5", sig("k", ""), [4]int64{}, 5},
		{"charged constant", "k: {empty: charged, terms: {1: 5}}", sig("k", "", "M", "N"), [4]int64{0, 0}, 5},
		{"charged", "k: {empty: charged, terms: {M*N: 2, M: 3, 1: 1}}", sig("k", "", "M", "N"), [4]int64{3, 0}, 10},
		{"free", "k: {empty: free, terms: {M*N: 2, M: 3, 1: 1}}", sig("k", "", "M", "N"), [4]int64{3, 0}, 0},
		{"listed", "k: {empty: [M], terms: {1: 5}}", sig("k", "", "M", "COL"), [4]int64{0, 4}, 0},
		{"not listed", "k: {empty: [M], terms: {1: 5}}", sig("k", "", "M", "COL"), [4]int64{3, 0}, 5},
		{"listed sum", "k: {empty: [M0+M1], terms: {1: 5}}", sig("k", "", "M0", "M1"), [4]int64{0, 0}, 0},
		{"listed sum, one zero", "k: {empty: [(M0+M1)], terms: {1: 5}}", sig("k", "", "M0", "M1"), [4]int64{0, 1}, 5},
	}
	for _, tt := range tests {
		m := bind(parse(tt.model), kernels.Host{}, tt.sig)
		takes(t, m, tt.dims, tt.want, 0, tt.name, tt.model)
	}
}

// TestPieces checks the order of pieces and each operator at its boundary.
func TestPieces(t *testing.T) {
	tests := []struct {
		conds string
		dims  [4]int64
		want  bool
	}{
		{"M > 10", [4]int64{10}, false},
		{"M > 10", [4]int64{11}, true},
		{"M >= 10", [4]int64{9}, false},
		{"M >= 10", [4]int64{10}, true},
		{"M < 10", [4]int64{10}, false},
		{"M < 10", [4]int64{9}, true},
		{"M <= 10", [4]int64{11}, false},
		{"M <= 10", [4]int64{10}, true},
		{"M == 10", [4]int64{9}, false},
		{"M == 10", [4]int64{10}, true},
		{"M == 10", [4]int64{11}, false},
		{"M > 3 and N>5 and M < 6", [4]int64{4, 6}, true},
		{"M > 3 and N>5 and M < 6", [4]int64{6, 6}, false},
		{"M > 3 and N>5 and M < 6", [4]int64{4, 5}, false},
		{"M >= 9223372036854775806", [4]int64{math.MaxInt64}, true},
	}
	for _, tt := range tests {
		s := parse("k: {empty: charged, pieces: [{if: " + tt.conds + ", terms: {1: 1}}, {terms: {1: 2}}]}")
		m := bind(s, kernels.Host{}, sig("k", "", "M", "N"))
		if got := m.Seconds(&tt.dims) == 1; got != tt.want {
			t.Errorf("%s at %v: %v", tt.conds, tt.dims, got)
		}
	}
	s := parse("k: [{if: M > 5, free: true}, {if: M > 3, terms: {M: 1}}, {terms: {M: 10}}]")
	m := bind(s, kernels.Host{}, sig("k", "", "M"))
	for dim, want := range map[int64]float64{6: 0, 5: 5, 4: 4, 3: 30} {
		takes(t, m, [4]int64{dim}, want, 0)
	}
}

// TestProducts checks the forms of products by their value at M 2, N 3, K 5.
func TestProducts(t *testing.T) {
	for product, want := range map[string]float64{
		"1":               1,
		"M":               2,
		"M*N*K":           30,
		"K * N * M":       30,
		"M^2*N":           12,
		"M*M*N":           12,
		"M^3":             8,
		"(M+N)*K":         25,
		"(M+N)*(N+K)":     40,
		"(M+N+K)*M*(N+K)": 160, // 10 * 2 * 8
	} {
		s := parse("k: {terms: {" + product + ": 1}}")
		m := bind(s, kernels.Host{}, sig("k", "", "M", "N", "K"))
		takes(t, m, [4]int64{2, 3, 5}, want, 0, product)
	}
}

// TestHugeDimensions: a product beyond the range of integers is still right,
// and one beyond that of floats is not a NaN.
func TestHugeDimensions(t *testing.T) {
	m := bind(parse("k: {terms: {M*N*K: 1.0e-11}}"), kernels.Host{}, sig("k", "", "M", "N", "K"))
	takes(t, m, [4]int64{3875000, 3875000, 3875000}, 1e-11*3875000*3875000*3875000, rounding)
	m = bind(parse("k: {terms: {M^3: 1.0e9, M^2*N: -1.0e9}}"), kernels.Host{}, sig("k", "", "M", "N"))
	if got := m.Seconds(&[4]int64{math.MaxInt64, math.MaxInt64}); math.IsNaN(got) || got < 0 {
		t.Errorf("%g", got)
	}
}

// TestDoesNotAllocate guards calls, and the start of a replay of many ranks, which binds again and again.
func TestDoesNotAllocate(t *testing.T) {
	set, h, gemm := builtin("stampede"), kernels.Host{}, hpl["dgemm"]
	m := bind(set, h, gemm)
	noisy := bind(parse("dgemm: {terms: {M*N*K: 1}, noise: {half-normal: {M*N*K: 1}}}"), h, gemm)
	dims, source, sum := [4]int64{2000, 2000, 1000}, noise.NewSource(1), 0.0
	for name, call := range map[string]func(){
		"Seconds": func() { sum += m.Seconds(&dims) },
		"Draw":    func() { sum += noisy.Draw(&dims, source.Draw(noise.Computation, 1, 2, 3)) },
		"Bind":    func() { set.Bind(h, gemm) },
	} {
		if n := testing.AllocsPerRun(100, call); n != 0 {
			t.Errorf("%s: %g allocations", name, n)
		}
	}
}

// TestDrawCoefficients draws k = a*M + b with covariance [[4, 3], [3, 9]] (in units of 1e-4
// for a and b) many times. From two calls of each drawn model a and b follow; their moments
// are those of the matrix to within six standard errors: of a mean sd/sqrt(n), of a
// covariance of normal deviates sqrt((vii*vjj+vij^2)/n).
func TestDrawCoefficients(t *testing.T) {
	const n = 20000
	set := parse("k: {empty: charged, terms: {M: 5, 1: 7}, covariance: [[4e-4], [3e-4, 9e-4]]}", "other: 1")
	if !set.Uncertain() {
		t.Error("a set with a covariance is certain")
	}
	var mean [2]float64
	var moment [2][2]float64
	for i := range n {
		drawn := set.DrawCoefficients(noise.NewSource(uint64(i)))
		b := seconds(drawn, "k", 0)
		x := [2]float64{seconds(drawn, "k", 1) - b - 5, b - 7}
		for i := range x {
			mean[i] += x[i] / n
			for k := range x {
				moment[i][k] += x[i] * x[k] / n
			}
		}
	}
	want := [2][2]float64{{4e-4, 3e-4}, {3e-4, 9e-4}}
	for i := range mean {
		if e := 6 * math.Sqrt(want[i][i]/n); math.Abs(mean[i]) > e {
			t.Errorf("mean %d is off by %g, allowed %g", i, mean[i], e)
		}
		for k := range mean {
			if e := 6 * math.Sqrt((want[i][i]*want[k][k]+want[i][k]*want[i][k])/n); math.Abs(moment[i][k]-want[i][k]) > e {
				t.Errorf("covariance %d %d is %g, want %g within %g", i, k, moment[i][k], want[i][k], e)
			}
		}
	}
	if got := seconds(set, "k", 1); got != 12 {
		t.Errorf("the set itself has changed: %g, want 12", got)
	}
	a, b := set.DrawCoefficients(noise.NewSource(3)), set.DrawCoefficients(noise.NewSource(3))
	if seconds(a, "k", 9) != seconds(b, "k", 9) || seconds(a, "other", 9) != 1 {
		t.Error("the same source draws other coefficients, or of what has no covariance")
	}
}

// TestDrawHost: the times of hosts scatter by the percentage of the file around its own, by name.
func TestDrawHost(t *testing.T) {
	const n = 20000
	set := parseFile("host_scatter: 5%\n" + header + "  k: {terms: {M: 2}}\n")
	mean, squares := 0.0, 0.0
	for i := range n {
		x := set.DrawHost(fmt.Sprintf("node-%d", i), noise.NewSource(1)) - 1
		mean += x / n
		squares += x * x / n
	}
	if e := 6 * 0.05 / math.Sqrt(n); math.Abs(mean) > e {
		t.Errorf("mean %g, allowed %g", mean, e)
	}
	if sd, e := math.Sqrt(squares), 6*0.05/math.Sqrt(2*n); math.Abs(sd-0.05) > e {
		t.Errorf("scatter %g, want 0.05 within %g", sd, e)
	}
	if got := secondsOn(set, kernels.Host{Name: "node-1", Factor: 2}, "k", 1); got != 1 {
		t.Errorf("twice as quick: %g s, want 1", got)
	}
}

// TestSharedErrors: the logarithms of the factors of two kernels, drawn, have the deviation of the file, and are the same;
// a kernel that no pattern fits stays.
func TestSharedErrors(t *testing.T) {
	const n = 20000
	set := parseFile("shared_errors: [{kernels: [a, \"b*\"], sd: 20%}]\nnetwork_error: 30%\n" + header + "  a: {terms: {M: 2}}\n  bb: {terms: {M: 3}}\n  c: {terms: {M: 4}}\nhosts: [{host: own, kernels: {a: {terms: {M: 5}}}}]\n")
	if !set.Uncertain() || set.NetworkError() != 0.3 || seconds(set, "a", 1) != 2 {
		t.Error(set.Uncertain(), set.NetworkError(), seconds(set, "a", 1))
	}
	mean, squares := 0.0, 0.0
	for i := range n {
		drawn := set.DrawCoefficients(noise.NewSource(uint64(i)))
		a, b, c := seconds(drawn, "a", 1)/2, seconds(drawn, "bb", 1)/3, seconds(drawn, "c", 1)
		if math.Abs(a/b-1) > 1e-12 || c != 4 {
			t.Fatal(a, b, c)
		}
		if own := secondsOn(drawn, kernels.Host{Name: "own"}, "a", 1); own != 5 {
			t.Fatal(own)
		}
		mean += math.Log(a) / n
		squares += math.Log(a) * math.Log(a) / n
	}
	if e := 6 * 0.2 / math.Sqrt(n); math.Abs(mean) > e {
		t.Errorf("mean %g, allowed %g", mean, e)
	}
	if sd, e := math.Sqrt(squares), 6*0.2/math.Sqrt(2*n); math.Abs(sd-0.2) > e {
		t.Errorf("deviation %g, want 0.2 within %g", sd, e)
	}
}

func seconds(set *kernels.Set, kernel string, m int64) float64 {
	return secondsOn(set, kernels.Host{Name: "host"}, kernel, m)
}

func secondsOn(set *kernels.Set, host kernels.Host, kernel string, m int64) float64 {
	model := bind(set, host, sig(kernel, "", "M"))
	return model.Seconds(&[4]int64{m})
}

// TestDefaultHPCG: HPCG's kernels take the bytes that must move, at the memory and cache that
// the file states: of a host of 32 Gflop/s 3.2 and 12.8 GB/s a rank. A call costs 1e3 flop.
func TestDefaultHPCG(t *testing.T) {
	const memory, cache, call = 0.1 * 32e9, 0.4 * 32e9, 1e3 / 32e9
	matrix := []string{"LEVEL", "ROWS", "NNZ", "COLS"}
	for _, c := range []struct {
		kernel string
		names  []string
		dims   [4]int64
		want   float64
	}{
		{"spmv", matrix, [4]int64{0, 1000000, 27000000, 1060000}, (12*27e6+41*1e6)/memory + call},
		{"spmv", matrix, [4]int64{3, 1000, 27000, 1600}, (12*27e3+41*1e3)/cache + call},
		{"symgs", matrix, [4]int64{0, 1000000, 27000000, 1060000}, 2*(12*27e6+49*1e6)/memory + call},
		{"symgs", matrix, [4]int64{3, 5200, 140000, 7000}, 2*(12*140e3+49*5200)/cache + call},
		{"restrict", []string{"LEVEL", "N"}, [4]int64{0, 125000}, 150*125e3/memory + call},
		{"prolong", []string{"LEVEL", "N"}, [4]int64{2, 125}, 28*125/cache + call},
		{"dot", []string{"N", "VECTORS"}, [4]int64{1000000, 0}, 8*1e6/memory + call},
		{"dot", []string{"N", "VECTORS"}, [4]int64{1000000, 1}, 16*1e6/memory + call},
		{"dot", []string{"N", "VECTORS"}, [4]int64{4096, 1}, 16*4096/cache + call},
		{"waxpby", []string{"N", "BRANCH", "ALIAS"}, [4]int64{1000000, 1, 0}, 32*1e6/memory + call},
		{"waxpby", []string{"N", "BRANCH", "ALIAS"}, [4]int64{1000000, 1, 2}, 24*1e6/memory + call},
		{"waxpby", []string{"N", "BRANCH", "ALIAS"}, [4]int64{4096, 1, 3}, 24*4096/cache + call},
		{"zero", []string{"N"}, [4]int64{1000000}, 16*1e6/memory + call},
		{"copy", []string{"N"}, [4]int64{4096}, 24*4096/cache + call},
		{"pack", []string{"LEVEL", "N"}, [4]int64{0, 60000}, 44*60e3/memory + call},
		{"pack", []string{"LEVEL", "N"}, [4]int64{3, 0}, 0},
	} {
		m := bind(builtin("default"), kernels.Host{Name: "node-0", Speed: 32e9}, sig(c.kernel, "", c.names...))
		takes(t, m, c.dims, c.want, rounding, c.kernel)
	}
}

// TestDocumentedExample parses the file in docs/kernels.md and checks the
// times of the table that follows it.
func TestDocumentedExample(t *testing.T) {
	_, rest, _ := strings.Cut(string(must(os.ReadFile("../docs/kernels.md"))), "```yaml\n")
	file, _, found := strings.Cut(rest, "```\n")
	if !found {
		t.Fatal("no example in docs/kernels.md")
	}
	s := parseFile(file)
	tests := []struct {
		kernel, host string
		slot         int
		dims         [4]int64
		want         float64
	}{
		{"dgemm", "node-1", 0, [4]int64{1000, 1000, 100}, 7.0002e-3},
		{"dgemm", "node-13", 0, [4]int64{1000, 1000, 100}, 8.0002e-3},
		{"dgemm", "node-13", 3, [4]int64{1000, 1000, 100}, 9.0002e-3},
		{"dgemm", "node-1", 0, [4]int64{1000, 1000, 0}, 0},
		{"dgemv", "node-1", 0, [4]int64{1000, 0}, 3e-7},
		{"dger", "node-1", 0, [4]int64{5000, 8}, 1.6e-5},
		{"dger", "node-1", 0, [4]int64{5000, 7}, 5.35e-6},
		{"dtrsv", "node-1", 0, [4]int64{1000}, 1e-3},
	}
	for _, tt := range tests {
		m := bind(s, kernels.Host{Name: tt.host, Slot: tt.slot, Speed: 1e9}, hpl[tt.kernel])
		takes(t, m, tt.dims, tt.want, rounding, tt.kernel, tt.host, tt.slot)
	}
	for name, sig := range hpl {
		if name != "dswap" { // HPL has it, but never calls it
			bind(s, kernels.Host{Name: "node-1", Speed: 1e9}, sig)
		}
	}
}

// sig builds a signature; attrs is "side=L uplo=U".
func sig(name, attrs string, dims ...string) kernels.Signature {
	s := kernels.Signature{Name: name, Dims: dims}
	for _, a := range strings.Fields(attrs) {
		k, v, _ := strings.Cut(a, "=")
		s.Attrs = append(s.Attrs, kernels.Attr{Name: k, Value: v})
	}
	return s
}

// header opens a file in seconds whose kernels follow, from line 4 on.
const header = "version: 1\nunit: s\nkernels:\n"

// must returns a value of what cannot fail in a test.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// parseFile parses a whole file.
func parseFile(text string) *kernels.Set {
	return must(kernels.Parse(strings.NewReader(text), "test.yaml"))
}

// parse parses a file whose kernels are the given lines.
func parse(kernelLines ...string) *kernels.Set {
	return parseFile(header + "  " + strings.Join(kernelLines, "\n  ") + "\n")
}

func builtin(name string) *kernels.Set { return must(kernels.Builtin(name)) }

// loadSet loads one of the reference simulations' sets.
func loadSet(name string) *kernels.Set {
	return must(kernels.Load("../testdata/kernels/" + name + ".yaml"))
}

func bind(s *kernels.Set, h kernels.Host, sig kernels.Signature) kernels.Model {
	return must(s.Bind(h, sig))
}

// rounding is the relative error of a few operations.
const rounding = 1e-14

// takes fails unless a call takes so many seconds, to within a relative error.
func takes(t *testing.T, m kernels.Model, dims [4]int64, want, tolerance float64, what ...any) {
	t.Helper()
	if got := m.Seconds(&dims); !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%v at %v: %g s, want %g", what, dims, got, want)
	}
}
