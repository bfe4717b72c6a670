package search

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Space is what is searched: points, each of which has a level of each factor.
type Space struct {
	Factors []Factor
	Points  [][]int
}

// Factor is one of the things in which points differ.
type Factor struct {
	Levels  int
	Ordered bool // levels that are nearer to each other are more alike
}

// Value is what a measurement tells.
type Value struct {
	Seconds  float64
	Interval float64 // half-width, with 95 % confidence; 0: it is exact
}

// Options say how to search.
type Options struct {
	// Tolerances are those of the measurements, each less than the one before; 0: exact.
	Tolerances []float64
	// Indifference is a difference that does not matter: what is better than the best by less is not
	// sought.
	Indifference float64
	// Measure measures points, numbers in Space.Points, to a tolerance.
	Measure func(ctx context.Context, points []int, tolerance float64) ([]Value, error)
	// Progress, if set, is called when something was measured.
	Progress func(Progress)
}

// Progress is how far a search has come.
type Progress struct {
	Tolerance float64 // of the measurements at hand
	Measured  int     // points, to whatever tolerance
	Open      int     // points that are to be measured, by what is known
	Best      Point
}

// Found is what a search has found.
type Found struct {
	// Points are those that were measured to the last tolerance, the best first, and then the others.
	Points []Point
}

// Point is a point that was measured.
type Point struct {
	Index     int // in Space.Points
	Value     Value
	Tolerance float64 // to which it was measured last
}

// validate reports what is wrong with a search.
func validate(s *Space, o *Options) error {
	var errs []error
	if len(s.Points) == 0 {
		errs = append(errs, errors.New("search: no points"))
	}
	for i, x := range s.Points {
		if len(x) != len(s.Factors) {
			errs = append(errs, fmt.Errorf("search: point %d has %d levels of %d factors", i, len(x), len(s.Factors)))
			break
		}
	}
	if len(o.Tolerances) == 0 {
		errs = append(errs, errors.New("search: no tolerance"))
	}
	for i, t := range o.Tolerances {
		if !(t >= 0 && t < 1) || i > 0 && t >= o.Tolerances[i-1] {
			errs = append(errs, fmt.Errorf("search: tolerances %v, want shares of at least 0, each less than the one before",
				o.Tolerances))
			break
		}
	}
	if !(o.Indifference >= 0) || math.IsInf(o.Indifference, 1) {
		errs = append(errs, fmt.Errorf("search: indifference %v, want a share of at least 0", o.Indifference))
	}
	if o.Measure == nil {
		errs = append(errs, errors.New("search: no measure"))
	}
	return errors.Join(errs...)
}
