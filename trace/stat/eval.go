package stat

import (
	"errors"
	"fmt"
	"math"

	"reprise/trace"
)

// evaluator gives the atoms of summaries their values for one call. A summary's
// code keeps them, and what has not changed since is not evaluated again.
type evaluator struct {
	program *trace.Program
	chunk   *trace.Chunk // whose vectors the arguments name
	rank    int32        // a rank that makes the call
	code    *formulas    // of the summary at hand
}

// load evaluates what the formulas of a compiled summary need. Bit i of guarded or
// free says what is pending in slot i.
func (e *evaluator) load(s *summary, args []int64, guarded, free uint32) error {
	c := s.code
	e.code = c
	changed := e.changed(args, guarded, free)
	c.valid = false // until all is well
	for i := range c.nodes {
		n := &c.nodes[i]
		if n.depends&changed == 0 {
			continue
		}
		switch n.op {
		case atomProduct:
			c.values[n.slot] = c.values[n.args[0].from] * c.values[n.args[0].to]
		case atomParam:
			c.values[n.slot] = args[n.sym]
		case atomGuarded:
			c.values[n.slot] = int64(guarded >> n.sym & 1)
		case atomFree:
			c.values[n.slot] = int64(free >> n.sym & 1)
		default:
			v, err := e.node(n)
			if err != nil {
				return err
			}
			c.values[n.slot] = v
		}
	}
	c.valid, c.chunk, c.rank = true, e.chunk, e.rank
	c.args = append(c.args[:0], args...)
	c.guarded, c.free = guarded, free
	return nil
}

// changed returns what differs from what the values are for.
func (e *evaluator) changed(args []int64, guarded, free uint32) dependence {
	c := e.code
	if !c.valid {
		return ^dependence(0)
	}
	var d dependence
	for i, v := range args {
		if v != c.args[i] {
			d |= onParam(i)
		}
	}
	if c.chunk != e.chunk {
		d |= onChunk
	}
	if c.rank != e.rank {
		d |= onRank
	}
	if c.guarded != guarded || c.free != free {
		d |= onPending
	}
	return d
}

// node returns the value of a node with formulas as arguments.
func (e *evaluator) node(n *node) (int64, error) {
	x, y := e.int(n.args[0]), e.int(n.args[1])
	switch n.op {
	case atomSum:
		return e.chunk.Sum(x, y, e.int(n.args[2]))
	case atomMember:
		return e.member(int(n.sym), x), nil
	}
	return evalAtom(n.op, x, y)
}

// int returns the value of a formula.
func (e *evaluator) int(f formula) int64 {
	var sum int64
	v := e.code.values
	for _, t := range e.code.terms[f.from:f.to] {
		sum += t.coef * v[t.a] * v[t.b]
	}
	return sum
}

// float returns the value in floating point, for products beyond int64.
func (e *evaluator) float(f formula) float64 {
	var sum float64
	v := e.code.values
	for _, t := range e.code.terms[f.from:f.to] {
		sum += float64(float64(t.coef) * float64(v[t.a]) * float64(v[t.b]))
	}
	return sum
}

// member returns the world rank of member i, mod its size, of the rank's group.
func (e *evaluator) member(family int, i int64) int64 {
	g := &e.program.Header().CommFamilies[family].Groups[e.program.Group(family, e.rank)]
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
			return 0, fmt.Errorf("%w: %w", trace.ErrAction, errChunk)
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
