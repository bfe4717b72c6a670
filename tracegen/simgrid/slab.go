package simgrid

import (
	"slices"
	"sync"
)

// slab is a large piece of memory that is cut into windows: one by one, thousands of
// them take longer to get than to fill.
type slab struct {
	mu   sync.Mutex // a reader ahead and who waits for it both cut
	used []byte
}

const slabSize = 64 * chunkSize

// cut returns an empty window with room for size bytes. Those larger than a chunk are
// rare, and on their own.
func (s *slab) cut(size int) []byte {
	if size > chunkSize {
		return make([]byte, 0, size)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
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
	s.mu.Lock()
	defer s.mu.Unlock()
	n, size := len(s.used), cap(window)
	if n > 0 && size > 0 && &window[:size][size-1] == &s.used[n-1] {
		s.used = s.used[:n-(size-len(window))]
	}
	return slices.Clip(window)
}
