package kernels

import "github.com/goccy/go-yaml/ast"

// spec is a model as the file says it, before names are resolved.
type spec struct {
	line    int
	flop    bool // coefficients in flop, not seconds
	charged bool // an empty call costs what the terms say
	extents []sum
	pieces  []pieceSpec // at least one; the last has no conditions
}

// pieceSpec is one piece of a spec.
type pieceSpec struct {
	line  int
	when  []Attr
	conds []condition
	terms []termSpec // none: free
}

// termSpec is coef times product.
type termSpec struct {
	coef    float64
	product product
}

// model parses the value of a kernel: "free", a constant, a list of pieces, or
// a mapping.
func (p *fileParser) model(e entry) (spec, error) {
	m := spec{line: e.node.GetToken().Position.Line, flop: p.flop}
	switch n := e.value.(type) {
	case *ast.SequenceNode:
		return m, p.pieces(n, e.key, &m)
	case *ast.MappingNode, *ast.MappingValueNode:
		return m, p.modelFields(n, e.key, &m)
	}
	if text, err := p.text(e.value, e.key); err != nil || text == "free" {
		m.pieces = []pieceSpec{{line: m.line}}
		return m, err
	}
	c, err := p.number(e.value, e.key+": free or a constant")
	if err == nil && c <= 0 {
		err = p.errorf(e.value, "%s: constant %g: want a positive one, or free", e.key, c)
	}
	m.pieces = []pieceSpec{{line: m.line, terms: []termSpec{{coef: c}}}}
	return m, err
}

// modelFields parses a model that is a mapping: the keys of one piece or
// "pieces", with those of the whole model.
func (p *fileParser) modelFields(n ast.Node, what string, m *spec) error {
	f, err := p.fields(n, what, "unit", "empty", "pieces", "when", "if", "terms", "free")
	if err != nil {
		return err
	}
	if f["unit"] != nil {
		if m.flop, err = p.unit(f["unit"]); err != nil {
			return err
		}
	}
	if f["empty"] != nil {
		if err := p.empty(f["empty"], what, m); err != nil {
			return err
		}
	}
	if f["pieces"] == nil {
		return p.addPiece(n, f, what, true, m)
	}
	for _, key := range []string{"when", "if", "terms", "free"} {
		if f[key] != nil {
			return p.errorf(f[key], "%s: %q beside pieces: it belongs into one of them", what, key)
		}
	}
	return p.pieces(f["pieces"], what, m)
}

// empty parses "free", "charged" or the list of extents that make a call
// free when one of them is zero.
func (p *fileParser) empty(n ast.Node, what string, m *spec) error {
	what += ": empty"
	if _, ok := n.(*ast.SequenceNode); !ok {
		text, err := p.text(n, what)
		if err == nil && text != "free" && text != "charged" {
			err = p.errorf(n, "%s: want free, charged, or a list of dimensions, found %q", what, text)
		}
		m.charged = text == "charged"
		return err
	}
	items, err := p.items(n, what)
	if err != nil {
		return err
	}
	for _, item := range items {
		text, err := p.text(item, what)
		if err != nil {
			return err
		}
		s, err := parseExtent(text)
		if err != nil {
			return p.errorf(item, "%s: %w", what, err)
		}
		m.extents = append(m.extents, s)
	}
	if len(m.extents) == 0 {
		return p.errorf(n, "%s: empty list: want dimensions, or charged", what)
	}
	return nil
}

// pieces parses a list of pieces into m.
func (p *fileParser) pieces(n ast.Node, what string, m *spec) error {
	items, err := p.items(n, what+": pieces")
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return p.errorf(n, "%s: no pieces", what)
	}
	for i, item := range items {
		f, err := p.fields(item, what, "when", "if", "terms", "free")
		if err != nil {
			return err
		}
		if err := p.addPiece(item, f, what, i == len(items)-1, m); err != nil {
			return err
		}
	}
	return nil
}

