package simgrid

import (
	"bytes"
	"fmt"
	"io"
	"slices"
)

// Sizes of the window through which a file is read.
const (
	chunkSize = 16 << 10
	maxLine   = 8 << 20 // bytes; a line of an alltoallv of 65,536 ranks fits
)

// lines reads a text file line by line, through a window that is used again and
// again. Between chunks the file is closed, so that there may be more files than
// descriptors.
type lines struct {
	fields        // the whole lines in the window, and where in them it is
	line   int    // number of the line that next moved to
	end    bool   // nothing is left behind the window
	buf    []byte // the window: text, then the beginning of a line
	offset int64  // of the next chunk
	memory *slab
	path   string
	name   string // for errors
}

// next moves on to the next line, whose fields can then be read, or returns
// io.EOF. Empty lines and those that begin with # are skipped.
func (l *lines) next() error {
	for {
		l.skipLine()
		for l.at == len(l.text) {
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
	l.buf = l.buf[:left+n]
	l.offset += int64(n)
	l.text = l.buf[:1+bytes.LastIndexByte(l.buf, '\n')]
	if l.end = len(l.buf) < size; l.end && len(l.text) < len(l.buf) {
		l.buf = append(l.buf, '\n')
		l.text = l.buf
	}
	if l.end {
		l.buf = l.memory.trim(l.buf)
	}
	return nil
}

// mistake returns the mistake in the line, with its place, and forgets it.
func (l *lines) mistake() error {
	err := l.err
	l.err = nil
	return fmt.Errorf("%s:%d: %w", l.name, l.line, err)
}

// slab is a large piece of memory that is cut into windows: one by one, thousands of
// them take longer to get than to fill.
type slab struct{ text []byte } // of the windows so far

const slabSize = 64 * chunkSize

// cut returns an empty window with room for size bytes.
func (s *slab) cut(size int) []byte {
	used := len(s.text)
	if size > cap(s.text)-used {
		s.text, used = make([]byte, 0, max(size, slabSize)), 0
	}
	s.text = s.text[:used+size]
	return s.text[used : used : used+size]
}

// trim takes back the room behind the text of a window if it is the last one.
func (s *slab) trim(window []byte) []byte {
	size := cap(window)
	if spare := size - len(window); spare > 0 && &window[:size][size-1] == &s.text[len(s.text)-1] {
		s.text = s.text[:len(s.text)-spare]
	}
	return slices.Clip(window)
}
