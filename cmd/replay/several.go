package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"time"

	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/replay/sampling"
	"reprise/report/path"
	"reprise/study/estimates"
	"reprise/trace"
	"reprise/trace/warning"
	"reprise/tracegen/hpcg"
)

// runsResults are those of replays with several seeds: their report, and the findings of outputs.
type runsResults struct {
	*replay.EnsembleReport
	CriticalPath *path.Runs `json:"critical_path,omitempty"`
}

// replayRuns replays with several seeds, on all cores, and prints the spread. Seeds are independent, so each replay
// runs on one core, with a reader of the trace for itself. A signal ends all; the report then has those that had ended,
// at least two. The result does not depend on the number of cores.
func (j *job) replayRuns(ctx context.Context) error {
	// Without noise all seeds give the same bits, and an interval of no width would be taken for certainty.
	if !textutil.Must(replay.HasNoise(j.in.header, j.machine, j.options)) {
		return command.Usagef("--runs: neither the kernel models nor the network have noise, so all runs would be the same")
	}
	ctx, stop := command.Interruptible(ctx)
	begun()
	bar := terminal.NewBar(j.stderr, j.quiet, j.runs, "runs")
	begin, workers := time.Now(), min(runtime.GOMAXPROCS(0), j.runs)
	ro := replay.RunsOptions{Runs: j.runs, Workers: workers, Progress: bar.Set,
		Rating: func(res *replay.Result) (float64, error) { return rating(j.hpcgOf(res)) }}
	e, err := replay.Runs(ctx, j.options, ro, func(o replay.Options) (*replay.Result, error) {
		// Called from several goroutines: each replay has observers of its own.
		var list observed
		for _, out := range j.outputs {
			if out.observeRun != nil {
				list.add(out.observeRun(&o))
			}
		}
		o.Observers = list.observers
		res, err := j.playAgain(ctx, j.machine, o)
		if err == nil {
			list.ended()
		}
		return res, err
	})
	bar.Clear()
	stop()
	if e == nil {
		return warning.With(err, warning.Join(j.in.warnings(), j.causes()))
	}
	if err != nil {
		err = fmt.Errorf("stopped by a signal after %d of %d runs", len(e.Runs), j.runs)
	}
	r := &runsResults{EnsembleReport: replay.NewEnsembleReport(e, j.provenance(time.Since(begin).Seconds()))}
	r.Workers, r.Warnings = workers, warning.Join(r.Warnings, j.warnings)
	failed := j.outputs.each(func(o *output) error { return o.writeRuns(r) })
	return errors.Join(j.print(r, r.EnsembleReport, r.CriticalPath), failed, err)
}

// replayDraws replays on drawn machines and prints the intervals. A draw varies the parameters of kernels within the
// errors that the kernel file states, and the noise. After a signal the intervals are those of the draws that had
// ended, at least three.
func (j *job) replayDraws(ctx context.Context) error {
	ctx, stop := command.Interruptible(ctx)
	defer stop()
	begun()
	var bar *terminal.Bar
	shown := ""
	progress := func(things string) func(ended, all int) {
		return func(ended, all int) {
			if shown != things {
				bar.Clear()
				bar, shown = terminal.NewBar(j.stderr, j.quiet, all, things), things
			}
			bar.SetOf(ended, all)
		}
	}
	uo := replay.UncertaintyOptions{Draws: j.draws, Level: j.level, Workers: runtime.GOMAXPROCS(0), Causes: j.alone,
		Progress: progress("replays")}
	// The rating of HPCG is drawn, too, of runs that have one.
	play := func(ctx context.Context, m replay.Machine, o replay.Options) (*replay.Played, error) {
		r, err := j.playAgain(ctx, m, o)
		if err != nil {
			return nil, err
		}
		p := replay.PlayedExactly(r)
		p.Rating, err = rating(j.hpcgOf(r))
		return p, err
	}
	if j.sampled() { // exactly where sampling costs no less, as sampleTrace does
		uo.Together = func(ctx context.Context, draws []replay.Draw) ([]*replay.Played, error) {
			so := replay.SampleOptions{Tolerance: j.tolerance, Workers: runtime.GOMAXPROCS(0),
				Ended: progress(fmt.Sprintf("windows of %d draws", len(draws)))}
			list, err := replay.SampleDraws(ctx, func() (*trace.Trace, error) { return trace.Open(j.trace) }, draws, so)
			var played []*replay.Played
			for _, e := range list {
				p := replay.PlayedInPart(e)
				var failed error
				p.Rating, failed = rating(j.hpcgEstimate(e))
				played, err = append(played, p), errors.Join(err, failed)
			}
			return played, err
		}
	}
	begin := time.Now()
	u, err := replay.Uncertain(ctx, j.in.header, j.machine, j.options, uo, play)
	bar.Clear()
	// A model without errors and noise has no uncertainty: that is a mistake of the command line.
	switch {
	case errors.Is(err, replay.ErrCertain):
		return command.Usagef("--uncertainty: %w", err)
	case u == nil && ctx.Err() != nil:
		return errors.New("stopped by a signal: an interval needs three draws")
	case u == nil:
		return warning.With(err, warning.Join(j.in.warnings(), j.causes()))
	}
	if err != nil {
		err = fmt.Errorf("stopped by a signal after %d of %d draws", len(u.Draws), j.draws)
		if len(u.Draws) == j.draws {
			err = errors.New("stopped by a signal before all was drawn, or estimated as closely as --tolerance asks")
		}
	}
	r := replay.NewUncertaintyReport(u, j.provenance(time.Since(begin).Seconds()))
	r.Warnings = warning.Join(r.Warnings, j.warnings)
	return errors.Join(j.print(r, r), j.outputs.each(func(o *output) error { return o.writeDraws(r) }), err)
}

