package sampling

import (
	"math"
	"testing"
)

// total makes the parts of a run its costs.
func (r *synthetic) total() *synthetic {
	r.cost = func(k int) float64 {
		sum := 0.0
		for _, part := range r.parts {
			sum += part(k)
		}
		return sum
	}
	return r
}

// TestPartsOfParabolas: what the trend can follow is found to the last digits, and so is what only
// happens at the end of the run. Rank 1 of 2 ends 5 s later, so that the mean ends before.
func TestPartsOfParabolas(t *testing.T) {
	const steps = 2000
	r := (&synthetic{steps: steps, drain: 5, parts: []func(int) float64{
		func(int) float64 { return 0.25 },
		func(k int) float64 { return float64(steps-k) / 1000 },
		func(int) float64 { return 0 },
		func(k int) float64 {
			if k == steps-1 {
				return 3
			}
			return 0
		},
	}}).total()
	e := r.sample(t, 0.005)
	for i, want := range []float64{500, 2001, 0, 3} { // the second is 2000*2001/2/1000
		if p := e.Parts[i]; math.Abs(p.Seconds-want) > 1e-8 || p.Interval > 1e-8 {
			t.Errorf("part %d: %v s +- %v s, want %v s", i, p.Seconds, p.Interval, want)
		}
	}
	if math.Abs(e.MeanEnd-2504) > 1e-8 || math.Abs(e.Seconds-2509) > 1e-8 {
		t.Errorf("the mean ends at %v s, the last at %v s, want 2504 s and 2509 s", e.MeanEnd, e.Seconds)
	}
}

// TestPartsCoverage: of the intervals of each part at most one in twenty misses, and the parts
// add up to the mean end.
func TestPartsCoverage(t *testing.T) {
	const runs = 200
	for _, c := range []struct {
		name string
		part func(seed, k int) float64 // of the last part, relative to the run's usual cost
		cold func(clean func(int) float64, from, i int) float64
	}{
		{"a part that scatters", func(seed, k int) float64 { return 0.2 * (1 + 0.3*normal(seed, k)) }, nil},
		{"a part of a period", func(seed, k int) float64 { return 0.1 * (1 + math.Sin(float64(k+seed)*math.Pi/3)) }, nil},
		{"a part of one step in four", func(seed, k int) float64 { return rare(seed, k, 4, 0.1, 0) }, nil},
		{"a part that is drawn anew", func(seed, k int) float64 { return 0.2 * (1 + 0.1*normal(seed, k)) },
			func(clean func(int) float64, from, i int) float64 { return 0.02 * clean(from+i) * normal(from, i) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			estimates, missed := 0, make([]int, 2)
			for seed := range runs {
				steps := 3000 + 7*seed // so that the windows lie elsewhere
				clean := lu(steps)
				r := (&synthetic{steps: steps, parts: []func(int) float64{
					func(k int) float64 { return 0.8 * clean(k) },
					func(k int) float64 { return clean(k) * c.part(seed, k) },
				}}).total()
				if c.cold != nil {
					r.cold = func(from, i int) float64 { return c.cold(clean, from, i) }
				}
				o := r.options(0.01)
				o.Scatters = true
				e, err := Run(t.Context(), o)
				if err != nil {
					continue // more than three quarters of the steps
				}
				estimates++
				sum := 0.0
				for i, p := range e.Parts {
					length := 0.0
					for k := range steps {
						length += r.parts[i](k)
					}
					if math.Abs(p.Seconds-length) > p.Interval+1e-12*length {
						missed[i]++
					}
					sum += p.Seconds
				}
				if math.Abs(sum-e.MeanEnd) > 1e-12*e.MeanEnd {
					t.Errorf("seed %d: the parts add up to %v s, the mean ends at %v s", seed, sum, e.MeanEnd)
				}
			}
			t.Logf("%d estimates, missed %v", estimates, missed)
			for i, n := range missed {
				if estimates < runs*9/10 || n > estimates/20 {
					t.Errorf("part %d: %d of %d missed", i, n, estimates)
				}
			}
		})
	}
}
