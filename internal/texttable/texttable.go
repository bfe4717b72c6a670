// Package texttable writes tables and numbers as people read them.
package texttable

import (
	"io"
	"strconv"
	"strings"

	"reprise/internal/wording"
)

// Table is text in columns: the first is aligned left, the others right.
type Table struct{ rows [][]string }

// Row appends a row.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// Write writes the rows, a line each.
func (t *Table) Write(w io.Writer) error {
	var widths []int
	for _, r := range t.rows {
		for i, cell := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], len(cell))
		}
	}
	var b strings.Builder
	for _, r := range t.rows {
		for i, cell := range r {
			pad := strings.Repeat(" ", widths[i]-len(cell))
			switch {
			case i > 0:
				b.WriteString("  " + pad + cell)
			case len(r) > 1:
				b.WriteString(cell + pad)
			default:
				b.WriteString(cell)
			}
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Rows returns the rows, of which the first is often a heading.
func (t *Table) Rows() [][]string { return t.rows }

// WriteMarkdown writes a table of Markdown, whose heading is the first row.
func (t *Table) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	for i, r := range t.rows {
		for _, cell := range r {
			b.WriteString("| " + Escaped(cell) + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString("| --- |" + strings.Repeat(" ---: |", len(r)-1) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// marks are what means something in Markdown.
var marks = strings.NewReplacer("\\", `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "<", `\<`, "[", `\[`, "\n", " ")

// Escaped returns a text that Markdown shows as it is.
func Escaped(text string) string { return marks.Replace(text) }

// Counted writes an integer with its noun.
func Counted(v int64, noun string) string { return wording.Thousands(v) + " " + wording.Noun(v, noun) }

// Flop writes an amount of flop.
func Flop(v float64) string {
	if v < 1e15 && v == float64(int64(v)) {
		return wording.Thousands(int64(v))
	}
	return strconv.FormatFloat(v, 'e', 6, 64)
}
