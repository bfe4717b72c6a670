package replay

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"reprise/internal/textutil"
)

// wide is a writer whose lines have so many columns, as those of a terminal. Tables of where the time
// went have bars there, if there is room.
type wide interface{ Columns() int }

const (
	leastBar  = 10 // columns of a bar of 100 %, at least
	mostBar   = 40 // at most
	leastName = 16 // columns of a name, at least
)

// timeRow is a row of a table of where the time went.
type timeRow struct {
	name    string
	mean    float64 // of all ranks, seconds
	numbers string  // its columns between name and share
}

// timeTables writes the tables of kinds, kernels and phases of a rank's time, which ends at whole
// seconds in the mean, with these columns of numbers, the share of the whole and, if w has room for
// them, bars. Bars begin in the same column in all tables; without bars each table has the width that
// it needs, and names are cut where even that is too much.
func timeTables(b *strings.Builder, w io.Writer, columns string, whole float64, tables ...[]timeRow) {
	// The tables are those of kinds, kernels and phases.
	titles := [...]string{"time of a rank", "compute", "phase"}
	names, bars, most := 0, 0, math.MaxInt // columns of all names, of a bar of 100 %, and of the longest name
	if to, ok := w.(wide); ok {
		names = len(titles[0])
		for _, rows := range tables {
			for _, row := range rows {
				names = max(names, utf8.RuneCountInString(row.name))
			}
		}
		free := to.Columns() - names - utf8.RuneCountInString(columns) - len("  100.00%") - len("  ")
		if free >= leastBar {
			bars = min(free, mostBar)
		} else {
			names, most = 0, max(free+len("  ")+names, leastName)
		}
	}
	for i, rows := range tables {
		if len(rows) == 0 {
			continue
		}
		width, cut := max(names, len(titles[i])), make([]string, len(rows))
		for j, row := range rows {
			cut[j] = row.name
			if utf8.RuneCountInString(row.name) > most {
				cut[j] = textutil.Fit(row.name, most)
			}
			width = max(width, utf8.RuneCountInString(cut[j]))
		}
		fmt.Fprintf(b, "\n%-*s%s %8s\n", width, titles[i], columns, "share")
		for j, row := range rows {
			share := 0.0
			if whole > 0 {
				share = row.mean / whole
			}
			fmt.Fprintf(b, "%-*s%s %7.2f%%%s\n", width, cut[j], row.numbers, 100*share, bar(share, bars))
		}
	}
}

// bar draws a share of 1 in so many columns, to an eighth of one.
func bar(share float64, columns int) string {
	if columns == 0 || !(share > 0) {
		return ""
	}
	eighths := int(math.Round(8 * math.Min(share, 1) * float64(columns)))
	text := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	if text == "" {
		return ""
	}
	return "  " + text
}

// size writes bytes with a decimal prefix and three digits.
func size(bytes int64) string {
	v, units := float64(bytes), []string{"B", "kB", "MB", "GB", "TB", "PB", "EB"}
	for v >= 999.5 && len(units) > 1 {
		v /= 1000
		units = units[1:]
	}
	return fmt.Sprintf("%.3g %s", v, units[0])
}
