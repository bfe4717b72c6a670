package kernels

// Model is the bound model of one kernel on one host: it maps the dimensions
// of a call to seconds. It is a small value without mutable state; models
// that are equal share their storage and compare equal with ==, so a caller
// may keep one per rank and kernel. The zero Model is free.
type Model struct {
	p *program // nil: free
}

// Free reports whether every call costs zero seconds, so that a caller can
// drop the calls altogether.
func (m *Model) Free() bool { return m.p == nil }

// Seconds returns how long a call of the given dimensions takes, in seconds,
// never negative and never NaN. dims holds the values in the order of the
// Signature's Dims; the rest is ignored. Dimensions are >= 0. It does not
// allocate.
//
// A call that is empty (see the file's key "empty") is free or costs what the
// terms say. Of the pieces the first whose thresholds hold counts. Fitted
// polynomials dip below zero for tiny calls: a total that is not positive
// costs nothing.
func (m *Model) Seconds(dims *[MaxDims]int64) float64 {
	if m.p == nil {
		return 0
	}
	return m.p.seconds(dims)
}

// program is the compiled form of a model, immutable once bound.
type program struct {
	pieces []piece // at least one; the last has no bounds
	// A call is empty, and then free, if one of the dimensions of the set
	// single is zero, or all dimensions of one of the sets in sums.
	single dimSet
	sums   []dimSet
}

// dimSet is a set of dimensions: bit i stands for dimension i.
type dimSet uint8

// piece is a polynomial with the box of dimensions in which it holds.
type piece struct {
	bounds []bound
	terms  []term
}

// bound asks for lo <= dims[dim] <= hi.
type bound struct {
	dim    uint8
	lo, hi int64
}

// maxDegree is the highest degree of a term.
const maxDegree = 4

// one is the index of the constant 1 among the factors of a term.
const one = MaxDims

// term is coef (seconds) times the dimensions whose indices are in factor,
// repeated for powers and filled up with one.
type term struct {
	coef   float64
	factor [maxDegree]uint8
}

func (p *program) seconds(dims *[MaxDims]int64) float64 {
	if p.single|p.anySum() != 0 && p.empty(dims) {
		return 0
	}
	for i := range p.pieces {
		if p.pieces[i].holds(dims) {
			return p.pieces[i].seconds(dims)
		}
	}
	panic("kernels: model without a piece for all dimensions")
}

func (p *program) anySum() dimSet {
	if len(p.sums) != 0 {
		return 1
	}
	return 0
}

// empty reports whether one of the model's extents is zero.
func (p *program) empty(dims *[MaxDims]int64) bool {
	var zero dimSet
	for i, d := range dims {
		if d <= 0 {
			zero |= 1 << i
		}
	}
	if zero&p.single != 0 {
		return true
	}
	for _, s := range p.sums {
		if s&^zero == 0 {
			return true
		}
	}
	return false
}

func (c *piece) holds(dims *[MaxDims]int64) bool {
	for _, b := range c.bounds {
		if d := dims[b.dim%MaxDims]; d < b.lo || d > b.hi {
			return false
		}
	}
	return true
}

// seconds adds up the terms in the order of the file. The products are kept
// from being fused with the sum, so that every machine gives the same bits.
func (c *piece) seconds(dims *[MaxDims]int64) float64 {
	x := [8]float64{float64(dims[0]), float64(dims[1]), float64(dims[2]), float64(dims[3]), 1}
	total := 0.0
	for i := range c.terms {
		t := &c.terms[i]
		v := t.coef * x[t.factor[0]&7] * x[t.factor[1]&7] * x[t.factor[2]&7] * x[t.factor[3]&7]
		total += float64(v)
	}
	if total > 0 {
		return total
	}
	return 0
}
