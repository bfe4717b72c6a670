package kernels_test

import (
	"math"
	"testing"

	"reprise/kernels"
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
	gemmOnly := loadSet(t, "gemm-only")
	full := loadSet(t, "full")
	none := loadSet(t, "none")
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
		{builtin(t, "stampede-constants"), "dgemm", [4]int64{1281, 1281, 257}, 1.981e-12*1281*1281*257 + 0.6316},
		{builtin(t, "stampede-constants"), "dgemm", [4]int64{1280, 1281, 257}, 1.029e-11*1280*1281*257 + 0.02737},
		{builtin(t, "stampede-constants"), "dgemm", [4]int64{1281, 1280, 257}, 1.029e-11*1281*1280*257 + 0.02737},
		{builtin(t, "stampede-constants"), "dgemm", [4]int64{1281, 1281, 256}, 1.029e-11*1281*1281*256 + 0.02737},
		{builtin(t, "stampede-constants"), "dtrsm/L", [4]int64{513, 514}, 1.954e-12*513*513*514 + 0.5222},
		{builtin(t, "stampede-constants"), "dtrsm/L", [4]int64{512, 514}, 9.882e-12*512*512*514 + 0.04329},
		{builtin(t, "stampede-constants"), "dtrsm/R", [4]int64{513, 514}, 1.954e-12*513*514*514 + 0.5222},
		{builtin(t, "stampede-constants"), "dtrsm/R", [4]int64{513, 512}, 9.882e-12*513*512*512 + 0.04329},
		{builtin(t, "stampede-constants"), "dlacpy", [4]int64{513, 512}, 0},
		{builtin(t, "stampede"), "dgemm", [4]int64{1281, 1281, 257}, 1.981e-12 * 1281 * 1281 * 257},
		{builtin(t, "stampede"), "dtrsm/R", [4]int64{513, 512}, 9.882e-12 * 513 * 512 * 512},

		// Dahu: a constant is charged for empty calls too.
		{builtin(t, "dahu-a1"), "dgemm", [4]int64{100, 20, 3}, 6.484604e-11*100*20*3 + 1e-6},
		{builtin(t, "dahu-a1"), "dgemm", [4]int64{100, 0, 3}, 1e-6},
		{builtin(t, "dahu-c1"), "dtrsm/L", [4]int64{100, 20}, 5.44554e-11 * 100 * 100 * 20},
		{builtin(t, "dahu-c1"), "dtrsm/R", [4]int64{100, 20}, 5.44554e-11 * 100 * 20 * 20},
		{builtin(t, "dahu-c1"), "dgemv", [4]int64{100, 20}, 1.278804e-09 * 100 * 20},
		{builtin(t, "dahu-c1"), "dtrsv", [4]int64{100}, 2.438651e-05},
		{builtin(t, "dahu-c1"), "daxpy", [4]int64{0}, 6.680085e-07},
		{builtin(t, "dahu-c1"), "dscal", [4]int64{100}, 3.798686e-10 * 100},
		{builtin(t, "dahu-c1"), "idamax", [4]int64{100}, 6.052262e-10 * 100},
		{builtin(t, "dahu-c1"), "dlaswp01T", [4]int64{100, 20}, 7.547639e-09 * 100 * 20},
		{builtin(t, "dahu-c1"), "dlaswp02N", [4]int64{100, 20}, 2.822241e-08 * 100 * 20},
		{builtin(t, "dahu-c1"), "dlaswp03T", [4]int64{100, 20}, 3.77524e-09 * 100 * 20},
		{builtin(t, "dahu-c1"), "dlaswp04T", [4]int64{3, 4, 20}, 8.498957e-09 * 4 * 20},
		{builtin(t, "dahu-c1"), "dlaswp04N", [4]int64{3, 4, 20}, 0},
		{builtin(t, "dahu-c1"), "dlacpy", [4]int64{100, 20}, 3.871806e-09 * 100 * 20},
		{builtin(t, "dahu-c1"), "dlatcpy", [4]int64{100, 20}, 4.8939e-09 * 100 * 20},
		{builtin(t, "dahu-c1"), "dger", [4]int64{100, 20}, 0},
	}
	for _, tt := range tests {
		m := bind(t, tt.set, kernels.Host{Name: "node-0", Speed: 1e9}, hpl[tt.kernel])
		if got := m.Seconds(&tt.dims); !near(got, tt.want) {
			t.Errorf("%s: %s%v = %g s, want %g", tt.set.Name(), tt.kernel, tt.dims, got, tt.want)
		}
	}
}

