package capture

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func expand(l *loops, items []item) (steps []int32) {
	w := l.walk(items, 1)
	for step, ok := w.next(); ok; step, ok = w.next() {
		steps = append(steps, step)
	}
	return steps
}

// TestShareRandom: whatever is shared, expanding yields what it was; a part of its own is not
// parted again, so that blocks end.
func TestShareRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		f := newFolder(newLoops(numbered(40)))
		phrases := make([][]int32, 3)
		for i := range phrases {
			for range 1 + random.IntN(300) {
				phrases[i] = append(phrases[i], random.Int32N(40))
			}
		}
		for range 1 + random.IntN(10) {
			for _, step := range phrases[random.IntN(len(phrases))] {
				f.add(step)
			}
			f.add(random.Int32N(40))
		}
		s := newSharing(f.loops)
		s.count(f.items)
		shared := s.share(f.items)
		if got, want := expand(f.loops, shared), expand(f.loops, f.items); !slices.Equal(got, want) {
			t.Fatalf("%v is %v", want, got)
		}
		for _, it := range shared {
			if it.turns == 1 && !slices.Equal(s.share(f.loops.bodies[it.what]), f.loops.bodies[it.what]) {
				t.Fatalf("the part %v is parted again", f.loops.bodies[it.what])
			}
		}
	}
}

// TestShareApart: what comes twice with something else between is said once, but for its ends.
func TestShareApart(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	f := newFolder(newLoops(numbered(1000)))
	phrase := random.Perm(900)
	for range 2 {
		for _, step := range phrase {
			f.add(int32(step))
		}
		f.add(950)
		f.add(int32(951 + f.steps%7))
	}
	s := newSharing(f.loops)
	s.count(f.items)
	if n := len(s.share(f.items)); n > len(f.items)/partLeast {
		t.Errorf("%d items are %d", len(f.items), n)
	}
}
