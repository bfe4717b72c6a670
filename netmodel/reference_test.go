package netmodel

import "testing"

// TestFilling solves systems that can be solved by hand.
func TestFilling(t *testing.T) {
	type variable struct{ penalty, bound float64 }
	for _, c := range []struct {
		name  string
		links []float64
		fat   bool
		flows []variable
		usage [][]float64 // weight by flow and link
		want  []float64
	}{
		// x <= 3 alone.
		{"one", []float64{3}, false, []variable{{1, 100}}, [][]float64{{1}}, []float64{3}},
		// x + y <= 3, penalties 1 and 2: x = 2y.
		{"penalties", []float64{3}, false, []variable{{1, 100}, {2, 100}}, [][]float64{{1}, {1}}, []float64{2, 1}},
		// x + y <= 3, x <= 0.5 by its bound: y gets the rest.
		{"bound", []float64{3}, false, []variable{{1, 0.5}, {1, 100}}, [][]float64{{1}, {1}}, []float64{0.5, 2.5}},
		// x + y <= 1, y + z <= 10: x = y = 1/2, z = 9.5.
		{"chain", []float64{1, 10}, false, []variable{{1, 100}, {1, 100}, {1, 100}},
			[][]float64{{1, 0}, {1, 1}, {0, 1}}, []float64{0.5, 0.5, 9.5}},
		// x + 0.05y <= 1, 0.05x + y <= 1: x = y = 1/1.05.
		{"cross traffic", []float64{1, 1}, false, []variable{{1, 100}, {1, 100}},
			[][]float64{{1, 0.05}, {0.05, 1}}, []float64{1 / 1.05, 1 / 1.05}},
		// FATPIPE of 6, equal penalties: 6 each.
		{"fatpipe", []float64{6}, true, []variable{{1, 100}, {1, 100}}, [][]float64{{1}, {1}}, []float64{6, 6}},
		// Penalties 1 and 2 on a FATPIPE of 6: the level stops at 6, so y = 6/2.
		{"fatpipe, penalties", []float64{6}, true, []variable{{1, 100}, {2, 100}}, [][]float64{{1}, {1}}, []float64{6, 3}},
		// As before, but x is bound at 5 < 6, which fixes it alone: y has all.
		{"fatpipe, bound", []float64{6}, true, []variable{{1, 5}, {2, 100}}, [][]float64{{1}, {1}}, []float64{5, 6}},
		{"no links", nil, false, []variable{{1, 7}}, [][]float64{{}}, []float64{7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s filling
			for _, capacity := range c.links {
				s.addLink(capacity, c.fat)
			}
			for i, f := range c.flows {
				s.addFlow(f.penalty, f.bound)
				for l, w := range c.usage[i] {
					if w > 0 {
						s.use(int32(l), w/f.penalty)
					}
				}
			}
			s.solve(1e-5)
			for i, want := range c.want {
				if got := s.flows[i].share; !near(got, want, closed) {
					t.Errorf("flow %d: %v, want %v", i, got, want)
				}
			}
		})
	}
}
