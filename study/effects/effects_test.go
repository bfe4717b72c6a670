package effects

import (
	"math"
	"reflect"
	"runtime"
	"testing"
)

// TestFactorial: the pilot plant of Box, Hunter and Hunter, table 10.1: yields of 2^3 runs by
// temperature, concentration and catalyst. Effects from low to high are 23, -5 and 1.5, that of
// temperature with catalyst is 10, of temperature with concentration 1.5, of concentration with
// catalyst 0, of all three 0.5; a sum of squares is 2 times the square of an effect.
func TestFactorial(t *testing.T) {
	yields := []float64{60, 72, 54, 68, 52, 83, 45, 80}
	var rows [][]int
	for i := range yields {
		rows = append(rows, []int{i & 1, i >> 1 & 1, i >> 2 & 1})
	}
	e := Of([]int{2, 2, 2}, rows, yields)
	squares := func(effect float64) float64 { return 2 * effect * effect }
	total := squares(23) + squares(-5) + squares(1.5) + squares(10) + squares(1.5) + squares(0) + squares(0.5)
	for f, effect := range []float64{23, -5, 1.5} {
		of := e.Factors[f]
		near(t, of.Levels[1]-of.Levels[0], effect)
		near(t, of.Share, squares(effect)/total)
	}
	for i, effect := range []float64{1.5, 10, 0} { // (0,1), (0,2), (1,2)
		near(t, e.Interactions[i].Share, squares(effect)/total)
	}
	near(t, e.Residual, squares(0.5)/total)
	near(t, e.Mean, 64.25)
	if !e.Balanced {
		t.Error("a factorial is balanced")
	}
}

// TestUnbalanced: effects that add up are found from any rows that tell them apart.
func TestUnbalanced(t *testing.T) {
	rows := [][]int{{0, 0}, {0, 0}, {0, 1}, {1, 0}, {2, 0}, {2, 1}}
	a, b := []float64{0, 3, -7}, []float64{0, 11}
	var values []float64
	for _, row := range rows {
		values = append(values, 100+a[row[0]]+b[row[1]])
	}
	e := Of([]int{3, 2}, rows, values)
	for l, want := range a {
		near(t, e.Factors[0].Levels[l]-e.Factors[0].Levels[0], want)
	}
	near(t, e.Factors[1].Levels[1]-e.Factors[1].Levels[0], 11)
	if e.Balanced {
		t.Error("balanced")
	}
}

// TestAliases: half of the combinations of four factors, D = ABC, so that AB is CD, AC is BD and
// BC is AD: what one does, 3 to either side, is the share of both, and all is explained. A
// quarter of five, D = AB and E = AC, gives A what D with B and E with C do.
func TestAliases(t *testing.T) {
	var rows [][]int
	var values []float64
	for i := range 8 {
		a, b, c := i&1, i>>1&1, i>>2&1
		rows = append(rows, []int{a, b, c, a ^ b ^ c})
		values = append(values, float64(10*a)+float64(6*(a^b)))
	}
	e := Of([]int{2, 2, 2, 2}, rows, values)
	want := [][]Term{{{0, 1}, {2, 3}}, {{0, 2}, {1, 3}}, {{0, 3}, {1, 2}}}
	if !reflect.DeepEqual(e.Aliases, want) {
		t.Errorf("%v, want %v", e.Aliases, want)
	}
	near(t, e.Factors[0].Share, 25./(25+9)) // squares of half of 10 and of 6
	for i, of := range e.Interactions {
		share := 0.
		if i == 0 || i == 5 {
			share = 9. / (25 + 9)
		}
		near(t, of.Share, share)
	}
	near(t, e.Residual, 0)
	rows = nil
	for i := range 8 {
		a, b, c := i&1, i>>1&1, i>>2&1
		rows = append(rows, []int{a, b, c, 1 ^ a ^ b, 1 ^ a ^ c})
	}
	want = [][]Term{{{0}, {1, 3}, {2, 4}}, {{1}, {0, 3}}, {{2}, {0, 4}}, {{3}, {0, 1}}, {{4}, {0, 2}}, {{1, 2}, {3, 4}}, {{1, 4}, {2, 3}}}
	if e = Of([]int{2, 2, 2, 2, 2}, rows, values); !reflect.DeepEqual(e.Aliases, want) {
		t.Errorf("%v, want %v", e.Aliases, want)
	}
}

// TestManyLevels: three factors with as many levels as rows take memory that grows with these,
// not with pairs of levels: 4e8 pairs here.
func TestManyLevels(t *testing.T) {
	const n = 20000
	var rows [][]int
	values := make([]float64, n)
	for i := range n {
		rows = append(rows, []int{i, (7 * i) % n, 1})
		values[i] = float64(i)
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e := Of([]int{n, n, 2}, rows, values)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 1000*n || e.Balanced || !e.Confounded {
		t.Errorf("%d bytes for %d rows; %v, %v", used, n, e.Balanced, e.Confounded)
	}
}

// TestNothing: equal values have no effects.
func TestNothing(t *testing.T) {
	e := Of([]int{2}, [][]int{{0}, {1}}, []float64{5, 5})
	if e.Factors[0].Share != 0 || e.Residual != 0 || e.Factors[0].Levels[0] != 0 || e.Mean != 5 {
		t.Errorf("%+v", e)
	}
}

func near(t *testing.T, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%g, want %g", got, want)
	}
}

// TestConfounded: rows that tell factors apart, and rows that do not.
func TestConfounded(t *testing.T) {
	for _, c := range []struct {
		name   string
		levels []int
		rows   [][]int
		want   bool
	}{
		{"full", []int{2, 2}, [][]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}}, false},
		{"one at a time", []int{3, 2}, [][]int{{0, 0}, {1, 0}, {2, 0}, {0, 1}}, false},
		{"always together", []int{2, 2}, [][]int{{0, 0}, {1, 1}, {0, 0}, {1, 1}, {0, 0}}, true},
		{"two groups of levels", []int{4, 2}, [][]int{{0, 0}, {1, 0}, {2, 1}, {3, 1}, {0, 0}}, true},
		{"a level that does not occur", []int{3, 2}, [][]int{{0, 0}, {2, 0}, {0, 1}}, false},
		// A Latin hypercube of 3 points: 1 + 2 + 2 effects.
		{"hypercube", []int{3, 3}, [][]int{{0, 1}, {1, 2}, {2, 0}}, true},
	} {
		if got := Of(c.levels, c.rows, make([]float64, len(c.rows))).Confounded; got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}
