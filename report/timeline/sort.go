package timeline

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
)

// sorter sorts lines by time; those of one time stay as they come. What it has no room for
// it keeps in a temporary file, in runs that are sorted, and are merged in the end.
type sorter struct {
	room  int // bytes of lines that are kept in memory
	text  []byte
	lines []timedLine
	file  *os.File // without a name; nil until it is needed
	size  int64    // of the file
	runs  []int64  // where in the file each ends
	err   error
}

type timedLine struct {
	time   float64
	at     int // in text
	length int
}

// sorterRoom is what a sorter keeps in memory, in bytes of lines.
const sorterRoom = 16 << 20

func newSorter() *sorter { return &sorter{room: sorterRoom} }

// add takes a line. An error is the last word.
func (s *sorter) add(time float64, line []byte) error {
	if s.err != nil {
		return s.err
	}
	s.lines = append(s.lines, timedLine{time, len(s.text), len(line)})
	s.text = append(s.text, line...)
	if len(s.text) >= s.room {
		s.err = s.spill()
	}
	return s.err
}

// order sorts what is in memory.
func (s *sorter) order() {
	slices.SortStableFunc(s.lines, func(a, b timedLine) int { return cmp.Compare(a.time, b.time) })
}

// spill writes what is in memory to the file, as a run.
func (s *sorter) spill() error {
	if s.file == nil {
		if err := s.open(); err != nil {
			return fmt.Errorf("sorting by time: %w", err)
		}
	}
	s.order()
	w := bufio.NewWriterSize(s.file, 1<<20)
	var head []byte
	for _, l := range s.lines {
		head = binary.LittleEndian.AppendUint64(head[:0], math.Float64bits(l.time))
		head = binary.AppendUvarint(head, uint64(l.length))
		w.Write(head)
		w.Write(s.text[l.at : l.at+l.length])
		s.size += int64(len(head) + l.length)
	}
	if err := w.Flush(); err != nil { // with the error of what was written before
		return fmt.Errorf("sorting by time: %w", err)
	}
	s.runs = append(s.runs, s.size)
	s.text, s.lines = s.text[:0], s.lines[:0]
	return nil
}

// open makes the file, which nobody else sees and which goes with the process.
func (s *sorter) open() error {
	file, err := os.CreateTemp("", "reprise-timeline-")
	if err != nil {
		return err
	}
	if err := os.Remove(file.Name()); err != nil {
		return errors.Join(err, file.Close())
	}
	s.file = file
	return nil
}

// close lets go of the file.
func (s *sorter) close() error {
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	return file.Close()
}

// each gives all lines to use, in the order of time, and lets go of them.
func (s *sorter) each(use func(line []byte) error) error {
	err := s.err
	if err == nil && s.file == nil {
		s.order()
		for _, l := range s.lines {
			if err = use(s.text[l.at : l.at+l.length]); err != nil {
				break
			}
		}
	} else if err == nil {
		err = s.merge(use)
	}
	return errors.Join(err, s.close())
}

// mergeRoom is what reading all runs at once may take, in bytes.
const mergeRoom = 64 << 20

// merge gives the lines of all runs to use.
func (s *sorter) merge(use func(line []byte) error) error {
	if err := s.spill(); err != nil {
		return err
	}
	s.text, s.lines = nil, nil
	var open runHeap
	begin := int64(0)
	for i, end := range s.runs {
		size := min(64<<10, max(4<<10, mergeRoom/len(s.runs)))
		r := &sortedRun{number: i, from: bufio.NewReaderSize(io.NewSectionReader(s.file, begin, end-begin), size)}
		begin = end
		if more, err := r.next(); err != nil {
			return err
		} else if more {
			open = append(open, r)
		}
	}
	heap.Init(&open)
	for len(open) > 0 {
		r := open[0]
		if err := use(r.line); err != nil {
			return err
		}
		if more, err := r.next(); err != nil {
			return err
		} else if more {
			heap.Fix(&open, 0)
		} else {
			heap.Pop(&open)
		}
	}
	return nil
}

// sortedRun is a run of the file that is being read.
type sortedRun struct {
	number int
	from   *bufio.Reader
	time   float64
	line   []byte
}

// next reads the next line; false: there is none.
func (r *sortedRun) next() (bool, error) {
	var head [8]byte
	if _, err := io.ReadFull(r.from, head[:]); errors.Is(err, io.EOF) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("sorting by time: %w", err)
	}
	r.time = math.Float64frombits(binary.LittleEndian.Uint64(head[:]))
	length, err := binary.ReadUvarint(r.from)
	if err != nil {
		return false, fmt.Errorf("sorting by time: %w", err)
	}
	r.line = slices.Grow(r.line[:0], int(length))[:length]
	if _, err := io.ReadFull(r.from, r.line); err != nil {
		return false, fmt.Errorf("sorting by time: %w", err)
	}
	return true, nil
}

// runHeap is a heap of runs by their next line; of equal times the earlier run comes first.
type runHeap []*sortedRun

func (h runHeap) Len() int { return len(h) }

func (h runHeap) Less(i, j int) bool {
	if h[i].time != h[j].time {
		return h[i].time < h[j].time
	}
	return h[i].number < h[j].number
}

func (h runHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *runHeap) Push(x any) { *h = append(*h, x.(*sortedRun)) }

// Pop implements heap.Interface.
func (h *runHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
