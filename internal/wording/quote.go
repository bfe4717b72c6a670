package wording

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

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

// Cut returns a text of at most most bytes, its beginning and its end if it is longer: in
// a message the place stands at the beginning, and what to do at the end.
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

// Visible returns a text with what a terminal would obey replaced by what can be seen,
// as in a quoted text: control characters but line breaks and tabs.
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

// obeyed reports what moves the cursor, changes colours, or turns the direction of
// writing.
func obeyed(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
}

// mostBrief is how many bytes an error has behind the place that it is about.
const mostBrief = 500

// Brief returns an error whose text is bounded, and has nothing in it that a terminal would
// obey: readers put their errors through it where they add the place, as these repeat
// what files say.
func Brief(err error) error {
	text := Cut(Visible(err.Error()), mostBrief)
	if text == err.Error() {
		return err
	}
	return &brief{err, text}
}

// OneLine returns an error whose text is one line: errors that are joined stand one behind the other.
func OneLine(err error) error {
	return &brief{err, strings.ReplaceAll(err.Error(), "\n", "; ")}
}

type brief struct {
	error
	text string
}

func (b *brief) Error() string { return b.text }
func (b *brief) Unwrap() error { return b.error }
