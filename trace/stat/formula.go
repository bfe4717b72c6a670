package stat

import "reprise/trace"

// formulas is what a summary's formulas are evaluated with: its atoms in order, as
// nodes, and all terms side by side. Slot 0 holds 1, other slots the value of an atom or
// of a product of two.
type formulas struct {
	nodes  []node
	terms  []term
	values []int64
	member bool // values differ from rank to rank

	// What the values are for, if valid.
	valid         bool
	chunk         *trace.Chunk
	rank          int32
	args          []int64
	guarded, free uint32
}

// node computes a slot.
type node struct {
	op      atomOp
	sym     int32
	slot    int32
	depends dependence
	args    [3]formula // of a product: its slots
}

// term is coef * values[a] * values[b].
type term struct {
	coef int64
	a, b int32
}

// formula is the sum of the terms [from, to).
type formula struct{ from, to int32 }

// dependence says what a value depends on: parameters, one bit each but for the
// last ones, and the rest.
type dependence uint64

const (
	onChunk   dependence = 1 << 63
	onPending dependence = 1 << 62
	onRank    dependence = 1 << 61
	lastParam            = 60 // this bit stands for all parameters from here on
)

func onParam(i int) dependence { return 1 << min(i, lastParam) }

// compiler lays out the formulas of a summary.
type compiler struct {
	algebra  *algebra
	code     *formulas
	emitted  []bool       // by atom
	depends  []dependence // by slot
	products map[[2]int32]int32
}

// compile prepares a summary for evaluation.
func (s *summary) compile(bodies []*summary) {
	n := len(s.algebra.atoms)
	c := &compiler{algebra: s.algebra, code: &formulas{}, emitted: make([]bool, n), depends: make([]dependence, n), products: map[[2]int32]int32{}}
	for i := range s.counts {
		s.counts[i].f = c.formula(s.counts[i].value)
	}
	for i := range s.amounts {
		s.amounts[i].f = [2]formula{c.formula(s.amounts[i].times), c.formula(s.amounts[i].bits)}
	}
	for i := range s.runs {
		s.runs[i].f = c.formula(s.runs[i].factor)
	}
	for slot := range int32(trace.MaxPollables) {
		for i := range s.outs[slot] {
			s.outs[slot][i].f = c.formula(s.outs[slot][i].factor)
		}
	}
	for i := range s.sites {
		s.sites[i].f = s.sites[i].f[:0]
		for _, a := range s.sites[i].args {
			s.sites[i].f = append(s.sites[i].f, c.formula(a))
		}
		if body := bodies[s.sites[i].body]; body.code == nil {
			body.compile(bodies)
		}
		c.code.member = c.code.member || bodies[s.sites[i].body].code.member
	}
	c.code.values = make([]int64, len(c.depends))
	c.code.values[0] = 1
	s.code = c.code
}

// formula emits what p needs, then its terms.
func (c *compiler) formula(p poly) formula {
	terms := make([]term, len(p))
	for i := range p {
		t := &terms[i]
		t.coef = p[i].coef
		for _, id := range p[i].atoms {
			if id == 0 {
				break
			}
			c.atom(id)
			switch {
			case t.a == 0:
				t.a = int32(id)
			case t.b == 0:
				t.b = int32(id)
			default:
				t.a, t.b = c.product(t.a, t.b), int32(id)
			}
		}
	}
	from := len(c.code.terms)
	c.code.terms = append(c.code.terms, terms...)
	return formula{int32(from), int32(len(c.code.terms))}
}

// atom emits the node of an atom, after those of its arguments.
func (c *compiler) atom(id atomID) {
	if c.emitted[id] {
		return
	}
	c.emitted[id] = true
	a := &c.algebra.atoms[id]
	n := node{op: a.op, sym: a.sym, slot: int32(id)}
	for i, p := range a.args {
		n.args[i] = c.formula(p)
		for _, t := range c.code.terms[n.args[i].from:n.args[i].to] {
			n.depends |= c.depends[t.a] | c.depends[t.b]
		}
	}
	switch a.op {
	case atomParam:
		n.depends |= onParam(int(a.sym))
	case atomGuarded, atomFree:
		n.depends |= onPending
	case atomSum:
		n.depends |= onChunk
	case atomMember:
		n.depends |= onRank
		c.code.member = true
	}
	if n.depends == 0 {
		n.depends = onChunk // a constant, evaluated once a chunk
	}
	c.emit(n)
}

func (c *compiler) emit(n node) {
	c.depends[n.slot] = n.depends
	c.code.nodes = append(c.code.nodes, n)
}

// product emits the product of two slots and returns its slot.
func (c *compiler) product(a, b int32) int32 {
	key := [2]int32{a, b}
	slot, ok := c.products[key]
	if !ok {
		slot = int32(len(c.depends))
		c.depends = append(c.depends, 0)
		c.products[key] = slot
		c.emit(node{op: atomProduct, slot: slot, depends: c.depends[a] | c.depends[b], args: [3]formula{{a, b}}})
	}
	return slot
}
