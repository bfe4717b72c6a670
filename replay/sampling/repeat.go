package sampling

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"reprise/internal/textutil"
)

// A run whose steps repeat, if it is short or has many kinds of them, is estimated by kinds of steps (sampler.repeated):
// steps of the same work cost the same, but for the cold start and chance. Each kind is measured in a window after a
// warm-up, and steps in no window are taken to cost the same as those of their kind. The first and the last steps are
// measured themselves.

// repeatShape is the shape of the first windows of such a run, unless it is too short to measure each usual kind twice.
var repeatShape = shape{warmup: 1, length: 1, coupled: true}

const (
	// usual: a kind is usual if it has at least this part of the steps; it is then measured twice at first.
	usual = 0.1
	// A run that is not short is estimated by its kinds of steps if there are as many as manyKinds, so that one window
	// among many steps tells little of the others, and if the first round takes at most the part kindsShare of the steps.
	// It has no time limit, in which the first round might not end.
	manyKinds, kindsShare = 16, 0.25
)

// repeated estimates a run by kinds of steps, first by the given windows.
func (s *sampler) repeated(ctx context.Context, spans []span) (*Estimate, error) {
	for {
		textutil.Check(s.worthRepeating(spans))
		before := len(s.done)
		textutil.Check(s.measure(ctx, spans))
		if s.rounds == 0 && len(s.done)-before < len(spans) { // all of the first round must come in time
			return nil, ErrTime
		}
		s.rounds++
		s.arrange()
		e := s.repeatEstimate()
		if s.o.Progress != nil {
			s.o.Progress(e)
		}
		if ctx.Err() != nil || s.o.Enough != nil && s.o.Enough(e) || s.o.Tolerance > 0 && e.Interval <= s.o.Tolerance*e.Seconds {
			return e, nil
		}
		textutil.Check(s.fits(exactShare))
		var err error
		if spans, err = s.moreRepeats(); spans == nil {
			return e, err
		}
	}
}

// worthRepeating returns ErrExact if the windows would be most of the run.
func (s *sampler) worthRepeating(spans []span) error { return s.worth(s.spent + stepsOf(spans)) }

// stepsOf returns how many steps the spans have together.
func stepsOf(spans []span) (steps int) {
	for _, p := range spans {
		steps += p.steps()
	}
	return steps
}

// repeatSpans returns the windows of the first round, and sets their shape. They are as short as may be, but two steps
// of each usual kind show how much such steps differ.
func (s *sampler) repeatSpans() []span {
	s.shape = repeatShape
	spans := s.kindSpans()
	all, seen := map[int32]int{}, map[int32]int{}
	for _, kind := range s.o.Work {
		all[kind]++
	}
	for _, p := range spans {
		for k := p.from + s.shape.warmup; k < p.to; k++ {
			seen[s.kind(k)]++
		}
	}
	for kind, n := range all {
		if float64(n) >= usual*float64(len(s.o.Work)) && seen[kind] < 2 {
			s.shape.length = repeatShape.length + 1
		}
	}
	if s.shape != repeatShape {
		spans = s.kindSpans()
	}
	return spans
}

// kindSpans returns the ends of the run, and windows with each kind of step that neither
// has behind a warm-up.
func (s *sampler) kindSpans() []span {
	w, n := s.shape.steps(), s.o.End-s.o.First
	spans := []span{{s.o.First, s.o.First + min(w, n)}, {max(s.o.First, s.o.End-w), s.o.End}}
	seen := map[int32]bool{}
	for _, p := range spans {
		for k := p.from + s.shape.warmup; k < p.to; k++ {
			seen[s.kind(k)] = true
		}
	}
	for k := spans[0].to; k < spans[1].from+s.shape.warmup; k++ {
		kind := s.kind(k)
		if seen[kind] {
			continue
		}
		seen[kind] = true
		if p := &spans[len(spans)-1]; len(spans) > 2 && p.to == k {
			p.to++
		} else {
			spans = append(spans, span{k - s.shape.warmup, k + 1})
		}
	}
	return spans
}

// moreRepeats returns a window in the middle of the longest part of the run that is in none,
// twice as long as those before; none if the time does not allow it. Without a limit it
// returns ErrExact where there is no room.
func (s *sampler) moreRepeats() ([]span, error) {
	s.shape.length *= 2
	var longest span
	for i := range s.done[1:] {
		if gap := (span{s.done[i].To, s.done[i+1].From}); gap.steps() > longest.steps() {
			longest = gap
		}
	}
	from := longest.from + (longest.steps()-s.shape.steps())/2
	spans := []span{{from, from + s.shape.steps()}}
	err := s.worthRepeating(spans)
	if longest.steps() < s.shape.steps() {
		err = fmt.Errorf("%w: no part of the run is left for another window", ErrExact)
	}
	switch {
	case s.o.Left == nil && err != nil:
		return nil, err
	case s.o.Left != nil && (err != nil || s.affordable(0) < 1):
		return nil, nil
	}
	return spans, nil
}

