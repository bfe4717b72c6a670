package hosts

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
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

// Load reads the model in the file at path.
func Load(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	m, err := Parse(f, path)
	return m, errors.Join(err, f.Close())
}

// Parse reads a machine model (docs/calibrate.md). name stands for the file in
// messages. Errors begin with name:line.
func Parse(r io.Reader, name string) (*Model, error) {
	// A file of another format is called by its name.
	head, p := sniff.Remember(r), parser{yamlfile.Document{File: name}}
	var m *Model
	root, err := p.Read(head)
	if err == nil {
		m, err = p.model(root)
	}
	return m, head.Instead(err, name, sniff.YAML)
}

// parser reads the nodes of a machine model. Its methods return errors with the line of the node.
type parser struct{ yamlfile.Document }

func (p *parser) model(root ast.Node) (*Model, error) {
	f, err := p.fields(root, "machine model", []string{"version", "unit", "per", "variables", "classes"},
		"description", "source", "cpus_per_host", "noise_shape")
	if err != nil {
		return nil, err
	}

	// The scalars at the top of the file.
	// Keys that may be left out have these values.
	m := &Model{CPUsPerHost: 1, Shape: HalfNormal}
	if _, err := p.Integer(f["version"], "version", formatVersion, formatVersion); err != nil {
		return nil, err
	}
	if _, err := p.choice(f["unit"], "unit", "s"); err != nil {
		return nil, err
	}
	per, err := p.choice(f["per"], "per", "host", "cpu")
	if err != nil {
		return nil, err
	}
	m.PerCPU = per == "cpu"
	for _, text := range []struct {
		key string
		to  *string
	}{{"description", &m.Description}, {"source", &m.Source}} {
		if n := f[text.key]; n != nil {
			if *text.to, err = p.Text(n, text.key); err != nil {
				return nil, err
			}
		}
	}
	if n := f["noise_shape"]; n != nil {
		if m.Shape, err = p.choice(n, "noise_shape", HalfNormal, Normal); err != nil {
			return nil, err
		}
	}
	if n := f["cpus_per_host"]; n != nil {
		if m.CPUsPerHost, err = p.Integer(n, "cpus_per_host", 1, maxCPUs); err != nil {
			return nil, err
		}
	}
	if err := m.validateHead(); err != nil {
		return nil, p.Errorf(f["cpus_per_host"], "machine model: %w", err)
	}

	// Variables are {kernel: dgemm, term: M*N*K} or {kernel: dgemm, noise: M*N*K}.
	items, err := p.Items(f["variables"], "variables")
	if err != nil {
		return nil, err
	}
	for _, n := range items {
		f, err := p.Fields(n, "variables", "kernel", "term", "noise")
		if err != nil {
			return nil, err
		}
		if f["kernel"] == nil || (f["term"] == nil) == (f["noise"] == nil) {
			return nil, p.Errorf(n, "variables: want kernel, and one of term and noise")
		}
		var v Variable
		if v.Kernel, err = p.Text(f["kernel"], "variables: kernel"); err != nil {
			return nil, err
		}
		// The key says of which of both the term is a part.
		term := f["term"]
		if v.Noise = term == nil; v.Noise {
			term = f["noise"]
		}
		if v.Term, err = p.Text(term, "variables: term"); err != nil {
			return nil, err
		}
		m.Variables = append(m.Variables, v)
	}
	if err := checkVariables(m.Variables); err != nil {
		return nil, p.Errorf(f["variables"], "machine model: %w", err)
	}

	if items, err = p.Items(f["classes"], "classes"); err != nil {
		return nil, err
	}
	for _, n := range items {
		f, err := p.fields(n, "classes", []string{"name", "weight", "mean", "spatial", "temporal"})
		if err != nil {
			return nil, err
		}
		var c Class
		// Of several errors the first one in the order of the keys is reported.
		var errs [5]error
		c.Name, errs[0] = p.Text(f["name"], "classes: name")
		c.Weight, errs[1] = p.Number(f["weight"], "classes: weight")
		c.Mean, errs[2] = p.numbers(f["mean"], "classes: mean")
		c.Spatial, errs[3] = p.matrix(f["spatial"], "classes: spatial")
		c.Temporal, errs[4] = p.matrix(f["temporal"], "classes: temporal")
		if err := cmp.Or(errs[:]...); err != nil {
			return nil, err
		}
		if err := c.validate(m.Variables); err != nil {
			return nil, p.Errorf(n, "machine model: %w", err)
		}
		m.Classes = append(m.Classes, c)
	}
	// The parts are valid: names and weights of the classes remain.
	if err := m.Validate(); err != nil {
		return nil, p.Errorf(f["classes"], "machine model: %w", err)
	}
	return m, nil
}

// fields returns the values of a mapping by key, which must have the needed keys and may have the others.
func (p *parser) fields(n ast.Node, what string, needed []string, others ...string) (map[string]ast.Node, error) {
	f, err := p.Fields(n, what, slices.Concat(needed, others)...)
	if err != nil {
		return nil, err
	}
	for _, key := range needed {
		if f[key] == nil {
			return nil, p.Errorf(n, "%s: no key %q", what, key)
		}
	}
	return f, nil
}

// choice returns the text of n, which must be one of the given ones.
func (p *parser) choice(n ast.Node, what string, allowed ...string) (string, error) {
	text, err := p.Text(n, what)
	if err != nil {
		return "", err
	}
	if slices.Contains(allowed, text) {
		return text, nil
	}
	return "", p.Errorf(n, "%s: want %s, found %s", what, strings.Join(allowed, " or "), yamlfile.Quote(text))
}

// numbers returns a list of numbers.
func (p *parser) numbers(n ast.Node, what string) ([]float64, error) {
	items, err := p.Items(n, what)
	if err != nil {
		return nil, err
	}
	// The model knows how many there must be.
	list := make([]float64, len(items))
	for i, item := range items {
		if list[i], err = p.Number(item, what); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// matrix returns a list of rows, whose lengths the model checks.
func (p *parser) matrix(n ast.Node, what string) ([][]float64, error) {
	items, err := p.Items(n, what)
	if err != nil {
		return nil, err
	}
	m := make([][]float64, len(items))
	for i, item := range items {
		if m[i], err = p.numbers(item, fmt.Sprintf("%s: row %d", what, i+1)); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// WriteYAML writes the model; Parse reads the same numbers again.
func (m *Model) WriteYAML(w io.Writer) error {
	if err := m.Validate(); err != nil {
		return err
	}
	var b strings.Builder
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
	for i := range m.Classes {
		c := &m.Classes[i]
		fmt.Fprintf(&b, "  - name: %s\n    weight: %s\n    mean: %s\n", strconv.Quote(c.Name),
			calibrate.FormatNumber(c.Weight), row(c.Mean))
		for _, s := range []struct {
			key, what string
			m         [][]float64
		}{{"spatial", "between " + m.unit() + "s", c.Spatial}, {"temporal", "between the days of a " +
			"" + m.unit(), c.Temporal}} {
			fmt.Fprintf(&b, "    %s: # covariance %s\n", s.key, s.what)
			for _, r := range s.m {
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
