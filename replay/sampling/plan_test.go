package sampling

import (
	"math"
	"slices"
	"testing"
)

func planner() *sampler {
	return &sampler{o: Options{First: 0, End: 1000}, shape: shape{warmup: 1, length: 3, coupled: true}}
}

// TestDeal: one window lowers G^2*s by about half, two by two thirds; so two gaps of
// equal length get theirs in the ratio of the square roots of their spreads.
func TestDeal(t *testing.T) {
	s := planner()
	equal := []gap{{from: 0, to: 900, spread: 1}, {from: 1000, to: 1900, spread: 1}}
	if n, total, _ := s.allocate(equal, 0, 8); !slices.Equal(n, []int{4, 4}) || total != 8 {
		t.Errorf("equal gaps: %v, %d", n, total)
	}
	rough := []gap{{from: 0, to: 90000, spread: 1}, {from: 100000, to: 190000, spread: 16}}
	if n, _, _ := s.allocate(rough, 0, 18); !slices.Equal(n, []int{3, 15}) {
		t.Errorf("one gap four times as rough: %v, want 4 and 16 parts", n)
	}
	if n, total, _ := s.allocate(equal, 2e9, 8); total != 0 {
		t.Errorf("good enough already: %v", n)
	}
	known := []gap{{from: 5, to: 5, spread: 1}, {from: 10, to: 20}}
	if n, total, _ := s.allocate(known, -1, 8); total != 0 {
		t.Errorf("nothing to gain: %v", n)
	}
}

// TestPlace: windows lie inside of their gaps, apart, and as long as they should;
// what they would fill is measured from end to end.
func TestPlace(t *testing.T) {
	s := planner()
	spans := s.place([]gap{{from: 100, to: 200}, {from: 300, to: 310}, {from: 400, to: 500}}, []int{3, 3, 0})
	if len(spans) != 4 || spans[3] != (span{299, 310}) {
		t.Fatalf("%v", spans)
	}
	last := 100
	for _, p := range spans[:3] {
		if p.steps() != 4 || p.from+1 < last || p.to > 200 {
			t.Errorf("%v in [%d,200)", p, last)
		}
		last = p.to
	}
}

