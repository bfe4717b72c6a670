package capture

import "iter"

// What a rank does again, though not in a row, or what another rank does as well, is written
// once. Items are parted where some of them in a row say so, and so alike wherever they come; a
// part that comes twice is a loop of one turn, whose block is called from both places.

// Lengths of parts. The end of one comes after one in partMean of the items; a call takes as
// much room as partLeast of them.
const (
	partLeast = 6
	partMean  = 16
	partMost  = 128
)

// sharing is how often parts come.
type sharing struct {
	loops *loops
	times map[uint64]int // by hash of the part
	seen  map[int32]bool // bodies of loops
}

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
			s.count(s.loops.bodies[it.what])
		}
	}
}

// share returns items with each part that comes twice as a loop of one turn.
func (s *sharing) share(items []item) (shared []item) {
	for part := range parts(items) {
		if len(part) >= partLeast && len(part) < len(items) && s.times[hashOf(part)] > 1 &&
			len(s.loops.listsOf(part)) <= mostLists {
			shared = append(shared, item{s.loops.number(part), 1})
		} else {
			shared = append(shared, part...)
		}
	}
	return shared
}

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
			if n == len(items) || n-from == partMost || n-from >= partLeast && hashOf(items[n-gram:n])>>32%partMean == 0 {
				if !yield(items[from:n]) {
					return
				}
				from = n
			}
		}
	}
}
