package capture

import "iter"

// This file finds parts of items that come several times, so that they are written once (sharing).

// Lengths of parts, in items.
const (
	partLeast = 6  // a call takes as much room
	partMean  = 16 // a part ends after one in so many of the items
	partMost  = 128
)

// sharing finds parts of the items that a rank repeats, though not in a row, or that other ranks have as well, so
// that they are written once. Items are divided by content: a part ends where the hash of the last items says so,
// so that equal items are divided alike wherever they occur. A part that occurs twice becomes a loop of one turn,
// whose block is called from both places.
type sharing struct {
	loops *loops
	times map[uint64]int // by hash of the part
	seen  map[int32]bool // bodies of loops
}

// newSharing returns a sharing that has counted nothing.
func newSharing(l *loops) *sharing {
	return &sharing{loops: l, times: map[uint64]int{}, seen: map[int32]bool{}}
}

// count counts the parts of items, and of the loops in them.
func (s *sharing) count(items []item) {
	for part := range parts(items) {
		s.times[hashOf(part)]++
	}
	for _, it := range items {
		if it.turns > 0 && !s.seen[it.what] {
			s.seen[it.what] = true
			s.count(s.loops.bodies[it.what].items)
		}
	}
}

// share returns items with each part that comes twice as a loop of one turn.
func (s *sharing) share(items []item) (shared []item) {
	for part := range parts(items) {
		// A part with too many lists cannot be a block; the whole of the items gains nothing by being one.
		if len(part) >= partLeast && len(part) < len(items) && s.times[hashOf(part)] > 1 &&
			len(s.loops.listsOf(part)) <= mostLists {
			shared = append(shared, item{s.loops.number(part), 1})
		} else {
			shared = append(shared, part...)
		}
	}
	return shared
}

// hashOf returns the polynomial hash of items (see multiplier).
func hashOf(items []item) (hash uint64) {
	for _, it := range items {
		hash = hash*multiplier + it.hash()
	}
	return hash
}

// parts yields items part by part.
func parts(items []item) iter.Seq[[]item] {
	return func(yield func([]item) bool) {
		from := 0
		for n := range items {
			n++
			// The last items of a part decide on its end, so equal items are parted alike wherever they begin.
			if n == len(items) || n-from == partMost || n-from >= partLeast && hashOf(items[n-gram:n])>>32%partMean == 0 {
				if !yield(items[from:n]) {
					return
				}
				from = n
			}
		}
	}
}
