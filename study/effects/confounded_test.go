package effects

import "testing"

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
