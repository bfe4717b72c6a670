package maxmin_test

import (
	"fmt"

	"reprise/netmodel/maxmin"
)

// Two links of 10 and 4 byte/s. One flow uses both, each of two others one of them.
func Example() {
	s := maxmin.New([]maxmin.Constraint{{Capacity: 10}, {Capacity: 4}}, maxmin.Options{})
	for id, links := range [][]int32{{0, 1}, {0}, {1}} {
		flow := maxmin.Variable{Penalty: 1, Bound: 100, Weights: []float64{1, 1}[:len(links)], Shared: len(links)}
		s.Fit(&flow, links)
		s.Set(uint32(id), &flow, links)
		s.Enable(uint32(id))
	}
	for _, c := range s.Solve() {
		fmt.Printf("flow %d: %g byte/s\n", c.Variable, s.Share(c.Variable))
	}
	s.Disable(2)
	for _, c := range s.Solve() {
		fmt.Printf("then flow %d: %g byte/s\n", c.Variable, s.Share(c.Variable))
	}
	// Unordered output:
	// flow 0: 2 byte/s
	// flow 1: 8 byte/s
	// flow 2: 2 byte/s
	// then flow 0: 4 byte/s
	// then flow 1: 6 byte/s
}
