package hosts

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"reprise/calibrate"
	"reprise/internal/sniff"
	"reprise/internal/yamlfile"
)

// formatVersion is the version of the file format.
const formatVersion = 1

// Parse reads a machine model (docs/calibrate.md). name stands for the file in
// messages. Errors begin with name:line.
func Parse(r io.Reader, name string) (*Model, error) {
	// A file of another format is called by its name.
	head, p := sniff.Remember(r), parser{Document: yamlfile.Document{File: name}}
	root, err := p.Read(head)
	if err != nil {
		return nil, head.Instead(err, name, sniff.YAML)
	}
	m := p.model(root)
	if p.err != nil {
		return nil, head.Instead(p.err, name, sniff.YAML)
	}
	return m, nil
}

// parser reads the nodes of a machine model. err is its first error, with the line of the node; the methods read
// nothing any more behind it, and return zero values.
type parser struct {
	yamlfile.Document
	err error
}

// model reads the whole file. Its parts are checked one by one, so that each error has the line of its part.
func (p *parser) model(root ast.Node) *Model {
	f := p.fields(root, "machine model", []string{"version", "unit", "per", "variables", "classes"},
		"description", "source", "cpus_per_host", "noise_shape")

	// The scalars at the top of the file, some of which may be left out.
	p.integer(f["version"], "version", formatVersion, formatVersion)
	p.choice(f["unit"], "unit", "s")
	m := &Model{
		PerCPU:      p.choice(f["per"], "per", "host", "cpu") == "cpu",
		Description: read(p, p.Text, f["description"], "description"),
		Source:      read(p, p.Text, f["source"], "source"),
		Shape:       cmp.Or(p.choice(f["noise_shape"], "noise_shape", HalfNormal, Normal), HalfNormal),
		CPUsPerHost: cmp.Or(p.integer(f["cpus_per_host"], "cpus_per_host", 1, maxCPUs), 1),
	}
	p.check(f["cpus_per_host"], m.validateHead())

	// Variables are {kernel: dgemm, term: M*N*K} or {kernel: dgemm, noise: M*N*K}: the key says of which of both, of the
	// time or of the noise, the term is a part.
	for _, n := range read(p, p.Items, f["variables"], "variables") {
		f := p.fields(n, "variables", nil, "kernel", "term", "noise")
		if p.err == nil && (f["kernel"] == nil || (f["term"] == nil) == (f["noise"] == nil)) {
			p.err = p.Errorf(n, "variables: want kernel, and one of term and noise")
		}
		m.Variables = append(m.Variables, Variable{
			Kernel: read(p, p.Text, f["kernel"], "variables: kernel"),
			Term:   cmp.Or(read(p, p.Text, f["term"], "variables: term"), read(p, p.Text, f["noise"], "variables: term")),
			Noise:  f["noise"] != nil,
		})
	}
	p.check(f["variables"], checkVariables(m.Variables))

	for _, n := range read(p, p.Items, f["classes"], "classes") {
		f := p.fields(n, "classes", []string{"name", "weight", "mean", "spatial", "temporal"})
		c := Class{
			Name:     read(p, p.Text, f["name"], "classes: name"),
			Weight:   read(p, p.Number, f["weight"], "classes: weight"),
			Mean:     p.numbers(f["mean"], "classes: mean"),
			Spatial:  p.matrix(f["spatial"], "classes: spatial"),
			Temporal: p.matrix(f["temporal"], "classes: temporal"),
		}
		p.check(n, c.validate(m.Variables))
		m.Classes = append(m.Classes, c)
	}
	// The parts are valid: names and weights of the classes remain.
	p.check(f["classes"], m.Validate())
	return m
}

// read calls one of the methods of the document, unless there was an error. A key that the file does not have has no
// node, and the zero value; fields refuses it where it is needed.
func read[T any](p *parser, f func(ast.Node, string) (T, error), n ast.Node, what string) (v T) {
	if p.err == nil && n != nil {
		v, p.err = f(n, what)
	}
	return v
}

// check takes over an error of the model, as one in the line of n.
func (p *parser) check(n ast.Node, err error) {
	if p.err == nil && err != nil {
		p.err = p.Errorf(n, "machine model: %w", err)
	}
}

