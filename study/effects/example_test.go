package effects_test

import (
	"fmt"

	"reprise/study/effects"
)

// Two factors of two levels, the second of which does nothing.
func ExampleOf() {
	e := effects.Of([]int{2, 2}, [][]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}}, []float64{10, 10, 14, 14})
	fmt.Println(e.Mean, e.Factors[0].Levels, e.Factors[0].Share, e.Factors[1].Share)
	// Output: 12 [-2 2] 1 0
}
