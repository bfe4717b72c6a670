package kernels

import (
	"cmp"
	"io"
	"math"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"reprise/internal/bounds"
	"reprise/internal/sniff"
	"reprise/internal/textutil"
	"reprise/internal/yamlfile"
	"reprise/kernels/noise"
)

// formatVersion is the version of the file format that this package reads.
const formatVersion = 1

// maxCPUs is the largest cpus_per_host.
const maxCPUs = 1 << 16

// rule says that kernels whose name matches use a model.
type rule struct {
	pattern textutil.Pattern
	model   spec
}

// override holds the rules of the hosts that match.
type override struct {
	host  textutil.Pattern
	cpu   int // index of the CPU of the host, or anyCPU
	rules []rule
}

// anyCPU stands for all CPUs of a host.
const anyCPU = -1

// Parse reads a kernel file. name stands for the file in messages. Errors
// begin with name:line and say what was found and what is allowed. Files are
// limited to 4 MiB.
//
// The document is a mapping; docs/kernels.md specifies it:
//
//	version: 1
//	unit: s                      # of coefficients and constants, or flop
//	cpus_per_host: 2             # by which the slots of ranks are dealt to CPUs; 1 if it is not there
//	noise: {normal: 3%}          # of models that say nothing about it
//	host_scatter: 2%             # standard deviation of times from host to host
//	kernels:
//	  PATTERN: MODEL
//	hosts:                       # overrides: the first that matches a host and has a model counts
//	  - {host: PATTERN, cpu: 0, kernels: {PATTERN: MODEL}}
//
// A MODEL is "free", a constant, a list of pieces or a mapping. A piece has "terms", a polynomial, or "free: true", and
// may have "when" (attributes of the call), "if" (thresholds of its dimensions), "noise" and "covariance". The mapping
// of a whole model has the keys of its only piece, or "pieces"; besides "unit" and "empty".
func Parse(r io.Reader, name string) (s *Set, err error) {
	head := sniff.Remember(r)
	defer func() { err = head.Instead(err, name, sniff.YAML) }()
	p := fileParser{Document: yamlfile.Document{File: name}}
	root, err := p.Read(head)
	if err != nil {
		return nil, err
	}

	// The scalars at the top come first: the models need them.
	f, err := p.Fields(root, "kernel file", "version", "description", "source", "unit", "cpus_per_host", "noise",
		"host_scatter", "kernels", "hosts")
	if err != nil {
		return nil, err
	}
	for _, key := range []string{"version", "unit", "kernels"} {
		if f[key] == nil {
			return nil, p.Errorf(root, "kernel file: no key %q", key)
		}
	}
	if _, err := p.Integer(f["version"], "version", formatVersion, formatVersion); err != nil {
		return nil, err
	}
	for _, key := range []string{"description", "source"} {
		if f[key] != nil {
			if _, err := p.Text(f[key], key); err != nil {
				return nil, err
			}
		}
	}
	if p.flop, err = p.unit(f["unit"]); err != nil {
		return nil, err
	}
	p.cpusPerHost = 1
	if n := f["cpus_per_host"]; n != nil {
		if p.cpusPerHost, err = p.Integer(n, "cpus_per_host", 1, maxCPUs); err != nil {
			return nil, err
		}
	}
	scatter := 0.0
	if n := f["host_scatter"]; n != nil {
		sd, err := p.Deviation(n, "host_scatter")
		if err != nil {
			return nil, err
		}
		if sd.Fixed != 0 || sd.Relative > maxScatter {
			return nil, p.Errorf(n, "host_scatter: want a percentage of at most %g%%, found %s", 100*maxScatter,
				yamlfile.Describe(n))
		}
		scatter = sd.Relative
	}
	if n := f["noise"]; n != nil { // of all models that have none of their own
		l, err := p.Noise(n, "noise", nil)
		if err == nil && !l.IsRelative() {
			err = p.Errorf(n, "noise: of all kernels it can only be in percent of their times, such as 3%%")
		}
		if err != nil {
			return nil, err
		}
		p.noise = &noiseSpec{law: l}
	}
	base, err := p.rules(f["kernels"])
	if err != nil {
		return nil, err
	}
	var overrides []override
	if f["hosts"] != nil {
		items, err := p.Items(f["hosts"], "hosts")
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			f, err := p.Fields(item, "hosts", "host", "cpu", "kernels")
			if err != nil {
				return nil, err
			}
			for _, key := range []string{"host", "kernels"} {
				if f[key] == nil {
					return nil, p.Errorf(item, "hosts: no key %q", key)
				}
			}
			text, err := p.Text(f["host"], "hosts: host")
			if err != nil {
				return nil, err
			}
			o := override{cpu: anyCPU}
			if o.host, err = textutil.ParsePattern(text); err != nil {
				return nil, p.Errorf(f["host"], "hosts: host: %w", err)
			}
			if f["cpu"] != nil {
				if o.cpu, err = p.Integer(f["cpu"], "hosts: cpu (less than cpus_per_host)", 0, p.cpusPerHost-1); err != nil {
					return nil, err
				}
			}
			if o.rules, err = p.rules(f["kernels"]); err != nil {
				return nil, err
			}
			overrides = append(overrides, o)
		}
	}
	s = newSet(p.File, p.cpusPerHost, base, overrides)
	s.scatter = scatter
	return s, nil
}

