package replay

import (
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"reprise/internal/textutil"
)

// wide is a writer whose lines have so many columns, as a terminal's do. Tables of where time
// went have bars there, if there is room.
type wide interface{ Columns() int }

// Bars have so many columns, at least and at most.
const (
	leastBar = 10
	mostBar  = 40
)

// leastName is how many columns a name has at least.
const leastName = 16

// layout is how tables of where time went look. Without bars each has the width that it needs.
type layout struct {
	names int // columns of the names of all tables, that their bars begin in the same one
	bars  int // columns of a bar of 100 %; 0: no bars
	most  int // columns of a name that there is room for; 0: as many as it has
}

// layoutOf returns the layout on w of tables with these names and so many numbers in seconds
// before the share.
func layoutOf(w io.Writer, numbers int, names []string) layout {
	to, ok := w.(wide)
	if !ok {
		return layout{}
	}
	var l layout
	l.names = l.width("time of a rank", names)
	free := to.Columns() - l.names - numbers*len(" 123456789012") - len("  100.00%") - len("  ")
	if free < leastBar {
		room := free + len("  ") + l.names
		return layout{most: max(room, leastName)}
	}
	l.bars = min(free, mostBar)
	return l
}

// width returns how many columns the names of a table have.
func (l *layout) width(title string, names []string) int {
	width := max(l.names, len(title))
	for _, name := range names {
		width = max(width, utf8.RuneCountInString(l.name(name)))
	}
	return width
}

// name returns a name that is cut if there is no room for it.
func (l *layout) name(name string) string {
	if l.most == 0 {
		return name
	}
	return textutil.Fit(name, l.most)
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
