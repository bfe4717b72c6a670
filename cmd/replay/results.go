package main

import (
	"encoding/json"
	"fmt"
	"io"

	"reprise/replay"
	"reprise/report/path"
	"reprise/report/pop"
	"reprise/tracegen/hpcg"
)

// results is what a replay prints: its report, and what outputs have found out besides.
type results struct {
	*replay.Report
	HPCG         *hpcg.Summary `json:"hpcg,omitempty"`
	CriticalPath *path.Data    `json:"critical_path,omitempty"`
	POP          *pop.Data     `json:"pop,omitempty"`
}

// WriteJSON writes everything.
func (r *results) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// WriteText writes everything for people.
func (r *results) WriteText(w io.Writer) error {
	if r.HPCG != nil {
		if err := r.HPCG.WriteText(w); err != nil {
			return err
		}
	}
	if err := r.Report.WriteText(w); err != nil {
		return err
	}
	if r.CriticalPath != nil {
		if err := r.CriticalPath.WriteText(w); err != nil {
			return err
		}
	}
	if r.POP != nil {
		return r.POP.WriteText(w)
	}
	return nil
}

// exactResults are the results of an exact replay where an estimate was asked for.
type exactResults struct {
	IsEstimate bool   `json:"estimate"`      // false
	Because    string `json:"exact_because"` // why it is exact
	*results
}

// WriteJSON writes everything.
func (r *exactResults) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// WriteText writes everything for people.
func (r *exactResults) WriteText(w io.Writer) error {
	if err := r.results.WriteText(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "exact: all steps were simulated, since %s\n", r.Because)
	return err
}

// estimateResults are what an estimate prints: its report, and what outputs have found out
// besides.
type estimateResults struct {
	*replay.EstimateReport
	HPCG         *hpcg.Summary `json:"hpcg,omitempty"`
	CriticalPath *path.Data    `json:"critical_path,omitempty"`
}

// WriteJSON writes everything.
func (r *estimateResults) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// WriteText writes everything for people.
func (r *estimateResults) WriteText(w io.Writer) error {
	if r.HPCG != nil {
		if err := r.HPCG.WriteText(w); err != nil {
			return err
		}
	}
	if err := r.EstimateReport.WriteText(w); err != nil || r.CriticalPath == nil {
		return err
	}
	return r.CriticalPath.WriteText(w)
}

// runsResults are what replays with several seeds print: their report, and what outputs have
// found out besides.
type runsResults struct {
	*replay.EnsembleReport
	CriticalPath *path.Runs `json:"critical_path,omitempty"`
}

// WriteJSON writes everything.
func (r *runsResults) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// WriteText writes everything for people.
func (r *runsResults) WriteText(w io.Writer) error {
	if err := r.EnsembleReport.WriteText(w); err != nil || r.CriticalPath == nil {
		return err
	}
	return r.CriticalPath.WriteText(w)
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