// fileParser turns nodes into rules.
// It holds the settings at the top of the file, which decide what the nodes of models mean. Errors have the line of the
// node at fault, and name it by the path of keys that leads to it.
type fileParser struct {
	yamlfile.Document
	flop        bool // the file's unit
	cpusPerHost int
	noise       *noiseSpec // of models that say nothing about it; nil: none
	inFlop      bool       // coefficients of the model that is read are in flop, not seconds
}

// maxScatter bounds host_scatter: hosts that differ more are of several kinds.
const maxScatter = 0.2

// unit reports whether n is "flop"; the other unit is "s".
func (p *fileParser) unit(n ast.Node) (flop bool, err error) {
	text, err := p.Text(n, "unit")
	if err == nil && text != "s" && text != "flop" {
		err = p.Errorf(n, "unit: want s or flop, found %q", text)
	}
	return text == "flop", err
}

// rules parses a mapping from kernel patterns to models. The most specific
// pattern comes first: exact names, then by the number of characters that
// stand for themselves.
func (p *fileParser) rules(n ast.Node) ([]rule, error) {
	list, err := p.Entries(n, "kernels")
	if err != nil {
		return nil, err
	}
	rules := make([]rule, 0, len(list))
	for _, e := range list {
		pat, err := textutil.ParsePattern(e.Key)
		if err != nil {
			return nil, p.Errorf(e.Node, "kernels: %w", err)
		}
		model, err := p.model(e)
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule{pat, model})
	}
	slices.SortStableFunc(rules, func(a, b rule) int {
		return cmp.Compare(b.pattern.Specificity(), a.pattern.Specificity())
	})
	return rules, nil
}

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
// The coefficient is in seconds or flop, as the unit of the model says.
type termSpec struct {
	coef    float64
	product product
}

// model parses the value of a kernel: "free", a constant, a list of pieces, or
// a mapping.
func (p *fileParser) model(e yamlfile.Entry) (m spec, err error) {
	m = spec{line: e.Node.GetToken().Position.Line, flop: p.flop, noise: p.noise}
	p.inFlop = m.flop
	switch n := e.Value.(type) {
	case *ast.SequenceNode:
		err = p.pieces(n, e.Key, &m)
		return m, err
	case *ast.MappingNode, *ast.MappingValueNode:
		break
	default:
		if text, err := p.Text(n, e.Key); err != nil || text == "free" {
			m.pieces = []pieceSpec{{line: m.line}}
			return m, err
		}
		c, err := p.coefficient(n, e.Key+": free or a constant")
		if err == nil && c <= 0 {
			err = p.Errorf(n, "%s: constant %g: want a positive one, or free", e.Key, c)
		}
		m.pieces = []pieceSpec{{line: m.line, terms: []termSpec{{coef: c}}, noise: m.noise}}
		return m, err
	}

	// A mapping has the keys of one piece, or "pieces", with those of the whole model.
	f, err := p.Fields(e.Value, e.Key, "unit", "empty", "pieces", "when", "if", "terms", "free", "noise", "covariance")
	if err != nil {
		return m, err
	}
	if f["unit"] != nil {
		if m.flop, err = p.unit(f["unit"]); err != nil {
			return m, err
		}
		p.inFlop = m.flop
	}
	if f["empty"] != nil {
		if err := p.empty(f["empty"], e.Key, &m); err != nil {
			return m, err
		}
	}
	if f["pieces"] == nil {
		err = p.addPiece(e.Value, f, e.Key, true, &m)
		return m, err
	}
	for _, key := range []string{"when", "if", "terms", "free", "covariance"} {
		if f[key] != nil {
			return m, p.Errorf(f[key], "%s: %q beside pieces: it belongs into one of them", e.Key, key)
		}
	}
	if f["noise"] != nil {
		if m.noise, err = p.noiseOf(f["noise"], e.Key); err != nil {
			return m, err
		}
	}
	err = p.pieces(f["pieces"], e.Key, &m)
	return m, err
}

