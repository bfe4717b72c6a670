package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/replay"
	"reprise/replay/sampling"
	"reprise/report/path"
	"reprise/study/estimates"
	"reprise/trace"
	"reprise/trace/warning"
	"reprise/tracegen/hpcg"
)

// estimateResults are those of an estimate: its report, and the findings of outputs.
type estimateResults struct {
	*replay.EstimateReport
	HPCG         *hpcg.Summary `json:"hpcg,omitempty"`
	CriticalPath *path.Data    `json:"critical_path,omitempty"`
}

// workerLease is the time after which a process of another host that shares windows, and is not seen, counts as
// dead.
const workerLease = 30 * time.Second

// sampleTrace estimates the makespan from windows of steps, or replays all of the trace where that costs no
// more, and prints the report.
//
// Its stages: the time that is left of the budget, from the begin of the command on; a directory that processes share;
// the display; the estimate; the exact replay in its place where all of the run fits into the time, the steps are few,
// or the tolerance is too close; the report.
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
		var err error
		if j.options.Identity, err = identity(j); err != nil {
			return err
		}
		dir := estimates.New(j.workers, workerLease)
		so.Share, leave = dir, dir.Leave
	}

	// A terminal shows the windows of each round, and the estimate after it.
	var bar *terminal.Bar
	if !j.quiet && terminal.Is(j.stderr) {
		so.Round = func(ended, all int) {
			if ended == 0 {
				bar.Clear()
				bar = terminal.NewBar(j.stderr, false, all, "windows")
			}
			bar.Set(ended)
		}
		so.Progress = func(e *sampling.Estimate) {
			bar.Clear()
			fmt.Fprintf(j.stderr, "replay: after %d windows: %.6g s \u00b1 %.2g %%\n", len(e.Windows), e.Seconds,
				100*e.Relative())
		}
	}
	// Each worker reads the trace for itself, as windows lie anywhere in it.
	e, err := replay.Sample(ctx, func() (*trace.Trace, error) { return trace.Open(j.trace) }, j.machine, j.options, so)
	bar.Clear()
	err = errors.Join(err, leave())
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
	return errors.Join(j.print(r, r.HPCG, r.EstimateReport, r.CriticalPath), err, failed)
}
