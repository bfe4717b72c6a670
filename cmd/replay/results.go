package main

import (
	"encoding/json"
	"io"

	"reprise/replay"
	"reprise/report/path"
	"reprise/report/pop"
)

// results is what a replay prints: its report, and what outputs have found out besides.
type results struct {
	*replay.Report
	CriticalPath *path.Data `json:"critical_path,omitempty"`
	POP          *pop.Data  `json:"pop,omitempty"`
}

// WriteJSON writes everything.
func (r *results) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// WriteText writes everything for people.
func (r *results) WriteText(w io.Writer) error {
	if err := r.Report.WriteText(w); err != nil {
		return err
	}
	if r.CriticalPath != nil {
		return r.CriticalPath.WriteText(w)
	}
	return nil
}
