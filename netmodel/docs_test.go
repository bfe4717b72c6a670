package netmodel

import (
	"os"
	"strings"
	"testing"

	"reprise/kernels/noise"
)

// TestDocumentedNoise parses the example in docs/network-model.md and checks some times:
// without deviation where there is none, by the modes' bounds (a half-normal deviate is above -1.33 sd) elsewhere.
func TestDocumentedNoise(t *testing.T) {
	page, err := os.ReadFile("../docs/network-model.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	file, _, found := strings.Cut(rest, "```\n")
	if !found {
		t.Fatal("no example in docs/network-model.md")
	}
	n, err := ParseNoise(strings.NewReader(file), "docs/network-model.md")
	if err != nil {
		t.Fatal(err)
	}
	s := noise.NewSource(1)
	for i := range uint32(100) {
		d := s.Draw(noise.Latency, 0, 0, i)
		for _, c := range []struct {
			what           string
			got, low, high float64
		}{
			{"os, small", n.SendOverhead(1e-3, 4096, d), 1e-3 * (1 - 1.33*0.05), 1.4e-3},
			{"os, medium", n.SendOverhead(1e-3, 10000, d), 3e-6 - 10*2e-7, 3e-6 + 10*2e-7},
			{"os, large", n.SendOverhead(1e-3, 65537, d), 1e-3, 1e-3},
			{"ois, small", n.IsendOverhead(1e-3, 4096, d), 1e-3, 1e-3},
			{"ois", n.IsendOverhead(1e-3, 10000, d), 1e-6 + 2e-6 - 1.33*2e-7, 1e-6 + 5e-5},
			{"or", n.RecvOverhead(1e-3, 10000, d), 1e-3, 1e-3},
			{"latency", n.Latency(1, 64000, d), 1.2e-5 - 1.33*9e-7, 5e-5},
		} {
			if c.got < c.low || c.got > c.high {
				t.Errorf("%s: %g s, want %g to %g", c.what, c.got, c.low, c.high)
			}
		}
	}
}
