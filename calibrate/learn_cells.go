package calibrate

import (
	"fmt"
	"math"
	"slices"
)

// workingSet is what is known beforehand of a kernel that is bound by memory: how long it takes is decided by which cache holds what it
// works on, which may be another one at each level and size.
type workingSet struct {
	extent string   // dimension by which what it works on grows
	terms  []string // of which its time is made
}

// workingSets are those of HPCG's kernels (docs/hpcg.md).
var workingSets = map[string]workingSet{
	"spmv":     {"ROWS", []string{"NNZ", "ROWS", "1"}},
	"symgs":    {"ROWS", []string{"NNZ", "ROWS", "1"}},
	"restrict": {"N", []string{"N", "1"}},
	"prolong":  {"N", []string{"N", "1"}},
	"dot":      {"N", []string{"N", "1"}},
	"waxpby":   {"N", []string{"N", "1"}},
	"zero":     {"N", []string{"N", "1"}},
	"copy":     {"N", []string{"N", "1"}},
	"pack":     {"N", []string{"N", "1"}},
}

// labelNames are the dimensions that are labels: a piece is for one value of each.
var labelNames = []string{"ROLE", "LEVEL", "VECTORS", "BRANCH", "ALIAS"}

// mostValues bounds the number of values of a label.
const mostValues = 256

// checkLabels refuses a label of so many values that it is none.
func (l *learner) checkLabels(all []size) error {
	for _, dim := range l.labels {
		if n := len(values(all, dim)); n > mostValues {
			return fmt.Errorf("%w: %d values of the label %s, each of which would have a piece, want at most %d: name the dimensions (--dims)", ErrMeaningless, n, l.dims[dim], mostValues)
		}
	}
	return nil
}

// mostSets is the number of different working sets up to which each has a piece of its own: of more, thresholds are learned.
const mostSets = 16

// bounds are those of a piece: above lo, up to hi, in each dimension.
type bounds struct{ lo, hi []float64 }

// everywhere returns the bounds that hold all sizes.
func everywhere(dims int) (b bounds) {
	for range dims {
		b.lo, b.hi = append(b.lo, math.Inf(-1)), append(b.hi, math.Inf(1))
	}
	return b
}

// with returns the bounds with others in one dimension.
func (b bounds) with(dim int, lo, hi float64) bounds {
	b = bounds{slices.Clone(b.lo), slices.Clone(b.hi)}
	b.lo[dim], b.hi[dim] = lo, hi
	return b
}

// within returns where both hold.
func (b bounds) within(other bounds) bounds {
	b = bounds{slices.Clone(b.lo), slices.Clone(b.hi)}
	for d := range b.lo {
		b.lo[d], b.hi[d] = max(b.lo[d], other.lo[d]), min(b.hi[d], other.hi[d])
	}
	return b
}

// holds reports whether a size is within the bounds.
func (b bounds) holds(d *[MaxDims]int64) bool {
	for i := range b.lo {
		if x := float64(d[i]); !(x > b.lo[i] && x <= b.hi[i]) {
			return false
		}
	}
	return true
}

func (b bounds) of(all []size) (part []size) {
	for _, s := range all {
		if b.holds(&s.dims) {
			part = append(part, s)
		}
	}
	return part
}

// cells returns the bounds within which sizes are fitted by themselves: one for each value of the labels and, of a
// kernel whose working sets are known to matter, one for each of these, with thresholds in the geometric middle between them.
func (l *learner) cells(all []size) []bounds {
	list := []bounds{everywhere(len(l.dims))}
	for _, dim := range l.labels {
		var next []bounds
		for _, b := range list {
			for _, value := range values(b.of(all), dim) {
				next = append(next, b.with(dim, float64(value)-0.5, float64(value)))
			}
		}
		list = next
	}
	if l.extent < 0 {
		return list
	}
	var next []bounds
	for _, b := range list {
		next = append(next, l.divide(b, values(b.of(all), l.extent))...)
	}
	return next
}

// divide returns the parts of bounds that hold one of the extents each, ascending.
func (l *learner) divide(b bounds, extents []int64) (list []bounds) {
	if len(extents) > mostSets {
		return []bounds{b}
	}
	lo := b.lo[l.extent]
	for i := range extents {
		hi := b.hi[l.extent]
		if i+1 < len(extents) {
			hi = math.Floor(math.Sqrt(float64(extents[i]) * float64(extents[i+1])))
		}
		list = append(list, b.with(l.extent, lo, hi))
		lo = hi
	}
	return list
}

// values returns the different values of a dimension, ascending.
func values(list []size, dim int) (found []int64) {
	for _, s := range list {
		found = append(found, s.dims[dim])
	}
	slices.Sort(found)
	return slices.Compact(found)
}
