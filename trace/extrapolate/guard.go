package extrapolate

import "slices"

// This file says which ranks of a grid do something (guard).

// bound is a coordinate, from the beginning or from the end of the grid.
type bound struct {
	from int
	end  bool
}

// at returns the coordinate in an extent.
func (b bound) at(extent int) int {
	if b.end {
		return extent - 1 - b.from
	}
	return b.from
}

// near returns the bound of a coordinate, from the nearer end.
func near(x, extent int) bound {
	if 2*x < extent {
		return bound{from: x}
	}
	return bound{extent - 1 - x, true}
}

// box is a range of places in each dimension.
type box struct{ low, high [mostDims]bound }

// has reports whether the box has a place.
func (b *box) has(g grid, x [mostDims]int) bool {
	for k, n := range g {
		if x[k] < b.low[k].at(n) || x[k] > b.high[k].at(n) {
			return false
		}
	}
	return true
}

// guard says which ranks do something: those of a box that pass a test.
type guard struct {
	box
	test testKind
	a, b int // dimensions; mask of dimensions and the parity of the sum of their coordinates
	hole box
}

type testKind uint8

const (
	always   testKind = iota
	parity            // the sum of the coordinates of mask a is b modulo 2
	bitOf             // bit a of the rank is b
	multiple          // the rank is a multiple of 2^a
	equal             // coordinates a and b are equal
	unequal
	outside // of the hole
)

// has reports whether a rank is one of the guard's.
func (u *guard) has(g grid, rank int) bool {
	x := g.place(rank)
	if !u.box.has(g, x) {
		return false
	}
	switch u.test {
	case parity:
		sum := 0
		for k := range g {
			sum += x[k] * (u.a >> k & 1)
		}
		return sum&1 == u.b
	case bitOf:
		return rank>>u.a&1 == u.b
	case multiple:
		return rank&(1<<u.a-1) == 0
	case equal:
		return x[u.a] == x[u.b]
	case unequal:
		return x[u.a] != x[u.b]
	case outside:
		return !u.hole.has(g, x)
	}
	return true
}

// bounding returns the smallest box that has these ranks, of which there is one.
func bounding(g grid, ranks []int) (b box) {
	low, high := g.place(ranks[0]), g.place(ranks[0])
	for _, rank := range ranks {
		for k, x := range g.place(rank) {
			low[k], high[k] = min(low[k], x), max(high[k], x)
		}
	}
	for k, n := range g {
		b.low[k], b.high[k] = near(low[k], n), near(high[k], n)
		if low[k] == 0 {
			b.low[k] = bound{} // also in an extent of 1
		}
		if high[k] == n-1 {
			b.high[k] = bound{end: true}
		}
	}
	return b
}

// noneOf reports whether no rank of a grid does it.
func (u *guard) noneOf(g grid) bool {
	for rank := range g.ranks() {
		if u.has(g, rank) {
			return false
		}
	}
	return true
}

// inside makes the bounds, where they are as well, those behind which there is no peer in an open grid.
func (b *box) inside(g grid, ways []way) {
	for _, w := range ways {
		for k, n := range g {
			switch first := int(w.first[k]); {
			case !w.open || w.change != constant:
			case first > 0 && b.high[k].at(n) == n-1-first:
				b.high[k] = bound{first, true}
			case first < 0 && b.low[k].at(n) == -first:
				b.low[k] = bound{from: -first}
			}
		}
	}
}

// newGuard returns the guard whose ranks are exactly these, which are in ascending order or not; nil if there is none.
// The ways are those to their peers.
func newGuard(g grid, ranks []int, ways []way) *guard {
	if len(ranks) == 0 {
		return nil
	}
	within := make([]bool, g.ranks())
	for _, rank := range ranks {
		within[rank] = true
	}
	is := func(u *guard) bool {
		for rank := range within {
			if u.has(g, rank) != within[rank] {
				return false
			}
		}
		return true
	}
	all := bounding(g, ranks)
	all.inside(g, ways)
	try := []guard{{box: all}}
	for mask := 1; mask < 1<<len(g); mask++ {
		try = append(try, guard{box: all, test: parity, a: mask}, guard{box: all, test: parity, a: mask, b: 1})
	}
	for bit := 0; 1<<bit < len(within); bit++ {
		try = append(try, guard{box: all, test: bitOf, a: bit}, guard{box: all, test: bitOf, a: bit, b: 1},
			guard{box: all, test: multiple, a: bit})
	}
	for a := range g {
		for b := a + 1; b < len(g); b++ {
			try = append(try, guard{box: all, test: equal, a: a, b: b}, guard{box: all, test: unequal, a: a, b: b})
		}
	}
	var others []int
	for rank := range within {
		if !within[rank] && all.has(g, g.place(rank)) {
			others = append(others, rank)
		}
	}
	if len(others) > 0 {
		try = append(try, guard{box: all, test: outside, hole: bounding(g, others)})
	}
	if i := slices.IndexFunc(try, func(u guard) bool { return is(&u) }); i >= 0 {
		return &try[i]
	}
	return nil
}
