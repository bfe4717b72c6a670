package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxPage bounds a page that Read takes, in bytes.
const MaxPage = 64 << 20

// maxRuns bounds the runs of a page.
const maxRuns = 8

// ErrNoReport is the error of what is no page of ours.
var ErrNoReport = errors.New("no report of Reprise: it has no data")

// ErrVersion is the error of a page of another version.
var ErrVersion = errors.New("report of another version")

// What a page's data stands between. No data contains either.
const (
	dataBegins = `<script type="application/json" id="report-data">`
	dataEnds   = `</script>`
)

// Read reads the data of a page that Write has written. What it returns is free of
// contradictions: columns are as long as their owners say.
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
	if err := checkBounds(data); err != nil {
		return nil, fmt.Errorf("the data of a report: %w", err)
	}
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
	for _, run := range c.Runs {
		if err := run.check(); err != nil {
			return nil, fmt.Errorf("the data of a report: %w", err)
		}
	}
	return c.Runs, nil
}
