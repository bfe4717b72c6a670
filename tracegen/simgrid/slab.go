package simgrid

import "slices"

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
