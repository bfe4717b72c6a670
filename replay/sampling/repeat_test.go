package sampling

import (
	"errors"
	"math"
	"testing"
)

// repeating is a run of three sets of 40 steps: the first of a set costs 3 s, the last 1.5 s,
// the others 2 s. A cold start adds 1 s to the first step of a window.
func repeating(first float64) (*synthetic, []int32) {
	kind := func(k int) int32 {
		return map[int]int32{0: 0, 39: 2}[k%40] + map[bool]int32{true: 1}[k%40 != 0 && k%40 != 39]
	}
	cost := []float64{3, 2, 1.5}
	run := &synthetic{steps: 120, drain: 0.25,
		cost: func(k int) float64 {
			if k == 0 {
				return first
			}
			return cost[kind(k)]
		},
		cold: func(_, i int) float64 { return map[int]float64{0: 1}[i] },
	}
	run.parts = []func(int) float64{func(k int) float64 { return run.cost(k) / 4 }}
	var work []int32
	for k := range run.steps {
		work = append(work, kind(k))
	}
	return run, work
}

// TestRepeated: kinds of steps are told apart, and none that a cold start has touched stands
// for others. Of 120 steps 10 are simulated: 3 at both ends, and 2 around the second beginning
// and the first end of a set. All is linear, so the sum is exact.
func TestRepeated(t *testing.T) {
	run, work := repeating(5)
	o := run.options(0.01)
	o.Work = work
	e, err := Run(t.Context(), o)
	noError(t, err)
	// 5 + 38*2 + 1.5, twice 3 + 38*2 + 1.5, and the drain
	want := 82.5 + 2*80.5 + 0.25
	if math.Abs(e.Seconds-want) > 1e-9 || math.Abs(run.length()-want) > 1e-9 {
		t.Errorf("%g s, want %g", e.Seconds, want)
	}
	if part := (want - 0.25) / 4; math.Abs(e.Parts[0].Seconds-part) > 1e-9 || e.Parts[0].Interval > 1e-3*part {
		t.Errorf("part %+v, want %g", e.Parts[0], part)
	}
	if e.Simulated > 10 || e.Rounds != 1 || e.Interval > 1e-3*want || e.Interval == 0 {
		t.Errorf("%d steps in %d rounds, within %g s", e.Simulated, e.Rounds, e.Interval)
	}
}

// TestRepeatedScatter: where steps of a kind differ, more of them are simulated, and the
// interval covers what is left.
func TestRepeatedScatter(t *testing.T) {
	for seed := range uint64(20) {
		run, work := repeating(3)
		plain := run.cost
		run.cost = func(k int) float64 { return plain(k) * (1 + 0.05*(uniform(seed, uint64(k))-0.5)) }
		run.cold, run.parts = nil, nil
		o := run.options(0.02)
		o.Work = work
		e, err := Run(t.Context(), o)
		noError(t, err)
		if d := math.Abs(e.Seconds - run.length()); d > 1.5*e.Interval || e.Interval > 0.02*e.Seconds {
			t.Errorf("seed %d: off by %g s, within %g s of %g", seed, d, e.Interval, e.Seconds)
		}
	}
}

// TestNotRepeated: what cannot be reached by a few steps is exact, as is what is random.
func TestNotRepeated(t *testing.T) {
	run, work := repeating(3)
	for name, change := range map[string]func(*Options){
		"tolerance": func(o *Options) { o.Tolerance = 1e-6 },
		"noise":     func(o *Options) { o.Scatters = true },
		"no kinds":  func(o *Options) { o.Work = nil },
		"few":       func(o *Options) { o.End, o.Work = 5, work[:5] },
	} {
		o := run.options(0.01)
		o.Work = work
		change(&o)
		if _, err := Run(t.Context(), o); !errors.Is(err, ErrExact) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	o := run.options(0.01)
	o.Work = work[:10]
	if _, err := Run(t.Context(), o); err == nil || errors.Is(err, ErrExact) {
		t.Errorf("kinds of other steps: error %v", err)
	}
}

// TestRepeatedDrift: where the last rank falls ever further behind the mean, as ranks that wait for
// neighbours alone do behind a slow one, steps near a cold start tell nothing, equal as they are.
func TestRepeatedDrift(t *testing.T) {
	for drift, exact := range map[float64]bool{0: false, 1e-4: false, 0.1: true} {
		run := &synthetic{steps: 50, cost: func(int) float64 { return 2 }, drift: drift}
		o := run.options(0.01)
		o.Work = make([]int32, run.steps)
		e, err := Run(t.Context(), o)
		if exact != errors.Is(err, ErrExact) {
			t.Errorf("drift of %g: error %v", drift, err)
		} else if !exact && e.Simulated != 4 {
			t.Errorf("drift of %g: %d steps simulated", drift, e.Simulated)
		}
	}
}
