package main

import "math"

// relative returns how much larger got is than want, in percent.
func relative(got, want float64) float64 { return 100 * (got/want - 1) }

// spread sums up errors in percent.
type spread struct {
	n          int
	sum, sumOf float64 // of absolute values, and with signs
	worst      float64 // the largest absolute value, with its sign
	worstAt    string
}

func (s *spread) add(err float64, at string) {
	s.n++
	s.sum += math.Abs(err)
	s.sumOf += err
	if s.n == 1 || math.Abs(err) > math.Abs(s.worst) {
		s.worst, s.worstAt = err, at
	}
}

// mean returns the mean absolute error.
func (s *spread) mean() float64 { return s.sum / float64(s.n) }

// bias returns the mean error.
func (s *spread) bias() float64 { return s.sumOf / float64(s.n) }
