package sampling

import (
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
		if got := lateShape(period); got != want {
			t.Errorf("period %d: %+v, want %+v", period, got, want)
		}
	}
}
