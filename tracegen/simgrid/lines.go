package simgrid

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// Sizes of the window through which a file is read.
const (
	chunkSize = 16 << 10
	maxLine   = 8 << 20 // bytes; a line of an alltoallv of 65,536 ranks fits
)

// lines reads a text file line by line. Between chunks the file is closed, so
// that there may be more files than descriptors.
type lines struct {
	path   string
	name   string // for errors
	offset int64  // of the next chunk
	buf    []byte // buf[start:] is not yet consumed
	start  int
	line   int // number of the last line returned
	end    bool
}

// next returns the next line without its end, valid until the next call, or
// io.EOF. Empty lines and those that begin with # are skipped.
func (l *lines) next() ([]byte, error) {
	for {
		if i := bytes.IndexByte(l.buf[l.start:], '\n'); i >= 0 {
			text := l.buf[l.start : l.start+i]
			l.start += i + 1
			if l.line++; meaningful(text) {
				return text, nil
			}
			continue
		}
		if l.end {
			text := l.buf[l.start:]
			l.start = len(l.buf)
			if l.line++; meaningful(text) {
				return text, nil
			}
			return nil, io.EOF
		}
		if err := l.more(); err != nil {
			return nil, err
		}
	}
}

func meaningful(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' {
			return c != '#'
		}
	}
	return false
}

// more reads another chunk behind what is left of the last one.
func (l *lines) more() error {
	left := copy(l.buf, l.buf[l.start:])
	l.start = 0
	if left >= maxLine {
		return l.errorf("line longer than %d bytes", maxLine)
	}
	size := min(max(chunkSize, 2*left), maxLine)
	if cap(l.buf) < size {
		l.buf = append(make([]byte, 0, size), l.buf[:left]...)
	}
	f, err := os.Open(l.path)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := f.ReadAt(l.buf[left:size], l.offset)
	l.buf = l.buf[:left+n]
	l.offset += int64(n)
	if errors.Is(err, io.EOF) {
		l.end, err = true, nil
	}
	return err
}

// errorf returns an error at the line after the last one returned.
func (l *lines) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", l.name, l.line+1, fmt.Errorf(format, args...))
}
