package sampling_test

import (
	"context"
	"fmt"

	"reprise/replay/sampling"
)

// A run of 10,000 steps, of which step k takes (1 - k/10000)^2 seconds, simulated by
// adding that up. In all it takes 10000/3 s + 1/2 s, nearly.
func Example() {
	measure := func(_ context.Context, _, from, to int) ([]sampling.StartTimes, error) {
		starts := make([]sampling.StartTimes, 1, to-from+1)
		at := 0.0
		for k := from; k < to; k++ {
			left := 1 - float64(k)/10000
			at += left * left
			starts = append(starts, sampling.StartTimes{Mean: at, Last: at})
		}
		return starts, nil
	}
	e, err := sampling.Run(context.Background(), sampling.Options{
		End: 10000, Tolerance: 0.01, Workers: 2, Measure: measure,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f s ± %.1f s from %d steps\n", e.Seconds, e.Interval, e.Simulated)
	// Output: 3333.8 s ± 0.0 s from 73 steps
}
