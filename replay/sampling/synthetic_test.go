package sampling

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"testing"
)

// run is a made-up run whose steps cost what cost says, in seconds. It is the
// oracle of these tests: its length is a sum that the test can write down.
type synthetic struct {
	steps int
	cost  func(step int) float64
	// cold returns what a cold start adds to the cost of the i-th step after it, in a
	// window that begins with step from > 0.
	cold func(from, i int) float64
	// drain is the time of the last rank after the last step.
	drain float64
	// parts of the cost of a step, in seconds; what a cold start adds is in the last one.
	parts []func(step int) float64
	// drift is by how much the last rank is slower than the mean.
	drift float64
}

// length returns the time of the run, added up step by step.
func (r *synthetic) length() float64 {
	sum := 0.0
	for k := range r.steps {
		sum += r.cost(k)
	}
	return sum + r.drift*sum + r.drain
}

func (r *synthetic) measure(_ context.Context, _, from, to int) ([]StartTimes, error) {
	at, spent := 0.0, make([]float64, len(r.parts))
	starts := []StartTimes{{Parts: slices.Clone(spent)}}
	for k := from; k < to; k++ {
		at += r.cost(k)
		for i, part := range r.parts {
			spent[i] += part(k)
		}
		if from > 0 && r.cold != nil {
			more := r.cold(from, k-from)
			at += more
			if n := len(spent); n > 0 {
				spent[n-1] += more
			}
		}
		starts = append(starts, StartTimes{Mean: at, Last: at + r.drift*at, Parts: slices.Clone(spent)})
	}
	if to == r.steps {
		starts[to-from].Last += r.drain
	}
	return starts, nil
}

func (r *synthetic) options(tolerance float64) Options {
	return Options{First: 0, End: r.steps, Tolerance: tolerance, Workers: 2, Parts: len(r.parts), Measure: r.measure}
}

func (r *synthetic) sample(t *testing.T, tolerance float64) *Estimate {
	t.Helper()
	e, err := Run(t.Context(), r.options(tolerance))
	noError(t, err)
	return e
}

// limit gives an estimation so many seconds, of which each step takes a worker one.
func (r *synthetic) limit(o *Options, seconds float64) {
	var steps atomic.Int64
	workers := float64(o.Workers)
	left := func() float64 { return seconds - float64(steps.Load())/workers }
	o.Left = left
	o.Measure = func(ctx context.Context, worker, from, to int) ([]StartTimes, error) {
		if steps.Add(int64(to - from)); left() < 0 {
			return nil, context.DeadlineExceeded
		}
		return r.measure(ctx, worker, from, to)
	}
}

// noise returns a number in [-1, 1) for a step, of variance 1/3.
func noise(seed, step int) float64 { return 2*uniform(uint64(seed)<<32, uint64(step)) - 1 }

// lu is the cost of a step of an LU factorisation of so many steps: a square of
// what remains, and a bit.
func lu(steps int) func(int) float64 {
	return func(k int) float64 {
		left := float64(steps-k) / float64(steps)
		return 0.01 + left*left
	}
}

// contains fails unless the run's length is in the interval, but for rounding.
func (r *synthetic) contains(t *testing.T, e *Estimate) {
	t.Helper()
	if math.Abs(e.Seconds-r.length()) > e.Interval+1e-12*r.length() {
		t.Errorf("%v s +- %v s, but the run takes %v s", e.Seconds, e.Interval, r.length())
	}
}

// noError ends a test at an error.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
