package kernels

import "reprise/kernels/noise"

// This file evaluates bound models: Model.Seconds and Model.Draw, for each call of a replay. bind.go compiles them.

// Model is the bound model of one kernel on one host: it maps the dimensions of a call to seconds. It is a small
// immutable value; models of one Set that are equal share their storage and compare equal with ==, so a caller may
// keep one per rank and kernel. The zero Model is free.
type Model struct {
	p *program // nil: free
}

// Free reports whether every call costs zero seconds, so that a caller can drop the calls altogether.
func (m *Model) Free() bool { return m.p == nil }

// Noisy reports whether calls take a random time: Draw is then to be asked.
func (m *Model) Noisy() bool { return m.p != nil && m.p.noisy }

// Seconds returns how long a call of the given dimensions takes without noise, in seconds, never negative and never
// NaN. dims holds the values, >= 0, in the order of the Signature's Dims; the rest is ignored. It does not allocate.
//
// A call that is empty (the file's key "empty") is free, unless the file says that it costs what the terms say. The
// first piece whose thresholds hold gives the time. Fitted polynomials dip below zero for tiny calls: a total that is
// not positive costs nothing.
func (m *Model) Seconds(dims *[MaxDims]int64) float64 {
	if m.p == nil || len(m.p.extents) != 0 && m.p.empty(dims) {
		return 0
	}
	return positive(polynomial(m.p.piece(dims).terms, dims))
}

// Draw returns how long a call of the given dimensions takes, noise included: Seconds with what the draw adds, and
// again a total that is not positive costs nothing. A call that is free because it is empty has no noise.
func (m *Model) Draw(dims *[MaxDims]int64, d noise.Draw) float64 {
	if m.p == nil || len(m.p.extents) != 0 && m.p.empty(dims) {
		return 0
	}
	c := m.p.piece(dims)
	total := polynomial(c.terms, dims)
	switch n := c.noise; {
	case n == nil:
	case n.sd != nil:
		total += float64(polynomial(n.sd, dims) * n.law.Shape.Deviate(d))
	default:
		total += n.law.Of(total, d)
	}
	return positive(total)
}

// program is the compiled form of a model, immutable once bound. Its last
// piece has no bounds, so that some piece always holds.
type program struct {
	pieces  []piece
	extents []dimSet // a call is free if all dimensions of one of these sets are zero
	noisy   bool     // some piece has noise
}

// dimSet is a set of dimensions: bit i stands for dimension i.
type dimSet uint8

// piece is a polynomial with the box of dimensions in which it holds.
type piece struct {
	bounds []bound
	terms  []term // none: free
	noise  *pieceNoise
}

// pieceNoise is the noise of a piece.
type pieceNoise struct {
	law noise.Law
	sd  []term // the standard deviation where the law has no modes
}

// bound asks for lo <= dims[dim] <= hi.
type bound struct {
	dim    uint8
	lo, hi int64
}

// maxDegree is the highest degree of a term, that of a matrix product.
const maxDegree = 3

// one is the index of the constant 1 among the factors of a term.
const one = MaxDims

// term is coef, in seconds, times the dimensions whose indices are in factor,
// ascending, repeated for powers and filled up with one.
type term struct {
	coef   float64
	factor [maxDegree]uint8
}

// piece returns the piece that holds.
func (p *program) piece(dims *[MaxDims]int64) *piece {
	last := len(p.pieces) - 1
	for i := range p.pieces[:last] {
		if p.pieces[i].holds(dims) {
			return &p.pieces[i]
		}
	}
	return &p.pieces[last]
}

// empty reports whether all dimensions of one of the model's extents are zero.
func (p *program) empty(dims *[MaxDims]int64) bool {
	zero := isZero(dims[0]) | isZero(dims[1])<<1 | isZero(dims[2])<<2 | isZero(dims[3])<<3
	if zero == 0 {
		return false
	}
	for _, e := range p.extents {
		if e&^zero == 0 {
			return true
		}
	}
	return false
}

// isZero returns 1 for a dimension (>= 0) that is zero, else 0.
func isZero(d int64) dimSet { return dimSet(uint64(d-1) >> 63) }

func (c *piece) holds(dims *[MaxDims]int64) bool {
	for i := range c.bounds {
		b := &c.bounds[i]
		if d := dims[b.dim%MaxDims]; d < b.lo || d > b.hi {
			return false
		}
	}
	return true
}

// positive returns a total, 0 for one that is not positive.
func positive(total float64) float64 {
	if total > 0 {
		return total
	}
	return 0
}

// polynomial adds up terms in the order of the file. The explicit conversion keeps product and sum from being
// fused, so that every machine gives the same bits. The mask only tells the compiler that an index is in range.
func polynomial(terms []term, dims *[MaxDims]int64) float64 {
	x := [8]float64{float64(dims[0]), float64(dims[1]), float64(dims[2]), float64(dims[3]), one: 1}
	total := 0.0
	for i := range terms {
		t := &terms[i]
		f := &t.factor
		total += float64((t.coef * x[f[0]&7]) * (x[f[1]&7] * x[f[2]&7]))
	}
	return total
}
