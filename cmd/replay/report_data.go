package main

import (
	"encoding/json"
	"fmt"

	"reprise/internal/command"
	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/report"
	"reprise/report/timeline"
	"reprise/trace"
)

// data returns what the page of a replay shows.
func (p *pageFile) data(r *results) (*report.Data, error) {
	d, err := p.begun(r.Header, &r.Provenance, r.Report)
	if err != nil {
		return nil, err
	}
	d.Labels, d.Answer, d.POP = report.Labels(r.Report), report.NewAnswer(r.Report, &p.machine.Machine), r.POP
	if d.Record, err = p.recorder.Data(); err != nil {
		return nil, err
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
	return d, nil
}

// estimateData returns what the page of an estimate shows.
func (p *pageFile) estimateData(r *estimateResults) (*report.Data, error) {
	d, err := p.begun(r.Header, &r.Provenance, r.EstimateReport)
	if err != nil {
		return nil, err
	}
	d.Labels, d.Answer, d.Tables = report.EstimateLabels(r.EstimateReport), report.NewEstimateAnswer(r.EstimateReport, &p.machine.Machine), report.NewEstimateTables(r.Estimate)
	if d.Path = r.CriticalPath; p.windows != nil {
		d.Path = p.windows.Data(r.Estimate)
	}
	d.Diagnosis = report.Diagnose(d)
	return d, nil
}

// begun returns what the pages of all results have: what it is of, and the JSON of the result.
func (p *pageFile) begun(h *trace.Header, from *replay.Provenance, result any) (*report.Data, error) {
	text, err := json.Marshal(result)
	if err != nil {
		return nil, err
	}
	return &report.Data{
		Format: report.Format,
		Title:  title(h, from.Platform),
		Inputs: report.NewInputs(from, p.in.traced(), &p.machine.Machine, command.Quoted(p.settings.args...)),
		Result: text,
	}, nil
}

// Matrices of more cells have their shares rounded to 3 %, which halves what they take.
const (
	mostFine    = 1 << 17
	coarseSteps = 32
)

// title says what was run on what, in a line.
func title(h *trace.Header, platform string) string {
	words := h.Program
	for _, c := range h.Result {
		words += ", " + c.Title + " " + c.Value
	}
	return fmt.Sprintf("%s on %s, %s", words, platform, textutil.Count(h.Ranks, "rank"))
}
