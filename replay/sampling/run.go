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
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"reprise/internal/textutil"
)

// Run estimates the length of a run from windows of it. It returns an error that
// wraps ErrExact if simulating all of the run is better: it costs no more, or fits well
// into the time. With a time limit that is said only if the time is expected to suffice
// for it, or if the steps are so few that nothing was measured. ErrTime says that
// there is no estimate in the time; if ctx is cancelled before there is one, the error is its cause.
func Run(ctx context.Context, o Options) (e *Estimate, err error) {
	defer func() {
		if errors.Is(err, ErrTime) && errors.Is(ctx.Err(), context.Canceled) { // no limit of time was the reason
			err = context.Cause(ctx)
		}
	}()
	defer textutil.Stopped(&err)
	textutil.Check(o.Validate())
	s := &sampler{o: o}
	s.limit = s.left()
	// Steps of known kinds stand for each other, where nothing random or undecided makes those of one kind differ
	// for long.
	if o.Work != nil && !o.Scatters {
		spans := s.repeatSpans()
		many := o.Left == nil && int(slices.Max(o.Work)) >= manyKinds &&
			float64(stepsOf(spans)) <= kindsShare*float64(o.End-o.First)
		if s.repeats = s.short() || many; s.repeats {
			return s.repeated(ctx, spans)
		}
	}
	textutil.Check(s.pilot(ctx))
	textutil.Check(s.fits(exactShare))
	spans := textutil.Must(s.begin())
	if o.Tolerance > 0 && o.Left == nil { // one round is seldom enough
		s.ahead = len(spans)
	}
	if o.Left == nil && o.Enough == nil {
		spans = textutil.Must(s.try(ctx, spans))
	}
	for {
		textutil.Check(s.measure(ctx, spans))
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
		if ctx.Err() != nil || o.Enough != nil && o.Enough(e) {
			return e, nil
		}
		if spans, err = s.refine(e, &p); len(spans) == 0 || err != nil {
			return e, err
		}
	}
}

