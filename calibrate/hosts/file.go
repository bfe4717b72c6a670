package hosts

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"reprise/calibrate"
	"reprise/internal/sniff"
	"reprise/internal/textutil"
	"reprise/internal/yamlfile"
)

// This file reads and writes the file of a machine model: Parse, Model.WriteYAML.

// Parse reads a machine model (docs/calibrate.md). name stands for the file in messages. Errors begin with name:line.
func Parse(r io.Reader, name string) (m *Model, err error) {
	// A file of another format is called by its name.
	head := sniff.Remember(r)
	defer func() { err = head.Instead(err, name, sniff.YAML) }()
	defer textutil.Stopped(&err)
	p := parser{yamlfile.Document{File: name}}
	root := textutil.Must(p.Read(head))
	f := p.Fields(root, "machine model", "version!", "unit!", "per!", "variables!", "classes!",
		"description", "source", "cpus_per_host", "noise_shape")

	// The scalars at the top of the file, some of which may be left out. Each part is checked by
	// itself, so that an error has the line of its part.
	p.Head(f, "s")
	model := &Model{
		PerCPU:      p.Choice(f["per"], "per", "host", "cpu") == "cpu",
		Description: p.text(f["description"], "description"),
		Source:      p.text(f["source"], "source"),
		Shape:       cmp.Or(p.Choice(f["noise_shape"], "noise_shape", HalfNormal, Normal), HalfNormal),
		CPUsPerHost: 1,
	}
	if n := f["cpus_per_host"]; n != nil {
		model.CPUsPerHost = p.Integer(n, "cpus_per_host", 1, maxCPUs)
	}
	p.check(f["cpus_per_host"], model.validateHead())

	// Variables are {kernel: dgemm, term: M*N*K} or {kernel: dgemm, noise: M*N*K}: the key says of
	// which of both, of the time or of the noise, the term is a part.
	for _, n := range p.Items(f["variables"], "variables") {
		f := p.Fields(n, "variables", "kernel", "term", "noise")
		if f["kernel"] == nil || (f["term"] == nil) == (f["noise"] == nil) {
			p.Stop(n, "variables: want kernel, and one of term and noise")
		}
		model.Variables = append(model.Variables, Variable{
			Kernel: p.text(f["kernel"], "variables: kernel"),
			Term:   p.text(cmp.Or(f["term"], f["noise"]), "variables: term"),
			Noise:  f["noise"] != nil,
		})
	}
	p.check(f["variables"], checkVariables(model.Variables))

	for _, n := range p.Items(f["classes"], "classes") {
		f := p.Fields(n, "classes", "name!", "weight!", "mean!", "spatial!", "temporal!")
		c := Class{
			Name:     p.text(f["name"], "classes: name"),
			Weight:   p.Number(f["weight"], "classes: weight"),
			Mean:     p.numbers(f["mean"], "classes: mean"),
			Spatial:  p.matrix(f["spatial"], "classes: spatial"),
			Temporal: p.matrix(f["temporal"], "classes: temporal"),
		}
		p.check(n, c.validate(model.Variables))
		model.Classes = append(model.Classes, c)
	}
	// The parts are valid: names and weights of the classes remain.
	p.check(f["classes"], model.Validate())
	return model, nil
}

// parser reads the nodes of a machine model. The first error, with the line of its node, ends the
// reading (textutil.Stop).
type parser struct{ yamlfile.Document }

// check ends the reading at an error of the model, as one in the line of n.
func (p *parser) check(n ast.Node, err error) { p.Check(err, n, "machine model: %w") }

// text returns the text of a key, "" if the file does not have it.
func (p *parser) text(n ast.Node, what string) string {
	if n == nil {
		return ""
	}
	return p.Text(n, what)
}

// numbers returns a list of numbers, whose length the model checks.
func (p *parser) numbers(n ast.Node, what string) (list []float64) {
	for _, item := range p.Items(n, what) {
		list = append(list, p.Number(item, what))
	}
	return list
}

// matrix returns a list of rows, whose lengths the model checks.
func (p *parser) matrix(n ast.Node, what string) (m [][]float64) {
	for i, item := range p.Items(n, what) {
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
	b.WriteString("version: 1\n")
	calibrate.WriteTexts(&b, m.Description, m.Source)
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
			calibrate.FormatNumber(c.Weight), calibrate.FormatNumbers(c.Mean))
		for _, s := range []struct {
			head       string
			covariance [][]float64
		}{{"spatial: # covariance between %ss", c.Spatial}, {"temporal: # covariance between the days of a %s", c.Temporal}} {
			fmt.Fprintf(&b, "    "+s.head+"\n", m.unit())
			for _, r := range s.covariance {
				fmt.Fprintf(&b, "      - %s\n", calibrate.FormatNumbers(r))
			}
		}
	}
	return textutil.Write(w, b.String())
}
