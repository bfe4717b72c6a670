package sampling

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Student returns the value that Student's distribution with so many degrees of freedom (more than 0; +Inf:
// the normal distribution) exceeds with the probability tail, of at most a half. It is rounded to 1e-12, as
// the logarithms in it differ in their last bits from one processor to another.
func Student(freedom, tail float64) float64 {
	t := -distuv.UnitNormal.Quantile(tail)
	if !math.IsInf(freedom, 1) {
		t = -distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile(tail)
	}
	return math.Round(t*1e12) / 1e12
}