// try simulates the ends of the run and every other window of the first round, and returns the rest: none if this half
// was enough. Of windows with late warm-ups it returns ErrExact if the rest would be in vain.
func (s *sampler) try(ctx context.Context, spans []span) ([]span, error) {
	if s.o.Scatters && !s.shape.coupled && s.o.Tolerance <= firstLook*pattern {
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
	s.ahead += len(rest)
	err := s.measure(ctx, first)
	if s.ahead -= len(rest); err != nil {
		return nil, err
	}
	if len(s.done) < len(first) {
		return nil, ErrTime
	}
	if !s.o.Scatters || s.shape.coupled {
		if e, _ := s.estimate(); len(s.done) >= 2+fewestWindows && e.Interval <= s.o.Tolerance*e.Seconds {
			return nil, nil
		}
		return rest, nil
	}
	// The rest is in vain if half of the windows show that even the largest worthwhile number would not be enough, with
	// the scatter at its least and known for certain. Changes do not count, since more windows close in on them.
	p := s.look()
	for i := range p.gaps {
		g := &p.gaps[i]
		g.spread = p.scatter.variance * g.scale * g.scale
	}
	patterns := s.patterns(&p)
	allowed := s.allowed(p.seconds/firstLook) - float64(patterns*patterns)
	target := float64(forecastSlack*allowed) - p.redrawn(s.shape)
	if _, _, left := s.allocate(p.gaps, target, max(s.worthwhile(0), 0)); left > target {
		return nil, s.tooChaotic()
	}
	return rest, nil
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
// the spans. When the context is over, those that are not done are missing.
func (s *sampler) simulate(ctx context.Context, spans []span) ([]Window, error) {
	windows := make([]Window, len(spans))
	errs := make([]error, len(spans))
	before := s.left()
	var next atomic.Int64
	var wait sync.WaitGroup
	var mu sync.Mutex
	expected := s.ended + len(spans) + s.ahead
	if s.o.Ended != nil {
		s.o.Ended(s.ended, expected)
	}
	for worker := range min(s.o.Workers, len(spans)) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(spans); i = int(next.Add(1)) - 1 {
				windows[i], errs[i] = s.window(ctx, worker, spans[i])
				mu.Lock()
				if s.ended++; s.o.Ended != nil {
					s.o.Ended(s.ended, expected)
				}
				mu.Unlock()
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
		case !errors.Is(err, context.DeadlineExceeded) && !(ctx.Err() != nil &&
			(errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))):
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
	// Enough, if set, says that an estimate is good enough whatever the tolerance is. It is asked after each round.
	Enough func(*Estimate) bool
	// Left returns the seconds that are left for measuring; nil: no limit. New
	// windows are chosen so that they fit; what still runs when the context ends is given up.
	Left    func() float64
	Workers int // windows simulated at once, at least 1
	Parts   int // number of StartTimes.Parts
	// Scatters says that times are random, or that ranks poll. Then a cold start may change some tens of steps, too
	// little to be seen in each: so long it takes until the ranks wait for the slowest, or until polls have settled
	// which rank waits for which. Windows have longer warm-ups then. If all memory is seen to be lost at once, there
	// are more windows instead, since few would miss rare dear steps.
	Scatters bool
	// Period is the number of steps after which the same ranks have the same part again, as a process column has the
	// panel; 0: not known. Windows with long warm-ups are whole periods.
	Period int
	// Memory is for how many steps a cold start is remembered where times scatter; 0: not known.
	Memory int
	// Cycles are numbers of steps after which turns of one sort begin anew, as those of process columns, or of rows.
	// Short windows are spread over them.
	Cycles []int
	// Work says for each step of the run which kind of work it is, by number, where steps
	// repeat: those of one kind do the same. A run too short for windows among many steps, or
	// one of many kinds, is estimated by them. nil: nothing is known.
	Work    []int32
	Measure Measure
	// Progress, if set, is called with the estimate so far after each round, and, with an infinite interval and Seconds
	// alone, after the windows that chose the warm-up.
	Progress func(*Estimate)
	// Ended, if set, is called when a round of windows begins and when a window has ended, one call at a time, with the
	// number of windows that have ended and of all that are expected: for a tolerance a first round and one as large
	// behind it, and then what the estimate so far still needs.
	Ended func(windows, expected int)
}

// Validate reports everything that is wrong with o.
func (o *Options) Validate() error {
	var faults textutil.Faults
	want := faults.Want
	want(o.First >= 0 && o.End > o.First, "steps [%d,%d), want at least one", o.First, o.End)
	want(o.Tolerance >= 0 && !math.IsInf(o.Tolerance, 1), "tolerance %v, want a number >= 0", o.Tolerance)
	want(o.Tolerance != 0 || o.Left != nil, "neither a tolerance nor a time limit")
	want(o.Workers >= 1, "%d workers, want at least 1", o.Workers)
	want(o.Parts >= 0, "%d parts, want at least 0", o.Parts)
	want(o.Period >= 0, "period of %d steps, want at least 0", o.Period)
	want(o.Memory >= 0, "memory of %d steps, want at least 0", o.Memory)
	want(len(o.Cycles) == 0 || slices.Min(o.Cycles) >= 1, "cycles of %d steps, want at least 1", o.Cycles)
	want(o.Measure != nil, "no measure")
	want(o.Work == nil || len(o.Work) == o.End-o.First, "kinds of %d steps, want %d", len(o.Work), o.End-o.First)
	return faults.Err()
}

// ErrExact says that an exact run is the better choice. The error that wraps it
// says why.
var ErrExact = errors.New("sampling does not pay")

// ErrTime says that there is no estimate in the time. The error that wraps it says what
// would be needed, if that is known.
var ErrTime = errors.New("the time is too short for an estimate")

// Window is a part of the run that was simulated.
type Window struct {
	From  int `json:"from"`     // first step that was simulated
	Start int `json:"measured"` // first step that counts: those before it are the warm-up
	To    int `json:"to"`       // behind the last step
	// Seconds is the mean time of the steps that count.
	Seconds float64 `json:"mean_step_s"`

	starts []StartTimes // of step From+i; the last: of the end
	// ref is the part [refFrom, refTo) that stands for the steps around the window:
	// all that counts, but for the beginning and the end of the run.
	refFrom, refTo int
}

// start returns the mean time at which the ranks begin a step in [From, To], on the
// window's own clock.
func (w *Window) start(step int) float64 { return w.starts[step-w.From].Mean }

// lag returns how long after the mean the last rank begins a step.
func (w *Window) lag(step int) float64 {
	d := w.starts[step-w.From]
	return d.Last - d.Mean
}

// Cost returns the time of step: by how much it delays the ranks on average. The
// costs of consecutive steps of one run add up to the difference of two times,
// however the ranks are shifted against each other.
func (w *Window) Cost(step int) float64 { return w.start(step+1) - w.start(step) }

// mean returns the mean cost of the steps [a, b).
func (w *Window) mean(a, b int) float64 { return (w.start(b) - w.start(a)) / float64(b-a) }

// sampler is an estimation under way.
type sampler struct {
	o       Options
	shape   shape
	repeats bool        // steps of known kinds stand for each other
	memory  float64     // relative difference that a cold start was seen to make after a short warm-up
	root    bool        // windows scatter by the root of the cost, else by the cost
	rough   *roughCosts // where windows are put; nil: evenly
	pairs   []Window    // of coupled runs, in twos: that which showed it, and the same place begun later
	done    []Window    // in order; the first begins with the run, the last ends with it
	spent   int         // steps simulated
	ended   int         // windows that were simulated, those that chose the warm-up among them
	ahead   int         // windows that are expected behind those of this round
	rounds  int
	limit   float64 // seconds that were left at the beginning, if there is a time limit
	perStep float64 // seconds of a worker for one step, if there is a time limit
}

// shape is the form of windows: how many steps at the beginning do not count, and how many do.
type shape struct {
	warmup, length int
	// coupled: the warm-up was seen to lose nearly all memory of the cold start.
	coupled bool
}

func (s shape) steps() int { return s.warmup + s.length }

// span is a window to be simulated.
type span struct{ from, to int }

// head and tail are the windows at the ends of the run. The head starts cold as the run does, so all of it counts, but
// only its steps after a warm-up stand for later steps. The end of the run in the tail stands for no other step.
func (s *sampler) head() span { return span{s.o.First, s.o.First + s.shape.steps()} }
func (s *sampler) tail() span {
	return span{s.o.End - s.shape.steps() - s.shape.length, s.o.End}
}

// arrange tells each window which of its steps count, for the present shape.
func (s *sampler) arrange() {
	for i := range s.done {
		w := &s.done[i]
		w.Start = w.From + s.shape.warmup
		w.refFrom, w.refTo = w.Start, w.To
		switch {
		case w.From == s.o.First:
			w.Start = w.From
		case w.To == s.o.End:
			w.refTo = w.refFrom + s.shape.length
		}
		w.Seconds = w.mean(w.Start, w.To)
	}
}
