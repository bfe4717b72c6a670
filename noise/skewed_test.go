package noise

import (
	"math"
	"testing"
)

// TestSkewed: draws have the mean and the deviation that they are asked for, within four standard
// errors, and are not below what they cannot be.
//
// An exponential of mean 1 has the moments n!, so that the variance of the square of what
// deviates from the mean is 9 - 1 = 8 deviations to the fourth, for p < 1 at most 24/p^3 means
// to the fourth.
func TestSkewed(t *testing.T) {
	const n = 200_000
	source := NewSource(3)
	for _, c := range []struct{ mean, deviation, least, error2 float64 }{
		{2, 0, 2, 0}, {2, 0.5, 1.5, math.Sqrt(8) * 0.25}, {2, 2, 0, math.Sqrt(8) * 4},
		{2, 4, 0, math.Sqrt(24/math.Pow(0.4, 3)) * 4}, // p = 2/(1+4)
	} {
		sum, squares, least := 0.0, 0.0, math.Inf(1)
		for i := range uint32(n) {
			v := Skewed(c.mean, c.deviation, source.Draw(Computation, 1, 2, i))
			sum += v
			squares += (v - c.mean) * (v - c.mean)
			least = min(least, v)
		}
		if off := math.Abs(sum/n - c.mean); off > 4*c.deviation/math.Sqrt(n)+1e-12 {
			t.Errorf("%g ± %g: mean %g", c.mean, c.deviation, sum/n)
		}
		if off := math.Abs(squares/n - c.deviation*c.deviation); off > 4*c.error2/math.Sqrt(n)+1e-12 {
			t.Errorf("%g ± %g: variance %g", c.mean, c.deviation, squares/n)
		}
		if least < c.least {
			t.Errorf("%g ± %g: %g, at least %g", c.mean, c.deviation, least, c.least)
		}
	}
}
