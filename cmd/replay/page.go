package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/replay"
	"reprise/report"
	"reprise/report/path"
	"reprise/report/record"
	"reprise/report/timeline"
	"reprise/trace"
	"reprise/trace/warning"
)

// Matrices of more cells have their shares rounded to 3 %, which halves their size in a page.
const (
	mostFine    = 1 << 17
	coarseSteps = 32
)

// makePage makes the output of --report: a page of all that a job records. The page is one HTML file (see report). Of
// one replay it shows the record of all steps, a window of a timeline, and the critical path; of an estimate or of
// several replays tables with intervals. It also shows results of other outputs, such as the efficiencies of --pop.
func makePage(j *job, c *cli.Context, o *output) error {
	asked := c.IsSet("window") || c.IsSet("window-ranks")
	if asked && (j.runs > 0 || j.draws > 0 || j.sampled()) {
		return command.Usagef("--window and --window-ranks are of the timeline of one replay: " +
			"leave them out, or --runs, --uncertainty, --tolerance and --budget")
	}
	span := spanOf(c)

	// save writes a page: its title, inputs and result, which all pages have, and what fill adds.
	save := func(ctx context.Context, h *trace.Header, from *replay.Provenance, result any,
		fill func(*report.Data) error) error {
		text, err := json.Marshal(result)
		d := &report.Data{
			Format: report.Format,
			Inputs: report.NewInputs(from, j.in.traced(), &j.machine, command.Quoted(j.args...)),
			Result: text,
		}
		if err == nil {
			err = fill(d)
		}
		if err == nil {
			noisy, _ := replay.HasNoise(h, j.machine, j.options) // which has loaded by now
			d.Describe(h, &j.machine, noisy)
		}
		if err != nil {
			return fmt.Errorf("--report: %w", err)
		}
		return writeStreamed(ctx, o.file, func(w io.Writer) error { return report.Write(w, d) })
	}

	// Of one replay: its record, a window of its timeline, and its critical path, unless --critical-path has one
	// or the replay goes on from a checkpoint: then its beginning is not seen.
	var recorder *record.Recorder
	var window *timeline.Collector
	var longest *path.Path
	o.begin = func(context.Context) (list []replay.Observer, err error) {
		h := j.in.header
		// The timeline of a page that names no window shows two steps in the middle of those that are played.
		recorder = record.New(record.Options{Header: h, Machine: j.machine, Replay: j.options})
		if !asked {
			first, end := j.stepRange()
			span = timeline.DefaultSpan(h, first, end)
		}
		if window, err = timeline.NewWindow(h, span, asked); err != nil {
			return nil, command.Usagef("--window: %w", err)
		}
		list = []replay.Observer{recorder.Observer(), window.Observer()}
		if j.resume == "" && j.pageFindsPath(o.file) {
			longest = path.New(h, j.machine, j.options)
			list = append(list, longest.Observer())
		}
		return list, nil
	}
	o.write = func(ctx context.Context, r *results) error {
		err := save(ctx, r.Header, &r.Provenance, r.Report, func(d *report.Data) (err error) {
			d.Labels, d.Answer, d.POP = report.Labels(r.Report), report.NewAnswer(r.Report, &j.machine), r.POP
			if d.Record, err = recorder.Data(); err != nil {
				return err
			}
			// Of large matrices most bytes are noise of the last bits, which does not compress.
			if m := &d.Record.Matrix; m.Rows*m.Cols > mostFine {
				m.Round(coarseSteps)
			}
			// A window that was asked for is shown also where it is empty, with a note.
			if w := window.Window(); w.Slices > 0 || asked {
				d.Timelines = []*timeline.Window{w}
			}
			if d.Path = r.CriticalPath; longest != nil {
				d.Path = longest.Data()
			}
			d.Diagnosis = report.Diagnose(d)
			return nil
		})
		if err != nil {
			return err
		}
		// The page is there by now: a window in which nothing happens is a mistake, but no reason to lose the rest.
		if err := window.CheckSeen(); err != nil && asked {
			return fmt.Errorf("%s: %w; its timeline is empty", o.file, err)
		}
		return nil
	}

	// Of an estimate: its tables, and the critical paths of its windows.
	var windows *path.Windows
	o.observe = func() windowObserver {
		// Windows of which no path is wanted are not observed, which makes an estimate quicker.
		if !j.pageFindsPath(o.file) {
			return nil
		}
		windows = path.NewWindows(j.in.header, j.machine, j.options)
		return windows.Observe
	}
	o.writeEstimate = func(r *estimateResults) error {
		e := r.EstimateReport
		return save(context.Background(), r.Header, &r.Provenance, e, func(d *report.Data) error {
			d.Labels, d.Answer = report.EstimateLabels(e), report.NewEstimateAnswer(e, &j.machine)
			d.Tables = report.NewEstimateTables(r.Estimate)
			if d.Path = r.CriticalPath; windows != nil {
				d.Path = windows.Data(r.Estimate) // --critical-path has found none
			}
			d.Diagnosis = report.Diagnose(d)
			return nil
		})
	}

	// Of several replays: their tables, and what differs between them. Their times are not recorded step by step: a record
	// of each would be as large as the page of one replay.
	o.writeRuns = func(r *runsResults) error {
		e := r.EnsembleReport
		return save(context.Background(), r.Header, &r.Provenance, e, func(d *report.Data) error {
			d.Labels, d.Answer = report.EnsembleLabels(e), report.NewEnsembleAnswer(e, &j.machine)
			d.Tables = report.NewSeveralTables(&e.Names, e.Runs)
			if r.CriticalPath != nil {
				d.Path = r.CriticalPath.Data
			}
			d.Diagnosis = append(report.DiagnoseRuns(r.Ensemble), report.Diagnose(d)...)
			return nil
		})
	}
	o.writeDraws = func(r *replay.UncertaintyReport) error {
		return save(context.Background(), r.Header, &r.Provenance, r, func(d *report.Data) error {
			d.Labels, d.Answer = report.UncertaintyLabels(r), report.NewUncertaintyAnswer(r, &j.machine)
			d.Tables = report.NewSeveralTables(&r.Names, r.Draws)
			d.Diagnosis = append(report.DiagnoseDraws(r.Uncertainty), report.Diagnose(d)...)
			return nil
		})
	}
	return nil
}

// pageFindsPath reports whether the page in a file finds the critical path: unless --critical-path does, or the
// path cannot be found, which it tells.
func (j *job) pageFindsPath(file string) bool {
	if slices.ContainsFunc(j.outputs, func(o *output) bool { return o.flag == "critical-path" }) {
		return false
	}
	err := path.Check(j.in.header)
	if err != nil {
		command.Tell(j.stderr, "replay", warning.New("%s has no critical path: %v", file, err).String())
	}
	return err == nil
}
