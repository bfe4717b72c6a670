package sampling

import (
	"math"
	"testing"
)

// TestLeastSquares against systems that can be solved on paper.
func TestLeastSquares(t *testing.T) {
	for _, c := range []struct {
		name    string
		columns [][]float64
		y, want []float64
	}{
		// y = 1 + 2u at u = 0, 1, 2.
		{"exact", [][]float64{{1, 1, 1}, {0, 1, 2}}, []float64{1, 3, 5}, []float64{1, 2}},
		// The line through (0,0), (1,0), (2,3): slope 3/2, mean 1 at u = 1.
		{"residuals", [][]float64{{1, 1, 1}, {0, 1, 2}}, []float64{0, 0, 3}, []float64{-0.5, 1.5}},
		{"dependent", [][]float64{{1, 1, 1}, {2, 2, 2}, {0, 1, 2}}, []float64{1, 3, 5}, []float64{1, 0, 2}},
		{"nothing", [][]float64{{0, 0}, {1, 1}}, []float64{4, 4}, []float64{0, 4}},
	} {
		x := make([]float64, len(c.columns))
		leastSquares(c.columns, c.y, x)
		for i := range x {
			if math.Abs(x[i]-c.want[i]) > 1e-12 {
				t.Errorf("%s: %v, want %v", c.name, x, c.want)
				break
			}
		}
	}
}

// TestStudent against the published table of the 97.5 % quantile.
func TestStudent(t *testing.T) {
	for _, c := range []struct{ freedom, want, tolerance float64 }{
		{3, 3.182, 0.03}, {5, 2.571, 0.01}, {10, 2.228, 1e-3}, {30, 2.042, 1e-3}, {1e9, 1.960, 1e-3},
	} {
		if got := student(c.freedom, firstLook); math.Abs(got-c.want) > c.tolerance*c.want {
			t.Errorf("%v degrees of freedom: %.4f, want %.3f", c.freedom, got, c.want)
		}
	}
}

func TestSmaller(t *testing.T) {
	if m := trimmedMean([]float64{5, 1, 3}); m != 3 {
		t.Errorf("of three: %v, want the mean of all", m)
	}
	if m := trimmedMean([]float64{5, 900, 3, 4, 1, 2}); m != 3 {
		t.Errorf("of six: %v, want the mean of five", m)
	}
}
