package search_test

import (
	"context"
	"fmt"
	"log"

	"reprise/study/search"
)

// The least of 400 values of two factors.
func Example() {
	space := &search.Space{Factors: []search.Factor{{Levels: 20, Ordered: true}, {Levels: 20, Ordered: true}}}
	for p := range 400 {
		space.Points = append(space.Points, []int{p / 20, p % 20})
	}
	found, err := search.Run(context.Background(), space, search.Options{
		Tolerances: []float64{0}, Indifference: 0.01,
		Measure: func(_ context.Context, points []int, _ float64) ([]search.Value, error) {
			var values []search.Value
			for _, p := range points {
				x, y := float64(p/20-13), float64(p%20-4)
				values = append(values, search.Value{Seconds: 100 + x*x + y*y})
			}
			return values, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(space.Points[found[0].Index], found[0].Value.Seconds)
	// Output: [13 4] 100
}