// TestSetsCoverHPL checks that each set has a model for every kernel of HPL
// and that those that cost nothing are marked as free.
func TestSetsCoverHPL(t *testing.T) {
	sets := []*kernels.Set{loadSet(t, "full"), loadSet(t, "gemm-only"), loadSet(t, "none")}
	for _, name := range kernels.BuiltinNames() {
		sets = append(sets, builtin(t, name))
	}
	dims := [4]int64{2000, 2000, 2000, 1}
	for _, s := range sets {
		for name, sig := range hpl {
			m := bind(t, s, kernels.Host{Name: "node-1", Speed: 1e9}, sig)
			if free := m.Seconds(&dims) == 0; free != m.Free() {
				t.Errorf("%s: %s: Free() = %v, but 2000s take %g s", s.Name(), name, m.Free(), m.Seconds(&dims))
			}
		}
	}
}

// TestDefaultScalesWithSpeed: costs in flop take half the time on a host of
// twice the speed. A large dgemm runs at 2/2.2 of the peak: 2e12 flop of
// 1e4 x 1e4 x 1e4 in 2.2 s at 1 Tflop/s, plus 2 x 80e8 flop for the operands
// and 1e4 for the call.
func TestDefaultScalesWithSpeed(t *testing.T) {
	s := builtin(t, "default")
	for _, speed := range []float64{1e12, 2e12} {
		m := bind(t, s, kernels.Host{Name: "n", Speed: speed}, hpl["dgemm"])
		want := (2.2e12 + 160e8 + 1e4) / speed
		if got := m.Seconds(&[4]int64{1e4, 1e4, 1e4}); !near(got, want) {
			t.Errorf("speed %g: %g s, want %g", speed, got, want)
		}
	}
}

