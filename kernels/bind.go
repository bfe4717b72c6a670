package kernels

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"reprise/internal/textutil"
)

// bind finds the rule for sig, in the overrides of list and then in the base,
// and compiles it.
func (s *Set) bind(list []int32, host Host, sig Signature) (Model, error) {
	for _, i := range list {
		if m, found, err := s.bindRules(s.overrides[i].rules, host, sig); found || err != nil {
			return m, err
		}
	}
	m, found, err := s.bindRules(s.base, host, sig)
	if !found && err == nil {
		err = s.noModel(sig)
	}
	return m, err
}

// noModel says how to add the model that is missing.
func (s *Set) noModel(sig Signature) error {
	product := strings.Join(sig.Dims, "*")
	if product == "" {
		product = "1"
	}
	return fmt.Errorf("%s: %w for %s: add under kernels \"%s: {terms: {%s: COEFFICIENT}}\", or \"%s: free\" if it costs nothing",
		s.name, ErrNoModel, sig, sig.Name, product, sig.Name)
}

// bindRules compiles the first rule that is for sig.
func (s *Set) bindRules(rules []rule, host Host, sig Signature) (m Model, found bool, err error) {
	for i := range rules {
		if !rules[i].pattern.Match(sig.Name) {
			continue
		}
		c := compiler{from: s, sig: sig, spec: &rules[i].model, speed: host.Factor * s.quickness(sig.Name)}
		if c.spec.flop {
			if !(host.Speed > 0) || math.IsInf(host.Speed, 0) {
				err := fmt.Errorf("cost in flop, but host %s has speed %g flop/s", host.Name, host.Speed)
				return m, false, s.errorf(c.spec.line, sig, err)
			}
			c.speed *= host.Speed
		}
		p, line, err := c.compile()
		if err != nil {
			return m, false, s.errorf(line, sig, err)
		}
		if p != nil {
			return s.share(p), true, nil
		}
	}
	return m, false, nil
}

func (s *Set) errorf(line int, sig Signature, err error) error {
	return fmt.Errorf("%s:%d: %w", s.name, line, textutil.Brief(fmt.Errorf("kernel %s: %w", sig, err)))
}

// share returns the model of p, or of an equal program bound before.
func (s *Set) share(p *program) Model {
	if p.free() {
		return Model{}
	}
	code := string(p.encode())
	if s.programs[code] == nil {
		s.programs[code] = p
	}
	return Model{s.programs[code]}
}

func (p *program) free() bool {
	return !slices.ContainsFunc(p.pieces, func(c piece) bool { return len(c.terms) != 0 })
}

// encode returns a text that is the same for equal programs only.
func (p *program) encode() []byte {
	code := []byte{byte(len(p.extents))}
	for _, e := range p.extents {
		code = append(code, byte(e))
	}
	for _, c := range p.pieces {
		code = binary.AppendUvarint(code, uint64(len(c.bounds)))
		for _, b := range c.bounds {
			code = binary.AppendVarint(binary.AppendVarint(append(code, b.dim), b.lo), b.hi)
		}
		code = appendTerms(code, c.terms)
		code = c.noise.append(code)
	}
	return code
}

func appendTerms(code []byte, terms []term) []byte {
	code = binary.AppendUvarint(code, uint64(len(terms)))
	for _, t := range terms {
		code = appendFloats(append(code, t.factor[:]...), t.coef)
	}
	return code
}

func appendFloats(code []byte, list ...float64) []byte {
	for _, v := range list {
		code = binary.LittleEndian.AppendUint64(code, math.Float64bits(v))
	}
	return code
}

// append appends a text that is the same for equal noise only.
func (n *pieceNoise) append(code []byte) []byte {
	if n == nil {
		return append(code, 0)
	}
	code = append(code, 1, byte(n.law.Shape), byte(len(n.law.Modes)))
	for _, m := range n.law.Modes {
		code = appendFloats(code, m.Weight, m.Mean.Fixed, m.Mean.Relative, m.SD.Fixed, m.SD.Relative)
	}
	return appendTerms(code, n.sd)
}

// compiler resolves the names of a spec for one signature.
type compiler struct {
	from    *Set // whose model it is
	sig     Signature
	spec    *spec
	speed   float64 // units of cost per second, or seconds of the file
	extents []dimSet
}

// compile returns the program, or nil if no piece is for the attributes of the
// signature. line is where an error is.
func (c *compiler) compile() (p *program, line int, err error) {
	p = &program{}
	for _, ps := range c.spec.pieces {
		matches, err := c.matches(ps.when)
		if err != nil {
			return nil, ps.line, err
		}
		if !matches {
			continue
		}
		compiled, err := c.piece(ps)
		if err != nil {
			return nil, ps.line, err
		}
		p.pieces = append(p.pieces, compiled)
		p.noisy = p.noisy || compiled.noise != nil
		if len(compiled.bounds) == 0 {
			break
		}
	}
	switch n := len(p.pieces); {
	case n == 0:
		return nil, 0, nil
	case len(p.pieces[n-1].bounds) != 0:
		return nil, c.spec.line, fmt.Errorf("every piece for these attributes has thresholds: no time for other dimensions")
	}
	p.extents, err = c.effectiveExtents(p.pieces)
	return p, c.spec.line, err
}

