package measure

import (
	"slices"
	"testing"
)

// TestRunSizes: of 1,000 calls of 2·1 flop, 10 of 2·100 and 2 of 2·1000 (all work: 2,000 + 2,000 + 4,000 flop), and sizes
// between with one call each, two sizes are the one at the middle of the work, half of which is done by calls
// up to 100, then the one at the middle of the calls, 1. Ten dimensions of 0 are no size.
func TestRunSizes(t *testing.T) {
	r := NewRunSizes()
	add := func(s Size, calls int) {
		for range calls {
			if err := r.Add(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	one, hundred, thousand := Size{1, 1, 1}, Size{10, 10, 1}, Size{10, 10, 10}
	add(one, 1000)
	add(hundred, 10)
	add(thousand, 2)
	add(Size{0, 5, 5}, 10)
	if r.Different() != 3 {
		t.Errorf("%d sizes, want 3", r.Different())
	}
	for n, want := range map[int][]Size{1: {hundred}, 2: {one, hundred}, 3: {one, hundred, thousand}, 9: {one, hundred, thousand}} {
		if got := r.Choose(n); !slices.Equal(got, want) {
			t.Errorf("%d sizes: %v, want %v", n, got, want)
		}
	}
}

// TestRunSizesSpread: of 1,000 sizes with one call each, 100 are chosen, as many different ones, the largest
// of them among the last hundredth of the work.
func TestRunSizesSpread(t *testing.T) {
	r := NewRunSizes()
	for m := range int64(1000) {
		if err := r.Add(Size{m + 1, 1, 1}); err != nil {
			t.Fatal(err)
		}
	}
	list := r.Choose(100)
	if len(list) != 100 || len(slices.Compact(slices.Clone(list))) != 100 {
		t.Fatalf("%d sizes: %v", len(list), list)
	}
	// Work up to m is m(m+1)/2 of 500,500: 99 % of it at 995.
	if last := list[99].M; last < 995 {
		t.Errorf("largest size %d, want 995 or more", last)
	}
}
