package kernels

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"reprise/internal/textutil"
)

// This file binds kernels: bind finds the rule of the kernel file that is for a kernel on a host, and its compiler
// turns the rule's formulas into a program (model.go).

// bind compiles the rule for sig: the first that matches its name and has a piece for its attributes. The rules of the
// overrides whose indices are in list come first (those that apply to the host), then those of the base. Equal programs
// share storage, so that their models compare equal.
func (s *Set) bind(list []int32, host Host, sig Signature) (Model, error) {
	var rules []*rule
	for _, i := range list {
		for k := range s.overrides[i].rules {
			rules = append(rules, &s.overrides[i].rules[k])
		}
	}
	ofHosts := len(rules)
	for k := range s.base {
		rules = append(rules, &s.base[k])
	}
	for i, r := range rules {
		if !r.pattern.Match(sig.Name) {
			continue
		}
		quickness := 1.0
		if i >= ofHosts { // models of hosts are other measurements
			quickness /= s.sharedFactor(sig.Name)
		}
		for _, q := range s.quicker {
			if q.kernel == sig.Name {
				quickness *= q.factor
			}
		}
		c := compiler{from: s, sig: sig, spec: &r.model, line: r.model.line, speed: host.Factor * quickness}
		var p *program
		var err error
		if c.spec.flop && (!(host.Speed > 0) || math.IsInf(host.Speed, 0)) {
			err = fmt.Errorf("cost in flop, but host %s has speed %g flop/s", host.Name, host.Speed)
		} else {
			if c.spec.flop {
				c.speed *= host.Speed
			}
			p, err = c.compile()
		}
		switch {
		case err != nil:
			return Model{}, fmt.Errorf("%s:%d: %w", s.name, c.line, textutil.Brief(fmt.Errorf("kernel %s: %w", sig, err)))
		case p == nil: // no piece for these attributes
			continue
		case !slices.ContainsFunc(p.pieces, func(c piece) bool { return len(c.terms) != 0 }):
			return Model{}, nil // free
		}
		// A set of thousands of hosts binds few different programs: hosts mostly share those of the base.
		code := string(p.encode())
		if s.programs[code] == nil {
			s.programs[code] = p
		}
		return Model{s.programs[code]}, nil
	}
	product := cmp.Or(strings.Join(sig.Dims, "*"), "1")
	return Model{}, fmt.Errorf("%s: %w for %s: add under kernels \"%s: {terms: {%s: COEFFICIENT}}\", or \"%s: free\" if it costs nothing",
		s.name, ErrNoModel, sig, sig.Name, product, sig.Name)
}

// encode returns a text that is the same for equal programs only: their lists as bytes, each after its length.
func (p *program) encode() (code []byte) {
	add := func(n int, list any) {
		code = binary.AppendUvarint(code, uint64(n))
		code, _ = binary.Append(code, binary.LittleEndian, list) // all are of fixed size
	}
	add(len(p.extents), p.extents)
	for _, c := range p.pieces {
		add(len(c.bounds), c.bounds)
		add(len(c.terms), c.terms)
		if c.noise == nil {
			add(0, c.noise != nil)
			continue
		}
		add(1, c.noise.law.Shape)
		add(len(c.noise.law.Modes), c.noise.law.Modes)
		add(len(c.noise.sd), c.noise.sd)
	}
	return code
}

// compiler resolves the names of a spec for one signature.
// Names of dimensions become indices, units become seconds, sums become products. What is left, a program, is a few
// multiplications and comparisons for each call of a kernel, of which a replay evaluates millions.
type compiler struct {
	from    *Set // whose model it is
	sig     Signature
	spec    *spec
	line    int     // of the file, of what is compiled
	part    string  // of the model, as errors begin with it: "", "noise: " or "empty: "
	speed   float64 // coefficients are divided by it: flop/s, or how many times as quick as in the file
	extents []dimSet
}

