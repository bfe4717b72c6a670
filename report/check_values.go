package report

import (
	"encoding/binary"
	"encoding/json"

	"reprise/report/packed"
	"reprise/report/record"
)

// shown is what a page takes out of a result, in the form that it must have. What else there is
// nobody reads.
type shown struct {
	Kinds   []shownShare      `json:"time_by_kind"`
	Phases  []shownShare      `json:"time_by_phase"`
	Kernels []shownShare      `json:"time_by_kernel"`
	Windows []shownWindow     `json:"windows"`
	Runs    []shownRun        `json:"runs"`
	Draws   []shownRun        `json:"draws"`
	Text    []json.RawMessage `json:"warnings"`
}

type shownShare struct {
	Name     string  `json:"name"`
	Mean     float64 `json:"mean_s"`
	Min      float64 `json:"min_s"`
	Max      float64 `json:"max_s"`
	Interval float64 `json:"interval_s"`
}

type shownWindow struct {
	From    int     `json:"from"`
	Start   int     `json:"measured"`
	To      int     `json:"to"`
	Seconds float64 `json:"mean_step_s"`
}

type shownRun struct {
	Seed     uint64  `json:"seed"`
	Makespan float64 `json:"makespan_s"`
	Gflops   float64 `json:"gflops"`
}

// result checks what a page shows of the result that it carries, if it carries one.
func (c *checker) result(text json.RawMessage) {
	if len(text) == 0 {
		return
	}
	var s shown
	if err := json.Unmarshal(text, &s); err != nil {
		c.fail("result: %w", err)
	}
}

// columns checks what columns stand for.
func (c *checker) columns(of *record.Columns) {
	switch {
	case of.Count == 0:
	case of.Kind == "step" && of.Steps < 1, of.Kind != "step" && of.Kind != "time":
		c.fail("columns of %d steps by %q", of.Steps, of.Kind)
	}
}

// below checks that the numbers of a column, of so many bytes, are first <= n < end.
func (c *checker) below(name string, column packed.Bytes, size, first, end int) {
	for at := 0; at+size <= len(column) && c.err == nil; at += size {
		var n int
		if size == 2 {
			n = int(binary.LittleEndian.Uint16(column[at:]))
		} else {
			n = int(binary.LittleEndian.Uint32(column[at:]))
		}
		if n < first || n >= end {
			c.fail("%s %d, want [%d,%d)", name, n, first, end)
		}
	}
}
