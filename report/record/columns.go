package record

import (
	"slices"

	"reprise/report/typedarray"
)

// This file adds up the times of all ranks by column, a step or a slice of time; widths makes the slices.

// columns are the sums over ranks of the times that they have spent in each column, by row. They do not grow with the
// ranks: a rank adds its own times when it leaves a column (Recorder.leave). Columns are made when the first rank comes
// to them, so a list ends with the last column that anybody has begun.
type columns struct {
	width int // rows
	list  []*column
}

// column is one of them. Times are in seconds.
type column struct {
	begun   int     // ranks that have begun it
	begins  float64 // sum of the times at which they have
	ended   int     // ranks that have ended it
	longest float64 // time that a rank was in it
	rows    []spread
}

// spread is a sum over ranks, with the least and the most of one.
type spread struct{ sum, least, most float64 }

// at returns a column.
func (c *columns) at(i int32) *column {
	for int(i) >= len(c.list) {
		c.list = append(c.list, &column{rows: make([]spread, c.width)})
	}
	return c.list[i]
}

// begin notes that a rank begins a column at a time.
func (c *columns) begin(i int32, at float64) {
	column := c.at(i)
	column.begun++
	column.begins += at
}

// add adds the times of a rank in a column, now by row, and the time that it was there, length. A rank is added once to
// each column. It costs a pass over all rows, kernels and phases included, for each rank and step: the dearest part of
// recording a trace with many kernels.
func (c *columns) add(i int32, now []float64, length float64) {
	column := c.at(i)
	first := column.ended == 0
	column.ended++
	column.longest = max(column.longest, length)
	rows := column.rows[:len(now)] // lets the compiler leave out the check of each index
	for row, v := range now {
		s := &rows[row]
		s.sum += v
		if v < s.least || first {
			s.least = v
		}
		if v > s.most {
			s.most = v
		}
	}
}

// columnData describes the columns that a page shows: count of them, from first on. Columns of steps have no width of
// their own, and those of time have no number of steps.
func (r *Recorder) columnData(first, count int) Columns {
	d := Columns{Kind: "time", Count: count, Seconds: r.slices.width}
	if r.steps {
		d = Columns{Kind: "step", First: r.first + first*r.perColumn, Count: count, Steps: r.perColumn}
	}
	longest := make([]float32, count)
	for i, c := range r.columns.list[first:] {
		longest[i] = float32(c.longest)
	}
	d.Longest = typedarray.Of(longest)

	// The begin of each column, and the end of the last one. Slices of time are the same for all ranks.
	starts := make([]float64, count+1)
	if !r.steps {
		for i := range count {
			starts[i] = float64(first+i) * r.slices.width
		}
		starts[count] = r.lastEnd()
		d.Starts = typedarray.Of(starts)
		return d
	}

	// A step begins at the mean of the ranks that begin it. Begins ascend, also where the ranks that begin later
	// columns are others.
	at := 0.0
	for i, c := range r.columns.list[first:] {
		if c.begun > 0 {
			at = max(at, c.begins/float64(c.begun))
		}
		starts[i] = at
	}
	// The end is the mean of the ranks, too, but for ranks of which nothing was told.
	sum, ranks := 0.0, 0
	for i := range r.ranks {
		if rk := &r.ranks[i]; rk.until != notYet {
			sum += rk.clock
			ranks++
		}
	}
	starts[count] = max(at, sum/float64(max(ranks, 1)))
	d.Starts = typedarray.Of(starts)
	return d
}

// seriesData describes the rows that are not 0 everywhere: most programs use few kinds of time, and a page would carry
// the zeros of the others.
func (r *Recorder) seriesData(first, count int) Series {
	var d Series
	var values []float32
	for row, name := range r.sums.names(r.header) {
		if !slices.ContainsFunc(r.columns.list, func(c *column) bool { return c.rows[row].most > 0 }) {
			continue
		}
		switch {
		case row < numKinds:
			d.Kinds = append(d.Kinds, name)
		case row < numKinds+r.sums.kernels:
			d.Kernels = append(d.Kernels, name)
		default:
			d.Phases = append(d.Phases, name)
		}
		// Means, least and most over ranks: of a rank that is not in a column nothing.
		three := make([]float32, 3*count)
		for i, c := range r.columns.list[first:] {
			s := &c.rows[row]
			three[i], three[2*count+i] = float32(s.sum/float64(len(r.ranks))), float32(s.most)
			if c.ended == len(r.ranks) {
				three[count+i] = float32(s.least)
			}
		}
		values = append(values, three...)
	}
	d.Values = typedarray.Of(values)
	return d
}

// widths are slices of simulated time of equal width, from 0 on. The width that a run needs is known at its end
// only, so slices begin narrow, and whenever there are too many, neighbours become one.
type widths struct {
	width float64 // seconds
	most  int     // slices
}

const (
	firstWidth = 1e-6 // of slices, seconds
	maxSlices  = 512
)

// reach makes slices so wide that a time lies before the end of the last: 2^k become one. Widths double, so a border
// of wide slices was a border of narrow ones, and sums need no splitting.
func (w *widths) reach(to float64) (k int) {
	for to >= w.width*float64(w.most) {
		w.width *= 2
		k++
	}
	return k
}

// at returns the slice that a time lies in, and its end.
func (w *widths) at(time float64) (slice int32, end float64) {
	slice = int32(time / w.width)
	return slice, w.end(slice)
}

// end returns when a slice ends.
func (w *widths) end(slice int32) float64 { return float64(slice+1) * w.width }

// merged makes one of each 2^k slices: add adds more to what is there, which is not nil, and
// returns it. A slice is nil where nothing has happened.
func merged[T any](list [][]T, k int, add func(into, more []T) []T) [][]T {
	if len(list) == 0 {
		return list
	}
	for i, slice := range list {
		switch at := i >> k; {
		case i == at<<k || list[at] == nil:
			list[at] = slice
		case slice != nil:
			list[at] = add(list[at], slice)
		}
	}
	left := (len(list)-1)>>k + 1
	clear(list[left:])
	return list[:left]
}

// slots are numbers in each slice of time. A slice is nil where nothing has happened.
type slots[T float32 | float64] [][]T

// at returns the numbers of a slice, so many: those that are missing, as of rows that came later, are 0.
func (s *slots[T]) at(slice int32, size int) []T {
	for int(slice) >= len(*s) {
		*s = append(*s, nil)
	}
	at := &(*s)[slice]
	if missing := size - len(*at); missing > 0 {
		*at = append(*at, make([]T, missing)...)
	}
	return *at
}

// merge makes one of each 2^k slices.
func (s *slots[T]) merge(k int) { *s = merged(*s, k, addTo[T]) }

// addTo adds numbers to others; those that are not there are 0.
func addTo[T float32 | float64](into, more []T) []T {
	if missing := len(more) - len(into); missing > 0 {
		into = append(into, make([]T, missing)...)
	}
	for i, v := range more {
		into[i] += v
	}
	return into
}

// timeSlots are columns of a trace that marks no steps: slices of time. Each holds the times
// of every rank until the end, as ranks run ahead of each other.
type timeSlots struct {
	widths
	size  int            // numbers in a slice
	times slots[float64] // [ranks*rows]
}

const (
	maxSlotted = 1 << 23 // numbers in all slices; beyond it slices become fewer, down to minSlots
	minSlots   = 8
)
