package main

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRanks(t *testing.T) {
	if d := cmp.Diff([]float64{3, 1, 4.5, 4.5, 2}, ranks([]float64{20, 5, 30, 30, 7})); d != "" {
		t.Error(d)
	}
}

// TestRankCorrelation: 1 - 6*sum(d²)/(n(n²-1)) without ties; here d = 0, 1, -1, 0.
func TestRankCorrelation(t *testing.T) {
	for _, c := range []struct {
		y    []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4}, 1}, {[]float64{9, 7, 5, 0}, -1}, {[]float64{1, 30, 20, 400}, 1 - 6*2.0/(4*15)},
	} {
		if got := rankCorrelation([]float64{10, 20, 30, 40}, c.y); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %g, want %g", c.y, got, c.want)
		}
	}
}

// TestVariance: y = 10 + 4a + 1b + e over a 2x2 design run twice, with e = ±0.5 in
// each pair. Effects are half the difference of means squared times the 8 rows:
// a: 8*(4/2)² = 32, b: 8*(1/2)² = 2; residuals 8*0.25 = 2 with 8-3 = 5 degrees of
// freedom, so F = 32/(2/5) = 80 and 2/(2/5) = 5.
func TestVariance(t *testing.T) {
	var a, b factor
	a.name, b.name = "a", "b"
	var y []float64
	for _, row := range []struct{ a, b float64 }{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
		for _, e := range []float64{-0.5, 0.5} {
			a.levels, b.levels = append(a.levels, gflops(row.a)), append(b.levels, gflops(row.b))
			y = append(y, 10+4*row.a+row.b+e)
		}
	}
	got, err := variance([]factor{a, b}, y)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []effect{{"a", 32, 1, 80, 100 * 32.0 / 36}, {"b", 2, 1, 5, 100 * 2.0 / 36}} {
		g := got[i]
		if g.name != want.name || g.df != want.df || math.Abs(g.sum-want.sum) > 1e-9 || math.Abs(g.f-want.f) > 1e-9 || math.Abs(g.share-want.share) > 1e-9 {
			t.Errorf("%+v, want %+v", g, want)
		}
	}
	if _, err := variance([]factor{a}, y[:2]); err == nil {
		t.Error("two rows: no error")
	}
}

// TestVarianceUnbalanced: y depends on a only, so that an unbalanced second factor
// explains nothing.
func TestVarianceUnbalanced(t *testing.T) {
	a := factor{"a", strings.Fields("0 0 0 1 1 1 1")}
	b := factor{"b", strings.Fields("x x y y y y x")}
	y := []float64{1, 1.1, 0.9, 5.1, 4.9, 5, 5}
	got, err := variance([]factor{a, b}, y)
	if err != nil {
		t.Fatal(err)
	}
	if got[0].f < 100 || got[1].f > 5 {
		t.Errorf("F %g and %g, want much and little", got[0].f, got[1].f)
	}
}

func TestSpread(t *testing.T) {
	var s spread
	for _, e := range []float64{1, -6, 2} {
		s.add(e, gflops(e))
	}
	if s.mean() != 3 || s.bias() != -1 || s.worst != -6 || s.worstAt != "-6" || s.within(5) != 2 || s.limits() != "−6.0 to +2.0 %" {
		t.Errorf("%+v, mean %g, bias %g, %s", s, s.mean(), s.bias(), s.limits())
	}
}

// TestHPLGflops: the first published run, N = 50,000 in 6.1 s, is printed as 13660.
func TestHPLGflops(t *testing.T) {
	if got := hplGflops(50000, 6.1); math.Abs(got-13660) > 5 {
		t.Errorf("%g", got)
	}
}

// TestTenth: percentages are rounded, not cut off.
func TestTenth(t *testing.T) {
	for x, want := range map[float64]string{-13.18: "−13.2", 40.06: "+40.1", 0.04: "+0.0", -0.96: "−1.0"} {
		if got := tenth(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}
