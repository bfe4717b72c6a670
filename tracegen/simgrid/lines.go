package simgrid

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"reprise/internal/sniff"
	"reprise/internal/textutil"
)

// This file reads files of text: lines goes from line to line, fields from field to field in one. What the fields
// mean is in parse.go.

// Sizes of the window through which a file is read.
const (
	chunkSize = 16 << 10
	maxLine   = 8 << 20 // bytes; a line of an alltoallv of 65,536 ranks fits
)

// idleWindows bounds the windows in a row without a line to read. A line of maxLine takes a dozen windows.
const idleWindows = textutil.MaxIdle / chunkSize

// lines reads a text file line by line, through a window that is used again and again. Between chunks the file is
// closed, so that there may be more files than descriptors.
type lines struct {
	fields        // the whole lines in the window, and where in them it is
	line   int    // number of the line that next moved to
	end    bool   // nothing is left behind the window
	buf    []byte // the window: text, then the beginning of a line
	offset int64  // of the next chunk
	memory *slab  // of the goroutine that reads
	path   string
	name   string // for errors
}

// next moves on to the next line, whose fields can then be read, or returns
// io.EOF. Empty lines and those that begin with # are skipped.
func (l *lines) next() error {
	for windows := 0; ; {
		if l.at < len(l.text) { // go behind the end of the line
			l.at += 1 + bytes.IndexByte(l.text[l.at:], '\n')
		}
		for l.at == len(l.text) {
			if windows++; windows > idleWindows {
				return fmt.Errorf("%s:%d: %w", l.name, l.line+1, textutil.ErrIdle)
			}
			if err := l.more(); err != nil {
				return err
			}
		}
		l.line++
		l.skipBlanks()
		if c := l.text[l.at]; c != '\n' && c != '#' {
			return nil
		}
	}
}

// more moves the window on by a chunk. Its text may still be empty then, if the chunk holds no end of a line.
func (l *lines) more() error {
	if l.end {
		return io.EOF
	}
	// The beginning of a line at the end of the window moves to its front, and the chunk
	// follows it. A window doubles for as long as a line does not end.
	left := copy(l.buf, l.buf[len(l.text):])
	l.text, l.at = nil, 0
	if left >= maxLine {
		return fmt.Errorf("%s:%d: line longer than %d bytes", l.name, l.line+1, maxLine)
	}
	size := min(max(chunkSize, 2*left), maxLine)
	if cap(l.buf) < size {
		l.buf = append(l.memory.cut(size), l.buf[:left]...)
	}
	n, err := readAt(l.path, l.buf[left:size], l.offset)
	if err != nil {
		return err
	}
	l.offset += int64(n)
	l.buf = l.buf[:left+n]
	if l.end = len(l.buf) < size; l.end { // the last line is ended, and takes no more memory than there is text
		if n := len(l.buf); n > 0 && l.buf[n-1] != '\n' {
			l.buf = append(l.buf, '\n')
		}
		l.buf = l.memory.trim(l.buf)
	}
	l.text = l.buf[:1+bytes.LastIndexByte(l.buf, '\n')]
	return nil
}

// mistake returns the mistake in the line, with its place, and forgets it.
func (l *lines) mistake() error {
	err := l.err
	l.err, l.odd = nil, notOdd
	return sniff.InFile(fmt.Errorf("%s:%d: %w", l.name, l.line, textutil.Brief(err)), l.path, sniff.Actions)
}

// slab is a large piece of memory that is cut into windows: to allocate thousands of windows one by one takes longer
// than to fill them. It is for one goroutine.
type slab struct{ used []byte }

// slabSize is the size of a slab, in bytes.
const slabSize = 64 * chunkSize

// cut returns an empty window with room for size bytes. Those larger than a chunk are rare, and on their own.
func (s *slab) cut(size int) []byte {
	if size > chunkSize {
		return make([]byte, 0, size)
	}
	from := len(s.used)
	if size > cap(s.used)-from {
		s.used, from = make([]byte, 0, slabSize), 0
	}
	s.used = s.used[:from+size]
	return s.used[from : from : from+size]
}

// trim returns a window without the room behind its text. If it was the last window cut, the next one gets the room.
func (s *slab) trim(window []byte) []byte {
	n, size := len(s.used), cap(window)
	if n > 0 && size > 0 && &window[:size][size-1] == &s.used[n-1] {
		s.used = s.used[:n-(size-len(window))]
	}
	return slices.Clip(window)
}

