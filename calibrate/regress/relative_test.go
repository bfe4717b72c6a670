package regress

import (
	"math"
	"slices"
	"testing"
)

// sampleOf returns points at x with the terms x², x and 1.
func sampleOf(x, y []float64) *Sample {
	s := &Sample{P: 3}
	for i := range x {
		s.X, s.Y, s.W = append(s.X, x[i]*x[i], x[i], 1), append(s.Y, y[i]), append(s.W, 1)
	}
	return s
}

func same(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

// TestRelative: y = c·x minimises relative residuals where c is the mean of y/x: of 0.9, 1.1, 0.9 and 1.1
// that is 1. The variance of each is half of its squared residual, 0.01, by the square of the 3/4 that the
// fit does not follow, and half of that of all, 0.04/3; that of the mean is a fourth of this.
func TestRelative(t *testing.T) {
	x := []float64{1, 10, 100, 1000}
	r := sampleOf(x, []float64{0.9, 11, 90, 1100}).Fit([]int{1})
	if r == nil || !same(r.Coef[0], 1) || !same(r.Covariance[0][0], (0.01/0.75/0.75+0.04/3)/2/4) || !same(r.Loss, 0.04) || r.At([]float64{4, 2, 1}) != 2*r.Coef[0] {
		t.Errorf("got %+v", r)
	}
}

// TestRelativeExact: 2x + 3 comes back, without uncertainty; a tenth of the points that is 100 times as large
// moves it by less than 1 %.
func TestRelativeExact(t *testing.T) {
	var x, y []float64
	for i := range 40 {
		x = append(x, float64(1+i*i))
		y = append(y, 2*x[i]+3)
	}
	r := sampleOf(x, y).Fit([]int{1, 2})
	if r == nil || !same(r.Coef[0], 2) || !same(r.Coef[1], 3) || r.Covariance[0][0] > 1e-20 {
		t.Fatalf("got %+v", r)
	}
	for i := 3; i < 40; i += 10 {
		y[i] *= 100
	}
	if r := sampleOf(x, y).Fit([]int{1, 2}); r == nil || math.Abs(r.Coef[0]-2) > 0.02 || math.Abs(r.Coef[1]-3) > 0.03 {
		t.Errorf("with outliers %+v", r)
	}
}

// TestRelativeRefusals: too few points, terms that are the same, a coefficient below zero.
func TestRelativeRefusals(t *testing.T) {
	x := []float64{1, 2, 3, 4}
	for what, r := range map[string]*Relative{
		"2 points, 2 terms": sampleOf(x[:2], x[:2]).Fit([]int{1, 2}),
		"one term twice":    sampleOf(x, x).Fit([]int{1, 1}),
		"2x - 1":            sampleOf(x, []float64{1, 3, 5, 7}).Fit([]int{1, 2}),
	} {
		if r != nil {
			t.Errorf("%s: %+v", what, r)
		}
	}
}

// TestSelect: of x², x and 1, those that the times have.
func TestSelect(t *testing.T) {
	var x []float64
	for i := range 20 {
		x = append(x, float64(1+i))
	}
	for _, c := range []struct {
		law  func(x float64) float64
		want []int
	}{
		{func(x float64) float64 { return 3 * x }, []int{1}},
		{func(float64) float64 { return 7 }, []int{2}},
		{func(x float64) float64 { return x*x + 5 }, []int{0, 2}},
		{func(x float64) float64 { return x*x + 20*x + 40 }, []int{0, 1, 2}},
	} {
		var y []float64
		for _, v := range x {
			y = append(y, c.law(v))
		}
		if r := sampleOf(x, y).Select(); r == nil || !slices.Equal(r.Terms, c.want) {
			t.Errorf("got %+v, want terms %v", r, c.want)
		}
	}
}

// TestPartition: x up to 17, 3x beyond; two parts, the first up to 17, also where there may be more. One part
// is the best that there is of both.
func TestPartition(t *testing.T) {
	var x, y []float64
	var at [][]float64
	for i := range 40 {
		x = append(x, float64(1+i))
		y = append(y, x[i])
		if x[i] > 17 {
			y[i] *= 3
		}
		at = append(at, []float64{x[i]})
	}
	parts := sampleOf(x, y).Partition(at, 4, (*Sample).Select)
	if len(parts) != 2 || parts[0].Hi[0] != 17 || parts[1].Lo[0] != 17 || len(parts[0].Points) != 17 || !same(parts[1].Fit.Coef[0], 3) || !parts[0].Has([]float64{17}) || parts[1].Has([]float64{17}) {
		t.Errorf("got %+v", parts)
	}
	if parts := sampleOf(x, y).Partition(at, 1, (*Sample).Select); len(parts) != 1 {
		t.Errorf("%d parts, want 1", len(parts))
	}
	if parts := sampleOf(x[:1], y[:1]).Partition(at[:1], 2, (*Sample).Select); parts != nil {
		t.Errorf("of one point %+v", parts)
	}
}

// TestPartitionGoodEnough: slopes of 1 and 1.03, between which one line errs by 1.5 %, are one part; of 1 and 1.1, two.
func TestPartitionGoodEnough(t *testing.T) {
	for step, want := range map[float64]int{1.03: 1, 1.1: 2} {
		var x, y []float64
		var at [][]float64
		for i := range 40 {
			x, y, at = append(x, float64(1+i)), append(y, float64(1+i)), append(at, []float64{float64(1 + i)})
			if i >= 20 {
				y[i] *= step
			}
		}
		fit := func(s *Sample) *Relative { return s.Fit([]int{1}) }
		if parts := sampleOf(x, y).Partition(at, 4, fit); len(parts) != want {
			t.Errorf("slopes 1 and %g: %d parts, want %d", step, len(parts), want)
		}
	}
}
