// Package sampling estimates the length of a run from parts of it: windows of
// steps that are simulated exactly, and a parabola with local corrections between
// them.
//
// It knows neither traces nor machines. Whoever can simulate the steps [from, to)
// of a run, all ranks entering at time 0, gives it that as a [Measure]; [Run]
// decides which windows to simulate, simulates them in parallel, and returns an
// [Estimate] with its interval, or [ErrExact] when the exact run would cost no
// more. docs/sampling.md states the method, what it assumes, and when it fails.
//
// The result depends on nothing but the options and what the windows measure: not
// on the number of workers. With a time limit it depends on the speed of the
// machine.
//
//	e, err := sampling.Run(ctx, sampling.Options{End: steps, Tolerance: 0.005, Workers: 4, Measure: simulate})
//	fmt.Println(e.Seconds, e.Interval) // with about 95 % confidence
//
// # Units
//
// Times are in seconds; a tolerance is a part of the estimate.
//
// # Errors
//
// [ErrExact] says that the exact run costs no more, [ErrTime] that the time does not
// suffice; others are those of Measure.
//
// # Source
//
// The method is our own, docs/sampling.md; the intervals are Student's.
package sampling

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Run estimates the length of a run from windows of it. It returns an error that
// wraps ErrExact if simulating all of the run is better: it costs no more, or fits well
// into the time. With a time limit that is said only if the time is expected to suffice
// for it, or if the steps are so few that nothing was measured. ErrTime says that
// there is no estimate in the time.
func Run(ctx context.Context, o Options) (*Estimate, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s := &sampler{o: o}
	s.limit = s.left()
	// Steps of known kinds stand for each other, where nothing random or undecided makes those of one kind differ
	// for long.
	if s.short() && o.Work != nil && !o.Scatters {
		return s.repeated(ctx)
	}
	if err := s.pilot(ctx); err != nil {
		return nil, err
	}
	if err := s.fits(exactShare); err != nil {
		return nil, err
	}
	spans, err := s.begin()
	if err != nil {
		return nil, err
	}
	if !s.shape.coupled && o.Scatters && o.Left == nil {
		if spans, err = s.try(ctx, spans); err != nil {
			return nil, err
		}
	}
	for {
		if err := s.measure(ctx, spans); err != nil {
			return nil, err
		}
		// The first round must bring at least the ends of the run and half of the other windows.
		if n := len(s.done); s.rounds == 0 &&
			(n < 2+fewestWindows || s.done[0].From != o.First || s.done[n-1].To != o.End) {
			return nil, s.tooShort()
		}
		s.rounds++
		e, p := s.estimate()
		if o.Progress != nil {
			o.Progress(e)
		}
		if ctx.Err() != nil {
			return e, nil
		}
		if spans, err = s.refine(e, &p); len(spans) == 0 || err != nil {
			return e, err
		}
	}
}

// try simulates the ends of the run and every other window of the first round where these have long
// warm-ups, and returns the rest, or ErrExact if that would be simulated in vain.
func (s *sampler) try(ctx context.Context, spans []span) ([]span, error) {
	if s.o.Tolerance <= firstLook*pattern {
		return nil, s.tooChaotic()
	}
	first, rest := slices.Clone(spans[:2]), []span(nil)
	for i, p := range spans[2:] {
		if i%2 == 0 {
			first = append(first, p)
		} else {
			rest = append(rest, p)
		}
	}
	if err := s.measure(ctx, first); err != nil {
		return nil, err
	}
	if len(s.done) < len(first) {
		return nil, ErrTime
	}
	return rest, s.hopeless()
}

// fits returns ErrExact if all of the run, simulated by one worker, fits into the given
// part of the time.
func (s *sampler) fits(part float64) error {
	if s.o.Left == nil || s.all() > part*s.o.Left() {
		return nil
	}
	return fmt.Errorf("%w: all of the run fits into the time", ErrExact)
}

// measure simulates the spans and adds them to the windows.
func (s *sampler) measure(ctx context.Context, spans []span) error {
	windows, err := s.simulate(ctx, spans)
	if err != nil {
		return err
	}
	s.done = append(s.done, windows...)
	slices.SortFunc(s.done, func(a, b Window) int { return cmp.Compare(a.From, b.From) })
	return nil
}

// simulate simulates spans with all workers and returns the windows in the order of
// the spans. When the context's deadline has passed, those that are not done are
// missing.
func (s *sampler) simulate(ctx context.Context, spans []span) ([]Window, error) {
	windows := make([]Window, len(spans))
	errs := make([]error, len(spans))
	before := s.left()
	var next atomic.Int64
	var wait sync.WaitGroup
	var mu sync.Mutex
	ended := 0 // guarded by mu
	if s.o.Round != nil {
		s.o.Round(0, len(spans))
	}
	for worker := range min(s.o.Workers, len(spans)) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(spans); i = int(next.Add(1)) - 1 {
				windows[i], errs[i] = s.window(ctx, worker, spans[i])
				if s.o.Round != nil {
					mu.Lock()
					ended++
					s.o.Round(ended, len(spans))
					mu.Unlock()
				}
			}
		})
	}
	wait.Wait()
	kept := windows[:0]
	steps := 0
	for i, err := range errs {
		switch {
		case err == nil:
			kept = append(kept, windows[i])
			steps += spans[i].steps()
		case !errors.Is(err, context.DeadlineExceeded):
			return nil, fmt.Errorf("steps [%d,%d): %w", spans[i].from, spans[i].to, err)
		}
	}
	s.spent += steps
	if s.o.Left != nil && len(kept) == len(spans) {
		s.perStep = (before - s.left()) * float64(min(s.o.Workers, len(spans))) / float64(steps)
	}
	return kept, nil
}

func (s *sampler) left() float64 {
	if s.o.Left == nil {
		return 0
	}
	return s.o.Left()
}

// window simulates one span.
func (s *sampler) window(ctx context.Context, worker int, p span) (Window, error) {
	if err := ctx.Err(); err != nil {
		return Window{}, err
	}
	starts, err := s.o.Measure(ctx, worker, p.from, p.to)
	if err != nil {
		return Window{}, err
	}
	if len(starts) != p.steps()+1 {
		return Window{}, fmt.Errorf("%d times, want %d", len(starts), p.steps()+1)
	}
	for i := range starts {
		if got := len(starts[i].Parts); got != s.o.Parts {
			return Window{}, fmt.Errorf("%d parts of a time, want %d", got, s.o.Parts)
		}
	}
	return Window{From: p.from, To: p.to, starts: starts}, nil
}
