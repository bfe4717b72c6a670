package calibrate

import (
	"maps"
	"slices"

	"reprise/calibrate/regress"
)

// series are timings in seconds by operation and size.
type series map[Operation]map[int64][]float64

// number returns the number of timings of an operation.
func (m series) number(op Operation) (n int) {
	for _, list := range m[op] {
		n += len(list)
	}
	return n
}

// sizes returns the sizes of an operation, ascending.
func (m series) sizes(op Operation) []int64 { return slices.Sorted(maps.Keys(m[op])) }

// points returns a statistic of the timings of an operation by size, weighted by their
// number; none if it was not timed.
func (m series) points(op Operation, s Statistic, trim float64) (p regress.Points) {
	for _, bytes := range m.sizes(op) {
		value, deviation, n := s.of(slices.Sorted(slices.Values(m[op][bytes])), trim)
		p.X, p.Y, p.W, p.S = append(p.X, float64(bytes)), append(p.Y, value), append(p.W, float64(n)), append(p.S, deviation/value)
	}
	return p
}

// strays returns how many timings of an operation are far off the median of their size, and
// at how many sizes.
func (m series) strays(op Operation) (timings, sizes int) {
	for _, list := range m[op] {
		if n := strays(slices.Sorted(slices.Values(list))); n > 0 {
			timings += n
			sizes++
		}
	}
	return timings, sizes
}

// medians returns the median of the timings of an operation by size.
func (m series) medians(op Operation) map[int64]float64 {
	list := map[int64]float64{}
	for bytes, times := range m[op] {
		list[bytes], _, _ = Median.of(slices.Sorted(slices.Values(times)), 0)
	}
	return list
}
