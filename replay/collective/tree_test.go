package collective

import "testing"

// TestTreesAreTrees: each rank but the root is the child of its parent, and no other's.
func TestTreesAreTrees(t *testing.T) {
	for p := 2; p <= 33; p++ {
		for _, sh := range []shape{chains, binary, binomial, inOrder} {
			for _, root := range []int{0, p / 2} {
				checkTree(t, p, sh, root)
			}
		}
	}
}

func checkTree(t *testing.T, p int, sh shape, root int) {
	t.Helper()
	parents := make([]int, p)
	for r := range parents {
		parents[r] = -1
	}
	tops := 0
	for r := range p {
		s := Schedule{p: p, rank: r}
		tr := s.newTree(sh, root, p/2)
		if tr.top {
			tops++
		}
		for i := range tr.children {
			kid := tr.child(i)
			if parents[kid] >= 0 {
				t.Fatalf("shape %d, %d ranks, root %d: rank %d has parents %d and %d", sh, p, root, kid, parents[kid], r)
			}
			parents[kid] = r
		}
	}
	for r, parent := range parents {
		s := Schedule{p: p, rank: r}
		if tr := s.newTree(sh, root, p/2); !tr.top && tr.up() != parent {
			t.Errorf("shape %d, %d ranks, root %d: rank %d has parent %d, is a child of %d", sh, p, root, r, tr.up(), parent)
		}
	}
	if tops != 1 {
		t.Errorf("shape %d, %d ranks, root %d: %d roots", sh, p, root, tops)
	}
}

// TestInOrderTree: the trees that Open MPI draws in coll_base_topo.c, parents of ranks 0
// to p-1 (-1: the root).
func TestInOrderTree(t *testing.T) {
	for _, want := range [][]int{{1, -1}, {2, 2, -1}, {1, 3, 3, -1}, {1, 3, 3, 8, 5, 7, 7, 8, -1}} {
		for r, parent := range want {
			s := Schedule{p: len(want), rank: r}
			tr := s.newTree(inOrder, 0, 2)
			if tr.top != (parent < 0) || parent >= 0 && tr.up() != parent {
				t.Errorf("%d ranks: rank %d has parent %d, want %d", len(want), r, tr.up(), parent)
			}
		}
	}
}
