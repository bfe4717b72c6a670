// Package report is what people see of a replay: one HTML file with a picture of where the
// time went, and its numbers as data.
//
//	err := report.Write(w, data)        // one run
//	err := report.Write(w, old, new)    // two, on the same axes
//	err := report.WriteCompared(w, comparison, old, new)  // and what differs
//	runs, err := report.Read(page)      // a page's data again
//
// [Data] is all that a page carries of a run. Its [Answer], labels, tables and inputs are made from the reports of
// package replay (NewAnswer, Labels, NewSeveralTables, NewInputs), its sentences from the data itself ([Diagnose]).
// Drawing is left to the scripts in page, which read the data in the browser.
//
// A page asks nothing of a network: style, programs and data are in it. Data is what its
// makers have recorded (report/record, path, timeline and pop); a part that is nil is left out.
//
// # Units
//
// Seconds, bytes, Gflop/s; shares are of 1.
//
// # Errors
//
// Read returns [ErrNoReport] if the file is no page of ours, and [ErrVersion] of a page of another version.
//
// # Source
//
// The colours are those of M. Okabe and K. Ito, Color Universal Design, 2008; the keys are
// Perfetto's; curves are drawn by uPlot, whose licence stands in page/uPlot.LICENSE.
package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/template"

	"reprise/internal/textutil"
)

// MaxPage bounds a page that Read takes, in bytes.
const MaxPage = 64 << 20

// maxRuns bounds the runs of a page.
const maxRuns = 8

// ErrNoReport is the error of a file that is no page of ours.
var ErrNoReport = errors.New("no report of Reprise: it has no data")

// ErrVersion is the error of a page of another version.
var ErrVersion = errors.New("report of another version")

// limits are of the data of a page.
var limits = textutil.JSONLimits{Objects: 1 << 20, Values: 1 << 24, String: MaxPage}

// The data of a page stands between these. No data contains either.
const (
	dataBegins = `<script type="application/json" id="report-data">`
	dataEnds   = `</script>`
)

// Read reads the data of a page that Write has written.
func Read(r io.Reader) ([]*Data, error) {
	page, err := io.ReadAll(io.LimitReader(r, MaxPage+1))
	if err != nil {
		return nil, err
	}
	if len(page) > MaxPage {
		return nil, fmt.Errorf("a report of more than %d bytes", MaxPage)
	}
	_, rest, begins := bytes.Cut(page, []byte(dataBegins))
	data, _, ends := bytes.Cut(rest, []byte(dataEnds))
	if !begins || !ends {
		return nil, ErrNoReport
	}
	// A page may come from anybody: its data is bounded before it is decoded.
	if err := limits.Check(data); err != nil { // {} may stand for a large struct
		return nil, fmt.Errorf("the data of a report: %w", err)
	}
	// The versions are read first: data of another one may not fit into Data at all.
	var of struct{ Runs []struct{ Format int } }
	if err := json.Unmarshal(data, &of); err != nil {
		return nil, fmt.Errorf("the data of a report: %w", err)
	}
	if n := len(of.Runs); n < 1 || n > maxRuns {
		return nil, fmt.Errorf("the data of a report: %d runs, want 1 to %d", n, maxRuns)
	}
	for _, run := range of.Runs {
		if run.Format != Format {
			return nil, fmt.Errorf("%w: format %d, want %d", ErrVersion, run.Format, Format)
		}
	}
	var c carried
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, fmt.Errorf("the data of a report: %w", err)
	}
	return c.Runs, nil
}

//go:embed page
var page embed.FS

// scripts are the page's own, in the order in which they stand there.
var scripts = []string{
	"units", "packed", "dom", "colour", "extent", "picture", "pyramid", "fragment",
	"answer", "curves", "differences", "matrix", "timeline", "traffic", "path", "main",
}

// Write writes a page that shows runs, or one, as one HTML file. Several share axes and zoom.
func Write(w io.Writer, runs ...*Data) error { return WriteCompared(w, nil, runs...) }

// WriteCompared writes a page of several runs with a comparison of the others with the first: the JSON of a
// compare.Comparison.
func WriteCompared(w io.Writer, comparison json.RawMessage, runs ...*Data) error {
	if len(runs) < 1 || len(runs) > maxRuns {
		return fmt.Errorf("report: %d runs, want 1 to %d", len(runs), maxRuns)
	}
	data, err := json.Marshal(carried{runs, comparison}) // which writes < as \u003c: nothing in it ends the script
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	titles := make([]string, len(runs))
	for i, r := range runs {
		titles[i] = r.Title
	}

	// The files of the page, which are embedded. The scripts are one text, whose parts share their names: the first line
	// has the browser refuse names that nobody declares.
	var errs []error
	read := func(name string) string {
		text, err := page.ReadFile("page/" + name)
		errs = append(errs, err)
		return string(text)
	}
	script := "\"use strict\";\n"
	for _, name := range scripts {
		script += read(name + ".js")
	}
	// page.html is filled with these. Policy says what the browser may load and run: these alone.
	p := struct{ Title, Data, ChartStyle, Style, ChartScript, Script, Policy string }{
		Title: strings.Join(titles, " and "), Data: string(data), ChartStyle: read("uPlot.min.css"),
		Style: read("style.css"), ChartScript: read("uPlot.iife.min.js"), Script: script,
	}
	p.Policy = fmt.Sprintf("default-src 'none'; script-src %s %s; style-src %s %s; base-uri 'none'; form-action 'none'",
		hash(p.ChartScript), hash(p.Script), hash(p.ChartStyle), hash(p.Style))
	t, err := template.New("page.html").Parse(strings.TrimRight(read("page.html"), "\n") + "\n")
	if err := errors.Join(append(errs, err)...); err != nil {
		return err
	}
	return t.Execute(w, p)
}

// carried is the data of a page.
type carried struct {
	Runs       []*Data         `json:"runs"`
	Comparison json.RawMessage `json:"comparison,omitempty"`
}

// hash names a text as a content security policy does: an inline script or style is run only if its hash is listed, so
// that a text of a trace which found its way into the markup would not be.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
