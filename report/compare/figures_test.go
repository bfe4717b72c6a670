package compare

import (
	"math"
	"testing"
)

// TestMany: of 20 pairs of which one differs by 10 standard errors, that one is told, and it is
// worse than a threshold which it passes; with a p of 0.04 each, none of 20 is.
func TestMany(t *testing.T) {
	var pairs []Pair
	for range 20 {
		// The difference is 2.054 standard errors, which is passed with p = 0.04: a half-width of 1.96
		// standard errors, and sqrt(2) of them for two.
		pairs = append(pairs, Pair{Name: "same", A: EstimatedFigure(100, 1.96), B: EstimatedFigure(100+2.054*math.Sqrt2, 1.96)})
	}
	for _, j := range Many(pairs, 0) {
		if j.Verdict != Unclear || j.Worse || math.Abs(*j.P-0.04) > 0.001 || *j.Holm < 0.5 {
			t.Errorf("%+v, p %g, corrected %g", j, *j.P, *j.Holm)
		}
	}
	pairs[7].B = EstimatedFigure(100+10*math.Sqrt2, 1.96)
	list := Many(pairs, 0.05)
	for i, j := range list {
		if (j.Verdict == More) != (i == 7) || j.Worse != (i == 7) {
			t.Errorf("%d: %+v", i, j)
		}
	}
	if list := Many(pairs, 0.13); list[7].Worse || list[7].Verdict != More {
		t.Errorf("worse than 13 %%, and it is 14 %% slower by 1.4: %+v", list[7])
	}
}

// TestManyExact: without noise a difference is one.
func TestManyExact(t *testing.T) {
	list := Many([]Pair{
		{Name: "slower", A: ExactFigure(1), B: ExactFigure(1.02)},
		{Name: "a little", A: ExactFigure(1), B: ExactFigure(1.005)},
		{Name: "same", A: ExactFigure(1), B: ExactFigure(1)},
		{Name: "quicker", A: ExactFigure(1), B: ExactFigure(0.9)},
		{Name: "unknown", A: OneDraw(1), B: OneDraw(2)},
	}, 0.01)
	for i, want := range []struct {
		verdict Verdict
		worse   bool
	}{{More, true}, {More, false}, {Equal, false}, {Less, false}, {Unclear, false}} {
		if list[i].Verdict != want.verdict || list[i].Worse != want.worse {
			t.Errorf("%+v, want %+v", list[i], want)
		}
	}
}

// TestManyPaired: what two have in common is no noise of their difference. Values with a spread of
// 10 that all differ by 1 +- 0.1 are told apart in pairs, and not by themselves.
func TestManyPaired(t *testing.T) {
	a, b := []float64{90, 100, 110, 95}, []float64{91.1, 100.9, 111.1, 95.9}
	pairs := []Pair{{Name: "paired", A: MeanFigure(a), B: MeanFigure(b), Paired: true}, {Name: "not", A: MeanFigure(a), B: MeanFigure(b)}}
	list := Many(pairs, 0)
	if list[0].Verdict != More || !list[0].Worse || list[1].Verdict != Unclear || list[1].Worse {
		t.Errorf("%+v", list)
	}
}

func TestFigureInterval(t *testing.T) {
	// Student's t of 3 degrees of freedom is 3.182; the values have a deviation of 1.291.
	if got, want := MeanFigure([]float64{1, 2, 3, 4}).Interval(), 3.182446*1.290994/2; math.Abs(got-want) > 1e-5 {
		t.Errorf("%g, want %g", got, want)
	}
	if got := EstimatedFigure(1, 0.25).Interval(); math.Abs(got-0.25) > 1e-12 {
		t.Error(got)
	}
	if ExactFigure(1).Interval() != 0 || !math.IsInf(OneDraw(1).Interval(), 1) {
		t.Error("an exact number has no interval, and that of one draw is not known")
	}
}
