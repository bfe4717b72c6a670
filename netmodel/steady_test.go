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
