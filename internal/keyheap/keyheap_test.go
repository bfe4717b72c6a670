package keyheap

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHeap compares random operations on a heap with places with a sorted list.
func TestHeap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var h Heap
	var want []Item
	places := make([]int32, 300)
	order := func(a, b Item) int {
		if a.before(b) {
			return -1
		}
		return 1
	}
	for id := range int32(300) {
		x := Item{float64(random.IntN(40)), id}
		h.PushAt(x, places)
		want = append(want, x)
		k := random.IntN(len(want))
		if at := places[want[k].ID]; id%3 == 0 {
			h.RemoveAt(int(at), places)
			want = slices.Delete(want, k, k+1)
		} else {
			want[k].Key = float64(random.IntN(40))
			h.SetAt(int(at), want[k].Key, places)
		}
		for i, x := range h {
			if places[x.ID] != int32(i) {
				t.Fatalf("item %d is at %d, not %d", x.ID, i, places[x.ID])
			}
		}
		if len(h) > 0 && h[0] != slices.MinFunc(want, order) {
			t.Fatalf("first %v, want %v", h[0], slices.MinFunc(want, order))
		}
	}
	slices.SortFunc(want, order)
	for _, w := range want {
		if got := h.Pop(); got != w {
			t.Fatalf("%v, want %v", got, w)
		}
	}
}

// TestInit: items in any order, of which the first is replaced, come out sorted.
func TestInit(t *testing.T) {
	h := Heap{{5, 0}, {3, 1}, {9, 2}, {3, 0}, {1, 7}}
	h.Init()
	h.SetFirst(Item{4, 7})
	var got []Item
	for len(h) > 0 {
		got = append(got, h.Pop())
	}
	if want := []Item{{3, 0}, {3, 1}, {4, 7}, {5, 0}, {9, 2}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
