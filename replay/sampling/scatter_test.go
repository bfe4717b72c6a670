package sampling

import (
	"math"
	"slices"
	"testing"
)

// gapsOf returns gaps of cost 1 with jumps as given, and no changes.
func gapsOf(jumps ...float64) []gap {
	var gaps []gap
	for _, j := range jumps {
		gaps = append(gaps, gap{scale: 1, jump: j})
	}
	return gaps
}

// TestCommonScatter: the lower five of six squares, all 0.491, are those of a variance of 1, with
// 2/3 * 0.65 degrees of freedom each.
func TestCommonScatter(t *testing.T) {
	usual := slices.Repeat([]float64{0.491}, 12)
	for _, c := range []struct {
		name              string
		gaps              []gap
		halves            []float64
		variance, freedom float64
	}{
		{"windows alone", gapsOf(usual...), nil, 1, 5.2},
		{"halves differ less", gapsOf(usual...), slices.Repeat([]float64{0.4}, 20), 1, 5.2},
		// Each counts as its degrees of freedom: (5.2*1 + 13*2) / 18.2.
		{"halves differ more", gapsOf(usual...), slices.Repeat([]float64{2 * 0.491}, 20), 31.2 / 18.2, 18.2},
		{"a period in the windows", gapsOf(usual...), slices.Repeat([]float64{4 * 0.491}, 20), 1, 5.2},
		// 10 of 0.491 and 2 of 30: the mean is 64.91/12; freedom 2 * 2/3 * 64.91^2 / (2 * 900 + 10 * 0.241).
		{"rare dear steps", gapsOf(slices.Concat(usual[:10], []float64{30, 30})...), nil, 64.91 / 12, 4. / 3 * 64.91 * 64.91 / 1802.41},
	} {
		s := commonScatter(c.gaps, c.halves)
		if math.Abs(s.variance-c.variance) > 1e-3*c.variance || math.Abs(s.degreesOfFreedom-c.freedom) > 1e-3*c.freedom {
			t.Errorf("%s: %.4g with %.4g, want %.4g with %.4g", c.name, s.variance, s.degreesOfFreedom, c.variance, c.freedom)
		}
	}
	changed := gapsOf(slices.Concat(usual[:11], []float64{100})...)
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
