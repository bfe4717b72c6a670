package hpcg

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"reprise/internal/sniff"
	"reprise/internal/textutil"
)

// This file reads the input file of HPCG, hpcg.dat: Params.ReadDat.

// unstatedSeconds is the time of a run whose hpcg.dat has none, or a negative one.
const unstatedSeconds = 1800

// maxDatLine bounds the lines of an hpcg.dat, in bytes.
const maxDatLine = 4096

// ReadDat sets p's sizes, seconds and grid from an hpcg.dat: two lines of title, the three sizes, the seconds, and the
// process grid. The last two lines may be missing; text behind the values of a line is comment. HPCG reads integers
// across ends of lines. Where it would take a value from another line, or a default for what is no integer, ReadDat
// fails with file and line. It returns notes as Params.Complete does. Source: HPCG 3.1, ReadHpcgDat.cpp.
func (p *Params) ReadDat(r io.Reader, name string) (notes []string, err error) {
	head := sniff.Remember(r)
	d := &datReader{in: bufio.NewReaderSize(head, maxDatLine)}
	d.line()
	d.line()
	sizes := d.integers("nx ny nz", 3, false)
	sizesAt := d.number
	seconds := d.integers("the seconds of a run", 1, true)
	grid := d.integers("npx npy npz", 3, true)
	if d.err != nil {
		return nil, head.Instead(fmt.Errorf("%s:%d: %w", name, d.number, d.err), name, sniff.HPCGDat)
	}
	for i, n := range []*int{&p.NX, &p.NY, &p.NZ} {
		*n = max(sizes[i], minSide)
		if sizes[i] < minSide {
			notes = append(notes, fmt.Sprintf("%s:%d: n%c = %d is below %d: HPCG takes %d", name, sizesAt, 'x'+i, sizes[i],
				minSide, minSide))
		}
	}
	p.Seconds = unstatedSeconds
	if seconds != nil && seconds[0] >= 0 {
		p.Seconds = seconds[0]
	}
	p.Grid = Grid{}
	if grid != nil {
		p.Grid = Grid{max(grid[0], 0), max(grid[1], 0), max(grid[2], 0)}
	}
	p.FromFile = true
	return notes, nil
}

// datReader reads line by line; after the first failure it reads no more.
type datReader struct {
	in     *bufio.Reader
	number int // of the line, from 1
	end    bool
	err    error
}

// line returns the next line, without its end; nothing at the end of the file.
func (d *datReader) line() string {
	if d.err != nil || d.end {
		return ""
	}
	d.number++
	text, err := d.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		d.err = fmt.Errorf("line of more than %d bytes", maxDatLine)
	case err == io.EOF:
		d.end = true
	case err != nil:
		d.err = err
	}
	return string(text)
}

// integers returns the first n integers of the next line; nil where nothing follows in the
// file, if they may be missing.
func (d *datReader) integers(what string, n int, optional bool) []int {
	// A line may be missing at the end of the file only: an empty one before values is a
	// mistake, as HPCG would take these from the next line.
	words := strings.Fields(d.line())
	over := len(words) == 0
	if over { // nothing but blanks may follow
		rest, err := d.in.Peek(maxDatLine)
		over = err == io.EOF && len(bytes.TrimSpace(rest)) == 0
	}
	switch {
	case d.err != nil || optional && over:
		return nil
	case over:
		d.err = fmt.Errorf("%s: 0 values, want %d: the file ends here", what, n)
		return nil
	case len(words) < n:
		d.err = fmt.Errorf("%s: %d values, want %d: HPCG would look for the rest on the next line", what, len(words), n)
		return nil
	}
	list := make([]int, n)
	for i := range list {
		v, err := strconv.ParseInt(words[i], 10, 32)
		if err != nil {
			d.err = textutil.Brief(fmt.Errorf("%s: %q is not an integer of 32 bits", what, words[i]))
			return nil
		}
		list[i] = int(v)
	}
	return list
}
