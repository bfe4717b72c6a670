package hpl

import (
	"slices"
	"strings"
	"testing"

	"reprise/trace"
	"reprise/trace/vectors"
)

func TestReadPivots(t *testing.T) {
	rows, err := ReadPivots(strings.NewReader("2\n1\n 2\n"), "p", 3)
	if err != nil || !slices.Equal(rows, []int32{2, 1, 2}) {
		t.Errorf("%v, %v", rows, err)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"few", "0\n1\n", "p:2: 2 pivots, want N = 3"},
		{"many", "0\n1\n2\n2\n", "p:4: more than N = 3 pivots"},
		{"above", "0\n0\n2\n", "p:2: pivot row 0 of column 1, allowed 1 to 2"},
		{"below", "0\n3\n2\n", "p:2: pivot row 3 of column 1, allowed 1 to 2"},
		{"word", "0\nx1\n2\n", `p:2: pivot "x1" is not a row`},
		{"empty line", "0\n\n2\n", `p:2: pivot "" is not a row`},
		{"nothing", "", "p:0: 0 pivots, want N = 3"},
	} {
		if _, err := ReadPivots(strings.NewReader(tt.text), "p", 3); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

func FuzzReadPivots(f *testing.F) {
	f.Add("2\n1\n2\n", 3)
	f.Add("0\n\n", 1)
	f.Add("99999999999999999999\n", 2)
	f.Fuzz(func(t *testing.T, text string, n int) {
		rows, err := ReadPivots(strings.NewReader(text), "p", n)
		if err != nil {
			return
		}
		if len(rows) != n {
			t.Fatalf("%d rows, want %d", len(rows), n)
		}
		for c, r := range rows {
			if int(r) < c || int(r) >= n {
				t.Fatalf("column %d: row %d", c, r)
			}
		}
	})
}

// TestRowCounts compares the counts of distinct rows with a map.
func TestRowCounts(t *testing.T) {
	g := &grid{n: 500, nb: 20, p: 7, q: 1}
	var counter rowCounter
	for seed := range uint64(20) {
		v := &pivotRows{n: g.n, kind: RandomPivots, seed: seed, key: vectors.PivotKey(seed)}
		for j := int64(0); j < g.n; j += g.nb {
			seen := map[int64]bool{}
			want := make([]int64, g.p)
			for c := j; c < j+g.nb; c++ {
				r := v.row(c)
				if r < c || r >= g.n {
					t.Fatalf("column %d: row %d", c, r)
				}
				seen[c], seen[r] = true, true
			}
			for r := range seen {
				want[mod(g.rowOwner(r)-g.rowOwner(j), g.p)]++
			}
			got := make([]int64, g.p)
			counter.count(got, v, g, j, g.nb)
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, panel %d: K = %v, want %v", seed, j, got, want)
			}
		}
	}
}

// TestPivotSources gives the same pivots as rows and by seed: the same trace.
func TestPivotSources(t *testing.T) {
	for _, swap := range []Swap{BinaryExchange, SpreadRoll} {
		p := small(70, 8, 3, 2)
		p.Swap = swap
		p.Pivots = Pivots{Kind: RandomPivots, Seed: 42}
		v := &pivotRows{n: 70, kind: RandomPivots, seed: 42, key: vectors.PivotKey(42)}
		given := p
		given.Pivots = Pivots{Kind: GivenPivots}
		for c := range int64(70) {
			given.Pivots.Rows = append(given.Pivots.Rows, int32(v.row(c)))
		}
		for rank := range int32(6) {
			wantLines(t, lines(t, p, rank, trace.Hit{}), lines(t, given, rank, trace.Hit{}))
		}
	}
}
