package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/replay/sampling"
	"reprise/study/estimates"
	"reprise/trace"
	"reprise/trace/warning"
)

// sampleSettings is what the command line says about sampling; without a tolerance
// and a budget there is none.
type sampleSettings struct {
	tolerance float64
	budget    time.Duration
	workers   string // directory of processes that share the windows; "": none
}

func (s *sampleSettings) on() bool { return s.tolerance > 0 || s.budget > 0 }

func sampleFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "tolerance",
			Usage: "estimate from windows of steps, to within `T` (0.5%, or 0.005) with about 95 % confidence"},
		&cli.DurationFlag{Name: "budget", Usage: "estimate from as many windows of steps as `TIME` (such as 3m) allows",
			DefaultText: "none"},
		&cli.StringFlag{Name: "workers",
			Usage: "share the windows of --tolerance with all processes that are started with the same directory `DIR`, on any host that sees it", DefaultText: "none"},
	}
}

func sampleSettingsOf(c *cli.Context) (s sampleSettings, err error) {
	if c.IsSet("budget") {
		if s.budget = c.Duration("budget"); s.budget <= 0 {
			return s, command.Usagef("--budget %v, want a positive time such as 3m", s.budget)
		}
	}
	if c.IsSet("tolerance") {
		if s.tolerance, err = parseShare("tolerance", c.String("tolerance"), false); err != nil {
			return s, err
		}
	}
	err = s.setWorkers(c)
	return s, err
}

// setWorkers says with whom windows are shared.
func (s *sampleSettings) setWorkers(c *cli.Context) error {
	s.workers = c.String("workers")
	switch {
	case !c.IsSet("workers"):
	case s.workers == "":
		return command.Usagef("--workers wants a directory")
	case s.tolerance == 0 || s.budget > 0:
		return command.Usagef("--workers DIR shares the windows of --tolerance T: it needs one, without --budget")
	}
	return nil
}

// workerLease is how long a process of another host that shares windows may not be seen until it
// counts as dead.
const workerLease = 30 * time.Second

// shareWindows joins the processes that share the windows, if there are to be any.
func shareWindows(s *settings, in *input, m *loaded) (dir *estimates.Dir, err error) {
	if s.sample.workers == "" {
		return nil, nil
	}
	if len(s.outputs) > 0 {
		return nil, command.Usagef("--%s is of all windows, of which with --workers each process plays some: leave one of them out", s.outputs[0].flag)
	}
	m.options.Identity, err = identity(s, in, m.Source)
	return estimates.New(s.sample.workers, workerLease), err
}

// parseShare reads the value of a flag: a percentage of less than 100 %, or a fraction. It is
// more than 0, unless that makes sense.
func parseShare(flag, text string, zero bool) (float64, error) {
	v, err := textutil.ParsePercent(text, "the makespan", zero)
	if err != nil {
		return 0, command.Usagef("--%s %w", flag, err)
	}
	return v, nil
}

// sampleTrace estimates the makespan, or replays all of the trace where that costs
// no more, and prints the report.
func sampleTrace(ctx context.Context, s *settings, stdout, stderr io.Writer) error {
	in, err := openSampled(ctx, s)
	if err != nil {
		return err
	}
	defer in.close()
	m, err := load(s, in, stderr)
	if err != nil {
		return err
	}
	begun()
	begin := time.Now()
	if s.sample.budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, begin.Add(s.sample.budget))
		defer cancel()
	}
	dir, err := shareWindows(s, in, m)
	if err != nil {
		return err
	}
	e, err := estimate(ctx, s, in, m, dir, stderr)
	if errors.Is(err, sampling.ErrExact) {
		return replayExactly(ctx, s, in, m, err, begin, stdout, stderr)
	}
	if err != nil {
		return warning.With(err, m.causes())
	}
	r := &estimateResults{EstimateReport: replay.NewEstimateReport(e, &m.Machine,
		s.provenance(m, time.Since(begin).Seconds()))}
	r.Warnings = warning.Join(r.Warnings, s.noise.warnings(r.Seed), m.warnings)
	r.Tolerance, r.Budget = s.sample.tolerance, s.sample.budget.Seconds()
	r.HPCG, err = s.hpcgEstimate(e)
	failed := s.outputs.each(func(o *output) error { return o.writeEstimate(in, m, r) })
	return errors.Join(s.print(stdout, r), err, failed)
}

