package table

import (
	"bufio"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
)

// csvWriter writes a line of names, then a line for each row. What is not known is empty.
type csvWriter struct {
	w      *csv.Writer
	fields []string
}

// NewCSV returns a writer of comma-separated values to w.
func NewCSV(w io.Writer, c *Columns) Writer {
	to := &csvWriter{w: csv.NewWriter(bufio.NewWriterSize(w, 64<<10))}
	to.w.Write(slices.Concat(c.Fixed, c.Seconds))
	return to
}

// Write implements Writer.
func (to *csvWriter) Write(r *Row) {
	step := ""
	if r.Step != NoStep {
		step = strconv.FormatInt(r.Step, 10)
	}
	to.fields = append(to.fields[:0], strconv.Itoa(int(r.Rank)), r.Host, step, strconv.FormatBool(r.Complete), number(r.Begin), number(r.End),
		strconv.FormatInt(r.Messages, 10), strconv.FormatInt(r.Bytes, 10))
	for _, v := range r.Seconds {
		to.fields = append(to.fields, number(v))
	}
	to.w.Write(to.fields) // Close has the error
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Label implements Writer: the format has no place for one.
func (to *csvWriter) Label(string) {}

// Close implements Writer.
func (to *csvWriter) Close() error {
	to.w.Flush()
	return to.w.Error()
}
