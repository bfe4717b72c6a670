package trace

import (
	"io"
	"strconv"
	"strings"

	"reprise/internal/words"
)

// table is text in columns: the first is aligned left, the others right.
type table struct{ rows [][]string }

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) writeTo(w io.Writer) error {
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

// countText writes an integer with its digits in groups of three.
func countText(v int64) string {
	s := strconv.FormatInt(v, 10)
	digits := strings.TrimPrefix(s, "-")
	sign := s[:len(s)-len(digits)]
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// counted writes an integer with its noun.
func counted(v int64, noun string) string { return countText(v) + " " + words.Noun(v, noun) }

// flopText writes an amount of flop.
func flopText(v float64) string {
	if v < 1e15 && v == float64(int64(v)) {
		return countText(int64(v))
	}
	return strconv.FormatFloat(v, 'e', 6, 64)
}
