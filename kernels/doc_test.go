package kernels_test

import (
	"os"
	"strings"
	"testing"

	"reprise/kernels"
)

// TestDocumentedExample parses the file in docs/kernels.md and checks the
// times of the table that follows it.
func TestDocumentedExample(t *testing.T) {
	page, err := os.ReadFile("../docs/kernels.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	file, _, found := strings.Cut(rest, "```\n")
	if !found {
		t.Fatal("no example in docs/kernels.md")
	}
	s, err := kernels.Parse(strings.NewReader(file), "docs/kernels.md")
	if err != nil {
		t.Fatal(err)
	}
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
		m := bind(t, s, kernels.Host{Name: tt.host, Slot: tt.slot, Speed: 1e9}, hpl[tt.kernel])
		if got := m.Seconds(&tt.dims); !near(got, tt.want) {
			t.Errorf("%s%v on %s slot %d: %g s, want %g", tt.kernel, tt.dims, tt.host, tt.slot, got, tt.want)
		}
	}
	for name, sig := range hpl {
		if name != "dswap" { // HPL has it, but never calls it
			bind(t, s, kernels.Host{Name: "node-1", Speed: 1e9}, sig)
		}
	}
}
