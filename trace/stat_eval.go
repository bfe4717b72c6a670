package trace

import (
	"errors"
	"fmt"
	"math"
)

// evaluator gives the atoms of a summary their values for one call.
type evaluator struct {
	program *Program
	win     *window // whose vectors the arguments name
	rank    int32   // a rank that makes the call
	ints    []int64 // by atom
	floats  []float64
}

// load evaluates the atoms that a summary needs. Bit i of guarded or free says what
// is pending in slot i.
func (e *evaluator) load(s *summary, args []int64, guarded, free uint32) error {
	if n := len(s.algebra.atoms); n > len(e.ints) {
		e.ints, e.floats = make([]int64, 2*n), make([]float64, 2*n)
	}
	for _, id := range s.needed {
		a := &s.algebra.atoms[id]
		var v int64
		var err error
		switch a.op {
		case atomParam:
			v = args[a.sym]
		case atomGuarded:
			v = int64(guarded >> a.sym & 1)
		case atomFree:
			v = int64(free >> a.sym & 1)
		case atomSum:
			v, err = e.sum(e.int(a.args[0]), e.int(a.args[1]), e.int(a.args[2]))
		case atomMember:
			v = e.program.member(int(a.sym), e.rank, e.int(a.args[0]))
		default:
			x, y := e.int(a.args[0]), int64(0)
			if len(a.args) > 1 {
				y = e.int(a.args[1])
			}
			v, err = evalAtom(a.op, x, y)
		}
		if err != nil {
			return err
		}
		e.ints[id], e.floats[id] = v, float64(v)
	}
	return nil
}

// int returns the value of a polynomial.
func (e *evaluator) int(p poly) int64 {
	var sum int64
	for i := range p {
		product := p[i].coef
		for _, id := range p[i].atoms {
			if id == 0 {
				break
			}
			product *= e.ints[id]
		}
		sum += product
	}
	return sum
}

// float returns the value in floating point, for products beyond int64.
func (e *evaluator) float(p poly) float64 {
	var sum float64
	for i := range p {
		product := float64(p[i].coef)
		for _, id := range p[i].atoms {
			if id == 0 {
				break
			}
			product *= e.floats[id]
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
