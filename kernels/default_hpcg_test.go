package kernels_test

import (
	"testing"

	"reprise/kernels"
)

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
		m := bind(t, builtin(t, "default"), kernels.Host{Name: "node-0", Speed: 32e9}, sig(c.kernel, "", c.names...))
		if got := m.Seconds(&c.dims); !near(got, c.want) {
			t.Errorf("%s %v: %g s, want %g", c.kernel, c.dims, got, c.want)
		}
	}
}
