package design

import (
	"reflect"
	"slices"
	"testing"
)

func TestFull(t *testing.T) {
	rows, err := Full([]int{2, 3})
	if want := [][]int{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}; err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("%v, %v, want %v", rows, err, want)
	}
	if _, err := Full([]int{1 << 15, 1 << 15}); err == nil {
		t.Error("2^30 rows")
	}
}

func TestOneAtATime(t *testing.T) {
	rows, err := OneAtATime([]int{2, 3})
	if want := [][]int{{0, 0}, {1, 0}, {0, 1}, {0, 2}}; err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("%v, %v, want %v", rows, err, want)
	}
}

// TestFractional: the resolutions are those of table 12.15 of Box, Hunter and Hunter (1978).
// In a design of resolution R, any R-1 columns have all combinations of levels equally often.
func TestFractional(t *testing.T) {
	for _, c := range []struct{ factors, dropped, resolution int }{
		{3, 1, 3}, {4, 1, 4}, {5, 1, 5}, {5, 2, 3}, {6, 1, 6}, {6, 2, 4}, {6, 3, 3}, {7, 1, 7}, {7, 2, 4}, {7, 3, 4}, {7, 4, 3},
		{8, 2, 5}, {8, 3, 4}, {8, 4, 4}, {9, 2, 6}, {9, 3, 4}, {9, 4, 4}, {9, 5, 3}, {10, 3, 5}, {10, 5, 4}, {10, 6, 3}, {11, 4, 5}, {11, 7, 3},
	} {
		f, err := NewFractional(c.factors, c.dropped)
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		if f.Resolution != c.resolution || len(f.Rows) != 1<<(c.factors-c.dropped) || len(f.Generators) != c.dropped {
			t.Errorf("%v: resolution %d, %d rows, %v", c, f.Resolution, len(f.Rows), f.Generators)
		}
		checkStrength(t, f, c.resolution-1, nil)
	}
	if _, err := NewFractional(4, 2); err == nil {
		t.Error("2^(4-2) has two factors alike")
	}
}

// checkStrength checks that each choice of so many columns is balanced.
func checkStrength(t *testing.T, f *Fractional, strength int, columns []int) {
	t.Helper()
	if strength > 0 {
		from := 0
		if len(columns) > 0 {
			from = columns[len(columns)-1] + 1
		}
		for next := from; next < len(f.Rows[0]); next++ {
			checkStrength(t, f, strength-1, append(slices.Clone(columns), next))
		}
		return
	}
	count := map[int]int{}
	for _, row := range f.Rows {
		key := 0
		for _, c := range columns {
			key = 2*key + row[c]
		}
		count[key]++
	}
	for key, n := range count {
		if n != len(f.Rows)>>len(columns) {
			t.Errorf("%v: columns %v have combination %b in %d of %d rows", f.Generators, columns, key, n, len(f.Rows))
		}
	}
}

// TestLatinHypercube: along each axis each of the n parts has one point.
func TestLatinHypercube(t *testing.T) {
	points := LatinHypercube(7, 3, 1)
	for f := range 3 {
		seen := make([]bool, 7)
		for _, p := range points {
			seen[int(p[f]*7)] = true
		}
		if slices.Contains(seen, false) {
			t.Errorf("axis %d: %v", f, points)
		}
	}
	if reflect.DeepEqual(points, LatinHypercube(7, 3, 2)) {
		t.Error("another seed gives the same points")
	}
}
