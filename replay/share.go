package replay

import (
	"context"
	"time"

	"reprise/replay/sampling"
)

// WindowTimes is what came out of a window of an estimate.
type WindowTimes struct {
	Messages int64                 `json:"messages"` // that were simulated
	Starts   []sampling.StartTimes `json:"starts"`   // of each step, and of the end
}

// A Sharer shares the windows of an estimate among processes, each of which makes it (package
// study/estimates). Its methods may be called by several goroutines.
type Sharer interface {
	// Begin is told all that windows depend on, before the first.
	Begin(run []Property) error
	// Window returns what came out of the steps [from, to), which play plays if no process has; nil
	// if another one is playing them.
	Window(from, to int, play func() (*WindowTimes, error)) (*WindowTimes, error)
}

const (
	// sharedAtOnce is how many windows are looked after at once where processes share them: all
	// of a round, so that those which others play keep nobody from playing the rest.
	sharedAtOnce = 1 << 10
	// lookEvery is how long a process waits before it looks again for what another one plays.
	lookEvery = 200 * time.Millisecond
)

// shareOut prepares for windows that processes share, of which this one plays so many at once, and
// returns how many are looked after at once.
func (s *sample) shareOut(workers int) int {
	s.idle = make(chan int, max(workers, 0))
	for i := range workers {
		s.idle <- i
	}
	return min(workers, 1) * sharedAtOnce
}

// measureShared is the sampling.Measure of windows that processes share.
func (s *sample) measureShared(ctx context.Context, _, from, to int) ([]sampling.StartTimes, error) {
	for {
		w, err := s.turn(ctx, from, to)
		if err != nil {
			return nil, err
		}
		if w != nil {
			s.messages.Add(w.Messages)
			return w.Starts, nil
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(lookEvery):
		}
	}
}

// turn gets a window, or plays it, once one of the workers is idle.
func (s *sample) turn(ctx context.Context, from, to int) (*WindowTimes, error) {
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case worker := <-s.idle:
		defer func() { s.idle <- worker }()
		return s.share.Window(from, to, func() (*WindowTimes, error) { return s.play(ctx, worker, from, to) })
	}
}