// matches reports whether the signature has all the attributes of when.
func (c *compiler) matches(when []Attr) (bool, error) {
	all := true
	for _, w := range when {
		i := slices.IndexFunc(c.sig.Attrs, func(a Attr) bool { return a.Name == w.Name })
		if i < 0 {
			return false, fmt.Errorf("when: no attribute %q", w.Name)
		}
		all = all && c.sig.Attrs[i].Value == w.Value
	}
	return all, nil
}

func (c *compiler) piece(ps pieceSpec) (piece, error) {
	var compiled piece
	for _, cond := range ps.conds {
		dim, err := c.dim(cond.dim)
		if err != nil {
			return compiled, err
		}
		compiled.bounds = append(compiled.bounds, bound{dim, cond.lo, cond.hi})
	}
	var err error
	if compiled.noise, err = c.noise(c.from.noiseOf(c.sig.Name, ps.noise)); err != nil {
		return compiled, err
	}
	compiled.terms, err = c.terms(ps.terms)
	for _, t := range ps.terms {
		for _, s := range t.product {
			if err == nil {
				err = c.extent(s)
			}
		}
	}
	return compiled, err
}

// noise compiles noise; it returns nil if there is none.
func (c *compiler) noise(s *noiseSpec) (*pieceNoise, error) {
	if s == nil || len(s.law.Modes)+len(s.sd) == 0 {
		return nil, nil
	}
	sd, err := c.terms(s.sd)
	if err != nil {
		return nil, fmt.Errorf("noise: %w", err)
	}
	return &pieceNoise{s.law.Scaled(c.speed), sd}, nil
}

// terms compiles a polynomial.
func (c *compiler) terms(list []termSpec) (terms []term, err error) {
	for _, t := range list {
		products, err := c.expand(t.product)
		if err != nil {
			return nil, err
		}
		for _, factors := range products {
			terms = append(terms, term{t.coef / c.speed, factors})
		}
	}
	return terms, nil
}

// extent notes a factor of the model's products.
func (c *compiler) extent(s sum) error {
	set, err := c.set(s)
	c.extents = append(c.extents, set)
	return err
}

// dim returns the index of the dimension name.
func (c *compiler) dim(name string) (uint8, error) {
	i := slices.Index(c.sig.Dims, name)
	if i < 0 {
		return 0, fmt.Errorf("no dimension %q: want one of %s", name, strings.Join(c.sig.Dims, ", "))
	}
	return uint8(i), nil
}

// set returns the dimensions of s.
func (c *compiler) set(s sum) (dimSet, error) {
	var set dimSet
	for _, name := range s {
		i, err := c.dim(name)
		if err != nil {
			return 0, err
		}
		set |= 1 << i
	}
	return set, nil
}

// expand multiplies out the sums of p.
func (c *compiler) expand(p product) ([][maxDegree]uint8, error) {
	products := [][]uint8{nil}
	for _, s := range p {
		set, err := c.set(s)
		if err != nil {
			return nil, err
		}
		var next [][]uint8
		for _, factors := range products {
			for i := range uint8(MaxDims) {
				if set&(1<<i) != 0 {
					next = append(next, append(slices.Clone(factors), i))
				}
			}
		}
		products = next
	}
	list := make([][maxDegree]uint8, len(products))
	for i, factors := range products {
		for len(factors) < maxDegree {
			factors = append(factors, one)
		}
		slices.Sort(factors)
		list[i] = [maxDegree]uint8(factors)
	}
	return list, nil
}

// effectiveExtents returns the extents by which a call is empty: those the
// file lists, or else the factors of the terms, or else (constants) all
// dimensions. Extents that make every term zero anyway are left out.
func (c *compiler) effectiveExtents(pieces []piece) ([]dimSet, error) {
	if c.spec.charged {
		return nil, nil
	}
	extents := c.extents
	if c.spec.extents != nil {
		extents = nil
		for _, s := range c.spec.extents {
			set, err := c.set(s)
			if err != nil {
				return nil, fmt.Errorf("empty: %w", err)
			}
			extents = append(extents, set)
		}
	} else if len(extents) == 0 {
		for i := range c.sig.Dims {
			extents = append(extents, 1<<i)
		}
	}
	extents = slices.DeleteFunc(slices.Clone(extents), func(e dimSet) bool { return vanish(pieces, e) })
	slices.Sort(extents)
	return slices.Compact(extents), nil
}

// vanish reports whether every term of pieces is zero when all dimensions of
// e are, and the noise too.
func vanish(pieces []piece, e dimSet) bool {
	for _, c := range pieces {
		if n := c.noise; n != nil && (n.sd != nil || !n.law.IsRelative()) {
			return false
		}
		for _, t := range c.terms {
			if !slices.ContainsFunc(t.factor[:], func(f uint8) bool { return f != one && e&(1<<f) != 0 }) {
				return false
			}
		}
	}
	return true
}