// compile returns the program, or nil if no piece is for the attributes of the signature. Of an error, c.line is
// the line.
func (c *compiler) compile() (p *program, err error) {
	defer textutil.Stopped(&err)
	p = &program{}
	for _, ps := range c.spec.pieces {
		c.line = ps.line
		// A piece is for calls with all its attributes. Those that a signature lacks are an error even where
		// another one differs already.
		matches := true
		for _, w := range ps.when {
			i := slices.IndexFunc(c.sig.Attrs, func(a Attr) bool { return a.Name == w.Name })
			if i < 0 {
				return nil, fmt.Errorf("when: no attribute %q", w.Name)
			}
			matches = matches && c.sig.Attrs[i].Value == w.Value
		}
		if !matches {
			continue
		}
		var compiled piece
		for _, cond := range ps.conds {
			compiled.bounds = append(compiled.bounds, bound{c.dim(cond.dim), cond.lo, cond.hi})
		}
		if s := c.from.noiseOf(c.sig.Name, ps.noise); s != nil && len(s.law.Modes)+len(s.sd) > 0 {
			c.part = "noise: "
			compiled.noise = &pieceNoise{s.law.Scaled(c.speed), c.terms(s.sd)}
			c.part, p.noisy = "", true
		}
		compiled.terms = c.terms(ps.terms)
		for _, t := range ps.terms { // by the factors of its products a call may be empty
			for _, s := range t.product {
				c.extents = append(c.extents, c.set(s))
			}
		}
		p.pieces = append(p.pieces, compiled)
		if len(compiled.bounds) == 0 { // it always holds, and those after it never
			break
		}
	}
	// A last piece with thresholds would leave calls beyond them without a time.
	c.line = c.spec.line
	switch n := len(p.pieces); {
	case n == 0:
		return nil, nil
	case len(p.pieces[n-1].bounds) != 0:
		return nil, fmt.Errorf("every piece for these attributes has thresholds: no time for other dimensions")
	}
	p.extents = c.effectiveExtents(p.pieces)
	return p, nil
}

// terms compiles a polynomial: it multiplies out the sums in its products.
func (c *compiler) terms(list []termSpec) (terms []term) {
	for _, t := range list {
		products := [][]uint8{nil} // of the factors so far: the dimensions of each
		for _, s := range t.product {
			set := c.set(s)
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
		for _, factors := range products {
			for len(factors) < maxDegree {
				factors = append(factors, one)
			}
			slices.Sort(factors)
			terms = append(terms, term{t.coef / c.speed, [maxDegree]uint8(factors)})
		}
	}
	return terms
}

// dim returns the index of the dimension name. A rule whose pattern matches many kernels may name a dimension that this
// one does not have: that error ends compile (textutil.Stop).
func (c *compiler) dim(name string) uint8 {
	i := slices.Index(c.sig.Dims, name)
	if i < 0 {
		textutil.Stop(fmt.Errorf("%sno dimension %q: want one of %s", c.part, name, strings.Join(c.sig.Dims, ", ")))
	}
	return uint8(i)
}

// set returns the dimensions of s.
func (c *compiler) set(s sum) (set dimSet) {
	for _, name := range s {
		set |= 1 << c.dim(name)
	}
	return set
}

// effectiveExtents returns the extents that make a call empty where they are zero: those that the file lists, or
// else the factors of the terms, or else (of a constant) all dimensions. Extents of zero that make every term and
// all noise zero anyway are left out, for speed.
func (c *compiler) effectiveExtents(pieces []piece) []dimSet {
	if c.spec.charged {
		return nil
	}
	extents := c.extents
	if c.spec.extents != nil {
		extents, c.part = nil, "empty: "
		for _, s := range c.spec.extents {
			extents = append(extents, c.set(s))
		}
	} else if len(extents) == 0 {
		for i := range c.sig.Dims {
			extents = append(extents, 1<<i)
		}
	}
	extents = slices.DeleteFunc(slices.Clone(extents), func(e dimSet) bool {
		return !slices.ContainsFunc(pieces, func(c piece) bool {
			n := c.noise
			return n != nil && (n.sd != nil || !n.law.IsRelative()) || slices.ContainsFunc(c.terms, func(t term) bool {
				return !slices.ContainsFunc(t.factor[:], func(f uint8) bool { return f != one && e&(1<<f) != 0 })
			})
		})
	})
	slices.Sort(extents)
	return slices.Compact(extents)
}
