package table

import (
	"bufio"
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"reprise/internal/textutil"
)

// csvWriter writes a line of names, then a line for each row. What is not known is empty, and texts that
// a spreadsheet would take for formulas have an apostrophe.
type csvWriter struct {
	w      *csv.Writer
	label  []string // in every row; nil: there is no such column
	fields []string
}

// NewCSV returns a writer of comma-separated values to w. A label says in every row what the table is of, if not
// of a whole run as the files have it: "".
func NewCSV(w io.Writer, c *Columns, label string) Writer {
	to := &csvWriter{w: csv.NewWriter(bufio.NewWriterSize(w, 64<<10))}
	names := slices.Concat(c.Fixed, c.Seconds)
	if label != "" {
		names, to.label = append(names, "label"), []string{textutil.Cell(label)}
	}
	to.w.Write(names)
	return to
}

// Write implements Writer.
func (to *csvWriter) Write(r *Row) {
	step := ""
	if r.Step != NoStep {
		step = strconv.FormatInt(r.Step, 10)
	}
	to.fields = append(to.fields[:0], strconv.Itoa(int(r.Rank)), textutil.Cell(r.Host), step,
		strconv.FormatBool(r.Complete), number(r.Begin), number(r.End),
		strconv.FormatInt(r.Messages, 10), strconv.FormatInt(r.Bytes, 10))
	for _, v := range r.Seconds {
		to.fields = append(to.fields, number(v))
	}
	to.w.Write(append(to.fields, to.label...)) // Close has the error
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Label implements Writer: what is known at the end only has no place in rows that are written.
func (to *csvWriter) Label(string) {}

// Close implements Writer.
func (to *csvWriter) Close() error {
	to.w.Flush()
	return to.w.Error()
}
