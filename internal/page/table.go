package page

import (
	"fmt"
	"strconv"
	"strings"

	"reprise/internal/wording"
)

// Table is a Markdown table.
type Table struct {
	head []string
	rows [][]string
}

// NewTable returns a table without rows.
func NewTable(head ...string) *Table { return &Table{head: head} }

// Row adds a row: one cell for each column.
func (t *Table) Row(cells ...string) {
	if len(cells) != len(t.head) {
		panic(fmt.Sprintf("page: %d cells in %d columns", len(cells), len(t.head)))
	}
	t.rows = append(t.rows, cells)
}

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.rows) }

func (t *Table) String() string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(t.head)
	rule := make([]string, len(t.head))
	for i := range rule {
		rule[i] = "---"
	}
	line(rule)
	for _, cells := range t.rows {
		line(cells)
	}
	return b.String()
}

// Digits writes a positive number with three significant digits, separated and
// never with an exponent.
func Digits(x float64) string {
	short := strconv.FormatFloat(x, 'e', 2, 64)
	x, _ = strconv.ParseFloat(short, 64) // reads back what was written
	if x >= 1000 {
		return wording.Thousands(int64(x))
	}
	exponent, _ := strconv.Atoi(short[strings.IndexByte(short, 'e')+1:])
	return strconv.FormatFloat(x, 'f', max(0, 2-exponent), 64)
}

// Megabytes writes bytes in units of 1e6.
func Megabytes(n int64) string { return Digits(float64(n) / 1e6) }

// Duration writes seconds for people.
func Duration(s float64) string {
	switch {
	case s >= 7200:
		return Digits(s/3600) + " h"
	case s >= 120:
		return Digits(s/60) + " min"
	}
	return Digits(s) + " s"
}
