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

// longCast lists what position y of n does in the spread and roll of c doubles,
// straight from the formulas of HPL 2.3's control flow; rank turns a position
// into a world rank.
func longCast(n, y int, c, tag int, rank func(int) int) []string {
	g := max(1, c/n)
	size := func(lo, hi int) int { // bytes of the pieces [lo, hi)
		end := min(c, hi*g)
		if hi >= n {
			end = c
		}
		return 8 * max(0, end-lo*g)
	}
	piece := func(i int) int { i = (i + 2*n) % n; return size(i, i+1) }
	peer := func(i int) int { return rank((i + n) % n) }
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for b := hi(n - 1); b >= 1; b /= 2 {
		switch {
		case y%b != 0:
		case y&b != 0:
			say("recv %d %d %d row", peer(y-b), size(y, min(n, y+b)), tag)
		case y+b < n:
			say("ssend %d %d %d row", peer(y+b), size(y+b, min(n, y+2*b)), tag)
		}
	}
	for k := 0; k <= n-2; k++ {
		l, to, send, receive := k/2, y+1, y-k/2, y+k/2+1
		if (y+k)%2 == 1 {
			to, send, receive = y-1, y+l, y-l-1
		}
		say("issend %d %d %d row", peer(to), piece(send), tag)
		say("recv %d %d %d row", peer(to), piece(receive), tag)
		say("wait send %d %d %d", peer(to), piece(send), tag)
	}
	return out
}

// TestLongBroadcasts compares long broadcasts with their formulas, for messages
// down to fewer doubles than process columns.
func TestLongBroadcasts(t *testing.T) {
	for q := 2; q <= 9; q++ {
		for _, nb := range []int{1, 2, 5} {
			for _, b := range []Bcast{Long, LongM} {
				p := small(7, nb, 2, q)
				p.Bcast, p.Depth = b, 1+q%3
				tr := tracetest.Open(t, generate(t, p, Options{}))
				for rank := range int32(2 * q) {
					got := bcasts(list(t, tr, rank, trace.Hit{}))
					want := wantBcasts(&p, int(rank)/q, int(rank)%q)
					if !slices.Equal(got, want) {
						t.Fatalf("%v, Q %d, NB %d, rank %d: %s", b, q, nb, rank, cmp.Diff(want, got))
					}
				}
			}
		}
	}
}

// bcasts returns the messages along process rows before the back substitution.
func bcasts(text string) []string {
	text, _, _ = strings.Cut(text, "begin pdtrsv")
	return matching(strings.Split(text, "\n"), ` row$|^wait send `)
}

// wantBcasts lists the broadcasts of a run with look-ahead on process (r, c) of
// a row-major grid.
func wantBcasts(p *Params, r, c int) []string {
	g := newGrid(p)
	var want []string
	for k := range p.Steps() {
		j := min(int64(k)*g.nb, g.n)
		jb := min(g.nb, g.n-j)
		tag := 2001 + k
		if k >= p.Depth {
			tag++ // skipped after the start-up
		}
		length := int(g.rows(j+jb, g.n-j-jb, int64(r))*jb + jb*jb + jb + 1)
		root := int(g.colOwner(j))
		x := (c - root + p.Q) % p.Q
		if p.Bcast == Long {
			rank := func(y int) int { return r*p.Q + (root+y)%p.Q }
			want = append(want, longCast(p.Q, x, length, tag, rank)...)
			continue
		}
		rank := func(y int) int { return r*p.Q + (root+y+min(y, 1))%p.Q }
		switch {
		case x == 1:
			want = append(want, fmt.Sprintf("recv %d %d %d row", rank(0), 8*length, tag))
		case x == 0:
			want = append(want, fmt.Sprintf("ssend %d %d %d row", r*p.Q+(root+1)%p.Q, 8*length, tag))
		}
		if x != 1 && p.Q > 2 {
			want = append(want, longCast(p.Q-1, max(0, x-1), length, tag, rank)...)
		}
	}
	return want
}

// TestPolls: HPL_bcast of the four rings asks by HPL_Iprobe whether the panel is there,
// that of the long ones does not ask (HPL_bcast_blong.c). One column of processes has
// nobody to wait for. Without look-ahead the answer decides nothing: HPL asks until the panel is there.
func TestPolls(t *testing.T) {
	for _, c := range []struct {
		bcast string
		depth int
		cols  int
		want  bool
	}{
		{"1ring", 1, 3, true}, {"1ringM", 0, 3, true}, {"2ring", 0, 3, true}, {"2ringM", 1, 3, true},
		{"long", 0, 3, false}, {"long", 1, 3, false}, {"longM", 0, 3, false}, {"longM", 1, 3, false},
		{"1ring", 1, 1, false},
	} {
		p := DefaultParams(200, 2, c.cols)
		p.NB, p.Depth = 32, c.depth
		if err := p.Set("BCAST", c.bcast); err != nil {
			t.Fatal(err)
		}
		program := tracetest.Open(t, generate(t, p, Options{})).Program()
		if got, ahead := program.Polls(), program.PollsAhead(); got != c.want || ahead != (c.want && c.depth > 0) {
			t.Errorf("%s, depth %d, %d columns: polls %t, ahead %t", c.bcast, c.depth, c.cols, got, ahead)
		}
	}
}
