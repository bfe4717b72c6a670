package stat

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Symbolic counting. What a block does is counted once, as polynomials in atoms:
// its parameters, the state of the pollables at its start, and what cannot be
// written as a polynomial of those (minima, vector sums, "is not zero"). A call
// substitutes. Arithmetic is that of int64: exact modulo 2^64.

// atomID numbers the atoms of an algebra from 1.
type atomID int32

// maxFactors bounds the degree of a monomial; higher products become atoms.
const maxFactors = 6

// monomial is coef times the product of up to maxFactors atoms in descending
// order, 0 for none.
type monomial struct {
	coef  int64
	atoms [maxFactors]atomID
}

// poly is a sum of monomials with different atoms, in ascending order of these,
// none with coefficient 0. A poly is never changed.
type poly []monomial

func constPoly(v int64) poly {
	if v == 0 {
		return nil
	}
	return poly{{coef: v}}
}

func (p poly) constant() (int64, bool) {
	switch {
	case len(p) == 0:
		return 0, true
	case len(p) == 1 && p[0].atoms[0] == 0:
		return p[0].coef, true
	}
	return 0, false
}

func compareAtoms(a, b *monomial) int { return slices.Compare(a.atoms[:], b.atoms[:]) }

// accumulator sums monomials.
type accumulator struct {
	terms  []monomial
	sorted int // the first terms are a poly
}

func (a *accumulator) add(terms ...monomial) {
	a.terms = append(a.terms, terms...)
	if len(a.terms) > 64+2*a.sorted {
		a.compact()
	}
}

func (a *accumulator) compact() {
	slices.SortFunc(a.terms, func(x, y monomial) int { return compareAtoms(&x, &y) })
	out := a.terms[:0]
	for _, t := range a.terms {
		if n := len(out); n > 0 && out[n-1].atoms == t.atoms {
			out[n-1].coef += t.coef
		} else {
			out = append(out, t)
		}
	}
	a.terms = slices.DeleteFunc(out, func(t monomial) bool { return t.coef == 0 })
	a.sorted = len(a.terms)
}

// poly returns the sum; the accumulator must not be used any more.
func (a *accumulator) poly() poly {
	a.compact()
	return a.terms
}

func addPoly(p, q poly) poly {
	switch {
	case len(p) == 0:
		return q
	case len(q) == 0:
		return p
	}
	a := accumulator{terms: make([]monomial, 0, len(p)+len(q))}
	a.terms = append(append(a.terms, p...), q...)
	return a.poly()
}

func scalePoly(c int64, p poly) poly {
	switch c {
	case 0:
		return nil
	case 1:
		return p
	}
	out := make(poly, 0, len(p))
	for _, t := range p {
		if t.coef *= c; t.coef != 0 {
			out = append(out, t)
		}
	}
	return out
}

func subPoly(p, q poly) poly { return addPoly(p, scalePoly(-1, q)) }

// atomOp says how an atom's value follows from those of its arguments.
type atomOp uint8

const (
	atomParam    atomOp = iota // parameter sym of the block
	atomGuarded                // 1 if slot sym holds a guarded operation at the block's start
	atomFree                   // 1 if slot sym holds an operation without guard at the start
	atomMin                    // the smaller argument
	atomMax                    // the larger
	atomEq                     // 1 if the arguments are equal
	atomNonzero                // 1 if not zero
	atomPositive               // 1 if at least 1
	atomDiv                    // floor of the quotient of nonnegative arguments
	atomMod                    // its remainder
	atomSum                    // elements [1, 2) of vector 0
	atomMember                 // member 0 of the rank's own group in family sym
	atomValue                  // the argument: a long polynomial under one name
	atomProduct                // of two slots; only in code
)

type atom struct {
	op   atomOp
	sym  int32
	args []poly
}

// boolean reports that the value is 0 or 1, so that powers are the same.
func (a *atom) boolean() bool {
	switch a.op {
	case atomGuarded, atomFree, atomEq, atomNonzero, atomPositive:
		return true
	}
	return false
}

// algebra holds the atoms of one block. Equal atoms have one number; arguments
// have smaller numbers.
type algebra struct {
	atoms []atom // 0 is not used
	index map[string]atomID
	key   []byte
	terms int // of the atoms' arguments
}

func newAlgebra() *algebra { return &algebra{atoms: make([]atom, 1), index: map[string]atomID{}} }

func (g *algebra) intern(op atomOp, sym int32, args ...poly) poly {
	g.key = append(g.key[:0], byte(op))
	g.key = binary.AppendVarint(g.key, int64(sym))
	for _, p := range args {
		g.key = appendPoly(g.key, p)
	}
	id, ok := g.index[string(g.key)]
	if !ok {
		id = atomID(len(g.atoms))
		g.atoms = append(g.atoms, atom{op, sym, slices.Clone(args)})
		for _, p := range args {
			g.terms += 1 + len(p)
		}
		g.index[string(g.key)] = id
	}
	return poly{{coef: 1, atoms: [maxFactors]atomID{id}}}
}

// appendPoly appends bytes that name p among the polynomials of an algebra.
func appendPoly(key []byte, p poly) []byte {
	key = binary.AppendUvarint(key, uint64(len(p)))
	for i := range p {
		key = binary.AppendVarint(key, p[i].coef)
		for _, id := range p[i].atoms {
			key = binary.AppendUvarint(key, uint64(id))
			if id == 0 {
				break
			}
		}
	}
	return key
}

// of returns the value of an operation on arguments, a number if these are.
func (g *algebra) of(op atomOp, args ...poly) poly {
	var v [2]int64
	known := true
	for i, p := range args {
		c, ok := p.constant()
		known = known && ok
		if i < len(v) {
			v[i] = c
		}
	}
	if known && op != atomSum && op != atomMember {
		if value, err := evalAtom(op, v[0], v[1]); err == nil {
			return constPoly(value)
		}
	}
	if op == atomNonzero {
		return g.nonzero(args[0])
	}
	return g.intern(op, 0, args...)
}