// fields reads the fields of a line, which blanks and tabs separate. Only lines.next passes the end of the line. What
// fields reads after the first mistake means nothing.
type fields struct {
	text []byte // lines, each with its '\n'
	at   int    // the next field, or blanks before it; len(text) before the first line
	err  error  // the first mistake
	odd  odd    // why the line is odd
	what string // the part of it that is odd
}

// failf notes a mistake, unless there is one already: later ones often follow from the first.
func (f *fields) failf(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

// Sets of characters up to a blank, a bit for each.
const (
	blanks = 1<<' ' | 1<<'\t' | 1<<'\r'
	ends   = blanks | 1<<'\n' // of a field
)

// in reports whether a character is of a set; no character above the blank is.
func in(set uint64, c byte) bool { return c <= ' ' && set>>c&1 != 0 }

// skipBlanks goes to the next field or the end of the line. The '\n' at the end of the text stops
// it, so it needs no check of bounds.
func (f *fields) skipBlanks() {
	at := f.at
	for in(blanks, f.text[at]) {
		at++
	}
	f.at = at
}

// next returns the next field, nil at the end of the line.
func (f *fields) next() []byte {
	f.skipBlanks()
	from, to := f.at, f.at
	for !in(ends, f.text[to]) {
		to++
	}
	if f.at = to; from == to {
		return nil
	}
	return f.text[from:to]
}

// takes reads the next field if it is the given text.
func (f *fields) takes(text string) bool {
	f.skipBlanks()
	to := f.at + len(text)
	if to >= len(f.text) || string(f.text[f.at:to]) != text || !in(ends, f.text[to]) {
		return false
	}
	f.at = to
	return true
}

// special reads the next field if it is one of the numbers, all below 0, and returns it. For any other field it
// returns 0 and reads nothing.
func (f *fields) special(numbers ...int) int {
	f.skipBlanks()
	if f.text[f.at] != '-' {
		return 0
	}
	for _, n := range numbers {
		if f.takes(strconv.Itoa(n)) {
			return n
		}
	}
	return 0
}

// done reports whether no field is left.
func (f *fields) done() bool {
	f.skipBlanks()
	return f.text[f.at] == '\n'
}

// left returns the number of fields that are left.
func (f fields) left() int {
	n := 0
	for f.next() != nil {
		n++
	}
	return n
}

// maxDigits of a number are exact as a float64.
const maxDigits = 15

// digits reads the next field of a line from text[at:] if it consists of at most maxDigits digits. It returns the
// number and where the field ends; an end of 0 if the field is none such.
func digits(text []byte, at int) (n int64, end int) {
	for in(blanks, text[at]) {
		at++
	}
	begin := at
	for {
		digit := text[at] - '0'
		if digit > 9 {
			break
		}
		n = 10*n + int64(digit)
		at++
	}
	if count := at - begin; count == 0 || count > maxDigits || !in(ends, text[at]) {
		return 0, 0
	}
	return n, at
}

// number reads the next field, a number that what names in errors.
func (f *fields) number(what string) float64 {
	if n, end := digits(f.text, f.at); end > 0 {
		f.at = end
		return float64(n)
	}
	field := f.next()
	if field == nil {
		f.failf("%s is missing", what)
		return 0
	}
	v, err := strconv.ParseFloat(string(field), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || bytes.IndexByte(field, '_') >= 0 {
		f.failf("%s %q is not a number", what, field)
		return 0
	}
	return v
}

// rank reads the field in front of an action, the number of a rank up to most.
func (f *fields) rank(most int64) int64 {
	begin := f.at
	n := f.integer("rank", 0, most)
	if f.err != nil {
		f.at = begin
		if field := f.next(); len(field) > 0 && field[0] > '9' {
			f.err = fmt.Errorf("rank %q is not a number: ranks of MPI have numbers, the actors of MSG and S4U names", field)
		}
	}
	return n
}

// amount reads the next field, a number >= 0.
func (f *fields) amount(what string) float64 {
	v := f.number(what)
	if v < 0 {
		f.failf("%s %v is negative", what, v)
	}
	return v
}

// integer reads the next field, a number in [least, most]; a fraction is cut off as SimGrid does.
func (f *fields) integer(what string, least, most int64) int64 {
	if n, end := digits(f.text, f.at); end > 0 && n >= least && n <= most {
		f.at = end
		return n
	}
	return f.truncated(what, least, most)
}

// truncated does what integer does, for numbers with fractions and signs, too.
func (f *fields) truncated(what string, least, most int64) int64 {
	// Bounds are exact as float64, so that none is missed by rounding.
	v := math.Trunc(f.number(what))
	if v < float64(least) || v > float64(most) {
		f.failf("%s %v out of [%d,%d]", what, v, least, most)
		return least
	}
	return int64(v)
}