// openSampled opens a trace that can be read at any step.
func openSampled(ctx context.Context, s *settings) (*input, error) {
	if s.trace == "-" {
		return nil, command.Usagef("--tolerance and --budget read the steps in any order: they need a trace file, not standard input")
	}
	if info, err := os.Stat(s.trace); err == nil && !info.Mode().IsRegular() {
		return nil, command.Usagef("--tolerance and --budget read the steps in any order: they need a trace file, and %s is none", s.trace)
	}
	in, err := openInput(ctx, s.trace, nil)
	if err == nil && in.trace == nil {
		return nil, command.Usagef("--tolerance and --budget need a trace that marks its steps, and %s is a text trace",
			s.trace)
	}
	return in, err
}

// estimate samples the trace with all cores, until the context's deadline.
func estimate(ctx context.Context, s *settings, in *input, m *loaded, dir *estimates.Dir,
	stderr io.Writer) (_ *replay.Estimate, err error) {
	so := replay.SampleOptions{Tolerance: s.sample.tolerance, Workers: runtime.GOMAXPROCS(0),
		Observe: s.outputs.observe(in, m)}
	if dir != nil {
		so.Share = dir
		defer func() { err = errors.Join(err, dir.Leave()) }()
	}
	if !s.quiet && terminal.Is(stderr) {
		var bar *terminal.Bar
		defer func() { bar.Clear() }()
		so.Round = func(ended, all int) {
			if ended == 0 {
				bar.Clear()
				bar = terminal.NewBar(stderr, false, all, "windows")
			}
			bar.Set(ended)
		}
		so.Progress = func(e *sampling.Estimate) {
			bar.Clear()
			fmt.Fprintf(stderr, "replay: after %d windows: %.6g s \u00b1 %.2g %%\n", len(e.Windows), e.Seconds, 100*e.Relative())
		}
	}
	open := func() (*trace.Trace, error) { return trace.Open(s.trace) }
	return replay.Sample(ctx, open, m.Machine, m.options, so)
}

// replayExactly replays all of the trace, until the context's deadline or a signal, and says why.
// Outputs are of what was replayed by then.
func replayExactly(ctx context.Context, s *settings, in *input, m *loaded, why error, begin time.Time, stdout,
	stderr io.Writer) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	bar := newBar(s, in, stderr)
	steps, start := 0, time.Now()
	o := m.options
	if err := s.outputs.begin(ctx, end, in, m, &o); err != nil {
		return err
	}
	o.Progress = func(n int) { steps = n; bar.Set(n) }
	deaf := command.OnEnding(func(sig os.Signal) { end(ending{sig}) })
	res, err := in.run(ctx, m.Machine, o)
	deaf()
	bar.Clear()
	var stopped ending
	over, signalled := errors.Is(err, context.DeadlineExceeded), errors.As(err, &stopped)
	if err != nil && (res == nil || !over && !signalled) {
		s.outputs.abandon()
		return warning.With(err, warning.Join(in.warnings(), m.causes()))
	}
	res.Warnings = warning.Join(res.Warnings, s.noise.warnings(res.Seed), m.warnings)
	r := &results{Report: replay.NewReport(res, s.provenance(m, time.Since(begin).Seconds()))}
	var summary error
	r.HPCG, summary = s.hpcgOf(res)
	writing, stop := command.Interruptible(context.WithoutCancel(ctx))
	failed := s.outputs.write(writing, r)
	stop()
	if over {
		return errors.Join(failed, s.overtime(in, steps, time.Since(start).Seconds()))
	}
	if signalled {
		err = fmt.Errorf("%w at %.9g s of simulated time, after %d messages", stopped, *res.StoppedAt, res.Messages)
	}
	return errors.Join(s.print(stdout, &exactResults{Because: why.Error(), results: r}), summary, failed, err)
}

// overtime returns the error of an exact replay that came so many steps far in so many
// seconds, until the time was over.
func (s *settings) overtime(in *input, steps int, seconds float64) error {
	all := s.steps(in)
	if steps == 0 {
		return fmt.Errorf("the time is over: the exact replay has not come to the end of the first of %s",
			textutil.Count(all, "step"))
	}
	return fmt.Errorf("the time is over: the exact replay has come to step %d of %d, all of them would take about %.0f s",
		steps, all, max(1, seconds/float64(steps)*float64(all)))
}
