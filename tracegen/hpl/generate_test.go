package hpl

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"reprise/trace"
	"reprise/trace/vectors"
	"reprise/tracegen"
)

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

// TestOracleLU factors HPL's matrix of each recorded run: the pivots must be
// those of the real HPL.
func TestOracleLU(t *testing.T) {
	factored := map[[3]int][]int32{}
	for _, c := range oracleCases(t) {
		want, err := ReadPivots(strings.NewReader(c.files["pivots.txt"]), "pivots.txt", c.N)
		if err != nil {
			t.Fatal(err)
		}
		if testing.Short() && c.N > 300 {
			continue
		}
		key := [3]int{c.N, c.NB, c.P}
		if factored[key] == nil {
			if factored[key], err = factorPivots(context.Background(), c.N, c.NB, c.P); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(factored[key], want) {
			t.Errorf("%s: N %d: pivots differ from the recorded ones", c.Case, c.N)
		}
	}
}

// TestFactorPivots checks pivots against a plain factorization, row by row, of
// an order that the blocks of columns do not divide.
func TestFactorPivots(t *testing.T) {
	const n = 150
	a := randomMatrix(n)
	var want []int32
	for c := range n {
		r := c
		for i := c; i < n; i++ {
			if math.Abs(a[c*n+i]) > math.Abs(a[c*n+r]) {
				r = i
			}
		}
		want = append(want, int32(r))
		for k := c; k < n; k++ {
			a[k*n+c], a[k*n+r] = a[k*n+r], a[k*n+c]
			if k > c {
				for i := c + 1; i < n; i++ {
					a[k*n+i] -= a[c*n+i] / a[c*n+c] * a[k*n+c]
				}
			}
		}
	}
	got := must(factorPivots(context.Background(), n, 8, 2))
	if !slices.Equal(got, want) {
		t.Errorf("pivots\n%v, want\n%v", got, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := factorPivots(ctx, n, 8, 2); err == nil {
		t.Error("factored after the context was done")
	}
}

func TestPivotTies(t *testing.T) {
	// Rows 1, 2 and 3 tie, in blocks of one row on two process rows: rows 1 and 3
	// are on process row 1, row 2 on process row 0, which wins.
	f := &luFactor{n: 4, nb: 1, p: 2}
	if got := f.pivot([]float64{0.25, 0.5, -0.5, 0.5}, 0); got != 2 {
		t.Errorf("pivot row %d, want 2", got)
	}
	// On one process row the first one wins.
	f.p = 1
	if got := f.pivot([]float64{0.25, -0.5, 0.5, 0.5}, 0); got != 1 {
		t.Errorf("pivot row %d, want 1", got)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	for _, c := range []struct {
		n, p, q int
		allowed bool
	}{{3875000, 77, 78, true}, {1 << 20, 256, 256, true}, {1 << 20, 4096, 1, true}, {100, 1, 100000, true}, {100, 100000, 1, false}, {100, 1 << 24, 1, false}, {100, 1, 1 << 24, false}} {
		p := DefaultParams(c.n, c.p, c.q)
		err := p.Validate()
		if allowed := err == nil; allowed != c.allowed {
			t.Errorf("%d x %d: error %v", c.p, c.q, err)
		}
		if err != nil && !strings.Contains(err.Error(), ": take fewer process rows") {
			t.Errorf("%d x %d: error %v says not what to change", c.p, c.q, err)
		}
	}
}

// countdown is a context that is done when it has been asked some times.
type countdown struct {
	context.Context
	left, after int
}

func (c *countdown) Err() error {
	if c.left--; c.left >= 0 {
		return nil
	}
	c.after++
	return context.Canceled
}

// A run of 1,000 process rows makes thousands of blocks in its first step.
func TestStopsBetweenBlocks(t *testing.T) {
	for _, swap := range []Swap{BinaryExchange, SpreadRoll} {
		for _, left := range []int{0, 10, 500, 1500, 2500, 3500} {
			p := DefaultParams(1000, 1000, 1)
			p.Swap = swap
			ctx := &countdown{Context: context.Background(), left: left}
			if err := Generate(ctx, io.Discard, p, Options{}); !errors.Is(err, context.Canceled) {
				t.Errorf("%v, canceled after %d: error %v", swap, left, err)
			}
			if ctx.after > 3 {
				t.Errorf("%v, canceled after %d: asked %d times more", swap, left, ctx.after)
			}
		}
	}
}

// TestManyRows: runs of more process rows than others of these tests have, with equilibrated
// spread-roll; and the deepest trees of the most rows that there may be have blocks that a trace
// can hold.
func TestManyRows(t *testing.T) {
	p := DefaultParams(600, 600, 1)
	p.NB, p.Swap, p.Equil = 64, SpreadRoll, true
	if err := Generate(t.Context(), io.Discard, p, Options{}); err != nil {
		t.Fatal(err)
	}
	p.P = 8192
	out := must(tracegen.New(t.Context(), io.Discard, header(&p, &Options{}), 1, nil))
	l := newLibrary(&p, out)
	for _, right := range []bool{false, true} {
		for level := range 14 {
			l.add(l.evenTree(treeKey{tree{13, level}, right}))
		}
	}
	if !out.OK() {
		t.Error(out.Close())
	}
}

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

// TestPivotSources gives the same pivots as rows and by seed: the same trace.
func TestPivotSources(t *testing.T) {
	for _, swap := range []Swap{BinaryExchange, SpreadRoll} {
		p := small(70, 8, 3, 2)
		p.Swap = swap
		p.Pivots = Pivots{Kind: RandomPivots, Seed: 42}
		v := &pivotRows{n: 70, Pivots: Pivots{Kind: RandomPivots, Seed: 42}, key: vectors.PivotKey(42)}
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
