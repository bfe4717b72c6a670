package hpl

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/tracetest"
	"reprise/trace"
)

// reference follows the state of HPL's look-ahead loop on process column q: what
// is left of the columns, and of each panel's. It returns the begins of its
// updates.
func reference(p *Params, q int64) []string {
	g := newGrid(p)
	type item struct{ j, jb, nq int64 }
	left := g.cols(0, g.n+1, q)
	var updates []string
	update := func(x *item, bcast, asked int64) {
		n := min(asked, x.nq)
		updates = append(updates, fmt.Sprintf("begin pdupdateNN panel=%d bcast=%d NN=%d n=%d", x.j, bcast, asked, n))
		x.nq -= n
	}
	create := func(j int64) *item { return &item{j, min(g.nb, g.n-j), g.cols(j, g.n-j+1, q)} }
	factor := func(x *item) {
		if g.colOwner(x.j) == q {
			x.nq -= x.jb
		}
	}
	var queue []*item
	depth := int64(p.Depth)
	for k := range depth {
		x := create(min(k*g.nb, g.n))
		if k%g.q == q {
			left -= x.jb
		}
		queue = append(queue, x)
	}
	start := min(depth*g.nb, g.n)
	for k, x := range queue {
		factor(x)
		if k < len(queue)-1 {
			update(x, -1, g.cols(x.j+x.jb, start-x.j-x.jb, q))
		}
	}
	for j := start; j < g.n; j += g.nb {
		x := create(j)
		mine := int64(0)
		if g.colOwner(j) == q {
			for _, f := range queue {
				update(f, -1, x.jb)
			}
			mine = x.jb
		}
		factor(x)
		update(queue[0], j, left-mine)
		queue = append(queue[1:], x)
		left -= mine
	}
	for _, f := range queue {
		update(f, -1, g.cols(g.n, 1, q))
	}
	return updates
}

// TestLookAheadState compares the columns of all updates with those that HPL's
// own bookkeeping gives.
func TestLookAheadState(t *testing.T) {
	for _, n := range []int{1, 4, 9, 23} {
		for _, nb := range []int{1, 4, 30} {
			for q := 2; q <= 4; q++ {
				for depth := 1; depth <= 4; depth++ {
					p := small(n, nb, 1, q)
					p.Depth = depth
					tr := tracetest.Open(t, generate(t, p, Options{}))
					for rank := range int32(q) {
						got := matching(strings.Split(list(t, tr, rank, trace.Hit{}), "\n"), "^begin pdupdate")
						if want := reference(&p, int64(rank)); !slices.Equal(got, want) {
							t.Fatalf("N %d NB %d Q %d DEPTH %d rank %d: %s", n, nb, q, depth, rank, cmp.Diff(want, got))
						}
					}
				}
			}
		}
	}
}

func TestFirstSteps(t *testing.T) {
	for _, depth := range []int{0, 2} {
		p := small(24, 4, 2, 2)
		p.Depth = depth
		whole := lines(t, p, 3, trace.Hit{})
		for first := 1; first <= 6; first++ {
			p.FirstSteps = first
			text := list(t, tracetest.Open(t, generate(t, p, Options{})), 3, trace.Hit{})
			got := strings.Split(strings.TrimSuffix(text, "\n"), "\n")[1:]
			if first < 6 && (len(got) >= len(whole) || !slices.Equal(got, whole[:len(got)])) {
				t.Errorf("DEPTH %d, %d steps: not the begin of the whole trace", depth, first)
			}
			if first == 6 && !slices.Equal(got, whole) {
				t.Errorf("DEPTH %d: all steps are not the whole trace", depth)
			}
			if n := len(matching(got, "^begin binit")); n != first {
				t.Errorf("DEPTH %d, %d steps: %d broadcasts", depth, first, n)
			}
		}
	}
}

// TestTags checks the wrap of tags: panel broadcasts 2001 to 3000, messages of
// the back substitution below 4001.
func TestTags(t *testing.T) {
	if got := []int64{bcastTag(0), bcastTag(999), bcastTag(1000)}; !slices.Equal(got, []int64{2001, 3000, 2001}) {
		t.Errorf("tags of panels 0, 999, 1000: %v", got)
	}
	row, col := int64(3003), int64(3002)
	for step := 1; step <= 500; step++ {
		row, col = nextTag(row, firstRowTag), nextTag(col, firstColTag)
		want, ok := map[int][2]int64{498: {3999, 3998}, 499: {3001, 4000}, 500: {3003, 3002}}[step]
		if ok && want != [2]int64{row, col} {
			t.Errorf("after %d steps: %d and %d, want %v", step, row, col, want)
		}
	}
}
