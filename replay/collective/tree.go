package collective

// tree is the place of a rank in a tree of all ranks (newTree), for the algorithms that send along trees.
type tree struct {
	shape    shape
	top      bool   // it is the root
	parent   int    // place of the rank above
	children int    // number of ranks below
	place, p int    // own place: the distance from root
	root     int    // rank of place 0
	fanout   int    // of chains
	kids     [2]int // places of the ranks below, of inOrder
}

type shape uint8

const (
	chains   shape = iota // the root feeds fanout chains of (nearly) equal lengths
	binary                // place v of level l has v + 2^l and v + 2*2^l below it
	binomial              // place v has v + 1, v + 2, v + 4, ... below it, as far as the bits of v are 0
	inOrder               // a binary tree in which subtrees are runs of ranks; rank p-1 is its root, whatever root says
)

// newTree returns the place of the schedule's rank in a tree.
func (s *Schedule) newTree(sh shape, root, fanout int) tree {
	t := tree{shape: sh, place: s.relative(root), p: s.p, root: root, fanout: min(max(fanout, 1), maxFanout, s.p-1)}
	t.top = t.place == 0
	switch sh {
	case chains:
		if t.top {
			t.children = t.fanout
			break
		}
		t.parent, t.children = t.place-1, 1
		for i := range t.fanout + 1 { // the head behind the last chain is place p
			switch h := t.head(i); {
			case t.place == h:
				t.parent = 0
			case t.place == h-1:
				t.children = 0
			}
		}
	case binary:
		width := powerBelow(t.place + 1) // of the level
		t.children = min(2, (t.p-1-t.place)/width)
		if t.parent = t.place - width/2; t.parent >= width-1 {
			t.parent -= width / 2
		}
	case binomial:
		bit := 1
		for ; bit < t.p && t.place&bit == 0; bit *= 2 {
			if t.place+bit < t.p {
				t.children++
			}
		}
		t.parent = t.place &^ bit
	case inOrder:
		// The way from the root down to the own place. The tree of size ranks from low on has its root in the
		// last; its second subtree is the first half of the ranks, its first subtree the others.
		t.root, t.place, t.parent = 0, s.rank, t.p-1
		low, size := 0, t.p
		for {
			top, half := low+size-1, size/2
			if size <= 2 {
				half = 0
			}
			if t.place == top {
				t.top = top == t.p-1
				t.kids = [2]int{top - 1, low + half - 1}
				t.children = min(size-1, 1) + min(half, 1)
				return t
			}
			if t.place >= low+half {
				low, size = low+half, size-half-1
			} else {
				size = half
			}
			t.parent = top
		}
	}
	return t
}

// maxFanout is the most chains that Open MPI's trees have.
const maxFanout = 32

// up returns the rank above.
func (t *tree) up() int { return (t.parent + t.root) % t.p }

// child returns the rank of child i.
func (t *tree) child(i int) int {
	v := 0
	switch t.shape {
	case chains:
		v = t.place + 1
		if t.place == 0 {
			v = t.head(i)
		}
	case binary:
		v = t.place + (i+1)*powerBelow(t.place+1)
	case binomial:
		v = t.place + 1<<i
	case inOrder:
		v = t.kids[i]
	}
	return (v + t.root) % t.p
}

// head returns the place of the first of chain i. The p-1 places are cut into fanout runs, larger ones first.
func (t *tree) head(i int) int { return 1 + int(newCut(int64(t.p-1), t.fanout).before(i)) }

// subtree returns the number of ranks in the binomial subtree of a place.
func (t *tree) subtree(place int) int {
	if place == 0 {
		return t.p
	}
	return min(place&-place, t.p-place)
}