// kind returns which work a step is.
func (s *sampler) kind(step int) int32 { return s.o.Work[step-s.o.First] }

// repeatEstimate adds up the run.
func (s *sampler) repeatEstimate() *Estimate {
	// The last rank may fall behind the mean in the steps that are in no window, as it does in those that are:
	// where ranks are not made to wait for each other, or not soon, a delay goes from rank to rank, and a step
	// after a warm-up does not cost what later ones do.
	behind, seconds, steps := 0.0, 0.0, 0.0
	missing := float64(s.o.End - s.o.First)
	for i := range s.done {
		w := &s.done[i]
		missing -= float64(w.To - w.Start)
		first, end := w.From+s.shape.warmup, w.To
		if end == s.o.End {
			end-- // what ends the run is no step's
		}
		behind += w.lag(end) - w.lag(first)
		seconds += w.start(end) - w.start(first)
		steps += float64(end - first)
	}
	drifted := 0.0
	if behind > small*seconds {
		drifted = behind / steps * missing
	}
	last := &s.done[len(s.done)-1]
	mean, variance := s.sumOfKinds(s.done)
	e := &Estimate{from: s,
		Seconds: mean + last.lag(last.To), MeanEnd: mean, Interval: math.Sqrt(variance) + drifted,
		Steps: s.o.End - s.o.First, Simulated: s.spent, Warmup: s.shape.warmup, Coupled: true, Rounds: s.rounds,
		Windows: slices.Clone(s.done), Parts: make([]Part, s.o.Parts),
	}
	for i := range e.Parts {
		seconds, variance := s.sumOfKinds(partOf(s.done, i))
		e.Parts[i] = Part{seconds, math.Sqrt(variance)}
	}
	return e
}

// sumOfKinds returns the seconds of the run by windows of it, and the square of the
// half-width of their interval: what is measured counts as it is, and the n steps of a kind
// that are not cost n times its mean m over the r steps that are, within
//
//	t s n sqrt(1/r + 1/n)
//
// where s is the standard deviation of a step of the kind, t Student's quantile for 99 %, as
// the first of several looks that is good enough ends the estimation; and within a part of
// all of them that few steps do not show.
func (s *sampler) sumOfKinds(windows []Window) (seconds, variance float64) {
	costs := map[int32][]float64{}
	for i := range windows {
		w := &windows[i]
		for k := w.From + s.shape.warmup; k < w.To; k++ {
			costs[s.kind(k)] = append(costs[s.kind(k)], w.Cost(k))
		}
	}
	// The standard deviation of a step from the mean of its kind, relative to that, is taken over all kinds. Where
	// no kind has two steps it is as large as the mean.
	means := map[int32]float64{}
	squares, degrees := 0.0, 0.0
	for _, kind := range slices.Sorted(maps.Keys(costs)) {
		mean, n := 0.0, float64(len(costs[kind]))
		for _, c := range costs[kind] {
			mean += c
		}
		mean /= n
		means[kind] = mean
		if mean == 0 {
			continue
		}
		for _, c := range costs[kind] {
			d := c/mean - 1
			squares += float64(d * d)
		}
		degrees += n - 1
	}
	usual := math.Sqrt(squares / degrees)
	if degrees == 0 {
		usual, degrees = 1, 1
	}

	// The steps that windows measure, and how many of each kind they do not.
	missing := map[int32]float64{}
	next := s.o.First
	for i := range windows {
		w := &windows[i]
		for ; next < w.Start; next++ {
			missing[s.kind(next)]++
		}
		if w.To > next {
			seconds += w.start(w.To) - w.start(next)
			next = w.To
		}
	}
	seconds += windows[0].start(s.o.First) // what comes before the first step
	// Student's quantile of 99.5 %: twice that is the width of an interval of 99 %. The expansion of student does not
	// hold for few degrees of freedom, which are whole numbers from 1 on.
	quantile := student(degrees, 2.575829303548901)
	if few := [...]float64{1: 63.657, 2: 9.925, 3: 5.841, 4: 4.604, 5: 4.032}; int(degrees) < len(few) {
		quantile = few[int(degrees)]
	}
	estimated := 0.0
	for _, kind := range slices.Sorted(maps.Keys(missing)) {
		n, r, mean := missing[kind], float64(len(costs[kind])), means[kind]
		estimated += float64(n * mean)
		half := float64(quantile*usual*mean*n) * math.Sqrt(1/r+1/n)
		variance += float64(half * half)
	}
	return seconds + estimated, variance + float64(unshown*estimated*unshown*estimated)
}

// unshown is by how much, relative to what they cost, steps may differ from those of their
// kind that were measured without showing it: what a cold start leaves for long, times that
// simulators take for the same.
const unshown = 1e-4
