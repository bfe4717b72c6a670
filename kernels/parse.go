package kernels

import (
	"cmp"
	"io"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"reprise/internal/bounds"
	"reprise/internal/portable"
	"reprise/internal/sniff"
	"reprise/internal/textutil"
	"reprise/internal/yamlfile"
	"reprise/kernels/noise"
)

// This file reads kernel files: Parse. Formulas in them are read by expr.go.

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

// Parse reads a kernel file. name stands for the file in messages. Errors begin with name:line and say what was
// found and what is allowed. Files are limited to 4 MiB.
//
// The document is a mapping; docs/kernels.md specifies it:
//
//	version: 1
//	unit: s                      # of coefficients and constants, or flop
//	cpus_per_host: 2             # by which the slots of ranks are dealt to CPUs; 1 if it is not there
//	noise: {normal: 3%}          # of models that say nothing about it
//	alone: {ranks: 64, time: 85%} # the models are of 64 ranks on a host; one by itself takes 85 % of their time
//	host_scatter: 2%             # standard deviation of times from host to host
//	shared_errors:               # standard deviations of factors that the times of some kernels have in common
//	  - {kernels: [dgemm, dtrsm], sd: 20%}
//	network_error: 30%           # the same of messages
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
	defer textutil.Stopped(&err)
	p := fileParser{Document: yamlfile.Document{File: name}}
	root := textutil.Must(p.Read(head))

	// The scalars at the top come first: the models need them.
	f := p.Fields(root, "kernel file", "version!", "description", "source", "unit!", "cpus_per_host", "noise",
		"alone", "host_scatter", "shared_errors", "network_error", "kernels!", "hosts")
	p.flop = p.Head(f, "s", "flop") == "flop"
	p.cpusPerHost = 1
	if n := f["cpus_per_host"]; n != nil {
		p.cpusPerHost = p.Integer(n, "cpus_per_host", 1, maxCPUs)
	}
	var single alone
	if n := f["alone"]; n != nil {
		f := p.Fields(n, "alone", "ranks!", "time!")
		single.ranks = p.Integer(f["ranks"], "alone: ranks", 2, maxCPUs)
		part := p.Deviation(f["time"], "alone: time")
		if single.part = part.Relative; part.Fixed != 0 || !(single.part > 0 && single.part <= 2) {
			p.Stop(f["time"], "alone: time: want a percentage above 0%% to 200%%, found %s", yamlfile.Describe(f["time"]))
		}
	}
	sd := func(n ast.Node, what string, most float64) float64 {
		if n == nil {
			return 0
		}
		v := p.Deviation(n, what)
		if v.Fixed != 0 || v.Relative > most {
			p.Stop(n, "%s: want a percentage of at most %g%%, found %s", what, 100*most, yamlfile.Describe(n))
		}
		return v.Relative
	}
	scatter, networkError := sd(f["host_scatter"], "host_scatter", maxScatter), sd(f["network_error"], "network_error", maxError)
	var shared []sharedError
	if f["shared_errors"] != nil {
		for _, item := range p.Items(f["shared_errors"], "shared_errors") {
			f := p.Fields(item, "shared_errors", "kernels!", "sd!")
			e := sharedError{sd: sd(f["sd"], "shared_errors: sd", maxError)}
			for _, n := range p.Items(f["kernels"], "shared_errors: kernels") {
				pattern, err := textutil.ParsePattern(p.Text(n, "shared_errors: kernels"))
				p.Check(err, n, "shared_errors: kernels: %w")
				e.kernels = append(e.kernels, pattern)
			}
			shared = append(shared, e)
		}
	}
	if n := f["noise"]; n != nil { // of all models that have none of their own
		l := p.Noise(n, "noise", nil)
		if !l.IsRelative() {
			p.Stop(n, "noise: of all kernels it can only be in percent of their times, such as 3%%")
		}
		p.noise = &noiseSpec{law: l}
	}
	base := p.rules(f["kernels"])
	var overrides []override
	if f["hosts"] != nil {
		for _, item := range p.Items(f["hosts"], "hosts") {
			f := p.Fields(item, "hosts", "host!", "cpu", "kernels!")
			o := override{cpu: anyCPU}
			o.host, err = textutil.ParsePattern(p.Text(f["host"], "hosts: host"))
			p.Check(err, f["host"], "hosts: host: %w")
			if f["cpu"] != nil {
				o.cpu = p.Integer(f["cpu"], "hosts: cpu (less than cpus_per_host)", 0, p.cpusPerHost-1)
			}
			o.rules = p.rules(f["kernels"])
			overrides = append(overrides, o)
		}
	}
	s = newSet(p.File, p.cpusPerHost, base, overrides)
	s.scatter, s.alone, s.shared, s.networkError = scatter, single, shared, networkError
	return s, nil
}

// fileParser turns nodes into rules.
// It holds the settings at the top of the file, which decide what the nodes of models mean. Errors have the line of the
// node at fault, and name it by the path of keys that leads to it. The first one ends the reading (textutil.Stop).
type fileParser struct {
	yamlfile.Document
	flop        bool // the file's unit
	cpusPerHost int
	noise       *noiseSpec // of models that say nothing about it; nil: none
	inFlop      bool       // coefficients of the model that is read are in flop, not seconds
}

