package simgrid

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"reprise/internal/sniff"
	"reprise/internal/textutil"
)

// Sizes of the window through which a file is read.
const (
	chunkSize = 16 << 10
	maxLine   = 8 << 20 // bytes; a line of an alltoallv of 65,536 ranks fits
)

// idleWindows bounds the windows in a row without a line to read: one of maxLine takes a
// dozen.
const idleWindows = textutil.MaxIdle / chunkSize

// lines reads a text file line by line, through a window that is used again and
// again. Between chunks the file is closed, so that there may be more files than
// descriptors.
type lines struct {
	fields        // the whole lines in the window, and where in them it is
	line   int    // number of the line that next moved to
	end    bool   // nothing is left behind the window
	buf    []byte // the window: text, then the beginning of a line
	offset int64  // of the next chunk
	memory *slab  // of who reads
	path   string
	name   string // for errors
}

// next moves on to the next line, whose fields can then be read, or returns
// io.EOF. Empty lines and those that begin with # are skipped.
func (l *lines) next() error {
	for windows := 0; ; {
		l.skipLine()
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

// more moves the window on by a chunk. Its text may still be empty then, if the
// chunk holds no end of a line.
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

// slab is a large piece of memory that is cut into windows: one by one, thousands of
// them take longer to get than to fill. It is for one goroutine.
type slab struct{ used []byte }

const slabSize = 64 * chunkSize

// cut returns an empty window with room for size bytes. Those larger than a chunk are
// rare, and on their own.
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

// trim cuts off a window the room behind its text, which serves for the next one if
// this was the last.
func (s *slab) trim(window []byte) []byte {
	n, size := len(s.used), cap(window)
	if n > 0 && size > 0 && &window[:size][size-1] == &s.used[n-1] {
		s.used = s.used[:n-(size-len(window))]
	}
	return slices.Clip(window)
}
