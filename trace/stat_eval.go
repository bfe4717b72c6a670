package trace

import (
	"errors"
	"fmt"
	"math"
)

// evaluator gives the atoms of summaries their values for one call. Of each
// summary it keeps them, and evaluates again only what depends on something that
// has changed since.
type evaluator struct {
	program *Program
	win     *window // whose vectors the arguments name
	rank    int32   // a rank that makes the call
	ints    []int64 // of the summary at hand, by atom
	floats  []float64
}

// evaluated are the values of a summary's atoms, and what they are for.
type evaluated struct {
	valid         bool
	ints          []int64
	floats        []float64
	window, rank  int
	args          []int64
	guarded, free uint32
}

// dependence says what a value depends on: parameters, one bit each but for the
// last ones, and the rest.
type dependence uint64

const (
	onWindow  dependence = 1 << 63
	onPending dependence = 1 << 62
	onRank    dependence = 1 << 61
	lastParam            = 60 // this bit stands for all parameters from here on
)

func onParam(i int) dependence { return 1 << min(i, lastParam) }

// load evaluates the atoms that a summary needs. Bit i of guarded or free says what
// is pending in slot i.
func (e *evaluator) load(s *summary, args []int64, guarded, free uint32) error {
	v := &s.values
	if v.ints == nil {
		v.ints, v.floats = make([]int64, len(s.algebra.atoms)), make([]float64, len(s.algebra.atoms))
	}
	e.ints, e.floats = v.ints, v.floats
	changed := e.changed(v, args, guarded, free)
	v.valid = false // until all is well
	for i, id := range s.needed {
		if s.depends[i]&changed == 0 {
			continue
		}
		x, err := e.atom(&s.algebra.atoms[id], args, guarded, free)
		if err != nil {
			return err
		}
		v.ints[id], v.floats[id] = x, float64(x)
	}
	v.valid, v.window, v.rank = true, e.win.number, int(e.rank)
	v.args = append(v.args[:0], args...)
	v.guarded, v.free = guarded, free
	return nil
}

// changed returns what differs from what values are for.
func (e *evaluator) changed(v *evaluated, args []int64, guarded, free uint32) dependence {
	if !v.valid {
		return ^dependence(0)
	}
	var d dependence
	for i, x := range args {
		if x != v.args[i] {
			d |= onParam(i)
		}
	}
	if v.window != e.win.number {
		d |= onWindow
	}
	if v.rank != int(e.rank) {
		d |= onRank
	}
	if v.guarded != guarded || v.free != free {
		d |= onPending
	}
	return d
}

// atom returns the value of an atom whose arguments' atoms are evaluated.
func (e *evaluator) atom(a *atom, args []int64, guarded, free uint32) (int64, error) {
	switch a.op {
	case atomParam:
		return args[a.sym], nil
	case atomGuarded:
		return int64(guarded >> a.sym & 1), nil
	case atomFree:
		return int64(free >> a.sym & 1), nil
	case atomSum:
		return e.sum(e.int(a.args[0]), e.int(a.args[1]), e.int(a.args[2]))
	case atomMember:
		return e.program.member(int(a.sym), e.rank, e.int(a.args[0])), nil
	}
	x, y := e.int(a.args[0]), int64(0)
	if len(a.args) > 1 {
		y = e.int(a.args[1])
	}
	return evalAtom(a.op, x, y)
}

// int returns the value of a polynomial.
func (e *evaluator) int(p poly) int64 {
	var sum int64
	values := e.ints
	for i := range p {
		t := &p[i]
		product := t.coef
		for j := 0; j < maxFactors && t.atoms[j] != 0; j++ {
			product *= values[t.atoms[j]]
		}
		sum += product
	}
	return sum
}

// float returns the value in floating point, for products beyond int64.
func (e *evaluator) float(p poly) float64 {
	var sum float64
	values := e.floats
	for i := range p {
		t := &p[i]
		product := float64(t.coef)
		for j := 0; j < maxFactors && t.atoms[j] != 0; j++ {
			product *= values[t.atoms[j]]
		}
		sum += product
	}
	return sum
}

func (e *evaluator) sum(v, lo, hi int64) (int64, error) {
	if v < 0 || v >= int64(len(e.win.vectors)) {
		return 0, fmt.Errorf("%w: vector %d out of [0,%d)", ErrAction, v, len(e.win.vectors))
	}
	vec := &e.win.vectors[v]
	if hi < lo || hi-lo >= int64(len(vec.sums)) {
		return 0, fmt.Errorf("%w: sum of elements [%d,%d) of a vector of %d", ErrAction, lo, hi, len(vec.sums)-1)
	}
	return vec.sum(lo, hi), nil
}

// member returns the world rank of member i, mod its size, of a rank's group.
func (p *Program) member(family int, rank int32, i int64) int64 {
	g := &p.header.Families[family].Groups[p.groups[family][rank]]
	n := int64(g.Len())
	if i %= n; i < 0 {
		i += n
	}
	return int64(g.Member(int(i)))
}

var errChunk = errors.New("work in chunks of less than 1")

// evalAtom returns the value of an operation on one or two numbers.
func evalAtom(op atomOp, a, b int64) (int64, error) {
	switch op {
	case atomMin:
		return min(a, b), nil
	case atomMax:
		return max(a, b), nil
	case atomEq:
		return truth(a == b), nil
	case atomNonzero:
		return truth(a != 0), nil
	case atomPositive:
		return truth(a >= 1), nil
	case atomDiv, atomMod:
		if b < 1 {
			return 0, fmt.Errorf("%w: %w", ErrAction, errChunk)
		}
		if op == atomDiv {
			return max(a, 0) / b, nil
		}
		return max(a, 0) % b, nil
	}
	return a, nil // atomValue
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// amount returns times the float64 whose bits are given.
func amount(times, bits int64) float64 {
	return float64(times) * math.Float64frombits(uint64(bits))
}
