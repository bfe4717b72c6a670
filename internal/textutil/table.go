package textutil

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// Table is text in columns: the first is aligned left, the others right. A row of a single cell is a heading or a
// remark between the others, and does not count for the widths.
type Table struct{ rows [][]string }

// Row appends a row.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// Write writes the rows, a line each. On a terminal (Columns) whose lines are too short it leaves out the columns
// without values, and if that is not enough cuts the first one.
func (t *Table) Write(w io.Writer) error {
	rows, widths := t.rows, widthsOf(t.rows)
	// Only a terminal says how wide it is: files and pipes get all columns, so that programs find them.
	to, limited := w.(interface{ Columns() int })
	if limited && len(widths) > 1 && total(widths) > to.Columns() {
		// Columns of "-" only, below the heading, go first, and then the end of the first column.
		empty := slices.Repeat([]bool{true}, len(widths))
		empty[0] = false
		for _, r := range t.rows[1:] {
			for i, cell := range r {
				empty[i] = empty[i] && cell == "-"
			}
		}
		rows = nil
		for _, r := range t.rows {
			var kept []string
			for i, cell := range r {
				if !empty[i] {
					kept = append(kept, cell)
				}
			}
			rows = append(rows, kept)
		}
		widths = widthsOf(rows)
		first := max(leastFirst, widths[0]-max(0, total(widths)-to.Columns()))
		for i, r := range rows {
			if len(r) > 1 {
				rows[i][0] = Fit(r[0], first)
			}
		}
		widths = widthsOf(rows)
	}
	var b strings.Builder
	for _, r := range rows {
		for i, cell := range r {
			pad := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell)))
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
	return Write(w, b.String())
}

// widthsOf returns how many columns of a terminal those of rows have. A row of one cell has no columns.
func widthsOf(rows [][]string) (widths []int) {
	for _, r := range rows {
		for i, cell := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if len(r) > 1 {
				widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			}
		}
	}
	return widths
}

// leastFirst is how many columns of a terminal are left of the first one at least.
const leastFirst = 12

// total returns how many columns of a terminal a line takes, with two between columns of the table.
func total(widths []int) int {
	sum := 2 * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	return sum
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
	return Write(w, b.String())
}

// marks are what means something in Markdown.
var marks = strings.NewReplacer("\\", `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "<", `\<`, "[", `\[`, "\n",
	" ")

// Escaped returns a text that Markdown shows as it is.
func Escaped(text string) string { return marks.Replace(text) }

// WriteAligned writes lines whose columns, each of which ends in a tab, are aligned right, below a header with | between
// its columns.
func WriteAligned(b *strings.Builder, header string, lines func(tab io.Writer)) {
	tab := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tab, "  %s\t\n", strings.ReplaceAll(header, "|", "\t"))
	lines(tab)
	_ = tab.Flush() // into memory
}

// Counted writes an integer with its noun.
func Counted(v int64, noun string) string { return Thousands(v) + " " + Noun(v, noun) }

// Flop writes an amount of flop.
func Flop(v float64) string {
	if v < 1e15 && v == float64(int64(v)) {
		return Thousands(int64(v))
	}
	return strconv.FormatFloat(v, 'e', 6, 64)
}
