package hpl

import "testing"

// TestGridCounts counts owners index by index.
func TestGridCounts(t *testing.T) {
	for _, tt := range []grid{{n: 37, nb: 6, p: 4, q: 5}, {n: 24, nb: 8, p: 3, q: 1}, {n: 5, nb: 64, p: 2, q: 3}, {n: 9, nb: 1, p: 2, q: 4}} {
		for lo := int64(0); lo <= tt.n+1; lo++ {
			for n := int64(-1); lo+n <= tt.n+1; n++ {
				rows, cols := make([]int64, tt.p), make([]int64, tt.q)
				for i := lo; i < lo+n; i++ {
					rows[tt.rowOwner(i)]++
					cols[tt.colOwner(i)]++
				}
				for r, want := range rows {
					if got := tt.rows(lo, n, int64(r)); got != want {
						t.Fatalf("%+v: rows(%d, %d; %d) = %d, want %d", tt, lo, n, r, got, want)
					}
				}
				for q, want := range cols {
					if got := tt.cols(lo, n, int64(q)); got != want {
						t.Fatalf("%+v: cols(%d, %d; %d) = %d, want %d", tt, lo, n, q, got, want)
					}
				}
			}
		}
	}
}

// TestTree sends along every tree: each member but the root receives once, from
// a member that has the message already.
func TestTree(t *testing.T) {
	for n := 2; n < 40; n++ {
		has := make([]bool, n)
		has[0] = true
		for bit := hi(n - 1); bit >= 1; bit /= 2 {
			arrived := make([]bool, n)
			for x := range n {
				peer, receives, ok := treePeer(x, bit, n)
				if !ok {
					continue
				}
				back, backReceives, backOK := treePeer(peer, bit, n)
				if !backOK || back != x || backReceives == receives {
					t.Fatalf("n = %d, level %d: %d and %d disagree", n, bit, x, peer)
				}
				if receives {
					if has[x] || !has[peer] {
						t.Fatalf("n = %d, level %d: %d receives from %d", n, bit, x, peer)
					}
					arrived[x] = true
				}
			}
			for x := range n {
				has[x] = has[x] || arrived[x]
			}
		}
		for x, ok := range has {
			if !ok {
				t.Errorf("n = %d: %d has nothing", n, x)
			}
		}
	}
}
