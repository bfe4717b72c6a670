package buy

import (
	"bytes"
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
	spec     replay.MachineSpec
	run      programs.Run
	params   parameters
	title    string   // the parameters for people
	commands []string // from the sheet on

	stated  *replay.Played
	draws   []*replay.Played // with seeds from 1 on
	took    float64          // seconds of all
	skipped string           // why there are no more
}

// played returns how many replays were made.
func (s *series) played() int {
	if s.stated == nil {
		return 0
	}
	return 1 + len(s.draws)
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
	if s.played() > seed || s.skipped != "" {
		return nil
	}
	if end, limited := asked.Deadline(); limited && b.took > 0 && s.cost(b) > time.Until(end).Seconds() {
		s.skipped = fmt.Sprintf("a replay takes about %v, %v were left", study.Round(s.cost(b)), study.Round(time.Until(end).Seconds()))
		return nil
	}
	// The context of the replay ends with the caller's but has no deadline: an estimate would be as good as the time
	// allows, and differ from one at another time.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(asked))
	defer cancel(nil)
	defer context.AfterFunc(asked, func() { cancel(context.Cause(asked)) })()
	begin := time.Now()
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
	seconds := time.Since(begin).Seconds()
	s.took, b.took, b.guessed = s.took+seconds, b.took+seconds, b.guessed+s.guess(b)
	b.done++
	b.tell("")
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

// replay estimates a run, or replays it where that costs no more, as replay --tolerance does.
func (b *buyer) replay(ctx context.Context, s *series, seed uint64) (p *replay.Played, err error) {
	defer textutil.Stopped(&err)
	open := s.open(ctx, b)
	t := textutil.Must(open())
	defer t.Close()
	m, o, _, err := replay.LoadMachine(s.spec, t)
	textutil.Check(err)
	if seed > 0 {
		m, o = replay.Drawn(m, o, seed)
	}
	seconds := map[string]float64{} // of phases
	e, err := replay.Sample(ctx, open, m, o, replay.SampleOptions{Tolerance: b.Tolerance, Workers: b.Jobs})
	switch {
	case err == nil:
		p = replay.PlayedInPart(e)
		for _, phase := range e.Phases {
			seconds[phase.Name] = phase.Mean
		}
	case errors.Is(err, sampling.ErrExact):
		r := textutil.Must(replay.Run(ctx, t, m, o))
		p = replay.PlayedExactly(r)
		for i, v := range r.RootPhases {
			seconds[r.Header.Phases[i]] = v
		}
	default:
		return nil, err
	}
	if _, ok := s.run.(*programs.HPCG); ok {
		sum := textutil.Must(hpcg.NewSummary(t.Header(), func(name string) float64 { return seconds[name] }, 0))
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

// rangeOf returns the factors to a stated value within which one more replay is expected, by the logarithms of those of
// some draws, since the errors are log-normal. The stated value is within it: it has the median of all errors. ok is false
// if there are too few draws.
func rangeOf(logs []float64, further, level float64) (low, high float64, ok bool) {
	if len(logs) < leastDraws {
		return 0, 0, false
	}
	i := replay.IntervalOf(logs, further, level)
	return portable.Exp(min(i.Low, 0)), portable.Exp(max(i.High, 0)), true
}

// difference compares a series with a base, draw by draw: the same draw is the same machine. nil: there is nothing of
// both yet.
func difference(base, other *series, level float64) *Difference {
	if base == nil || other == nil || base.stated == nil || other.stated == nil {
		return nil
	}
	n := min(len(base.draws), len(other.draws))
	d := &Difference{Gflops: rate(other.stated), Value: rate(other.stated)/rate(base.stated) - 1, Draws: n, Commands: other.commands,
		Configuration: other.title}
	var logs []float64
	for i := range n {
		logs = append(logs, portable.Log(rate(other.draws[i])/rate(base.draws[i])/(1+d.Value)))
	}
	// Runs with the same steps are estimated from the same ones, so that these errors are common to both.
	further := 0.0
	steps, _ := base.run.Size()
	if others, _ := other.run.Size(); others != steps || base.run.Ranks() != other.run.Ranks() {
		further = samplingOf(base.draws[:n]) + samplingOf(other.draws[:n])
	}
	d.Low, d.High, d.Known = rangeOf(logs, further, level)
	if d.Known {
		d.Low, d.High = float64((1+d.Value)*d.Low)-1, float64((1+d.Value)*d.High)-1
	}
	return d
}