// empty parses "free", "charged" or the list of extents (a dimension, or a sum of dimensions, in parentheses or not)
// that make a call free when one of them is zero.
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
		toks, err := tokens(text)
		if err != nil {
			return p.Errorf(item, "%s: %w", what, err)
		}
		if n := len(toks); n > 2 && toks[0] == "(" && toks[n-1] == ")" {
			toks = toks[1 : n-1]
		}
		s, rest := parseSum(toks)
		if s == nil || len(rest) > 0 {
			return p.Errorf(item, "%s: extent %q: want a dimension or a sum as in M0+M1", what, text)
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
	if f["when"] != nil { // attributes, all of which a kernel must have
		list, err := p.Entries(f["when"], what+": when")
		if err != nil {
			return err
		}
		for _, e := range list {
			value, err := p.Text(e.Value, what+": when "+e.Key)
			if err != nil {
				return err
			}
			c.when = append(c.when, Attr{e.Key, value})
		}
	}
	if f["if"] != nil { // thresholds
		text, err := p.Text(f["if"], what+": if")
		if err != nil {
			return err
		}
		if c.conds, err = parseConditions(text); err != nil {
			return p.Errorf(f["if"], "%s: if: %w", what, err)
		}
	}
	// The cost: terms, of which one at least is positive, or nothing. It is said either way, lest it be forgotten.
	switch terms, free := f["terms"], f["free"]; {
	case terms == nil && free == nil:
		return p.Errorf(n, "%s: no cost: want terms, or free: true", what)
	case terms != nil && free != nil:
		return p.Errorf(free, "%s: both terms and free", what)
	case terms != nil:
		if c.terms, err = p.polynomial(terms, what+": terms"); err != nil {
			return err
		}
		if !slices.ContainsFunc(c.terms, func(t termSpec) bool { return t.coef > 0 }) {
			return p.Errorf(terms, "%s: terms: no positive coefficient: nothing would ever cost time; say free if that is meant",
				what)
		}
	default:
		if b, ok := free.(*ast.BoolNode); !ok || !b.Value {
			return p.Errorf(free, "%s: free: want true, found %s", what, yamlfile.Describe(free))
		}
	}
	// Noise is that of the piece, else that of its model. A free piece has none.
	switch {
	case f["noise"] == nil && len(c.terms) > 0:
		c.noise = m.noise
	case f["noise"] == nil:
	case len(c.terms) == 0:
		return p.Errorf(f["noise"], "%s: noise of what is free", what)
	default:
		if c.noise, err = p.noiseOf(f["noise"], what); err != nil {
			return err
		}
	}
	if f["covariance"] != nil {
		if c.factor, err = p.covariance(f["covariance"], what, len(c.terms)); err != nil {
			return err
		}
	}
	// A call must have a time whatever its dimensions: attributes may leave it to the next model, thresholds may not.
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

// noiseOf parses noise, whose standard deviation may be a polynomial.
// That is in the unit of the model, and of the dimensions of the call, as the cost itself.
func (p *fileParser) noiseOf(n ast.Node, what string) (*noiseSpec, error) {
	s := &noiseSpec{}
	var err error
	s.law, err = p.Noise(n, what+": noise", func(n ast.Node, what string) (err error) {
		s.sd, err = p.polynomial(n, what)
		return err
	})
	return s, err
}

// polynomial parses a mapping from products to coefficients. Products that differ in the order of their
// factors alone are the same.
func (p *fileParser) polynomial(n ast.Node, what string) ([]termSpec, error) {
	list, err := p.Entries(n, what)
	if err != nil {
		return nil, err
	}
	terms := make([]termSpec, 0, len(list))
	seen := make(map[string]string, len(list))
	for _, e := range list {
		product, err := parseProduct(e.Key)
		if err != nil {
			return nil, p.Errorf(e.Node, "%s: %w", what, err)
		}
		coef, err := p.coefficient(e.Value, what+": "+e.Key)
		if err != nil {
			return nil, err
		}
		if other, ok := seen[product.normal()]; ok {
			return nil, p.Errorf(e.Node, "%s: %s and %s are the same", what, other, e.Key)
		}
		seen[product.normal()] = e.Key
		terms = append(terms, termSpec{coef, product})
	}
	return terms, nil
}

// coefficient parses the factor in front of a term of a polynomial, or a constant.
// Fits have negative coefficients as well: their size is bounded.
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
