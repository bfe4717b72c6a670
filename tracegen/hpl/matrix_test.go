package hpl

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
)

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
	got, err := factorPivots(context.Background(), n, 8, 2)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("pivots\n%v, want\n%v", got, want)
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
