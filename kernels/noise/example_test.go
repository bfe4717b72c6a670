package noise_test

import (
	"fmt"

	"reprise/kernels/noise"
)

// Half-normal deviates of 10 % of a time of 1 s: their smallest is 1 - 0.1324 s. The
// numbers of one rank are there whatever has been drawn before.
func Example() {
	law := noise.Law{Shape: noise.HalfNormal, Modes: []noise.Mode{{Weight: 1, SD: noise.Amount{Relative: 0.1}}}}
	source := noise.NewSource(1)
	shortest, sum := 1.0, 0.0
	const n = 10000
	for i := range uint32(n) {
		seconds := 1 + law.Of(1, source.Draw(noise.Computation, 3, 0, i))
		shortest = min(shortest, seconds)
		sum += seconds
	}
	fmt.Printf("shortest %.3f s, mean %.2f s\n", shortest, sum/n)
	// Output: shortest 0.868 s, mean 1.00 s
}
