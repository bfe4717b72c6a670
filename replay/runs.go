package replay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"reprise/internal/portable"
	"reprise/trace"
	"reprise/trace/warning"
)

// Ensemble is what became of several replays that differ in their seeds only.
type Ensemble struct {
	Header   *trace.Header     `json:"-"`
	Complete bool              `json:"complete"` // all steps of the program were played
	First    int               `json:"first_step"`
	Last     int               `json:"last_step"`
	Makespan Summary           `json:"makespan_s"`
	Gflops   Summary           `json:"gflops"`                  // all 0 if there are none
	Rating   *Summary          `json:"gflops_rating,omitempty"` // the program's own, if it has one besides
	Runs     []SeedResult      `json:"runs"`                    // by seed
	Names    PartNames         `json:"time_names"`
	Warnings []warning.Warning `json:"warnings"` // of all runs, each once
}

// SeedResult is what became of one replay.
type SeedResult struct {
	Seed     uint64  `json:"seed"`
	Makespan float64 `json:"makespan_s"`
	Gflops   float64 `json:"gflops"`
	Rating   float64 `json:"gflops_rating,omitempty"` // the program's own; 0: it has none
	Messages int64   `json:"messages"`
	Polls    int64   `json:"polls"`
	// Times is where the time of a rank went; nil of an estimate.
	Times *PartTimes `json:"time_s,omitempty"`
}

// Summary summarises a figure of several runs.
type Summary struct {
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"` // of one run, by n-1
	// Interval is the half-width of the 95 % confidence interval of the mean, by
	// Student's distribution.
	Interval float64 `json:"mean_interval"`
	Min      float64 `json:"min"`
	Max      float64 `json:"max"`
}

// HasNoise reports whether a replay has anything random.
func HasNoise(h *trace.Header, m Machine, o Options) (bool, error) {
	if err := m.check(h.Ranks); err != nil {
		return false, err
	}
	c, err := newCosts(h, &m, &o)
	return err == nil && c.random != nil, err
}

// RunsOptions says how often to replay.
type RunsOptions struct {
	Runs    int // at least 2
	Workers int // replays at once
	// Rating, if set, returns the program's own rating of a run, in 1e9 flop/s; 0: it has none. It is called from several
	// goroutines.
	Rating func(*Result) (float64, error)
	// Progress, if set, is called when a replay has ended, with the number of those that
	// have: one call at a time.
	Progress func(ended int)
}

// Runs is Run for so many seeds, from Options.Seed on. Each replay opens the trace for
// itself. The result does not depend on the number of workers. When the context ends, the
// error is its cause, and the ensemble that of the runs before the first that had not ended;
// nil if these are fewer than two.
//
// The progress function of o is not called, and no checkpoint is written.
func Runs(ctx context.Context, open func() (*trace.Trace, error), m Machine, o Options,
	ro RunsOptions) (*Ensemble, error) {
	return RunsFunc(ctx, o, ro, func(o Options) (*Result, error) {
		t, err := open()
		if err != nil {
			return nil, err
		}
		defer t.Close()
		return Run(ctx, t, m, o)
	})
}

