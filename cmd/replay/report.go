package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/report"
	"reprise/report/path"
	"reprise/report/record"
	"reprise/report/timeline"
	"reprise/trace"
	"reprise/trace/warning"
)

// pageFile is the output of --report: a page of all that a replay records.
type pageFile struct {
	path     string
	settings *settings
	stderr   io.Writer
	span     timeline.Span
	asked    bool // for that span

	recorder *record.Recorder
	window   *timeline.Collector
	longest  *path.Path    // nil: --critical-path has one, it cannot be found, or the replay goes on from a checkpoint
	windows  *path.Windows // the same of an estimate
	in       *input
	machine  *loaded
}

func newPageFile(c *cli.Context, s *settings) (*output, error) {
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
	return &output{
		flag: "report", file: file, begin: p.begin, write: p.write,
		observe: p.observe, writeEstimate: p.writeEstimate, writeRuns: p.writeRuns, writeDraws: p.writeDraws,
	}, atomicfile.Check(file)
}

// begin begins to record. The critical path is that of the run, which a replay from a checkpoint does not see.
func (p *pageFile) begin(_ context.Context, _ context.CancelCauseFunc, in *input,
	m *loaded) ([]replay.Observer, error) {
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
	list := []replay.Observer{p.recorder.Observer(), p.window.Observer()}
	if p.settings.keep.resume == "" && p.findsPath(in) {
		p.longest = path.New(in.header, m.Machine, m.options)
		list = append(list, p.longest.Observer())
	}
	return list, nil
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
	err := p.save(ctx, p.in, p.machine, r.Header, &r.Provenance, r.Report, func(d *report.Data) (err error) {
		d.Labels, d.Answer, d.POP = report.Labels(r.Report), report.NewAnswer(r.Report, &p.machine.Machine), r.POP
		if d.Record, err = p.recorder.Data(); err != nil {
			return err
		}
		if m := &d.Record.Matrix; m.Rows*m.Cols > mostFine {
			m.Round(coarseSteps)
		}
		if w := p.window.Window(); w.Slices > 0 || p.asked {
			d.Timelines = []*timeline.Window{w}
		}
		if d.Path = r.CriticalPath; p.longest != nil {
			d.Path = p.longest.Data()
		}
		d.Diagnosis = report.Diagnose(d)
		return nil
	})
	if err != nil {
		return err
	}
	if err := p.window.CheckSeen(); err != nil && p.asked {
		return fmt.Errorf("%s: %w; its timeline is empty", p.path, err)
	}
	return nil
}

// Matrices of more cells have their shares rounded to 3 %, which halves what they take.
const (
	mostFine    = 1 << 17
	coarseSteps = 32
)

// observe finds the critical paths of the windows of an estimate, unless --critical-path does.
func (p *pageFile) observe(in *input, m *loaded) func(from, to int) ([]replay.Observer, func()) {
	if !p.findsPath(in) {
		return nil
	}
	p.windows = path.NewWindows(in.header, m.Machine, m.options)
	return p.windows.Observe
}

func (p *pageFile) writeEstimate(in *input, m *loaded, r *estimateResults) error {
	return p.save(context.Background(), in, m, r.Header, &r.Provenance, r.EstimateReport, func(d *report.Data) error {
		e := r.EstimateReport
		d.Labels, d.Answer, d.Tables = report.EstimateLabels(e), report.NewEstimateAnswer(e,
			&m.Machine), report.NewEstimateTables(r.Estimate)
		if d.Path = r.CriticalPath; p.windows != nil {
			d.Path = p.windows.Data(r.Estimate)
		}
		d.Diagnosis = report.Diagnose(d)
		return nil
	})
}

func (p *pageFile) writeRuns(in *input, m *loaded, r *runsResults) error {
	return p.save(context.Background(), in, m, r.Header, &r.Provenance, r.EnsembleReport, func(d *report.Data) error {
		e := r.EnsembleReport
		d.Labels, d.Answer, d.Tables = report.EnsembleLabels(e), report.NewEnsembleAnswer(e,
			&m.Machine), report.NewSeveralTables(&e.Names, e.Runs)
		if r.CriticalPath != nil {
			d.Path = r.CriticalPath.Data
		}
		d.Diagnosis = append(report.DiagnoseRuns(r.Ensemble), report.Diagnose(d)...)
		return nil
	})
}

func (p *pageFile) writeDraws(in *input, m *loaded, r *replay.UncertaintyReport) error {
	return p.save(context.Background(), in, m, r.Header, &r.Provenance, r, func(d *report.Data) error {
		d.Labels, d.Answer, d.Tables = report.UncertaintyLabels(r), report.NewUncertaintyAnswer(r,
			&m.Machine), report.NewSeveralTables(&r.Names, r.Draws)
		d.Diagnosis = append(report.DiagnoseDraws(r.Uncertainty), report.Diagnose(d)...)
		return nil
	})
}

// save writes a page: its title, inputs and result, which all pages have, and what fill adds.
func (p *pageFile) save(ctx context.Context, in *input, m *loaded, h *trace.Header, from *replay.Provenance, result any,
	fill func(*report.Data) error) error {
	title := h.Program
	for _, c := range h.Result {
		title += ", " + c.Title + " " + c.Value
	}
	text, err := json.Marshal(result)
	d := &report.Data{
		Format: report.Format,
		Title:  fmt.Sprintf("%s on %s, %s", title, from.Platform, textutil.Count(h.Ranks, "rank")),
		Inputs: report.NewInputs(from, in.traced(), &m.Machine, command.Quoted(p.settings.args...)),
		Result: text,
	}
	if err == nil {
		err = fill(d)
	}
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return writeStreamed(ctx, p.path, func(w io.Writer) error { return report.Write(w, d) })
}
