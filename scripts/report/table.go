package main

import (
	"fmt"
	"strconv"
	"strings"
)

// table is a Markdown table.
type table struct {
	head []string
	rows [][]string
}

func newTable(head ...string) *table { return &table{head: head} }

// row adds a row: one cell for each column.
func (t *table) row(cells ...string) {
	if len(cells) != len(t.head) {
		panic(fmt.Sprintf("report: %d cells in %d columns", len(cells), len(t.head)))
	}
	t.rows = append(t.rows, cells)
}

func (t *table) String() string {
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

// count writes a number with separators: 3,491,026,162.
func count[T int | int64](n T) string {
	digits := strconv.FormatInt(int64(n), 10)
	var b strings.Builder
	for i, d := range digits {
		if left := len(digits) - i; i > 0 && left%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// digits writes a positive number with three significant digits, separated and
// never with an exponent.
func digits(x float64) string {
	short := strconv.FormatFloat(x, 'e', 2, 64)
	x, _ = strconv.ParseFloat(short, 64) // reads back what was written
	if x >= 1000 {
		return count(int64(x))
	}
	exponent, _ := strconv.Atoi(short[strings.IndexByte(short, 'e')+1:])
	return strconv.FormatFloat(x, 'f', max(0, 2-exponent), 64)
}

// megabytes writes bytes in units of 1e6.
func megabytes(n int64) string { return digits(float64(n) / 1e6) }

// duration writes seconds for people.
func duration(s float64) string {
	switch {
	case s >= 7200:
		return digits(s/3600) + " h"
	case s >= 120:
		return digits(s/60) + " min"
	}
	return digits(s) + " s"
}
