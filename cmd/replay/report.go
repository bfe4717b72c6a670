package main

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/replay"
	"reprise/report"
	"reprise/report/path"
	"reprise/report/record"
	"reprise/report/timeline"
	"reprise/warning"
)

// pageFile is the output of --report: a page of all that a replay records.
type pageFile struct {
	path     string
	settings *settings
	stderr   io.Writer
	span     timeline.Span
	asked    bool // for that span

	in       *input
	machine  *loaded
	recorder *record.Recorder
	window   *timeline.Collector
	longest  *path.Path    // nil: --critical-path has one, it cannot be found, or the replay goes on from a checkpoint
	windows  *path.Windows // the same of an estimate
}

func reportFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "report", Usage: "write pictures of where the time went to `FILE`.html: one file for any browser, without a network"},
	}
}

func newPageFile(c *cli.Context, s *settings) (output, error) {
	file := c.String("report")
	switch file {
	case "":
		return nil, nil
	case "-":
		return nil, command.Usagef("--report wants a file, as the result goes to standard output; ./- is one of the name -")
	}
	p := &pageFile{path: file, settings: s, stderr: c.App.ErrWriter, asked: c.IsSet("window") || c.IsSet("window-ranks")}
	if p.asked && (s.noise.runs > 0 || s.draws > 0 || s.sample.on()) {
		return nil, command.Usagef("--window and --window-ranks are of the timeline of one replay: leave them out, or --runs, --uncertainty, --tolerance and --budget")
	}
	var err error
	if p.span, err = spanOf(c); err != nil {
		return nil, err
	}
	if err := checkOutput("report", file, s); err != nil {
		return nil, err
	}
	return p, atomicfile.Check(file)
}

func (p *pageFile) flag() string { return "report" }

func (p *pageFile) file() string { return p.path }

// begin begins to record. The way of a replay from a checkpoint on is not that of the run.
func (p *pageFile) begin(_ context.Context, _ context.CancelCauseFunc, in *input, m *loaded) (replay.Observer, error) {
	p.in, p.machine = in, m
	var err error
	if p.recorder, err = record.New(record.Options{Header: in.header, Machine: m.Machine, Replay: m.options}); err != nil {
		return nil, fmt.Errorf("--report: %w", err)
	}
	if !p.asked {
		first, end := p.settings.stepRange(in)
		p.span = timeline.DefaultSpan(in.header, first, end)
	}
	if p.window, err = timeline.NewWindow(in.header, p.span, p.asked); err != nil {
		return nil, command.Usagef("--window: %w", err)
	}
	told := []replay.Observer{p.recorder, p.window}
	if p.settings.keep.resume == "" && p.findsPath(in) {
		p.longest = path.New(in.header, m.Machine, m.options)
		told = append(told, p.longest)
	}
	return replay.Observers(told...), nil
}

// findsPath reports whether the page finds the critical path: unless --critical-path does, or that cannot
// be found.
func (p *pageFile) findsPath(in *input) bool {
	if p.settings.outputs.has("critical-path") {
		return false
	}
	err := path.Check(in.header)
	if err != nil {
		command.Tell(p.stderr, "replay", warning.New("%s has no critical path: %v", p.path, err).String())
	}
	return err == nil
}

// write writes the page, of an interrupted replay, too: it is labelled so.
func (p *pageFile) write(ctx context.Context, r *results) error {
	d, err := p.data(r)
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	if err := writeStreamed(ctx, p.path, func(w io.Writer) error { return report.Write(w, d) }); err != nil {
		return err
	}
	if err := p.window.CheckSeen(); err != nil && p.asked {
		return fmt.Errorf("%s: %w; its timeline is empty", p.path, err)
	}
	return nil
}

// observe finds the critical paths of the windows of an estimate, unless --critical-path does.
func (p *pageFile) observe(in *input, m *loaded) func(from, to int) (replay.Observer, func()) {
	if !p.findsPath(in) {
		return nil
	}
	p.windows = path.NewWindows(in.header, m.Machine, m.options)
	return p.windows.Observe
}

// writeEstimate writes the page of an estimate.
func (p *pageFile) writeEstimate(_ context.Context, in *input, m *loaded, r *estimateResults) error {
	p.in, p.machine = in, m
	d, err := p.estimateData(r)
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return atomicfile.Write(p.path, func(w io.Writer) error { return report.Write(w, d) })
}

// observeRun has a page of several replays told nothing: it shows their results.
func (p *pageFile) observeRun(*input, *loaded, *replay.Options) (replay.Observer, func()) {
	return nil, nil
}

// writeRuns writes the page of replays with several seeds.
func (p *pageFile) writeRuns(in *input, m *loaded, r *runsResults) error {
	p.in, p.machine = in, m
	e := r.EnsembleReport
	d, err := p.begun(r.Header, &r.Provenance, e)
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	d.Labels, d.Answer, d.Tables = report.EnsembleLabels(e), report.NewEnsembleAnswer(e, &m.Machine), report.NewSeveralTables(&e.Names, e.Runs)
	if r.CriticalPath != nil {
		d.Path = r.CriticalPath.Data
	}
	d.Diagnosis = append(report.DiagnoseRuns(r.Ensemble), report.Diagnose(d)...)
	return atomicfile.Write(p.path, func(w io.Writer) error { return report.Write(w, d) })
}

// writeDraws writes the page of replays on drawn machines.
func (p *pageFile) writeDraws(in *input, m *loaded, r *replay.UncertaintyReport) error {
	p.in, p.machine = in, m
	d, err := p.begun(r.Header, &r.Provenance, r)
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	d.Labels, d.Answer, d.Tables = report.UncertaintyLabels(r), report.NewUncertaintyAnswer(r, &m.Machine), report.NewSeveralTables(&r.Names, r.Draws)
	d.Diagnosis = append(report.DiagnoseDraws(r.Uncertainty), report.Diagnose(d)...)
	return atomicfile.Write(p.path, func(w io.Writer) error { return report.Write(w, d) })
}

func (p *pageFile) abandon() {}
