// Package textutil reads and writes text for people: words that agree with their numbers, quotes that are safe to
// print, tables, percentages, lines, and patterns of names. Readers of text bound what they take.
//
// Messages that repeat what files say go through [Quote], [Cut] or [Brief], reports through [Table]. A [Pattern] stands
// for names of hosts or kernels. [NewLineScanner] and [JSONLimits] are for readers of files from anywhere. Which
// terminal the text is for, and what the files mean, is left to others.
package textutil

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Noun returns a noun as it stands behind the number n: "host" behind 1, "hosts" behind
// all others. It is for nouns whose plural is regular.
func Noun[T int | int32 | int64](n T, singular string) string {
	switch {
	case n == 1:
		return singular
	case strings.HasSuffix(singular, "s"), strings.HasSuffix(singular, "ch"):
		return singular + "es"
	}
	return singular + "s"
}

// Count returns a number with its noun: "1 host", "12 hosts".
func Count[T int | int32 | int64](n T, singular string) string {
	return fmt.Sprintf("%d %s", n, Noun(n, singular))
}

// Texts returns a text of each element of a list.
func Texts[T any](list []T, of func(T) string) []string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = of(v)
	}
	return texts
}

// Thousands returns a number with commas between groups of three digits: 3,491,026,162.
func Thousands[T int | int64](n T) string {
	digits := strconv.FormatInt(int64(n), 10)
	first := len(digits) - len(strings.TrimPrefix(digits, "-"))
	for i := len(digits) - 3; i > first; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// mostQuoted is how many characters of a text a message repeats.
const mostQuoted = 60

// Quote quotes what a file or a command line says for a message: cut if it is long, and
// with what a terminal would obey in words.
func Quote(text string) string {
	n := 0
	for i := range text {
		if n++; n > mostQuoted {
			return strconv.Quote(text[:i]) + "..."
		}
	}
	return strconv.Quote(text)
}

// Cut returns a text of at most most bytes: if it is longer, its beginning, where a message has the place, and its end,
// where it has the advice.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := most / 4
	left := fmt.Sprintf(" ... (%d bytes left out) ... ", len(text)-most)
	head, tail := text[:most-end], text[len(text)-end:]
	for len(head) > 0 && !utf8.RuneStart(text[len(head)]) {
		head = head[:len(head)-1]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return head + left + tail
}

// Fit returns a text of at most so many characters, its beginning and … if it is longer: in a table the
// beginning tells rows apart.
func Fit(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:max(0, most-1)]) + "…"
}

// Visible returns a text in which visible escapes, as in a quoted text, replace the characters that a terminal would
// obey: control characters but line breaks and tabs.
func Visible(text string) string {
	if !strings.ContainsFunc(text, obeyed) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if !obeyed(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// obeyed reports what moves the cursor, changes colours, or turns the direction of writing.
func obeyed(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
}

// mostBrief bounds the bytes of an error after the place that it is about.
const mostBrief = 500

// Brief returns an error whose text is bounded, without characters that a terminal would obey. Readers pass their
// errors through it when they add the place, as errors repeat text of files.
func Brief(err error) error {
	text := Cut(Visible(err.Error()), mostBrief)
	if text == err.Error() {
		return err
	}
	return Reworded(err, text)
}

// OneLine returns an error whose text is one line: errors that are joined stand one behind the other.
func OneLine(err error) error { return Reworded(err, strings.ReplaceAll(err.Error(), "\n", "; ")) }

// Reworded returns err with another text.
func Reworded(err error, text string) error { return &reworded{err, text} }

type reworded struct {
	error
	text string
}

func (r *reworded) Error() string { return r.text }
func (r *reworded) Unwrap() error { return r.error }

// Nearest returns the one of known that is spelt most like name, whatever the case of
// letters, the first of equals; "" if more than a third of its letters differ.
func Nearest(name string, known []string) string {
	best, least := "", -1
	for _, k := range known {
		if d := editDistance(strings.ToLower(name), strings.ToLower(k)); least < 0 || d < least {
			best, least = k, d
		}
	}
	if 3*least > len(best) {
		return ""
	}
	return best
}

// editDistance returns the Levenshtein distance of a and b, of which a is cut to 64 bytes to bound the work.
func editDistance(a, b string) int {
	a = a[:min(len(a), 64)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// Plain replaces by _ all characters that may not stand in the name of a host, or of a file named after it: all but
// letters, digits, points, _ and -, and a point at the beginning.
func Plain(s string) string {
	out := []byte(s)
	for i, c := range out {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '-' && c != '_' && (c != '.' || i == 0) {
			out[i] = '_'
		}
	}
	return string(out)
}

// Cell returns a text for a cell of a table that people open in a spreadsheet. A spreadsheet takes a text for a formula
// if it begins with =, +, -, @, a tab or a carriage return: unless it is a number, such a text gets an apostrophe, the
// mark of text there.
func Cell(text string) string {
	if text == "" || !strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return text
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return text
	}
	return "'" + text
}

// Write writes a text that is whole.
func Write(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}

// WriteJSON writes a result for programs, indented, as people read it, too.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
