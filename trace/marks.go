package trace

import (
	"strconv"
	"strings"
)

// MarkArgs returns the integer arguments of a KindMark; in the place of a vector stands
// its number for Sums. It is valid until the next Fill.
func (c *Cursor) MarkArgs(a *Action) []int64 { return c.marks[a.X[0] : a.X[0]+a.X[1]] }

// MarkText returns a marker's text with its arguments filled in.
func (c *Cursor) MarkText(a *Action) string {
	var b strings.Builder
	args := c.MarkArgs(a)
	text := c.set.trace.Header().Markers[a.Sym].Text
	for len(args) > 0 {
		open := strings.IndexByte(text, '{')
		end := open + strings.IndexByte(text[open:], '}') + 1
		b.WriteString(text[:open])
		switch field := text[open:end]; field {
		case "{}":
			b.WriteString(strconv.FormatInt(args[0], 10))
			args = args[1:]
		case "{list}", "{sums}":
			writeList(&b, c.lists[args[0]].sums, field == "{sums}")
			args = args[1:]
		default:
			end = open + 1
			b.WriteByte('{')
		}
		text = text[end:]
	}
	b.WriteString(text)
	return b.String()
}

// writeList writes running sums, or the elements between them.
func writeList(b *strings.Builder, sums []int64, running bool) {
	if running {
		writeInts(b, len(sums), func(i int) int64 { return sums[i] })
		return
	}
	writeInts(b, len(sums)-1, func(i int) int64 { return sums[i+1] - sums[i] })
}

func writeInts(b *strings.Builder, n int, at func(int) int64) {
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(at(i), 10))
	}
}