// TestDefaultMovesC: a product with few K takes as long as reading and writing C, 16
// bytes an element, at 0.1 byte/flop from memory and 0.4 from the cache, beside the
// 80 flop for an element of each operand and 1e4 for the call; and no step is larger
// than 2.5 % where that ends: 16/0.1 = 160 flop are 72.7 K of 2.2 flop, 16/0.4 = 40 are 18.2.
func TestDefaultMovesC(t *testing.T) {
	m := bind(t, builtin(t, "default"), kernels.Host{Name: "n", Speed: 1e9}, hpl["dgemm"])
	at := func(rows, columns, k int64) float64 { return m.Seconds(&[4]int64{rows, columns, k}) }
	for dims, want := range map[[3]int64]float64{
		{1000, 2000, 1}:  160*1000*2000 + 80*1000*1 + 80*2000*1 + 1e4,
		{1000, 200, 1}:   40*1000*200 + 80*1000*1 + 80*200*1 + 1e4,
		{1000, 2000, 73}: 2.2*1000*2000*73 + 80*1000*73 + 80*2000*73 + 1e4,
		{1000, 200, 19}:  2.2*1000*200*19 + 80*1000*19 + 80*200*19 + 1e4,
	} {
		if got := at(dims[0], dims[1], dims[2]); !near(got, want/1e9) {
			t.Errorf("%v: %g s, want %g", dims, got, want/1e9)
		}
	}
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
	s := parse(t, `dgemm: {unit: flop, terms: {M*N*K: 2}}`, `dger: {terms: {M*N: 2}}`, `dcopy: free`)
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
	m := bind(t, builtin(t, "dahu"), kernels.Host{Name: "dahu-1"}, hpl["dgemm"])
	if got, want := m.Seconds(&[4]int64{939, 1, 0}), 5.393244e-7-5.740287e-10*939; math.Abs(got-want) > 1e-20 {
		t.Errorf("939x1x0: %g s, want %g", got, want)
	}
	if got := m.Seconds(&[4]int64{940, 1, 0}); got != 0 {
		t.Errorf("940x1x0: %g s, want 0", got)
	}
	s := parse(t, "dgemm: {empty: charged, terms: {M*N: -1.0e-9, 1: 1.0e-6}}")
	m = bind(t, s, kernels.Host{}, hpl["dgemm"])
	for dims, want := range map[[4]int64]float64{
		{10, 10, 1}:  0.9e-6,
		{50, 20, 1}:  0,
		{100, 20, 1}: 0,
	} {
		if got := m.Seconds(&dims); !near(got, want) {
			t.Errorf("%v: %g s, want %g", dims, got, want)
		}
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
		m := bind(t, parse(t, tt.model), kernels.Host{}, tt.sig)
		if got := m.Seconds(&tt.dims); got != tt.want {
			t.Errorf("%s: %s at %v: %g s, want %g", tt.name, tt.model, tt.dims, got, tt.want)
		}
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
		s := parse(t, "k: {empty: charged, pieces: [{if: "+tt.conds+", terms: {1: 1}}, {terms: {1: 2}}]}")
		m := bind(t, s, kernels.Host{}, sig("k", "", "M", "N"))
		if got := m.Seconds(&tt.dims) == 1; got != tt.want {
			t.Errorf("%s at %v: %v", tt.conds, tt.dims, got)
		}
	}
	s := parse(t, "k: [{if: M > 5, free: true}, {if: M > 3, terms: {M: 1}}, {terms: {M: 10}}]")
	m := bind(t, s, kernels.Host{}, sig("k", "", "M"))
	for dim, want := range map[int64]float64{6: 0, 5: 5, 4: 4, 3: 30} {
		if got := m.Seconds(&[4]int64{dim}); got != want {
			t.Errorf("M = %d: %g s, want %g", dim, got, want)
		}
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
		s := parse(t, "k: {terms: {"+product+": 1}}")
		m := bind(t, s, kernels.Host{}, sig("k", "", "M", "N", "K"))
		if got := m.Seconds(&[4]int64{2, 3, 5}); got != want {
			t.Errorf("%s = %g, want %g", product, got, want)
		}
	}
}

// TestHugeDimensions: a product beyond the range of integers is still right,
// and one beyond that of floats is not a NaN.
func TestHugeDimensions(t *testing.T) {
	m := bind(t, parse(t, "k: {terms: {M*N*K: 1.0e-11}}"), kernels.Host{}, sig("k", "", "M", "N", "K"))
	if got, want := m.Seconds(&[4]int64{3875000, 3875000, 3875000}), 1e-11*3875000*3875000*3875000; !near(got, want) {
		t.Errorf("%g, want %g", got, want)
	}
	m = bind(t, parse(t, "k: {terms: {M^3: 1.0e9, M^2*N: -1.0e9}}"), kernels.Host{}, sig("k", "", "M", "N"))
	if got := m.Seconds(&[4]int64{math.MaxInt64, math.MaxInt64}); math.IsNaN(got) || got < 0 {
		t.Errorf("%g", got)
	}
}

func TestSecondsDoesNotAllocate(t *testing.T) {
	m := bind(t, builtin(t, "stampede"), kernels.Host{}, hpl["dgemm"])
	dims := [4]int64{2000, 2000, 1000}
	if n := testing.AllocsPerRun(100, func() { sink += m.Seconds(&dims) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

var sink float64

func BenchmarkSeconds(b *testing.B) {
	dims := [4]int64{2000, 2000, 1000}
	for _, bb := range []struct{ name, set, kernel string }{
		{"model=free", "none", "dgemm"},
		{"model=proportional", "gemm-only", "dgemm"},
		{"model=linear", "full", "dgemm"},
		{"model=polynomial", "dahu-c1", "dgemm"},
		{"model=thresholds", "stampede", "dgemm"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			s, err := kernels.Builtin(bb.set)
			if err != nil {
				s = loadSet(b, bb.set)
			}
			m := bind(b, s, kernels.Host{}, hpl[bb.kernel])
			b.ReportAllocs()
			for b.Loop() {
				sink += m.Seconds(&dims)
			}
		})
	}
}
