package regress

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// near reports whether two numbers agree to a relative tolerance.
func near(a, b, tolerance float64) bool {
	return a == b || math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b))
}

// TestStraightLine: y = a + b x through (0,1) (1,3) (2,4) (3,6) (4,6):
// mean x 2, mean y 4, Sxx 10, Sxy = (-2)(-3)+(-1)(-1)+0+1*2+2*2 = 13, so
// b = 1.3, a = 1.4; residuals -0.4 0.3 0 0.7 -0.6, RSS 0.16+0.09+0.49+0.36 = 1.1,
// Syy 9+1+0+4+4 = 18, R² = 1-1.1/18, variance 1.1/3,
// error of b sqrt(variance/10), of a sqrt(variance (1/5 + 4/10)).
func TestStraightLine(t *testing.T) {
	x := []float64{1, 0, 1, 1, 1, 2, 1, 3, 1, 4}
	y := []float64{1, 3, 4, 6, 6}
	l, err := LeastSquares(x, y, nil, 2)
	must(t, err)
	variance := 1.1 / 3
	aic, bic := l.Criteria()
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"a", l.Coef[0], 1.4}, {"b", l.Coef[1], 1.3},
		{"error of a", l.StdErr[0], math.Sqrt(variance * 0.6)}, {"error of b", l.StdErr[1], math.Sqrt(variance / 10)},
		{"RSS", l.RSS, 1.1}, {"R2", l.R2, 1 - 1.1/18}, {"sigma", l.Sigma(), math.Sqrt(variance)},
		{"AIC", aic, 5*math.Log(0.22) + 6}, {"BIC", bic, 5*math.Log(0.22) + 3*math.Log(5)},
	} {
		if !near(c.got, c.want, 1e-12) {
			t.Errorf("%s: got %g, want %g", c.name, c.got, c.want)
		}
	}
}

// TestWeights: a point of weight 3 counts like three points.
func TestWeights(t *testing.T) {
	once, err := LeastSquares([]float64{1, 0, 1, 1, 1, 2}, []float64{1, 2, 5}, []float64{1, 3, 1}, 2)
	must(t, err)
	thrice, err := LeastSquares([]float64{1, 0, 1, 1, 1, 1, 1, 1, 1, 2}, []float64{1, 2, 2, 2, 5}, nil, 2)
	must(t, err)
	for j := range 2 {
		if !near(once.Coef[j], thrice.Coef[j], 1e-13) {
			t.Errorf("coefficient %d: %g and %g", j, once.Coef[j], thrice.Coef[j])
		}
	}
	if !near(once.R2, thrice.R2, 1e-13) || !near(once.RSS, thrice.RSS, 1e-13) {
		t.Errorf("R2 %g and %g, RSS %g and %g", once.R2, thrice.R2, once.RSS, thrice.RSS)
	}
}

func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		name string
		x, y []float64
		want error
	}{
		{"as many points as terms", []float64{1, 2, 1, 3}, []float64{1, 2}, ErrTooFew},
		{"proportional terms", []float64{1, 2, 2, 4, 3, 6}, []float64{1, 2, 3}, ErrRank},
		{"zero term", []float64{1, 0, 2, 0, 3, 0}, []float64{1, 2, 3}, ErrRank},
	} {
		if _, err := LeastSquares(test.x, test.y, nil, 2); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
}

// TestNoScatter: of equal values, however many, nothing is left to explain: R2 is 1, though their sum is rounded.
func TestNoScatter(t *testing.T) {
	for n := 2; n <= 100; n++ {
		one, y := slices.Repeat([]float64{1}, n), slices.Repeat([]float64{3e-6}, n)
		if l, err := LeastSquares(one, y, nil, 1); err != nil || l.R2 != 1 {
			t.Errorf("%d values: %v, %+v, want an R2 of 1", n, err, l)
		}
	}
}

// must ends the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
