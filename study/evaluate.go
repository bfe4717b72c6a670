package study

import (
	"context"
	"errors"
	"time"

	"reprise/replay"
	"reprise/replay/sampling"
	"reprise/trace"
	"reprise/trace/warning"
)

// Outcome is what came out of a run.
type Outcome struct {
	Makespan       float64 `json:"makespan_s"`
	Interval       float64 `json:"interval_s"` // half-width, with 95 % confidence; 0: it is exact
	Gflops         float64 `json:"gflops"`     // 0: not known, as first steps solve no system
	GflopsInterval float64 `json:"gflops_interval"`
	Efficiency     float64 `json:"efficiency"` // share of what the cores can do; 0: that is not known
	Messages       int64   `json:"messages"`   // that were simulated
	Kinds          []Part  `json:"time_by_kind"`
	Phases         []Part  `json:"time_by_phase"`
	// Path are the parts of the critical path, whose seconds add up to the makespan, the longest first;
	// nil if they were not asked for.
	Path []Part `json:"critical_path,omitempty"`
	// POP are POP's efficiencies; nil if they were not asked for.
	POP *Efficiencies `json:"pop,omitempty"`

	Random   bool     `json:"random"` // another seed gives something else
	Warnings []string `json:"warnings,omitempty"`
}

// Part is what the mean rank, or the critical path, spends on something.
type Part struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"mean_s"`
}

// Evaluator makes runs, and keeps what several of them need: traces, platforms, kernel models.
// It may be used by several goroutines.
type Evaluator struct {
	*parts
	worthSaving time.Duration // replays that took less are begun anew rather than saved
}

// worthSaving is longer than it takes to save a replay, which can be seconds.
const worthSaving = 10 * time.Second

// NewEvaluator returns an evaluator of the configurations of a plan.
func (p *Plan) NewEvaluator() *Evaluator {
	return &Evaluator{newParts(p), worthSaving}
}

// RunOptions say how a configuration is run.
type RunOptions struct {
	Tolerance float64 // half-width of the interval, relative; 0: exact
	Seed      uint64
	// Checkpoint is a file in which the state of an exact replay is kept if the context ends,
	// and from which it goes on; "": none.
	Checkpoint string
	Responses  Responses // with any of them there is no checkpoint
}

// Evaluate makes a run. With the same seed the random numbers of two configurations are the
// same, as far as ranks and steps are: their difference has less noise than either.
func (e *Evaluator) Evaluate(ctx context.Context, c *Config, o RunOptions) (*Outcome, error) {
	ctx, end := withoutDeadline(ctx)
	defer end()
	open, err := e.traceOf(ctx, c.Run)
	if err != nil {
		return nil, err
	}
	t, err := open()
	if err != nil {
		return nil, err
	}
	defer t.Close()
	m, ro, odd, err := e.load(c.Machine, t)
	if err != nil {
		return nil, err
	}
	ro.Seed = o.Seed
	out, err := e.play(ctx, open, t, m, ro, o)
	if err != nil {
		return nil, err
	}
	if out.Makespan <= 0 {
		return nil, errors.New("the makespan is 0 s: by its kernel models and its platform nothing takes time")
	}
	_, out.Efficiency = m.Efficiency(out.Gflops)
	for _, w := range odd {
		if w.Kind != warning.Choice {
			out.Warnings = append(out.Warnings, w.String())
		}
	}
	return out, nil
}

// withoutDeadline returns a context that ends with ctx, but that does not say when: an estimate
// would be as good as the time allows, and another one at another time.
func withoutDeadline(ctx context.Context) (context.Context, func()) {
	c, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	return c, func() {
		stop()
		cancel(nil)
	}
}

// play estimates, or replays where that costs no more or is asked for.
func (e *Evaluator) play(ctx context.Context, open func() (*trace.Trace, error), t *trace.Trace, m replay.Machine,
	ro replay.Options, o RunOptions) (*Outcome, error) {
	if o.Tolerance > 0 {
		out, err := estimate(ctx, open, t, m, ro, o)
		if !errors.Is(err, sampling.ErrExact) {
			return out, err
		}
	}
	if o.Responses != (Responses{}) {
		return respond(ctx, open, t, m, ro, o.Responses)
	}
	k := keeper{file: o.Checkpoint, ctx: ctx, after: e.worthSaving}
	if err := k.prepare(&ro, e.plan.Version); err != nil {
		return nil, err
	}
	defer k.close()
	res, err := replay.Run(ctx, t, m, ro)
	if err != nil {
		return nil, err
	}
	return exact(res), nil
}

func exact(r *replay.Result) *Outcome {
	o := &Outcome{Makespan: r.Makespan, Gflops: r.Gflops, Messages: r.Messages, Random: r.Seed != nil}
	for _, s := range r.Kinds {
		o.Kinds = append(o.Kinds, Part{s.Name, s.Mean})
	}
	for _, s := range r.Phases {
		o.Phases = append(o.Phases, Part{s.Name, s.Mean})
	}
	for _, w := range r.Warnings {
		o.Warnings = append(o.Warnings, w.String())
	}
	return o
}

func estimated(e *replay.Estimate) *Outcome {
	o := &Outcome{Makespan: e.Seconds, Interval: e.Interval, Gflops: e.Gflops, GflopsInterval: e.GflopsInterval,
		Messages: e.Messages, Random: e.Seed != nil}
	for _, s := range e.Kinds {
		o.Kinds = append(o.Kinds, Part{s.Name, s.Mean})
	}
	for _, s := range e.Phases {
		o.Phases = append(o.Phases, Part{s.Name, s.Mean})
	}
	return o
}