// RunsFunc is Runs for what play replays: a source, or a trace that comes in several forms.
// It is called from several goroutines.
func RunsFunc(ctx context.Context, o Options, ro RunsOptions,
	play func(o Options) (*Result, error)) (*Ensemble, error) {
	runs, first := ro.Runs, o.Seed
	if runs < 2 {
		return nil, fmt.Errorf("%d runs, want at least 2", runs)
	}
	o.Progress, o.Resume, o.Checkpoints = nil, nil, nil
	progress := progressOf(ro.Progress)
	results := make([]*Played, runs)
	errs := inParallel(ctx, runs, ro.Workers, func(_ context.Context, i int) error {
		o := o
		o.Seed = first + uint64(i)
		r, err := play(o)
		progress()
		if err != nil {
			return err
		}
		p := PlayedExactly(r)
		p.Seed = o.Seed
		if ro.Rating != nil {
			if p.Rating, err = ro.Rating(r); err != nil {
				return err
			}
		}
		results[i] = p
		return nil
	})
	// The end of the context is the error of the runs that it has ended, and no failure of theirs.
	ended := 0
	for i, err := range errs {
		switch {
		case err != nil && (ctx.Err() == nil || !errors.Is(err, context.Cause(ctx))):
			return nil, fmt.Errorf("seed %d: %w", first+uint64(i), err)
		case err == nil && results[i] != nil && ended == i:
			ended++
		}
	}
	if ended < 2 {
		return nil, context.Cause(ctx)
	}
	played := results[:ended]
	p := played[0]
	e := &Ensemble{Header: p.Header, Complete: p.Complete, First: p.First, Last: p.Last,
		Makespan: newSummary(figures(played, makespanOf)), Gflops: newSummary(figures(played, gflopsOf))}
	if s := newSummary(figures(played, ratingOf)); s.Max > 0 {
		e.Rating = &s
	}
	e.Runs, e.Names, e.Warnings = sumUp(played)
	if ended < runs {
		return e, context.Cause(ctx)
	}
	return e, nil
}

// inParallel calls task for the numbers below n, on so many goroutines, and returns their errors.
// Once one has failed, or ctx has ended, no further ones begin, and the context of those under way
// ends.
func inParallel(ctx context.Context, n, workers int, task func(ctx context.Context, i int) error) []error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs, next := make([]error, n), make(chan int)
	var done sync.WaitGroup
	for range max(1, min(workers, n)) {
		done.Go(func() {
			for i := range next {
				if errs[i] = task(ctx, i); errs[i] != nil {
					cancel()
				}
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	done.Wait()
	return errs
}

// progressOf returns a function that tells report how often it has been called.
func progressOf(report func(int)) func() {
	if report == nil {
		return func() {}
	}
	var mu sync.Mutex
	calls := 0
	return func() {
		mu.Lock()
		defer mu.Unlock()
		calls++
		report(calls)
	}
}

// newSummary summarises at least two values.
func newSummary(values []float64) Summary {
	n := float64(len(values))
	s := Summary{Min: math.Inf(1), Max: math.Inf(-1)}
	for _, v := range values {
		s.Mean += v / n
		s.Min, s.Max = min(s.Min, v), max(s.Max, v)
	}
	squares := 0.0
	for _, v := range values {
		squares += float64((v - s.Mean) * (v - s.Mean))
	}
	s.SD = math.Sqrt(squares / (n - 1))
	s.Interval = student(len(values)-1, 0.95) * s.SD / math.Sqrt(n)
	return s
}

// student returns the half-width of the interval around 0 in which Student's distribution
// with so many degrees of freedom lies with the given probability, by bisection.
func student(freedom int, probability float64) float64 {
	// within grows with t, and 60 halvings leave no digit of the double open.
	low, high := 0., 13. // of one degree of freedom and 95 %
	for range 60 {
		if t := (low + high) / 2; within(t, freedom) < probability {
			low = t
		} else {
			high = t
		}
	}
	return (low + high) / 2
}

// within returns the probability that Student's distribution gives to [-t, t]:
// Abramowitz and Stegun, 26.7.3 and 26.7.4. Sine and cosine of the angle follow from
// its tangent.
func within(t float64, freedom int) float64 {
	tan := t / math.Sqrt(float64(freedom))
	cos := 1 / math.Sqrt(1+float64(tan*tan))
	sin := tan * cos
	term, sum := 1.0, 0.0
	if freedom%2 == 1 {
		term = cos
	}
	for k := 2 + freedom%2; k <= freedom; k += 2 {
		sum += term
		term *= cos * cos * float64(k-1) / float64(k)
	}
	if freedom%2 == 1 {
		return 2 / math.Pi * (portable.Atan(tan) + float64(sin*sum))
	}
	return sin * sum
}
