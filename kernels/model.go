package kernels

import (
	"math"
	"slices"

	"reprise/internal/textutil"
	"reprise/kernels/noise"
)

// Model is the bound model of one kernel on one host: it maps the dimensions
// of a call to seconds. It is a small immutable value; models of one Set that
// are equal share their storage and compare equal with ==, so a caller may
// keep one per rank and kernel. The zero Model is free.
type Model struct {
	p *program // nil: free
}

// Free reports whether every call costs zero seconds, so that a caller can
// drop the calls altogether.
func (m *Model) Free() bool { return m.p == nil }

// Noisy reports whether calls take a random time: Draw is then to be asked.
func (m *Model) Noisy() bool { return m.p != nil && m.p.noisy }

// Seconds returns how long a call of the given dimensions takes without noise, in seconds,
// never negative and never NaN. dims holds the values, >= 0, in the order of
// the Signature's Dims; the rest is ignored. It does not allocate.
//
// A call that is empty (the file's key "empty") is free, or costs what the
// terms say. The first piece whose thresholds hold gives the time. Fitted
// polynomials dip below zero for tiny calls: a total that is not positive
// costs nothing.
func (m *Model) Seconds(dims *[MaxDims]int64) float64 {
	if m.p == nil || len(m.p.extents) != 0 && m.p.empty(dims) {
		return 0
	}
	return positive(polynomial(m.p.piece(dims).terms, dims))
}

// Draw returns how long a call of the given dimensions takes, noise included:
// Seconds with what the draw adds, and again a total that is not positive costs
// nothing. A call that is free because it is empty has no noise.
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
	noisy   bool     // some piece is
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

// empty reports whether one of the model's extents is zero.
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

// polynomial adds up terms in the order of the file. The explicit conversion keeps
// product and sum from being fused, so that every machine gives the same bits.
// The mask only tells the compiler that an index is in range.
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

// rounding is how far below zero a pivot may be, relative to its variance: matrices are
// written with few digits.
const rounding = 1e-6

// factorise replaces the lower triangle of a matrix by its Cholesky factor. It is false for
// one that is not positive semi-definite, to within rounding.
func factorise(rows [][]float64) bool {
	for i, row := range rows {
		for k, above := range rows[:i] {
			rest := row[k]
			for m := range k {
				rest -= float64(row[m] * above[m])
			}
			switch {
			case above[k] > 0:
				row[k] = rest / above[k]
			case math.Abs(rest) > rounding*row[i]:
				return false
			default:
				row[k] = 0
			}
		}
		pivot := row[i]
		for _, v := range row[:i] {
			pivot -= float64(v * v)
		}
		if pivot < -rounding*row[i] {
			return false
		}
		row[i] = math.Sqrt(max(0, pivot))
	}
	return true
}

// Uncertain reports whether some coefficients have a covariance.
func (s *Set) Uncertain() bool {
	for range s.uncertain() {
		return true
	}
	return false
}

// uncertain yields the pieces whose coefficients have a covariance, in the order of the
// file, under their numbers.
func (s *Set) uncertain() func(yield func(uint32, *pieceSpec) bool) {
	return func(yield func(uint32, *pieceSpec) bool) {
		number := uint32(0)
		lists := [][]rule{s.base}
		for i := range s.overrides {
			lists = append(lists, s.overrides[i].rules)
		}
		for _, rules := range lists {
			for i := range rules {
				for k := range rules[i].model.pieces {
					if c := &rules[i].model.pieces[k]; c.factor != nil && !yield(number, c) {
						return
					}
					number++
				}
			}
		}
	}
}

// DrawCoefficients returns the set with other coefficients: each piece with a covariance has
// its own drawn from the normal distribution with those of the file as mean. The same source
// gives the same coefficients, whatever is bound.
func (s *Set) DrawCoefficients(from noise.Source) *Set {
	drawn := s.clone()
	for number, c := range drawn.uncertain() {
		deviates := make([]float64, len(c.terms))
		for i := range deviates {
			d := from.Draw(noise.Coefficient, 0, number, uint32(i))
			deviates[i] = d.Normal()
		}
		for i, row := range c.factor {
			for k, v := range row {
				c.terms[i].coef += float64(v * deviates[k])
			}
		}
	}
	return drawn
}

// clone returns a set that has bound nothing, with rules copied as deep as DrawCoefficients changes them.
func (s *Set) clone() *Set {
	deep := func(rules []rule) []rule {
		rules = slices.Clone(rules)
		for i := range rules {
			m := &rules[i].model
			m.pieces = slices.Clone(m.pieces)
			for k := range m.pieces {
				m.pieces[k].terms = slices.Clone(m.pieces[k].terms)
			}
		}
		return rules
	}
	overrides := slices.Clone(s.overrides)
	for i := range overrides {
		overrides[i].rules = deep(overrides[i].rules)
	}
	c := newSet(s.name, s.cpusPerHost, deep(s.base), overrides)
	c.scatter, c.hosts, c.quicker, c.noisy = s.scatter, s.hosts, slices.Clone(s.quicker), slices.Clone(s.noisy)
	return c
}

// Noisy returns the set in which calls of the kernels of a pattern have half-normal noise with
// that standard deviation, relative to their mean times, on all hosts, in place of what the
// set says. 0 is no noise. Of several for a kernel the last counts. Patterns are as those of
// kernels in a file.
func (s *Set) Noisy(pattern string, deviation float64) (*Set, error) {
	p, err := textutil.ParsePattern(pattern)
	if err != nil {
		return nil, err
	}
	noisy := s.clone()
	law := &noiseSpec{}
	if deviation > 0 {
		law.law = noise.Law{Shape: noise.HalfNormal, Modes: []noise.Mode{{Weight: 1, SD: noise.Amount{Relative: deviation}}}}
	}
	noisy.noisy = append(noisy.noisy, noisyKernel{p, law})
	return noisy, nil
}

// noisyKernel is noise of kernels in place of what the file says.
type noisyKernel struct {
	pattern textutil.Pattern
	noise   *noiseSpec
}

// noiseOf returns the noise of a kernel of which the file says this.
func (s *Set) noiseOf(kernel string, said *noiseSpec) *noiseSpec {
	for _, n := range s.noisy {
		if n.pattern.Match(kernel) {
			said = n.noise
		}
	}
	return said
}
