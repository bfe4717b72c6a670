package capture

import (
	"math/rand/v2"
	"testing"
)

func folded(steps []int32) *folder {
	f := newFolder(newLoops(numbered(10)))
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

// TestFoldLong: turns of thousands of different steps are a loop, too, up to the longest.
func TestFoldLong(t *testing.T) {
	for _, c := range []struct{ period, items int }{{3000, 1}, {mostPeriod, 1}, {mostPeriod + 1, 3 * (mostPeriod + 1)}} {
		f := newFolder(newLoops(numbered(int64(c.period))))
		for range 3 {
			for step := range c.period {
				f.add(int32(step))
			}
		}
		if len(f.items) != c.items {
			t.Errorf("three turns of %d steps: %d items, want %d", c.period, len(f.items), c.items)
		}
	}
}

// TestFoldLarge: a body that is too large for a block of the trace stays steps.
func TestFoldLarge(t *testing.T) {
	const period = 500
	table := newTable()
	slots := table.list(make([]int64, mostBytes/period/5))
	for i := range int64(period) {
		table.number(step{form: form{slots: slots}, args: [numArgs]int64{i}})
	}
	f := newFolder(newLoops(table))
	for range 3 {
		for step := range int32(period) {
			f.add(step)
		}
	}
	if len(f.items) != 3*period || len(f.loops.bodies) != 0 {
		t.Errorf("%d items, want %d; %d bodies, want none", len(f.items), 3*period, len(f.loops.bodies))
	}
}

// numbered returns a table of so many different steps.
func numbered(n int64) *table {
	t := newTable()
	for i := range n {
		t.number(step{args: [numArgs]int64{i}})
	}
	return t
}

// TestFoldRandom: of any sequence, expanding yields what was added.
func TestFoldRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		f := newFolder(newLoops(numbered(10)))
		kinds := 1 + random.Int32N(4)
		for range random.IntN(2000) {
			f.add(random.Int32N(kinds))
		}
		if err := f.check(outline{before: f.items}, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFoldLists: what a loop repeats may have lists of counts, so many different ones.
func TestFoldLists(t *testing.T) {
	for _, c := range []struct{ lists, items int }{{mostLists, 1}, {mostLists + 1, 3 * (mostLists + 1)}} {
		table := newTable()
		var steps []int32
		for i := range c.lists {
			steps = append(steps, table.number(step{lists: [2]int32{0, int32(1 + i)}}))
		}
		f := newFolder(newLoops(table))
		for range 3 {
			for _, n := range steps {
				f.add(n)
			}
		}
		if bodies := 1; len(f.items) != c.items || c.items > 1 && len(f.loops.bodies) != 0 || c.items == 1 && len(f.loops.bodies) != bodies {
			t.Errorf("%d lists: %d items, want %d; bodies %v", c.lists, len(f.items), c.items, f.loops.bodies)
		}
	}
}
