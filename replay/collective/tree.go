package collective

// tree is where a rank stands in a tree of all ranks.
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
	switch sh {
	case chains:
		t.chain()
	case binary:
		t.binary()
	case binomial:
		t.binomial()
	case inOrder:
		t.root, t.place = 0, s.rank
		t.inOrder()
		return t
	}
	t.top = t.place == 0
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

// head returns the place of the first of chain i. The p-1 places are cut into
// fanout runs, larger ones first.
func (t *tree) head(i int) int {
	return 1 + int(newCut(int64(t.p-1), t.fanout).before(i))
}

func (t *tree) chain() {
	if t.place == 0 {
		t.children = t.fanout
		return
	}
	t.parent = t.place - 1
	last := t.place == t.p-1
	for i := range t.fanout {
		switch h := t.head(i); {
		case t.place == h:
			t.parent = 0
		case t.place == h-1:
			last = true
		}
	}
	if !last {
		t.children = 1
	}
}

func (t *tree) binary() {
	width := powerBelow(t.place + 1) // of the level
	for i := 1; i <= 2 && t.place+i*width < t.p; i++ {
		t.children++
	}
	if t.place > 0 {
		t.parent = t.place - width/2
		if t.parent >= width-1 {
			t.parent -= width / 2
		}
	}
}

func (t *tree) binomial() {
	bit := 1
	for ; bit < t.p; bit *= 2 {
		if t.place&bit != 0 {
			t.parent = t.place - bit
			return
		}
		if t.place+bit < t.p {
			t.children++
		}
	}
}

// inOrder descends from the root to the own place. The tree of size ranks from
// low on has its root in the last; its second subtree is the first half of the
// ranks, its first subtree the others.
func (t *tree) inOrder() {
	low, size := 0, t.p
	t.parent = t.p - 1
	for {
		root, half := low+size-1, size/2
		if size <= 2 {
			half = 0
		}
		first, second := root-1, low+half-1
		switch {
		case t.place == root:
			t.top = root == t.p-1
			t.below(size > 1, first)
			t.below(half > 0, second)
			return
		case t.place > second:
			t.parent, low, size = root, low+half, size-half-1
		default:
			t.parent, size = root, half
		}
	}
}

func (t *tree) below(is bool, place int) {
	if is {
		t.kids[t.children] = place
		t.children++
	}
}

// subtree returns the number of ranks in the binomial subtree of a place.
func (t *tree) subtree(place int) int {
	if place == 0 {
		return t.p
	}
	return min(place&-place, t.p-place)
}
