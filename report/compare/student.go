package compare

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// upperTail returns the probability that Student's t with so many degrees of freedom (more
// than 0; +Inf: the normal distribution) is at least t. Source: Abramowitz and Stegun, 26.7.1
// and 6.5.17: both distributions by incomplete functions.
func upperTail(t, freedom float64) float64 {
	half := 0.0 // beyond |t|
	switch square := float64(t * t); {
	case math.IsInf(square, 1):
	case math.IsInf(freedom, 1):
		half = mathext.GammaIncRegComp(0.5, square/2) / 2
	default:
		half = mathext.RegIncBeta(freedom/2, 0.5, freedom/(freedom+square)) / 2
	}
	if t < 0 {
		return 1 - half
	}
	return half
}

// quantile returns the value that Student's t exceeds with a probability of at most a half.
func quantile(tail, freedom float64) float64 {
	if math.IsInf(freedom, 1) {
		return mathext.NormalQuantile(1 - tail)
	}
	x := mathext.InvRegIncBeta(freedom/2, 0.5, 2*tail)
	return math.Sqrt(freedom * (1 - x) / x)
}