// maxScatter bounds host_scatter: hosts that differ more are of several kinds.
const maxScatter = 0.2

// maxError bounds shared_errors and network_error, standard deviations of logarithms.
const maxError = 2.

// rules parses a mapping from kernel patterns to models. The most specific pattern comes first: exact names, then
// by the number of characters that stand for themselves.
func (p *fileParser) rules(n ast.Node) (rules []rule) {
	for _, e := range p.Entries(n, "kernels") {
		pat, err := textutil.ParsePattern(e.Key)
		p.Check(err, e.Node, "kernels: %w")
		rules = append(rules, rule{pat, p.model(e)})
	}
	slices.SortStableFunc(rules, func(a, b rule) int {
		return cmp.Compare(b.pattern.Specificity(), a.pattern.Specificity())
	})
	return rules
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

// termSpec is coef times product. The coefficient is in seconds or flop, as the unit of the model says.
type termSpec struct {
	coef    float64
	product product
}

// model parses the value of a kernel: "free", a constant, a list of pieces, or a mapping.
func (p *fileParser) model(e yamlfile.Entry) spec {
	m := spec{line: e.Node.GetToken().Position.Line, flop: p.flop, noise: p.noise}
	p.inFlop = m.flop
	switch n := e.Value.(type) {
	case *ast.SequenceNode:
		p.pieces(n, e.Key, &m)
		return m
	case *ast.MappingNode, *ast.MappingValueNode:
		break
	default:
		if p.Text(n, e.Key) == "free" {
			m.pieces = []pieceSpec{{line: m.line}}
			return m
		}
		c := p.coefficient(n, e.Key+": free or a constant")
		if c <= 0 {
			p.Stop(n, "%s: constant %g: want a positive one, or free", e.Key, c)
		}
		m.pieces = []pieceSpec{{line: m.line, terms: []termSpec{{coef: c}}, noise: m.noise}}
		return m
	}

	// A mapping has the keys of one piece, or "pieces", with those of the whole model.
	f := p.Fields(e.Value, e.Key, "unit", "empty", "pieces", "when", "if", "terms", "free", "noise", "covariance")
	if f["unit"] != nil {
		m.flop = p.Choice(f["unit"], "unit", "s", "flop") == "flop"
		p.inFlop = m.flop
	}
	if f["empty"] != nil {
		p.empty(f["empty"], e.Key, &m)
	}
	if f["pieces"] == nil {
		p.addPiece(e.Value, f, e.Key, true, &m)
		return m
	}
	for _, key := range []string{"when", "if", "terms", "free", "covariance"} {
		if f[key] != nil {
			p.Stop(f[key], "%s: %q beside pieces: it belongs into one of them", e.Key, key)
		}
	}
	if f["noise"] != nil {
		m.noise = p.noiseOf(f["noise"], e.Key)
	}
	p.pieces(f["pieces"], e.Key, &m)
	return m
}

// empty parses "free", "charged" or the list of extents (a dimension, or a sum of dimensions, in parentheses or not)
// that make a call free when one of them is zero.
func (p *fileParser) empty(n ast.Node, what string, m *spec) {
	what += ": empty"
	if _, ok := n.(*ast.SequenceNode); !ok {
		text := p.Text(n, what)
		if text != "free" && text != "charged" {
			p.Stop(n, "%s: want free, charged, or a list of dimensions, found %q", what, text)
		}
		m.charged = text == "charged"
		return
	}
	for _, item := range p.Items(n, what) {
		text := p.Text(item, what)
		toks, err := tokens(text)
		p.Check(err, item, "%s: %w", what)
		if n := len(toks); n > 2 && toks[0] == "(" && toks[n-1] == ")" {
			toks = toks[1 : n-1]
		}
		s, rest := parseSum(toks)
		if s == nil || len(rest) > 0 {
			p.Stop(item, "%s: extent %q: want a dimension or a sum as in M0+M1", what, text)
		}
		m.extents = append(m.extents, s)
	}
	if len(m.extents) == 0 {
		p.Stop(n, "%s: empty list: want dimensions, or charged", what)
	}
}

// pieces parses a list of pieces into m.
func (p *fileParser) pieces(n ast.Node, what string, m *spec) {
	items := p.Items(n, what+": pieces")
	if len(items) == 0 {
		p.Stop(n, "%s: no pieces", what)
	}
	for i, item := range items {
		f := p.Fields(item, what, "when", "if", "terms", "free", "noise", "covariance")
		p.addPiece(item, f, what, i == len(items)-1, m)
	}
}

// addPiece parses one piece and appends it to m. The last piece of a model
// must hold for all dimensions, and no piece may follow one that always holds.
func (p *fileParser) addPiece(n ast.Node, f map[string]ast.Node, what string, last bool, m *spec) {
	c := pieceSpec{line: n.GetToken().Position.Line}
	if f["when"] != nil { // attributes, all of which a kernel must have
		for _, e := range p.Entries(f["when"], what+": when") {
			c.when = append(c.when, Attr{e.Key, p.Text(e.Value, what+": when "+e.Key)})
		}
	}
	if f["if"] != nil { // thresholds
		var err error
		c.conds, err = parseConditions(p.Text(f["if"], what+": if"))
		p.Check(err, f["if"], "%s: if: %w", what)
	}
	// The cost: terms, of which one at least is positive, or nothing. It is said either way, lest it be forgotten.
	switch terms, free := f["terms"], f["free"]; {
	case terms == nil && free == nil:
		p.Stop(n, "%s: no cost: want terms, or free: true", what)
	case terms != nil && free != nil:
		p.Stop(free, "%s: both terms and free", what)
	case terms != nil:
		c.terms = p.polynomial(terms, what+": terms")
		if !slices.ContainsFunc(c.terms, func(t termSpec) bool { return t.coef > 0 }) {
			p.Stop(terms, "%s: terms: no positive coefficient: nothing would ever cost time; say free if that is meant",
				what)
		}
	default:
		if b, ok := free.(*ast.BoolNode); !ok || !b.Value {
			p.Stop(free, "%s: free: want true, found %s", what, yamlfile.Describe(free))
		}
	}
	// Noise is that of the piece, else that of its model. A free piece has none.
	switch {
	case f["noise"] == nil && len(c.terms) > 0:
		c.noise = m.noise
	case f["noise"] == nil:
	case len(c.terms) == 0:
		p.Stop(f["noise"], "%s: noise of what is free", what)
	default:
		c.noise = p.noiseOf(f["noise"], what)
	}
	if f["covariance"] != nil {
		c.factor = p.covariance(f["covariance"], what, len(c.terms))
	}
	// A call must have a time whatever its dimensions: attributes may leave it to the next model, thresholds may not.
	always := len(c.when) == 0 && len(c.conds) == 0
	switch {
	case last && len(c.conds) != 0:
		p.Stop(f["if"], "%s: the last piece has thresholds: no time for other dimensions", what)
	case always && !last:
		p.Stop(n, "%s: piece without when and if is not the last: the next ones never hold", what)
	}
	m.pieces = append(m.pieces, c)
}

// noiseOf parses noise, whose standard deviation may be a polynomial.
// That is in the unit of the model, and of the dimensions of the call, as the cost itself.
func (p *fileParser) noiseOf(n ast.Node, what string) *noiseSpec {
	s := &noiseSpec{}
	s.law = p.Noise(n, what+": noise", func(n ast.Node, what string) { s.sd = p.polynomial(n, what) })
	return s
}

// polynomial parses a mapping from products to coefficients. Products that differ in the order of their
// factors alone are the same.
func (p *fileParser) polynomial(n ast.Node, what string) (terms []termSpec) {
	seen := map[string]string{}
	for _, e := range p.Entries(n, what) {
		product, err := parseProduct(e.Key)
		p.Check(err, e.Node, "%s: %w", what)
		coef := p.coefficient(e.Value, what+": "+e.Key)
		if other, ok := seen[product.normal()]; ok {
			p.Stop(e.Node, "%s: %s and %s are the same", what, other, e.Key)
		}
		seen[product.normal()] = e.Key
		terms = append(terms, termSpec{coef, product})
	}
	return terms
}

// coefficient parses the factor in front of a term of a polynomial, or a constant.
// Fits have negative coefficients as well: their size is bounded.
func (p *fileParser) coefficient(n ast.Node, what string) float64 {
	c := p.Number(n, what)
	allowed := bounds.Seconds
	if p.inFlop {
		allowed = bounds.Flop
	}
	p.Within(allowed, n, what, c)
	return c
}

// covariance parses the lower triangle of the covariance matrix of a piece's coefficients,
// a row for each term in their order: [[a], [b, c]]. It returns its Cholesky factor, by
// rows, the standard deviations of independent deviates in each coefficient.
func (p *fileParser) covariance(n ast.Node, what string, terms int) [][]float64 {
	what += ": covariance"
	if terms == 0 {
		p.Stop(n, "%s of what is free", what)
	}
	items := p.Items(n, what)
	if len(items) != terms {
		p.Stop(n, "%s: %d rows, want one for each of the %d terms", what, len(items), terms)
	}
	rows := make([][]float64, terms)
	for i, item := range items {
		cells := p.Items(item, what)
		if len(cells) != i+1 {
			p.Stop(item, "%s: %d numbers in row %d, want %d: the lower triangle", what, len(cells), i+1, i+1)
		}
		for _, cell := range cells {
			rows[i] = append(rows[i], p.Number(cell, what))
		}
		if rows[i][i] < 0 {
			p.Stop(item, "%s: variance %g of term %d is negative", what, rows[i][i], i+1)
		}
	}
	if !portable.Semidefinite(rows, rounding, 0, rounding) {
		p.Stop(n, "%s: not positive semi-definite: no coefficients vary so", what)
	}
	return rows
}

// rounding is how much of a variance may be rounding: matrices are written with few digits.
const rounding = 1e-6
