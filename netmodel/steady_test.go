package netmodel

import (
	"testing"

	"reprise/internal/invariants"
)

// TestSteadyStateAllocatesNothing replays a warm ring shift.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checks allocate")
	}
	for _, solver := range []string{"local", "reference"} {
		r := newRunner(t, fatTree(t, 64), with(DefaultOptions(), "reprise/solver", solver), ring(64, 1, 256<<10, 10e-6))
		r.run(2000)
		if allocs := testing.AllocsPerRun(3, func() { r.run(500) }); allocs != 0 {
			t.Errorf("%s: %v allocations in 500 messages, want 0", solver, allocs)
		}
	}
}

// TestSameBits: two runs give the same times to the last bit, and the two solvers
// give nearly the same.
func TestSameBits(t *testing.T) {
	p := fatTree(t, 64)
	end := func(solver string) float64 {
		r := newRunner(t, p, with(DefaultOptions(), "reprise/solver", solver), ring(64, 1, 256<<10, 10e-6))
		r.run(1000)
		return r.n.now
	}
	if a, b := end("local"), end("local"); a != b {
		t.Errorf("%v and %v", a, b)
	}
	if a, b := end("local"), end("reference"); !near(a, b, 1e-6) {
		t.Errorf("local %v, reference %v", a, b)
	}
}
