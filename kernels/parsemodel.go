package kernels

import (
	"math"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"reprise/internal/bounds"
	"reprise/internal/yamlfile"
	"reprise/noise"
)

// spec is a model as the file says it, before names are resolved.
type spec struct {
	line    int
	flop    bool // coefficients in flop, not seconds
	charged bool // an empty call costs what the terms say
	extents []sum
	noise   *noiseSpec  // of pieces that say nothing about it
	pieces  []pieceSpec // at least one; the last has no conditions
}

// pieceSpec is one piece of a spec.
type pieceSpec struct {
	line  int
	when  []Attr
	conds []condition
	terms []termSpec // none: free
	noise *noiseSpec // nil: none

	factor [][]float64 // Cholesky factor of the coefficients' covariance; nil: they are exact
}

// noiseSpec is the noise of a piece. Where there is an sd, a polynomial, it is the
// standard deviation of the law, which has no modes.
type noiseSpec struct {
	law noise.Law
	sd  []termSpec
}

// termSpec is coef times product.
type termSpec struct {
	coef    float64
	product product
}

// model parses the value of a kernel: "free", a constant, a list of pieces, or
// a mapping.
func (p *fileParser) model(e yamlfile.Entry) (spec, error) {
	m := spec{line: e.Node.GetToken().Position.Line, flop: p.flop, noise: p.noise}
	p.inFlop = m.flop
	switch n := e.Value.(type) {
	case *ast.SequenceNode:
		return m, p.pieces(n, e.Key, &m)
	case *ast.MappingNode, *ast.MappingValueNode:
		return m, p.modelFields(n, e.Key, &m)
	}
	if text, err := p.Text(e.Value, e.Key); err != nil || text == "free" {
		m.pieces = []pieceSpec{{line: m.line}}
		return m, err
	}
	c, err := p.coefficient(e.Value, e.Key+": free or a constant")
	if err == nil && c <= 0 {
		err = p.Errorf(e.Value, "%s: constant %g: want a positive one, or free", e.Key, c)
	}
	m.pieces = []pieceSpec{{line: m.line, terms: []termSpec{{coef: c}}, noise: m.noise}}
	return m, err
}

// modelFields parses a model that is a mapping: the keys of one piece or
// "pieces", with those of the whole model.
func (p *fileParser) modelFields(n ast.Node, what string, m *spec) error {
	f, err := p.Fields(n, what, "unit", "empty", "pieces", "when", "if", "terms", "free", "noise", "covariance")
	if err != nil {
		return err
	}
	if f["unit"] != nil {
		if m.flop, err = p.unit(f["unit"]); err != nil {
			return err
		}
		p.inFlop = m.flop
	}
	if f["empty"] != nil {
		if err := p.empty(f["empty"], what, m); err != nil {
			return err
		}
	}
	if f["pieces"] == nil {
		return p.addPiece(n, f, what, true, m)
	}
	for _, key := range []string{"when", "if", "terms", "free", "covariance"} {
		if f[key] != nil {
			return p.Errorf(f[key], "%s: %q beside pieces: it belongs into one of them", what, key)
		}
	}
	if f["noise"] != nil {
		if m.noise, err = p.noiseOf(f["noise"], what); err != nil {
			return err
		}
	}
	return p.pieces(f["pieces"], what, m)
}

// empty parses "free", "charged" or the list of extents that make a call
// free when one of them is zero.
func (p *fileParser) empty(n ast.Node, what string, m *spec) error {
	what += ": empty"
	if _, ok := n.(*ast.SequenceNode); !ok {
		text, err := p.Text(n, what)
		if err == nil && text != "free" && text != "charged" {
			err = p.Errorf(n, "%s: want free, charged, or a list of dimensions, found %q", what, text)
		}
		m.charged = text == "charged"
		return err
	}
	items, err := p.Items(n, what)
	if err != nil {
		return err
	}
	for _, item := range items {
		text, err := p.Text(item, what)
		if err != nil {
			return err
		}
		s, err := parseExtent(text)
		if err != nil {
			return p.Errorf(item, "%s: %w", what, err)
		}
		m.extents = append(m.extents, s)
	}
	if len(m.extents) == 0 {
		return p.Errorf(n, "%s: empty list: want dimensions, or charged", what)
	}
	return nil
}

// pieces parses a list of pieces into m.
func (p *fileParser) pieces(n ast.Node, what string, m *spec) error {
	items, err := p.Items(n, what+": pieces")
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return p.Errorf(n, "%s: no pieces", what)
	}
	for i, item := range items {
		f, err := p.Fields(item, what, "when", "if", "terms", "free", "noise", "covariance")
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
	if c.noise, err = p.pieceNoise(f["noise"], what, &c, m); err != nil {
		return err
	}
	if f["covariance"] != nil {
		if c.factor, err = p.covariance(f["covariance"], what, len(c.terms)); err != nil {
			return err
		}
	}
	always := len(c.when) == 0 && len(c.conds) == 0
	switch {
	case last && len(c.conds) != 0:
		return p.Errorf(f["if"], "%s: the last piece has thresholds: no time for other dimensions", what)
	case always && !last:
		return p.Errorf(n, "%s: piece without when and if is not the last: the next ones never hold", what)
	}
	m.pieces = append(m.pieces, c)
	return nil
}

