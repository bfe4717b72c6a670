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
