package main

import "math"

// A long case is chaotic if SimGrid disagrees with itself as much as replay does with
// it, once sleeps of a few nanoseconds stand before the actions: less than the
// differences that either simulator takes for none. Such a case says nothing beyond
// the first of its actions that moves.

// chaosSkews is how many times the sleeps are drawn.
const chaosSkews = 6

// chaotic reports whether a long case that is off is chaotic, and by how many seconds
// SimGrid's own times move.
func (t *tools) chaotic(v *verdict) (bool, float64, error) {
	if v.failed != nil || v.refused != nil {
		return false, 0, nil
	}
	off, moved := math.Abs(v.worst.ours-v.worst.theirs), 0.0
	for i := 0; i < chaosSkews && moved < off; i++ {
		after, err := t.playSimgrid(v.c.skewed(uint64(i), shortSkew))
		if err != nil {
			return false, 0, err
		}
		if after.refused == nil {
			moved = max(moved, v.theirs.distance(after.theirs))
		}
	}
	return moved >= off, moved, nil
}