// TestEvenly: in a cycle of 20 steps that opposite to a window is the best, if it is there, of one cycle from the start
// on; between windows at places 0 and 10, as far away, place 5: (1/4)^2 for both.
func TestEvenly(t *testing.T) {
	for _, c := range []struct {
		from, start, to int
		taken           []int
		want            int
	}{
		{100, 103, 119, []int{0}, 110}, {100, 115, 139, []int{0}, 130}, {102, 102, 108, []int{0}, 108},
		{115, 115, 134, []int{0, 250}, 125},
	} {
		if got := evenly([]int{20}, c.from, c.start, c.to, c.taken); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// TestRootIsBetter: costs of 1, 4 and 16 whose differences are as their roots. Relative to the cost the mean of d^2
// is (1 + 1/4 + 1/16)/3 = 7/16, to the root 1; the logarithms of the costs are log(4) on average.
func TestRootIsBetter(t *testing.T) {
	p := fit{trend: trend{half: 1}, floor: 1}
	for i, cost := range []float64{1, 4, 16} {
		p.gaps = append(p.gaps, gap{from: i, to: i + 1, seen: cost})
	}
	p.trend.c = [terms]float64{1, -1.5, 4.5} // 1, 4, 16 at 0, 1, 2
	if got, want := p.rootIsBetter(), 3*math.Log(7./16*4); math.Abs(got-want) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestDivide: steps whose cost grows as k^2 are worth k, but at least 199.5/1.5 = 133, all 400 of them 133*133 and
// 133+...+399, that is 88711. Part j of 4 ends with the first step n+133 for which 133*133 + 133*n + n*(n-1)/2 is at
// least j/4 of that.
func TestDivide(t *testing.T) {
	r := &roughCosts{trend: trend{half: 400, c: [terms]float64{0, 0, 1}}}
	for _, c := range []struct {
		least int
		want  []int
	}{
		{1, []int{0, 164, 267, 340, 400}},
		{70, []int{0, 164, 260, 330, 400}},
		{100, []int{0, 100, 200, 300, 400}},
	} {
		if ends := r.divide(0, 400, 4, c.least); !slices.Equal(ends, c.want) {
			t.Errorf("at least %d: %v, want %v", c.least, ends, c.want)
		}
	}
}

// TestLateShape: whole periods, about 16 steps, and what counts is on average 40 steps behind the cold start,
// unless the warm-up would be less than half of the usual one.
func TestLateShape(t *testing.T) {
	for period, want := range map[int]shape{
		0: lateWindows, 1: lateWindows, 16: lateWindows, 8: lateWindows,
		5: {warmup: 32, length: 15}, 12: {warmup: 34, length: 12}, 20: {warmup: 30, length: 20}, 32: {warmup: 24, length: 32}, 64: {warmup: 16, length: 64},
	} {
		if got := lateShape(period, 0); got != want {
			t.Errorf("period %d: %+v, want %+v", period, got, want)
		}
	}
	if got, want := lateShape(64, 196), (shape{warmup: 196, length: 64}); got != want {
		t.Errorf("with a memory of 196 steps: %+v, want %+v", got, want)
	}
}

// pairsOf returns pairs of windows of cost 1 with squares as given, and no changes.
func pairsOf(squares ...float64) []pair {
	var pairs []pair
	for _, v := range squares {
		pairs = append(pairs, pair{square: v, scale: 1})
	}
	return pairs
}

// TestCommonScatter: the lower five of six squares, all 0.491, are those of a variance of 1, with
// 2/3 * 0.65 degrees of freedom each.
func TestCommonScatter(t *testing.T) {
	usual := slices.Repeat([]float64{0.491}, 12)
	for _, c := range []struct {
		name              string
		pairs             []pair
		halves            []float64
		variance, freedom float64
	}{
		{"windows alone", pairsOf(usual...), nil, 1, 5.2},
		{"halves differ less", pairsOf(usual...), slices.Repeat([]float64{0.4}, 20), 1, 5.2},
		// Each counts as its degrees of freedom: (5.2*1 + 13*2) / 18.2.
		{"halves differ more", pairsOf(usual...), slices.Repeat([]float64{2 * 0.491}, 20), 31.2 / 18.2, 18.2},
		{"a period in the windows", pairsOf(usual...), slices.Repeat([]float64{4 * 0.491}, 20), 1, 5.2},
		// 10 of 0.491 and 2 of 30: the mean is 64.91/12; freedom 2 * 2/3 * 64.91^2 / (2 * 900 + 10 * 0.241).
		{"rare dear steps", pairsOf(slices.Concat(usual[:10], []float64{30, 30})...), nil, 64.91 / 12, 4. / 3 * 64.91 * 64.91 / 1802.41},
	} {
		s := commonScatter(c.pairs, c.halves)
		if math.Abs(s.variance-c.variance) > 1e-3*c.variance || math.Abs(s.degreesOfFreedom-c.freedom) > 1e-3*c.freedom {
			t.Errorf("%s: %.4g with %.4g, want %.4g with %.4g", c.name, s.variance, s.degreesOfFreedom, c.variance, c.freedom)
		}
	}
	changed := pairsOf(slices.Concat(usual[:11], []float64{100})...)
	changed[11].change = 100
	if s := commonScatter(changed, nil); math.Abs(s.variance-1) > 1e-3 {
		t.Errorf("with a change: %.4g, want 1", s.variance)
	}
}

// TestChanges: a window that differs from both of its neighbours, which are alike, is no change;
// steps that cost more for good are. Windows of 4 steps at a level of 0, 1 above in some.
func TestChanges(t *testing.T) {
	for _, c := range []struct {
		levels, want []float64 // want: of the gaps
	}{
		{[]float64{0, 0, 1, 0, 0}, []float64{0, 0, 0, 0}},
		{[]float64{0, 0, 0, 1, 1}, []float64{0, 0, 0.5, 0}}, // half of the square
		{[]float64{0, 1, 1, 0, 0}, []float64{0.5, 0, 0.5, 0}},
	} {
		p := fit{trend: trend{half: 1}, floor: 1}
		for i, r := range c.levels {
			p.stretches = append(p.stretches, stretch{from: 100 * i, to: 100*i + 4, steps: 4, residual: r})
		}
		var got []float64
		for i := range c.levels[1:] {
			p.bridge(i, 4)
			got = append(got, p.gaps[i].change)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: changes %v, want %v", c.levels, got, c.want)
		}
	}
}

// TestFirstWindows: 16, but as many as an eighth of the steps allows, up to 32, where short windows of a
// run that scatters are all that it takes, and from 8 to 16 in a quarter of the steps if they have long
// warm-ups.
func TestFirstWindows(t *testing.T) {
	for _, c := range []struct {
		steps    int
		scatters bool
		shape    shape
		want     int
	}{
		{4000, false, shortWindows, 16}, {4000, true, shortWindows, 32}, {1000, true, shortWindows, 25}, {300, true, shortWindows, 16}, {4000, true, lateWindows, 16}, {2000, true, lateWindows, 10}, {1000, true, lateWindows, 8},
	} {
		s := &sampler{o: Options{End: c.steps, Scatters: c.scatters}, shape: c.shape}
		if got := s.windows(); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

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
