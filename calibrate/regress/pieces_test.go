package regress

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// sample returns points of f at sizes.
func sample(f func(float64) float64, sizes ...float64) Points {
	var p Points
	for _, x := range sizes {
		p.X, p.Y, p.W = append(p.X, x), append(p.Y, f(x)), append(p.W, 1)
	}
	return p
}

// decades returns n sizes a decade, from 10^from to below 10^to.
func decades(n int, from, to float64) []float64 {
	var list []float64
	for i := range int((to - from) * float64(n)) {
		list = append(list, math.Round(math.Pow(10, from+float64(i)/float64(n))))
	}
	return slices.Compact(list)
}

func TestLines(t *testing.T) {
	for _, test := range []struct {
		name string
		want Line
		x    []float64
	}{
		{"both", Line{4e-8, 1.7e-11}, decades(10, 0, 6)},
		{"both, from zero", Line{4e-8, 1.7e-11}, append([]float64{0}, decades(10, 0, 6)...)},
		{"proportional", Line{0, 5e-11}, decades(10, 1, 6)},
		{"constant", Line{3e-6, 0}, decades(10, 0, 3)},
		{"far from zero", Line{1e-3, 1e-9}, decades(20, 5, 6)},
	} {
		for _, plain := range []bool{false, true} {
			fit, err := FitPieces(sample(test.want.At, test.x...), nil, plain)
			if err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
			got := fit.Pieces[0].Line
			// A term that is not there may come out as a rounding error of the other.
			span := test.want.At(test.x[len(test.x)-1])
			if math.Abs(got.Intercept-test.want.Intercept) > 1e-7*test.want.Intercept+1e-12*span ||
				math.Abs(got.Slope-test.want.Slope)*test.x[len(test.x)-1] > 1e-7*span {
				t.Errorf("%s, plain %t: got %+v, want %+v", test.name, plain, got, test.want)
			}
		}
	}
}

// TestNotNegative: of falling times the best line that does not fall is constant:
// on logarithms their geometric mean, sqrt(4*1) = 2, else their mean, 2.5. Through (1,1)
// (2,4), with intercept -2, the best line from zero has the slope (1+8)/(1+4).
func TestNotNegative(t *testing.T) {
	falling := Points{X: []float64{1, 2}, Y: []float64{4, 1}, W: []float64{1, 1}}
	steep := Points{X: []float64{1, 2}, Y: []float64{1, 4}, W: []float64{1, 1}}
	for _, test := range []struct {
		p     Points
		plain bool
		want  Line
	}{
		{falling, false, Line{2, 0}}, {falling, true, Line{2.5, 0}},
		{steep, true, Line{0, 9.0 / 5}},
		{steep, false, Line{0, math.Sqrt(1 * 2)}}, // geometric mean of y/x: 1 and 2
	} {
		fit, err := FitPieces(test.p, nil, test.plain)
		must(t, err)
		got := fit.Pieces[0].Line
		if !near(got.Intercept, test.want.Intercept, 1e-12) || !near(got.Slope, test.want.Slope, 1e-12) {
			t.Errorf("plain %t: got %+v, want %+v", test.plain, got, test.want)
		}
	}
}

// memcpy is the model of the published regression of memcpy timings: see
// TestPublishedModel.
func memcpy(x float64) float64 {
	switch {
	case x <= 14495:
		return 1.739e-11*x + 4.181e-8
	case x <= 992466:
		return 5.457e-11 * x
	case x <= 5629667:
		return 8.929e-11 * x
	}
	return 1.935e-10*x + 1.294e-5
}

// TestPublishedModel: from sizes over eight decades, the breakpoints of four lines that
// were fitted to memcpy timings come back (each as the last size before it), and the coefficients, without
// noise and with an alternating one of 3 %. The lines are facts from T. Cornebize, "High
// Performance Computing: Towards Better Performance Predictions and Experiments", PhD thesis, 2021.
func TestPublishedModel(t *testing.T) {
	x := decades(25, 1, 9)
	var want []float64
	for _, b := range []float64{14495, 992466, 5629667} {
		i, _ := slices.BinarySearch(x, b)
		want = append(want, x[i-1])
	}
	for _, noise := range []float64{0, 0.03} {
		p := sample(memcpy, x...)
		for i := range p.Y {
			p.Y[i] *= 1 + noise*float64(1-i%2*2)
		}
		fit, err := LearnPieces(p, DefaultLearnOptions())
		must(t, err)
		if got := fit.Breakpoints(); !slices.Equal(got, want) {
			t.Errorf("noise %g: breakpoints %v, want %v", noise, got, want)
			continue
		}
		for i, slope := range []float64{1.739e-11, 5.457e-11, 8.929e-11, 1.935e-10} {
			if got := fit.Pieces[i].Slope; !near(got, slope, 1e-7+noise) {
				t.Errorf("noise %g: slope of piece %d: %g, want %g", noise, i, got, slope)
			}
		}
	}
}

// TestEightPieces: y = i x + i for the i-th ten sizes, i = 1..8, of which the
// greedy splits find more than there are: the others must be merged away.
func TestEightPieces(t *testing.T) {
	var p Points
	var want []float64
	for i := range 8 {
		for k := range 50 {
			x := 10*float64(i) + 0.2*float64(k)
			p.X, p.Y = append(p.X, x), append(p.Y, float64(i+1)*x+float64(i+1))
		}
		if i < 7 {
			want = append(want, p.X[len(p.X)-1])
		}
	}
	o := DefaultLearnOptions()
	o.Gain = 0
	fit, err := LearnPieces(p, o)
	must(t, err)
	if got := fit.Breakpoints(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPiecesErrors(t *testing.T) {
	good := Points{X: []float64{1, 2, 3}, Y: []float64{1, 2, 3}}
	for _, test := range []struct {
		name string
		p    Points
		b    []float64
		want error
	}{
		{"none", Points{}, nil, ErrTooFew},
		{"one size in a piece", good, []float64{2}, ErrTooFew},
		{"no size in a piece", good, []float64{10}, ErrTooFew},
	} {
		if _, err := FitPieces(test.p, test.b, false); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
	if _, err := LearnPieces(good, DefaultLearnOptions()); !errors.Is(err, ErrTooFew) {
		t.Errorf("three points: %v", err)
	}
	for _, o := range []LearnOptions{{1, 1, 0}, {2, 0, 0}, {2, 1, 1}, {2, 1, math.NaN()}} {
		if _, err := LearnPieces(good, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}
