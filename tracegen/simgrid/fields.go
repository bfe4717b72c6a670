package simgrid

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// fields reads the fields of a line, which blanks and tabs separate. It never passes
// the end of the line but with skipLine.
type fields struct {
	text []byte // lines, each with its '\n'
	at   int    // the next field, or blanks before it; len(text) before the first line
}

// Sets of characters up to a blank, a bit for each.
const (
	blanks = 1<<' ' | 1<<'\t' | 1<<'\r'
	ends   = blanks | 1<<'\n' // of a field
)

func in(set uint64, c byte) bool { return c <= ' ' && set>>c&1 != 0 }

// skipLine goes behind the end of the line.
func (f *fields) skipLine() {
	if f.at < len(f.text) {
		f.at += bytes.IndexByte(f.text[f.at:], '\n') + 1
	}
}

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

// left returns the number of fields that are left.
func (f fields) left() int {
	n := 0
	for f.next() != nil {
		n++
	}
	return n
}

// digits reads the next field if it consists of at most 15 digits, which are exact as
// a float64.
func (f *fields) digits() (int64, bool) {
	f.skipBlanks()
	n, to := int64(0), f.at
	for {
		digit := f.text[to] - '0'
		if digit > 9 {
			break
		}
		n = 10*n + int64(digit)
		to++
	}
	if count := to - f.at; count == 0 || count > 15 || !in(ends, f.text[to]) {
		return 0, false
	}
	f.at = to
	return n, true
}

// number reads the next field, a number that what names in errors.
func (f *fields) number(what string) (float64, error) {
	if n, ok := f.digits(); ok {
		return float64(n), nil
	}
	field := f.next()
	if field == nil {
		return 0, fmt.Errorf("%s is missing", what)
	}
	v, err := strconv.ParseFloat(string(field), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s %q is not a number", what, field)
	}
	return v, nil
}

// integer reads the next field, a number in [least, most]; a fraction is cut off as
// SimGrid does.
func (f *fields) integer(what string, least, most int64) (int64, error) {
	at := f.at
	if n, ok := f.digits(); ok && n >= least && n <= most {
		return n, nil
	}
	f.at = at
	return f.truncated(what, least, most)
}

// truncated is integer for any number.
func (f *fields) truncated(what string, least, most int64) (int64, error) {
	v, err := f.number(what)
	if err != nil {
		return 0, err
	}
	if v = math.Trunc(v); v < float64(least) || v > float64(most) {
		return 0, fmt.Errorf("%s %v out of [%d,%d]", what, v, least, most)
	}
	return int64(v), nil
}

// typeSizes are the bytes of SimGrid's datatypes by number.
var typeSizes = [...]int64{8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8}

// packedType is the number of MPI_PACKED, of one byte.
const packedType = 57

// itemSize returns the bytes of the datatype in the next field, or the default if
// there is none.
func (f *fields) itemSize(defaultSize int64) (int64, error) {
	at := f.at
	n, ok := f.digits()
	switch {
	case ok && n < int64(len(typeSizes)):
		return typeSizes[n], nil
	case ok && n == packedType:
		return 1, nil
	}
	f.at = at
	field := f.next()
	if field == nil {
		return defaultSize, nil
	}
	return 0, fmt.Errorf("datatype %q is not known", field)
}

// maxBytes bounds the size of a message, so that sums of sizes fit.
const maxBytes = 1 << 50

// size turns a count into bytes by the datatype in the next field, or by the
// default if there is none.
func (f *fields) size(count, defaultSize int64) (int64, error) {
	size, err := f.itemSize(defaultSize)
	if err != nil {
		return 0, err
	}
	if count < 0 {
		return -1, nil
	}
	if count > maxBytes/size {
		return 0, fmt.Errorf("%d items of %d bytes are too many", count, size)
	}
	return count * size, nil
}