// playAgain replays once, reading the trace for itself. It is for further replays of a job whose own input is in use or
// at its end.
func (j *job) playAgain(ctx context.Context, m replay.Machine, o replay.Options) (*replay.Result, error) {
	in, err := openInput(ctx, j.trace, nil)
	if err != nil {
		return nil, err
	}
	defer in.close()
	return in.run(ctx, m, o)
}

// estimateResults are those of an estimate: its report, and the findings of outputs.
type estimateResults struct {
	*replay.EstimateReport
	HPCG         *hpcg.Summary `json:"hpcg,omitempty"`
	CriticalPath *path.Data    `json:"critical_path,omitempty"`
}

// workerLease is the time after which a process of another host that shares windows, and is not seen, counts as dead.
const workerLease = 30 * time.Second

// sampleTrace estimates the makespan from windows of steps, or replays all of the trace where that costs no more, and
// prints the report. Its stages: the time that is left of the budget, from the begin of the command on; a directory
// that processes share; the display; the estimate; the exact replay in its place where all of the run fits into the
// time, the steps are few, or the tolerance is too close; the report.
func (j *job) sampleTrace(ctx context.Context) error {
	begun()
	if j.budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, j.begin.Add(j.budget))
		defer cancel()
	}
	so := replay.SampleOptions{Tolerance: j.tolerance, Workers: runtime.GOMAXPROCS(0), Observe: j.outputs.observe()}

	// Other processes may share the windows: they meet in a directory, and must play the same run.
	leave := func() error { return nil }
	if j.workers != "" {
		if len(j.outputs) > 0 {
			return command.Usagef("--%s is of all windows, of which with --workers each process plays some: "+
				"leave one of them out", j.outputs[0].flag)
		}
		j.options.Identity = identity(j)
		dir := estimates.New(j.workers, workerLease)
		so.Share, leave = dir, dir.Leave
	}

	bar := terminal.NewBar(j.stderr, j.quiet, 1, "windows")
	so.Ended = bar.SetOf
	soFar := "before there was an estimate"
	so.Progress = func(e *sampling.Estimate) {
		if math.IsInf(e.Interval, 0) {
			note := fmt.Sprintf("roughly %.2g s", e.Seconds)
			bar.Note(note)
			soFar += ": three places of the run make it " + note
		} else {
			bar.Note(fmt.Sprintf("%.6g s \u00b1 %.2g %% so far", e.Seconds, 100*e.Relative()))
		}
	}
	// Each worker reads the trace for itself, as windows lie anywhere in it. After a signal the estimate is that of the
	// windows that there are.
	deaf := command.OnEnding(func(sig os.Signal) { j.end(ending{sig}) })
	e, err := replay.Sample(ctx, func() (*trace.Trace, error) { return trace.Open(j.trace) }, j.machine, j.options, so)
	deaf()
	bar.Clear()
	err = errors.Join(err, leave())
	var stopped error
	if end := (ending{}); errors.As(context.Cause(ctx), &end) {
		when, next := "during the estimate", "a directory of --workers would have kept the windows"
		if err != nil {
			when = soFar
		}
		if j.workers != "" {
			next = "the same command goes on from the windows in " + j.workers
		}
		if stopped = (interruption{fmt.Errorf("%w %s; %s", end, when, next)}); err != nil {
			return stopped
		}
	}
	if errors.Is(err, sampling.ErrExact) {
		return j.replayExactly(ctx, err)
	}
	if err != nil {
		return warning.With(err, j.causes())
	}

	r := &estimateResults{
		EstimateReport: replay.NewEstimateReport(e, &j.machine, j.provenance(time.Since(j.begin).Seconds())),
	}
	// The report of an estimate that was made; outputs add to it before it is printed.
	r.Warnings = warning.Join(r.Warnings, j.seedWarnings(r.Seed), j.warnings)
	r.Tolerance, r.Budget = j.tolerance, j.budget.Seconds()
	r.HPCG, err = j.hpcgEstimate(e)
	failed := j.outputs.each(func(o *output) error { return o.writeEstimate(r) })
	return errors.Join(j.print(r, r.HPCG, r.EstimateReport, r.CriticalPath), err, failed, stopped)
}
