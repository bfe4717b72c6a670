package buy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"reprise/internal/portable"
	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/replay/sampling"
	"reprise/study"
	"reprise/trace"
	"reprise/tracegen/hpcg"
	"reprise/tracegen/programs"
)

// This file replays, and compares what was replayed.

// series is one run on one machine, as the models say and on machines that are drawn from their errors.
type series struct {
	name     string
	program  string
	spec     replay.MachineSpec
	run      *programs.Run
	params   parameters
	title    string   // the parameters for people
	commands []string // from the sheet to the trace
	again    string   // and the replay
	trace    string   // of this file

	stated  *replay.Played
	draws   *replay.Uncertainty // with seeds from 1 on
	made    float64             // what the last replay cost, in messages
	skipped string              // why there are no more
}

// drawn returns how many draws the interval has.
func (s *series) drawn() int {
	if s.draws == nil {
		return 0
	}
	return len(s.draws.Draws)
}

// script returns the commands that give the numbers of a series.
func (s *series) script() []string {
	list := append(slices.Clone(s.commands), s.again+" "+s.trace)
	if s.drawn() > 0 {
		list = append(list, fmt.Sprintf("%s --uncertainty --draws %d --level %g%% %s", s.again, s.drawn(), 100*s.draws.Level, s.trace))
	}
	return list
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

// play replays a series: as the models say, or so many draws at once.
func (b *buyer) play(asked context.Context, s *series, draws int) (err error) {
	replays := max(draws, 1)
	takes, left := s.cost(b, replays), time.Until(b.end)
	if !b.end.IsZero() && b.done > 0 && takes > left {
		s.skipped = fmt.Sprintf("%s would take about %v, %v were left", textutil.Count(replays, "replay"), study.Round(takes.Seconds()),
			study.Round(left.Seconds()))
		return nil
	}
	// The context of the replay ends with the caller's but has no deadline: an estimate would be as good as the time
	// allows, and differ from one at another time.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(asked))
	defer cancel(nil)
	defer context.AfterFunc(asked, func() { cancel(context.Cause(asked)) })()
	defer func() {
		if err != nil && asked.Err() != nil {
			err = context.Cause(asked)
		}
	}()
	defer textutil.Stopped(&err)
	open := s.open(ctx, b) // the trace is made once, which does not count
	begin := time.Now()
	stated, drawn, err := b.replay(ctx, s, open, draws)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	// The cost of what was simulated, in the messages that study.CostOf counts. It is above the forecast where a run does not
	// forget its beginning.
	s.made = 100 * float64(s.run.Ranks)
	if draws == 0 {
		s.stated = stated
		s.made += float64(stated.Messages)
	} else {
		s.draws = drawn
		for i := range drawn.Draws {
			s.made += float64(drawn.Draws[i].Messages) / float64(draws)
		}
	}
	b.pace[s.program].Add(float64(replays)*s.made, time.Since(begin).Seconds())
	b.done += replays
	return nil
}

// open returns a function that opens the trace of a series, which is made once.
func (s *series) open(ctx context.Context, b *buyer) func() (*trace.Trace, error) {
	id := fmt.Sprint(s.run.Identity())
	if b.traces[id] == nil {
		b.traces[id] = textutil.Must(s.run.Trace(ctx, b.Tool))
	}
	text := b.traces[id]
	return func() (*trace.Trace, error) {
		return trace.NewReaderAt(bytes.NewReader(text), int64(len(text)), s.name)
	}
}

// replay estimates a run, or replays it where that costs no more: as replay --tolerance does, and with draws as that
// does with --uncertainty, so that these commands give the same bits.
func (b *buyer) replay(ctx context.Context, s *series, open func() (*trace.Trace, error), draws int) (stated *replay.Played,
	drawn *replay.Uncertainty, err error) {
	defer textutil.Stopped(&err)
	t := textutil.Must(open())
	defer t.Close()
	m, o, _, err := replay.LoadMachine(s.spec, t)
	textutil.Check(err)
	o.Seed = 1
	rated := func(p *replay.Played, seconds map[string]float64) (*replay.Played, error) {
		if s.program != "hpcg" {
			return p, nil
		}
		sum, err := hpcg.NewSummary(t.Header(), func(name string) float64 { return seconds[name] }, 0)
		if err == nil {
			p.Rating = sum.Rating
		}
		return p, err
	}
	exactly := func(ctx context.Context, m replay.Machine, o replay.Options) (_ *replay.Played, err error) {
		defer textutil.Stopped(&err)
		again := textutil.Must(open())
		defer again.Close()
		r := textutil.Must(replay.Run(ctx, again, m, o))
		seconds := map[string]float64{} // of phases
		for i, v := range r.RootPhases {
			seconds[r.Header.Phases[i]] = v
		}
		return rated(replay.PlayedExactly(r), seconds)
	}
	together := func(ctx context.Context, draws []replay.Draw) (list []*replay.Played, err error) {
		defer textutil.Stopped(&err)
		estimates, err := replay.SampleDraws(ctx, open, draws, replay.SampleOptions{Tolerance: b.Tolerance, Workers: b.Jobs})
		for _, e := range estimates {
			seconds := map[string]float64{}
			for _, phase := range e.Phases {
				seconds[phase.Name] = phase.Mean
			}
			list = append(list, textutil.Must(rated(replay.PlayedInPart(e), seconds)))
		}
		return list, err
	}
	if draws > 0 {
		drawn, err = replay.Uncertain(ctx, t.Header(), m, o,
			replay.UncertaintyOptions{Draws: draws, Workers: b.Jobs, Level: b.Level, Together: together}, exactly)
		return nil, drawn, err
	}
	list, err := together(ctx, []replay.Draw{{Machine: m, Options: o}})
	if errors.Is(err, sampling.ErrExact) {
		stated, err = exactly(ctx, m, o)
		return stated, nil, err
	}
	textutil.Check(err)
	return list[0], nil, nil
}

// samplingOf returns the relative standard error of the estimates of some draws.
func samplingOf(u *replay.Uncertainty) float64 {
	for _, part := range u.Parts {
		if part.Name == "sampling" {
			return part.SD / u.Makespan.Mean
		}
	}
	return 0
}

// difference compares a series with a base, draw by draw: the same draw is the same machine. nil: there is nothing of
// both yet.
func difference(base, other *series) *Difference {
	if base == nil || other == nil || base.stated == nil || other.stated == nil {
		return nil
	}
	n := min(base.drawn(), other.drawn())
	d := &Difference{Gflops: rate(other.stated), Value: rate(other.stated)/rate(base.stated) - 1, Draws: n, Commands: other.script(),
		Configuration: other.title}
	if d.Known = n > 0; !d.Known {
		d.Why = cmp.Or(other.skipped, base.skipped, notYet)
		return d
	}
	of := func(d *replay.SeedResult) float64 { return cmp.Or(d.Rating, d.Gflops) }
	var logs []float64
	for i := range n {
		logs = append(logs, portable.Log(of(&other.draws.Draws[i])/of(&base.draws.Draws[i])))
	}
	// Runs of the same steps, grid and depth are estimated from the same windows, so that these errors are common to both.
	further, windows := 0.0, func(s *series) parameters { return s.params.with("BCAST", "") }
	if !slices.Equal(windows(base), windows(other)) {
		further = samplingOf(base.draws) + samplingOf(other.draws)
	}
	i := replay.IntervalOf(logs, further, base.draws.Level)
	d.Low, d.High = min(portable.Exp(i.Low)-1, d.Value), max(portable.Exp(i.High)-1, d.Value)
	return d
}

// notYet is why an interval is not known.
const notYet = "not drawn yet"
