package record

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
	maxSlotted = 1 << 23 // numbers in all slices, unless they are as few as may be:
	minSlots   = 8
)