// nonzero returns 1 if p, which is no number, is not zero: the product of this for
// each common factor of its terms and for what remains.
func (g *algebra) nonzero(p poly) poly {
	common := p[0].atoms
	d := int64(0)
	for i := range p {
		common = commonAtoms(common, p[i].atoms)
		d = gcd(d, p[i].coef)
	}
	if p[0].coef < 0 {
		d = -d
	}
	var rest accumulator
	for _, t := range p {
		rest.add(monomial{t.coef / d, withoutAtoms(t.atoms, common)})
	}
	result := constPoly(1)
	if r := rest.poly(); len(r) > 1 {
		result = g.intern(atomNonzero, 0, r)
	}
	for _, id := range common {
		if id == 0 {
			break
		}
		factor := poly{{coef: 1, atoms: [maxFactors]atomID{id}}}
		if !g.atoms[id].boolean() {
			factor = g.intern(atomNonzero, 0, factor)
		}
		result = g.mul(result, factor)
	}
	return result
}

// commonAtoms returns the factors that two products share.
func commonAtoms(a, b [maxFactors]atomID) (out [maxFactors]atomID) {
	for i, j, n := 0, 0, 0; i < maxFactors && j < maxFactors && a[i] != 0 && b[j] != 0; {
		switch {
		case a[i] == b[j]:
			out[n] = a[i]
			i, j, n = i+1, j+1, n+1
		case a[i] > b[j]:
			i++
		default:
			j++
		}
	}
	return out
}

// withoutAtoms returns a product without factors that it has.
func withoutAtoms(a, remove [maxFactors]atomID) (out [maxFactors]atomID) {
	n, j := 0, 0
	for _, id := range a {
		if j < maxFactors && id == remove[j] && id != 0 {
			j++
			continue
		}
		out[n] = id
		n++
	}
	return out
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// not returns 1-p for a p that is 0 or 1.
func (g *algebra) not(p poly) poly { return subPoly(constPoly(1), p) }

// maxProduct bounds the terms of a product; longer factors become atoms first.
const maxProduct = 64

// mul returns the product of p and q.
func (g *algebra) mul(p, q poly) poly {
	if c, ok := p.constant(); ok {
		return scalePoly(c, q)
	}
	if c, ok := q.constant(); ok {
		return scalePoly(c, p)
	}
	if len(p)*len(q) <= maxProduct {
		if r, ok := g.expand(p, q); ok {
			return r
		}
	}
	r, _ := g.expand(g.named(p), g.named(q))
	return r
}

// named returns p as a multiple of one atom.
func (g *algebra) named(p poly) poly {
	if len(p) == 1 && p[0].atoms[1] == 0 {
		return p
	}
	return g.intern(atomValue, 0, p)
}

// expand multiplies term by term; it fails if a term has too many factors.
func (g *algebra) expand(p, q poly) (poly, bool) {
	a := accumulator{terms: make([]monomial, 0, len(p)*len(q))}
	for i := range p {
		for j := range q {
			t, ok := g.mulTerm(&p[i], &q[j])
			if !ok {
				return nil, false
			}
			a.terms = append(a.terms, t)
		}
	}
	return a.poly(), true
}

// mulTerm merges the factors of two monomials.
func (g *algebra) mulTerm(x, y *monomial) (monomial, bool) {
	out := monomial{coef: x.coef * y.coef}
	i, j, n := 0, 0, 0
	for (i < maxFactors && x.atoms[i] != 0) || (j < maxFactors && y.atoms[j] != 0) {
		var a atomID
		if j == maxFactors || i < maxFactors && cmp.Compare(x.atoms[i], y.atoms[j]) >= 0 {
			a = x.atoms[i]
			i++
		} else {
			a = y.atoms[j]
			j++
		}
		if n > 0 && out.atoms[n-1] == a && g.atoms[a].boolean() {
			continue
		}
		if n == maxFactors {
			return out, false
		}
		out.atoms[n] = a
		n++
	}
	return out, true
}

// substitution translates the polynomials of a callee into those of its caller.
type substitution struct {
	to     *algebra
	from   *algebra
	params []poly
	// guarded and free say what the caller knows of slot i at the call.
	guarded, free func(slot int32) poly
	values        []poly // by atom, once known
	known         []bool
}

func (s *substitution) atom(id atomID) poly {
	if s.values == nil {
		s.values, s.known = make([]poly, len(s.from.atoms)), make([]bool, len(s.from.atoms))
	}
	if !s.known[id] {
		s.values[id] = s.translate(&s.from.atoms[id])
		s.known[id] = true
	}
	return s.values[id]
}

func (s *substitution) translate(a *atom) poly {
	switch a.op {
	case atomParam:
		return s.params[a.sym]
	case atomGuarded:
		return s.guarded(a.sym)
	case atomFree:
		return s.free(a.sym)
	}
	args := make([]poly, len(a.args))
	for i, p := range a.args {
		args[i] = s.poly(p)
	}
	switch a.op {
	case atomValue:
		return args[0]
	case atomMember:
		return s.to.intern(a.op, a.sym, args...)
	}
	return s.to.of(a.op, args...)
}

func (s *substitution) poly(p poly) poly {
	if c, ok := p.constant(); ok {
		return constPoly(c)
	}
	var sum accumulator
	for i := range p {
		product := constPoly(p[i].coef)
		for _, id := range p[i].atoms {
			if id == 0 {
				break
			}
			product = s.to.mul(product, s.atom(id))
		}
		sum.add(product...)
	}
	return sum.poly()
}