// fields returns the values of a mapping by key, which must have the needed keys and may have the others.
func (p *parser) fields(n ast.Node, what string, needed []string, others ...string) map[string]ast.Node {
	f := read(p, func(n ast.Node, what string) (map[string]ast.Node, error) {
		return p.Fields(n, what, slices.Concat(needed, others)...)
	}, n, what)
	for _, key := range needed {
		if p.err == nil && f[key] == nil {
			p.err = p.Errorf(n, "%s: no key %q", what, key)
		}
	}
	return f
}

// integer returns the whole number in [lo, hi] that n stands for.
func (p *parser) integer(n ast.Node, what string, lo, hi int) int {
	return read(p, func(n ast.Node, what string) (int, error) { return p.Integer(n, what, lo, hi) }, n, what)
}

// choice returns the text of n, which must be one of the given ones.
func (p *parser) choice(n ast.Node, what string, allowed ...string) string {
	text := read(p, p.Text, n, what)
	if p.err == nil && n != nil && !slices.Contains(allowed, text) {
		p.err = p.Errorf(n, "%s: want %s, found %s", what, strings.Join(allowed, " or "), yamlfile.Quote(text))
	}
	return text
}

// numbers returns a list of numbers, whose length the model checks.
func (p *parser) numbers(n ast.Node, what string) (list []float64) {
	for _, item := range read(p, p.Items, n, what) {
		list = append(list, read(p, p.Number, item, what))
	}
	return list
}

// matrix returns a list of rows, whose lengths the model checks.
func (p *parser) matrix(n ast.Node, what string) (m [][]float64) {
	for i, item := range read(p, p.Items, n, what) {
		m = append(m, p.numbers(item, fmt.Sprintf("%s: row %d", what, i+1)))
	}
	return m
}

// WriteYAML writes the model; Parse reads the same numbers again.
func (m *Model) WriteYAML(w io.Writer) error {
	if err := m.Validate(); err != nil {
		return err
	}
	var b strings.Builder
	// The lines stand in the order in which docs/calibrate.md explains them.
	fmt.Fprintf(&b, "version: %d\n", formatVersion)
	writeTexts(&b, m.Description, m.Source)
	b.WriteString("unit: s # per unit of the term; covariances: the square of it\n")
	if m.PerCPU {
		fmt.Fprintf(&b, "per: cpu\ncpus_per_host: %d\n", m.CPUsPerHost)
	} else {
		b.WriteString("per: host\n")
	}
	// Numbers are written with all digits.
	fmt.Fprintf(&b, "noise_shape: %s\nvariables:\n", m.Shape)
	for _, v := range m.Variables {
		key := "term"
		if v.Noise {
			key = "noise"
		}
		fmt.Fprintf(&b, "  - {kernel: %s, %s: %s}\n", v.Kernel, key, v.Term)
	}
	b.WriteString("classes:\n")
	// Covariances have a row on each line, with all numbers of it: they are symmetric, and read as such.
	for i := range m.Classes {
		c := &m.Classes[i]
		fmt.Fprintf(&b, "  - name: %s\n    weight: %s\n    mean: %s\n", strconv.Quote(c.Name),
			calibrate.FormatNumber(c.Weight), row(c.Mean))
		for _, s := range []struct {
			head       string
			covariance [][]float64
		}{{"spatial: # covariance between %ss", c.Spatial}, {"temporal: # covariance between the days of a %s", c.Temporal}} {
			fmt.Fprintf(&b, "    "+s.head+"\n", m.unit())
			for _, r := range s.covariance {
				fmt.Fprintf(&b, "      - %s\n", row(r))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeTexts writes the texts that are not empty.
func writeTexts(b *strings.Builder, description, source string) {
	for _, text := range []struct{ key, value string }{{"description", description}, {"source", source}} {
		if text.value != "" {
			fmt.Fprintf(b, "%s: %s\n", text.key, strconv.Quote(text.value))
		}
	}
}

// row returns a list of numbers in brackets.
func row(list []float64) string {
	var texts []string
	for _, x := range list {
		texts = append(texts, calibrate.FormatNumber(x))
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