// addPiece parses one piece and appends it to m. The last piece of a model
// must hold for all dimensions, and no piece may follow one that always holds.
func (p *fileParser) addPiece(n ast.Node, f map[string]ast.Node, what string, last bool, m *spec) (err error) {
	c := pieceSpec{line: n.GetToken().Position.Line}
	if f["when"] != nil {
		if c.when, err = p.when(f["when"], what); err != nil {
			return err
		}
	}
	if f["if"] != nil {
		if c.conds, err = p.conditions(f["if"], what); err != nil {
			return err
		}
	}
	if c.terms, err = p.cost(n, f, what); err != nil {
		return err
	}
	always := len(c.when) == 0 && len(c.conds) == 0
	switch {
	case last && len(c.conds) != 0:
		return p.errorf(f["if"], "%s: the last piece has thresholds: no time for other dimensions", what)
	case always && !last:
		return p.errorf(n, "%s: piece without when and if is not the last: the next ones never hold", what)
	}
	m.pieces = append(m.pieces, c)
	return nil
}

// when parses a mapping from attribute names to values.
func (p *fileParser) when(n ast.Node, what string) ([]Attr, error) {
	list, err := p.entries(n, what+": when")
	if err != nil {
		return nil, err
	}
	attrs := make([]Attr, 0, len(list))
	for _, e := range list {
		value, err := p.text(e.value, what+": when "+e.key)
		if err != nil {
			return nil, err
		}
		attrs = append(attrs, Attr{e.key, value})
	}
	return attrs, nil
}

func (p *fileParser) conditions(n ast.Node, what string) ([]condition, error) {
	text, err := p.text(n, what+": if")
	if err != nil {
		return nil, err
	}
	list, err := parseConditions(text)
	if err != nil {
		return nil, p.errorf(n, "%s: if: %w", what, err)
	}
	return list, nil
}

// cost parses "terms" or "free: true" of the piece n.
func (p *fileParser) cost(n ast.Node, f map[string]ast.Node, what string) ([]termSpec, error) {
	switch {
	case f["terms"] == nil && f["free"] == nil:
		return nil, p.errorf(n, "%s: no cost: want terms, or free: true", what)
	case f["terms"] != nil && f["free"] != nil:
		return nil, p.errorf(f["free"], "%s: both terms and free", what)
	case f["terms"] != nil:
		return p.terms(f["terms"], what+": terms")
	}
	if b, ok := f["free"].(*ast.BoolNode); !ok || !b.Value {
		return nil, p.errorf(f["free"], "%s: free: want true, found %s", what, describe(f["free"]))
	}
	return nil, nil
}

// terms parses a mapping from products to coefficients, at least one of which
// must be positive.
func (p *fileParser) terms(n ast.Node, what string) ([]termSpec, error) {
	list, err := p.entries(n, what)
	if err != nil {
		return nil, err
	}
	terms := make([]termSpec, 0, len(list))
	seen := make(map[string]string, len(list))
	positive := false
	for _, e := range list {
		t, err := p.term(e, what)
		if err != nil {
			return nil, err
		}
		if other, ok := seen[t.product.normal()]; ok {
			return nil, p.errorf(e.node, "%s: %s and %s are the same", what, other, e.key)
		}
		seen[t.product.normal()] = e.key
		positive = positive || t.coef > 0
		terms = append(terms, t)
	}
	if !positive {
		return nil, p.errorf(n, "%s: no positive coefficient: nothing would ever cost time; say free if that is meant", what)
	}
	return terms, nil
}

func (p *fileParser) term(e entry, what string) (termSpec, error) {
	product, err := parseProduct(e.key)
	if err != nil {
		return termSpec{}, p.errorf(e.node, "%s: %w", what, err)
	}
	coef, err := p.number(e.value, what+": "+e.key)
	return termSpec{coef, product}, err
}