// pieceNoise returns the noise of a piece: that of the node, if there is one, else
// that of its model. What costs nothing has none.
func (p *fileParser) pieceNoise(n ast.Node, what string, c *pieceSpec, m *spec) (*noiseSpec, error) {
	switch {
	case n == nil && len(c.terms) == 0:
		return nil, nil
	case n == nil:
		return m.noise, nil
	case len(c.terms) == 0:
		return nil, p.Errorf(n, "%s: noise of what is free", what)
	}
	return p.noiseOf(n, what)
}

// noiseOf parses noise, whose standard deviation may be a polynomial.
func (p *fileParser) noiseOf(n ast.Node, what string) (*noiseSpec, error) {
	s := &noiseSpec{}
	var err error
	s.law, err = p.Noise(n, what+": noise", func(n ast.Node, what string) (err error) {
		s.sd, err = p.polynomial(n, what)
		return err
	})
	return s, err
}

// when parses a mapping from attribute names to values.
func (p *fileParser) when(n ast.Node, what string) ([]Attr, error) {
	list, err := p.Entries(n, what+": when")
	if err != nil {
		return nil, err
	}
	attrs := make([]Attr, 0, len(list))
	for _, e := range list {
		value, err := p.Text(e.Value, what+": when "+e.Key)
		if err != nil {
			return nil, err
		}
		attrs = append(attrs, Attr{e.Key, value})
	}
	return attrs, nil
}

func (p *fileParser) conditions(n ast.Node, what string) ([]condition, error) {
	text, err := p.Text(n, what+": if")
	if err != nil {
		return nil, err
	}
	list, err := parseConditions(text)
	if err != nil {
		return nil, p.Errorf(n, "%s: if: %w", what, err)
	}
	return list, nil
}

// cost parses "terms" or "free: true" of the piece n.
func (p *fileParser) cost(n ast.Node, f map[string]ast.Node, what string) ([]termSpec, error) {
	switch {
	case f["terms"] == nil && f["free"] == nil:
		return nil, p.Errorf(n, "%s: no cost: want terms, or free: true", what)
	case f["terms"] != nil && f["free"] != nil:
		return nil, p.Errorf(f["free"], "%s: both terms and free", what)
	case f["terms"] != nil:
		return p.terms(f["terms"], what+": terms")
	}
	if b, ok := f["free"].(*ast.BoolNode); !ok || !b.Value {
		return nil, p.Errorf(f["free"], "%s: free: want true, found %s", what, yamlfile.Describe(f["free"]))
	}
	return nil, nil
}

// terms parses the polynomial of a cost: at least one of its coefficients must be
// positive.
func (p *fileParser) terms(n ast.Node, what string) ([]termSpec, error) {
	terms, err := p.polynomial(n, what)
	if err == nil && !slices.ContainsFunc(terms, func(t termSpec) bool { return t.coef > 0 }) {
		err = p.Errorf(n, "%s: no positive coefficient: nothing would ever cost time; say free if that is meant", what)
	}
	return terms, err
}

// polynomial parses a mapping from products to coefficients.
func (p *fileParser) polynomial(n ast.Node, what string) ([]termSpec, error) {
	list, err := p.Entries(n, what)
	if err != nil {
		return nil, err
	}
	terms := make([]termSpec, 0, len(list))
	seen := make(map[string]string, len(list))
	for _, e := range list {
		t, err := p.term(e, what)
		if err != nil {
			return nil, err
		}
		if other, ok := seen[t.product.normal()]; ok {
			return nil, p.Errorf(e.Node, "%s: %s and %s are the same", what, other, e.Key)
		}
		seen[t.product.normal()] = e.Key
		terms = append(terms, t)
	}
	return terms, nil
}

func (p *fileParser) term(e yamlfile.Entry, what string) (termSpec, error) {
	product, err := parseProduct(e.Key)
	if err != nil {
		return termSpec{}, p.Errorf(e.Node, "%s: %w", what, err)
	}
	coef, err := p.coefficient(e.Value, what+": "+e.Key)
	return termSpec{coef, product}, err
}

// coefficient parses what a term of a polynomial has in front, or is a constant.
func (p *fileParser) coefficient(n ast.Node, what string) (float64, error) {
	c, err := p.Number(n, what)
	if err != nil {
		return 0, err
	}
	allowed := bounds.Seconds
	if p.inFlop {
		allowed = bounds.Flop
	}
	if err := allowed.Check("value", math.Abs(c)); err != nil {
		return 0, p.Errorf(n, "%s: %w", what, err)
	}
	return c, nil
}
