package netmodel

import "slices"

// A pattern tells routes apart by all that their kind depends on: the classes of their
// links in order, a digit of four bits each, and in the last four bits the number of links
// there. It is 0 where that is not all: for a host to itself, with more links than
// patternLinks, with a link that is met twice or has no digit, and where the latencies
// are summed in another order or are not all.
type pattern uint64

const (
	patternBase  = 16
	patternLinks = 15
)

// patternKind is a pattern that was met, and the kind of the routes that have it, 0 if
// that is not known.
type patternKind struct {
	pattern pattern
	kind    int32
}

// patternBits is the binary logarithm of the number of patterns that are remembered. A
// fat tree has as many as it has levels.
const patternBits = 6

// patternPlace returns the place of a pattern, which another may have.
func (r *routes) patternPlace(p pattern) *patternKind {
	return &r.patterns[uint64(p)*0x9e3779b97f4a7c15>>(64-patternBits)]
}

// pattern appends the links of r.there and r.back, and returns the pattern of the route;
// if that is 0, the links mean nothing.
func (r *routes) pattern(links []int32) ([]int32, pattern) {
	if len(r.there)+len(r.back) > patternLinks || r.from == r.to || r.distanceOf != nil || r.summedOf != nil &&
		!slices.Equal(r.summed, r.there) {
		return links, 0
	}
	p, of, walk := pattern(0), r.of, r.nextWalk()
	for _, way := range [...][]int32{r.there, r.back} {
		for _, l := range way {
			o := &of[l]
			if o.met == walk || o.digit == 0 {
				return links, 0
			}
			o.met = walk
			p = p<<4 | pattern(o.digit)
			if !o.ample {
				links = append(links, l)
			}
		}
	}
	return links, p<<4 | pattern(len(r.there))
}
