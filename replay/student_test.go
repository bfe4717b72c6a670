package replay

import (
	"math"
	"testing"
)

// TestStudent: the quantiles for 97.5 % of Abramowitz and Stegun, table 26.10, to all of its
// digits, and for one and two degrees of freedom, tan(0.475 Pi) and 0.95 sqrt(2/(1-0.95^2)).
func TestStudent(t *testing.T) {
	for freedom, want := range map[int]float64{3: 3.182, 4: 2.776, 5: 2.571, 10: 2.228, 19: 2.093, 30: 2.042, 120: 1.980} {
		if got := student(freedom, 0.95); math.Abs(got-want) > 5e-4 {
			t.Errorf("%d degrees of freedom: %.4f, want %.3f", freedom, got, want)
		}
	}
	for freedom, want := range map[int]float64{3: 2.353, 10: 1.812, 19: 1.729, 120: 1.658} { // for 95 %
		if got := student(freedom, 0.9); math.Abs(got-want) > 5e-4 {
			t.Errorf("%d degrees of freedom, 90 %%: %.4f, want %.3f", freedom, got, want)
		}
	}
	for freedom, want := range map[int]float64{1: math.Tan(0.475 * math.Pi), 2: 0.95 * math.Sqrt(2/(1-0.95*0.95))} {
		if got := student(freedom, 0.95); math.Abs(got-want) > 1e-13*want {
			t.Errorf("%d degrees of freedom: %.15g, want %.15g", freedom, got, want)
		}
	}
}
