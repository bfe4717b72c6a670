package sampling

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Measure simulates the steps [from, to) from a cold start: all ranks enter step
// from at time 0. It returns when they begin each of the steps, and at index to-from
// when they have ended the last one. It is called by several goroutines at once;
// worker, in [0, Options.Workers), tells them apart.
type Measure func(ctx context.Context, worker, from, to int) ([]StartTimes, error)

// StartTimes says when the ranks begin a step, or end, in seconds.
type StartTimes struct {
	Mean float64 // over the ranks
	Last float64 // when the last rank does
	// Parts are what the mean rank has spent until then on each of Options.Parts things, in
	// seconds. They may be parts of each other.
	Parts []float64
}

// Options says what to estimate, and how well.
type Options struct {
	First, End int // the run is the steps [First, End)
	// Tolerance is the half-width of the interval to reach, relative to the
	// estimate; 0: as good as Left allows.
	Tolerance float64
	// Left returns the seconds that are left for measuring; nil: no limit. New
	// windows are chosen so that they fit; what still runs when the context's
	// deadline comes is given up.
	Left    func() float64
	Workers int // windows simulated at once, at least 1
	Parts   int // number of StartTimes.Parts
	// Scatters says that times are random, or that ranks poll. Then steps may feel a cold start for
	// some tens of steps, too weakly to be seen in each: it takes so long until the ranks wait for
	// the slowest, or until polls have settled into who waits for whom. Windows begin with longer
	// warm-ups, unless all memory is seen to be lost at once; then there are more of them, since
	// few would miss rare dear steps.
	Scatters bool
	// Period is after how many steps the same ranks have the same part again, such as those of a process
	// column the panel; 0: not known. Windows with long warm-ups are whole periods.
	Period int
	// Work says for each step of the run which kind of work it is, by number, where steps
	// repeat: those of one kind do the same. A run too short for windows among many steps is
	// estimated by them. nil: nothing is known.
	Work    []int32
	Measure Measure
	// Progress, if set, is called with the estimate so far after each round.
	Progress func(*Estimate)
	// Round, if set, is called when a round of windows begins, or a half of the first, and when one of
	// them has ended, with the number of those that have and of all: one call at a time.
	Round func(ended, all int)
}

// Validate reports everything that is wrong with o.
func (o *Options) Validate() error {
	var errs []error
	if o.First < 0 || o.End <= o.First {
		errs = append(errs, fmt.Errorf("steps [%d,%d), want at least one", o.First, o.End))
	}
	if !(o.Tolerance >= 0) || math.IsInf(o.Tolerance, 1) {
		errs = append(errs, fmt.Errorf("tolerance %v, want a number >= 0", o.Tolerance))
	}
	if o.Tolerance == 0 && o.Left == nil {
		errs = append(errs, errors.New("neither a tolerance nor a time limit"))
	}
	if o.Workers < 1 {
		errs = append(errs, fmt.Errorf("%d workers, want at least 1", o.Workers))
	}
	if o.Parts < 0 {
		errs = append(errs, fmt.Errorf("%d parts, want at least 0", o.Parts))
	}
	if o.Period < 0 {
		errs = append(errs, fmt.Errorf("period of %d steps, want at least 0", o.Period))
	}
	if o.Measure == nil {
		errs = append(errs, errors.New("no measure"))
	}
	if o.Work != nil && len(o.Work) != o.End-o.First {
		errs = append(errs, fmt.Errorf("kinds of %d steps, want %d", len(o.Work), o.End-o.First))
	}
	return errors.Join(errs...)
}

// ErrExact says that an exact run is the better choice. The error that wraps it
// says why.
var ErrExact = errors.New("sampling does not pay")

// ErrTime says that there is no estimate in the time. The error that wraps it says what
// would be needed, if that is known.
var ErrTime = errors.New("the time is too short for an estimate")
