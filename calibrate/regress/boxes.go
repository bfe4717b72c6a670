package regress

import (
	"math"
	"slices"
)

// This file divides a sample into boxes with a fit each (Sample.Partition), for kernels whose time
// follows other terms for small sizes than for large ones.

// Partition fits the sample in parts, at most so many, which are boxes in the coordinates of the points (at). fit fits
// one part. In each round it splits one part in two, with the split that lowers the score of all parts most; each side
// gets terms of its own. Parts whose relative error is below goodEnough are not split. Of the partitions of all rounds
// it returns the one with the lowest score: the first of two thresholds that a curve needs may not pay alone. It
// returns nil if there is no fit of all points.
func (s *Sample) Partition(at [][]float64, most int, fit func(*Sample) *Relative) []Part {
	first := Part{All(len(at[0])), fit(s), UpTo(len(s.Y))}
	if first.Fit == nil {
		return nil
	}
	parts := []Part{first}
	best := parts
	for len(parts) < most {
		if parts = s.split(parts, at, fit); parts == nil {
			break
		}
		if s.total(parts) < s.total(best) {
			best = parts
		}
	}
	return best
}

// Part is a part of the points with a fit of its own: those in the box.
type Part struct {
	Box
	Fit    *Relative
	Points []int
}

// Box is a part of a space: the places whose coordinates are above Lo and up to Hi.
type Box struct{ Lo, Hi []float64 }

// All returns the box that holds all places.
func All(dims int) Box {
	return Box{slices.Repeat([]float64{math.Inf(-1)}, dims), slices.Repeat([]float64{math.Inf(1)}, dims)}
}

// With returns the box with other bounds in one dimension.
func (b Box) With(dim int, lo, hi float64) Box {
	b = Box{slices.Clone(b.Lo), slices.Clone(b.Hi)}
	b.Lo[dim], b.Hi[dim] = lo, hi
	return b
}

// Has reports whether a place, which may have more coordinates, is in the box.
func (b Box) Has(at []float64) bool {
	for d := range b.Lo {
		if !(at[d] > b.Lo[d] && at[d] <= b.Hi[d]) {
			return false
		}
	}
	return true
}

// Limits of the parts of Partition.
const (
	fewestPoints = 6    // of a part
	mostCuts     = 12   // places at which a split is tried in a coordinate
	goodEnough   = 0.02 // relative error below which a part is not split, as a threshold would follow noise only
)

// total is the score of all parts together.
func (s *Sample) total(parts []Part) float64 {
	n, loss, paid := len(s.Y), 0.0, float64(len(parts)-1)*penalty(len(s.Y), gainOfSplit)
	for i := range parts {
		loss += parts[i].Fit.Loss
		paid += float64(float64(len(parts[i].Fit.Terms)) * penalty(n, gainOfTerm))
	}
	return score(n, loss, paid)
}

// split returns the parts with one of them split in two, where the score is lowest, and nil if no part can be split. In
// each coordinate of a part it tries some places first, then all between the best of them and its neighbours.
func (s *Sample) split(parts []Part, at [][]float64, fit func(*Sample) *Relative) (best []Part) {
	for i := range parts {
		whole, weight := &parts[i], 0.0
		for _, j := range whole.Points {
			weight += s.W[j]
		}
		if math.Sqrt(whole.Fit.Loss/weight) < goodEnough {
			continue
		}
		for d := range at[0] {
			var values []float64 // different coordinates of the part, ascending
			for _, j := range whole.Points {
				values = append(values, at[j][d])
			}
			slices.Sort(values)
			values = slices.Compact(values)
			step := max(1, len(values)/mostCuts)
			// Each try costs two fits, so that not all places are tried.
			rough, here := -1, []Part(nil)
			try := func(k int) {
				low := Part{Box: whole.With(d, whole.Lo[d], values[k])}
				high := Part{Box: whole.With(d, values[k], whole.Hi[d])}
				for _, j := range whole.Points {
					if at[j][d] <= values[k] {
						low.Points = append(low.Points, j)
					} else {
						high.Points = append(high.Points, j)
					}
				}
				if len(low.Points) < fewestPoints || len(high.Points) < fewestPoints {
					return
				}
				low.Fit, high.Fit = fit(s.Points(low.Points)), fit(s.Points(high.Points))
				if low.Fit == nil || high.Fit == nil {
					return
				}
				next := slices.Replace(slices.Clone(parts), i, i+1, low, high)
				if here == nil || s.total(next) < s.total(here) {
					rough, here = k, next
				}
			}
			for k := step - 1; k < len(values)-1; k += step {
				try(k)
			}
			for middle, k := rough, max(0, rough-step+1); middle >= 0 && k < min(middle+step, len(values)-1); k++ {
				try(k)
			}
			if here != nil && (best == nil || s.total(here) < s.total(best)) {
				best = here
			}
		}
	}
	return best
}
