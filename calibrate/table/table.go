// Package table reads tables of measurements: text with a header line and columns
// separated by commas, possibly compressed by gzip. Errors say file and line. A reader
// holds one line at a time, of at most [MaxLine] bytes, whatever the file says.
//
//	r, err := table.Open("timings.csv.gz")
//	size, err := r.Column("size", "bytes") // by any of these names
//	for r.Next() == nil {
//		n, err := r.Count(size)
//	}
//
// # Units
//
// Numbers are read as they stand; who asks for a column knows its unit.
//
// # Errors
//
// They begin with file and line; that of [Reader.Next] behind the last row is io.EOF.
//
// # Source
//
// The form is RFC 4180 without line ends inside of quotes, with lines of comment.
package table

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/sniff"
	"reprise/internal/textutil"
)

// MaxLine is the length of the longest line that is read, in bytes, and MaxColumns the largest number of columns.
const (
	MaxLine    = 64 << 10
	MaxColumns = 256
)

// Reader reads a table row by row.
type Reader struct {
	name   string
	lines  *bufio.Scanner
	line   int // number of the current line, from 1
	header []string
	fields []string // of the current row; len(fields) == len(header)
	begin  *sniff.Head
	close  []io.Closer
}

// Open opens the table in the file at path, which the caller must close.
func Open(path string) (*Reader, error) {
	return OpenWith(path, func(r io.Reader) io.Reader { return r })
}

// OpenWith is Open, but for reading what through returns of the file, such as a reader that counts.
func OpenWith(path string, through func(io.Reader) io.Reader) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := NewReader(through(f), path)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r.close = append(r.close, f)
	return r, nil
}

// NewReader reads the header of the table in r. name stands for the table in messages.
// Empty lines and lines that begin with # are passed over. Fields may stand in double
// quotes, within one line. A table that begins like gzip is unpacked.
func NewReader(r io.Reader, name string) (*Reader, error) {
	t := &Reader{name: name, begin: sniff.Remember(r)}
	b := bufio.NewReader(t.begin)
	if magic, _ := b.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		t.close, t.begin = append(t.close, z), sniff.Remember(z)
		b = bufio.NewReader(t.begin)
	}
	t.lines = textutil.NewLineScanner(b)
	t.lines.Buffer(nil, MaxLine)
	// The first bytes show whether the table has lines as others have them.
	head, _ := b.Peek(headSize) // an error comes again
	var err error
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}),
		bytes.IndexByte(head, 0) >= 0:
		t.line = 1
		err = t.Errorf("UTF-16, or no text: want a table in UTF-8")
	case bytes.IndexByte(head, '\r') >= 0 && bytes.IndexByte(head, '\n') < 0:
		t.line = 1
		err = t.Errorf("lines end in CR alone: want LF, or CR LF")
	default:
		err = t.readHeader()
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// headSize is how much of a table shows what it is, in bytes; a bufio.Reader has as much.
const headSize = 4 << 10

