package buy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"reprise/replay"
	"reprise/replay/sampling"
	"reprise/trace"
	"reprise/tracegen/hpcg"
	"reprise/tracegen/programs"
)

// This file replays, and compares what was replayed.

// series is one run on one machine, as the models say and on machines that are drawn from their errors.
type series struct {
	name     string
	spec     replay.MachineSpec
	run      programs.Run
	params   parameters
	title    string   // the parameters for people
	made     []string // commands that make the machine
	commands []string // all commands

	stated *replay.Played
	draws  []*replay.Played // with seeds from 1 on
}

// same reports whether two series of one machine are of the same run.
func (s *series) same(other *series) bool { return slices.Equal(s.params, other.params) }

// rate returns the Gflop/s of a replay: HPCG's own rating, or those of all flop.
func rate(p *replay.Played) float64 {
	if p.Rating > 0 {
		return p.Rating
	}
	return p.Gflops
}

// play replays a series with a seed, unless it has that draw; 0: as the models say.
func (b *buyer) play(asked context.Context, s *series, seed int) (err error) {
	if s == nil || seed == 0 && s.stated != nil || seed > 0 && len(s.draws) >= seed {
		return nil
	}
	// The context of the replay ends with the caller's but has no deadline: an estimate would be as good as the time
	// allows, and differ from one at another time.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(asked))
	defer cancel(nil)
	defer context.AfterFunc(asked, func() { cancel(context.Cause(asked)) })()
	p, err := b.replay(ctx, s, uint64(seed))
	if err != nil && asked.Err() != nil {
		return context.Cause(asked)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	if seed == 0 {
		s.stated = p
	} else {
		s.draws = append(s.draws, p)
	}
	b.done++
	b.tell("")
	return nil
}

// open returns a function that opens the trace of a series, which is made once.
func (s *series) open(ctx context.Context, b *buyer) (func() (*trace.Trace, error), error) {
	id := fmt.Sprint(s.run.Identity())
	if b.traces[id] == nil {
		text, err := s.run.Trace(ctx, b.Tool)
		if err != nil {
			return nil, err
		}
		b.traces[id] = text
	}
	text := b.traces[id]
	return func() (*trace.Trace, error) {
		return trace.NewReaderAt(bytes.NewReader(text), int64(len(text)), s.name)
	}, nil
}

// replay estimates a run, or replays it where that costs no more, as replay --tolerance does.
func (b *buyer) replay(ctx context.Context, s *series, seed uint64) (*replay.Played, error) {
	open, err := s.open(ctx, b)
	if err != nil {
		return nil, err
	}
	t, err := open()
	if err != nil {
		return nil, err
	}
	defer t.Close()
	m, o, _, err := replay.LoadMachine(s.spec, t)
	if err != nil {
		return nil, err
	}
	if seed > 0 {
		m, o = replay.Drawn(m, o, seed)
	}
	var p *replay.Played
	seconds := map[string]float64{} // of phases
	e, err := replay.Sample(ctx, open, m, o, replay.SampleOptions{Tolerance: b.Tolerance, Workers: b.Jobs})
	switch {
	case err == nil:
		p = replay.PlayedInPart(e)
		for _, phase := range e.Phases {
			seconds[phase.Name] = phase.Mean
		}
	case errors.Is(err, sampling.ErrExact):
		r, err := replay.Run(ctx, t, m, o)
		if err != nil {
			return nil, err
		}
		p = replay.PlayedExactly(r)
		for i, v := range r.RootPhases {
			seconds[r.Header.Phases[i]] = v
		}
	default:
		return nil, err
	}
	if _, ok := s.run.(*programs.HPCG); ok {
		sum, err := hpcg.NewSummary(t.Header(), func(name string) float64 { return seconds[name] }, 0)
		if err != nil {
			return nil, err
		}
		p.Rating = sum.Rating
	}
	return p, nil
}

// samplingOf returns the relative standard error of the estimates of some replays.
func samplingOf(draws []*replay.Played) (sd float64) {
	for _, p := range draws {
		sd += p.Sampling / p.Makespan / float64(len(draws))
	}
	return sd
}

// values returns a figure of each replay.
func values(draws []*replay.Played, figure func(*replay.Played) float64) (list []float64) {
	for _, p := range draws {
		list = append(list, figure(p))
	}
	return list
}

// difference compares a series with a base, draw by draw: the same draw is the same machine. nil: there is no draw of
// both yet.
func difference(base, other *series, level float64) *Difference {
	if base == nil || other == nil {
		return nil
	}
	n := min(len(base.draws), len(other.draws))
	if n == 0 {
		return nil
	}
	var relative []float64
	d := &Difference{Draws: n, Commands: other.commands, Configuration: other.title}
	for i := range n {
		a, b := rate(base.draws[i]), rate(other.draws[i])
		relative = append(relative, b/a-1)
		d.Gflops += b / float64(n)
		d.Mean += (b/a - 1) / float64(n)
	}
	if n < leastDraws {
		return d
	}
	// Runs with the same steps are estimated from the same ones, so that these errors are common to both.
	further := 0.0
	steps, _ := base.run.Size()
	if others, _ := other.run.Size(); others != steps || base.run.Ranks() != other.run.Ranks() {
		further = samplingOf(base.draws[:n]) + samplingOf(other.draws[:n])
	}
	i := replay.IntervalOf(relative, further, level)
	d.Low, d.High, d.Known = i.Low, i.High, true
	return d
}
