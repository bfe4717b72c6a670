package sampling

import (
	"context"
	"fmt"
	"math"
)

// Shapes of windows. Where one step loses nearly all memory of the cold start
// (programs that synchronise in each step), windows are short. Else single steps
// tell nothing, since what a cold start changes at first makes all that follows
// differ; only on average will the windows tell what they still know. With noise, or
// polls, that is not soon enough: on Dahu steps cost 2 % less for the first twenty to
// forty, too little to be seen in each; elsewhere 10 %. Late windows leave them out.
var (
	shortWindows = shape{warmup: 1, length: 4, coupled: true}
	longWindows  = shape{warmup: 4, length: 16}
	lateWindows  = shape{warmup: 32, length: 16}
)

const (
	// pilots is the number of places at which the memory of the cold start is tested.
	pilots = 3
	// forgotten is the relative difference of two costs of a step, as a root mean
	// square over the pilots, up to which a cold start counts as forgotten.
	forgotten = 3e-3
)

// pilot decides on the shape of windows: at some places it simulates a short window
// twice, once beginning two steps later. If the second step of the later one, the
// first after a warm-up of one, costs what it costs in the other, and leaves the last
// rank as far behind, the one step was enough. The windows then count like others.
func (s *sampler) pilot(ctx context.Context) error {
	s.shape = shortWindows
	steps := s.o.End - s.o.First
	switch {
	case steps == 1:
		return fmt.Errorf("%w: there is one step", ErrExact)
	case s.short():
		return fmt.Errorf("%w: %d steps are too few", ErrExact, steps)
	}
	var spans []span
	for i := range pilots {
		from := s.o.First + (2*i+1)*steps/(2*pilots)
		to := from + s.shape.steps()
		spans = append(spans, span{from, to}, span{from + 2, to})
	}
	windows, err := s.simulate(ctx, spans)
	if err != nil {
		return err
	}
	if len(windows) < len(spans) {
		return ErrTime
	}
	s.pairs = windows
	for i := 0; i < len(windows); i += 2 {
		d := windows[i].difference(&windows[i+1])
		s.memory += float64(d * d / pilots)
		s.done = append(s.done, windows[i])
	}
	if s.memory = math.Sqrt(s.memory); !(s.memory <= forgotten) {
		s.shape, s.memory, s.done, s.pairs = longWindows, 0, nil, nil
		if s.o.Scatters {
			s.rough = fitPilots(s.o.First, s.o.End, windows, shortWindows.warmup)
			s.shape = lateShape(s.o.Period)
		}
	}
	return nil
}

// lateShape returns late windows of whole periods, about as long as they usually are: steps of one
// period cost this or that by whose turn it is, which would be in each shorter window by where it begins. In
// longer ones what a warm-up leaves counts less, so that it may be shorter: the middle of what
// counts stays where it is.
func lateShape(period int) shape {
	late := lateWindows
	if period > 0 {
		late.length = period * max(1, (late.length+period/2)/period)
		late.warmup = max(late.warmup/2, late.warmup+(lateWindows.length-late.length)/2)
	}
	return late
}

// short reports whether the run has too few steps for windows among them.
func (s *sampler) short() bool {
	least := (2*pilots + firstWindows) * shortWindows.steps()
	return 2*least > s.o.End-s.o.First
}

// difference returns the difference that two windows see in the second step of the
// later one, in its cost or in the lag after it, relative to the cost.
func (w *Window) difference(later *Window) float64 {
	step := later.From + 1
	a, b := w.Cost(step), later.Cost(step)
	d := math.Max(math.Abs(a-b), math.Abs(w.lag(step+1)-later.lag(step+1)))
	if d == 0 {
		return 0
	}
	return d / math.Max(math.Abs(a), math.Abs(b))
}
