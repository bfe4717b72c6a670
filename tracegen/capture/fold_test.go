package capture

import (
	"math/rand/v2"
	"testing"
)

func folded(steps []int32) *folder {
	f := newFolder(newLoops())
	for _, s := range steps {
		f.add(s)
	}
	return f
}

// TestFold: loops in loops take as many items whatever their turns, and say what was added.
func TestFold(t *testing.T) {
	for _, turns := range []int{3, 10, 300} {
		var steps []int32
		for range turns {
			steps = append(steps, 1)
			for range 5 {
				steps = append(steps, 2, 3, 2, 4)
			}
			steps = append(steps, 5)
		}
		steps = append(steps, 6)
		f := folded(steps)
		if len(f.items) != 2 || f.items[0].turns != int32(turns) || len(f.loops.bodies[f.items[0].what]) != 3 {
			t.Errorf("%d turns: %v of %v", turns, f.items, f.loops.bodies)
		}
		if err := f.check(outline{before: f.items}, 0); err != nil {
			t.Error(err)
		}
	}
}

// TestFoldRandom: of any sequence, expanding yields what was added; fences stay.
func TestFoldRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		f := newFolder(newLoops())
		kinds := 1 + random.Int32N(4)
		for range random.IntN(2000) {
			if random.IntN(200) == 0 {
				f.fence()
			}
			f.add(random.Int32N(kinds))
		}
		if err := f.check(outline{before: f.items}, 0); err != nil {
			t.Fatal(err)
		}
	}
}