// Close closes the file, and the unpacking of it.
func (t *Reader) Close() error {
	var errs []error
	for _, c := range t.close {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// readHeader reads the names of the columns, which count in lower case, and no name twice.
func (t *Reader) readHeader() error {
	line, err := t.next()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: empty table: want a header line with the names of the columns", t.name)
	} else if err != nil {
		return err
	}
	if t.header, err = t.split(line, nil); err != nil {
		return err
	}
	for i, name := range t.header {
		t.header[i] = strings.ToLower(strings.TrimSpace(name))
		if j := slices.Index(t.header[:i], t.header[i]); j >= 0 {
			return t.Errorf("columns %d and %d are both called %q", j+1, i+1, t.header[i])
		}
	}
	return nil
}

// Header returns the names of the columns, in lower case.
func (t *Reader) Header() []string { return t.header }

// Column returns the index of the only column with one of the names, or -1. It is an
// error if there are several. No measurement is made of one column: a table that has no
// more is refused, as its columns are separated by something else than commas.
func (t *Reader) Column(names ...string) (int, error) {
	if len(t.header) == 1 {
		return -1, t.Errorf("one column, %.60q: want several, separated by commas", t.header[0])
	}
	at := -1
	for i, name := range t.header {
		if !slices.Contains(names, name) {
			continue
		}
		if at >= 0 {
			return -1, t.Errorf("columns %q and %q mean the same", t.header[at], name)
		}
		at = i
	}
	return at, nil
}

// Each calls row for each of the rows that are left and that are asked for.
func (t *Reader) Each(asked func() bool, row func() error) error {
	for {
		err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && asked() {
			err = row()
		}
		if err != nil {
			return err
		}
	}
}

// Next reads the next row; the error is io.EOF after the last one.
func (t *Reader) Next() error {
	line, err := t.next()
	if err != nil {
		return err
	}
	if t.fields, err = t.split(line, t.fields[:0]); err != nil {
		return err
	}
	if len(t.fields) != len(t.header) {
		return t.Errorf("%d fields, want %d as in the header", len(t.fields), len(t.header))
	}
	return nil
}

// Text returns the field of the current row in a column, without the space around it.
func (t *Reader) Text(column int) string { return strings.TrimSpace(t.fields[column]) }

// Number returns the field in a column as a finite number.
func (t *Reader) Number(column int) (float64, error) {
	x, err := strconv.ParseFloat(t.Text(column), 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || strings.ContainsAny(t.Text(column), "_xX") {
		return 0, t.Errorf("%s: want a number, found %q", t.header[column], t.Text(column))
	}
	return x, nil
}

// Count returns the field in a column as a whole number from 0 to 2^53, which may be written like 1e6.
func (t *Reader) Count(column int) (int64, error) {
	x, err := t.Number(column)
	if err == nil && (x < 0 || x > 1<<53 || x != math.Trunc(x)) {
		err = t.Errorf("%s: want a whole number from 0 to 2^53, found %q", t.header[column], t.Text(column))
	}
	return int64(x), err
}

// Place returns the table's name and the number of the current line, as file:line.
func (t *Reader) Place() string { return fmt.Sprintf("%s:%d", t.name, t.line) }

// Errorf returns an error about the current line, or that the file is no table.
func (t *Reader) Errorf(format string, args ...any) error {
	err := fmt.Errorf("%s: %w", t.Place(), textutil.Brief(fmt.Errorf(format, args...)))
	return sniff.Instead(err, t.name, t.begin.Bytes(), sniff.Table)
}

// next returns the next line with content.
func (t *Reader) next() (string, error) {
	for t.lines.Scan() {
		line := t.lines.Text()
		if t.line++; t.line == 1 {
			line = strings.TrimPrefix(line, "\ufeff") // the byte order mark of some editors
		}
		if strings.TrimSpace(line) != "" && line[0] != '#' {
			return line, nil
		}
	}
	switch err := t.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		t.line++
		return "", t.Errorf("line longer than %d bytes", MaxLine)
	case err != nil:
		t.line++
		return "", t.Errorf("%w", err)
	}
	return "", io.EOF
}

// quoted is a field in quotes, in which a doubled quote stands for one, and its end.
var quoted = regexp.MustCompile(`(?s)^"((?:[^"]|"")*)"(,|$)`)

// split appends the fields of a line to fields.
func (t *Reader) split(line string, fields []string) ([]string, error) {
	for {
		if len(fields) == MaxColumns {
			return nil, t.Errorf("more than %d columns", MaxColumns)
		}
		if !strings.HasPrefix(line, `"`) {
			field, rest, more := strings.Cut(line, ",")
			fields = append(fields, field)
			if !more {
				return fields, nil
			}
			line = rest
			continue
		}
		m := quoted.FindStringSubmatch(line)
		if m == nil {
			return nil, t.Errorf("field %d: no closing quote before the comma or the end of the line", len(fields)+1)
		}
		fields = append(fields, strings.ReplaceAll(m[1], `""`, `"`))
		if m[2] == "" {
			return fields, nil
		}
		line = line[len(m[0]):]
	}
}
