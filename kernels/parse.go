package kernels

import (
	"cmp"
	"io"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"reprise/internal/namepattern"
	"reprise/internal/recognise"
	"reprise/internal/yamlfile"
)

// formatVersion is the version of the file format that this package reads.
const formatVersion = 1

// maxCPUs is the largest cpus_per_host.
const maxCPUs = 1 << 16

// rule says that kernels whose name matches use a model.
type rule struct {
	pattern namepattern.Pattern
	model   spec
}

// override holds the rules of the hosts that match.
type override struct {
	host  namepattern.Pattern
	cpu   int // index of the CPU of the host, or anyCPU
	rules []rule
}

const anyCPU = -1

// Parse reads a kernel file. name stands for the file in messages. Errors
// begin with name:line and say what was found and what is allowed. Files are
// limited to 4 MiB.
func Parse(r io.Reader, name string) (*Set, error) {
	head := recognise.Remember(r)
	s, err := parse(head, name)
	return s, head.Instead(err, name, recognise.YAML)
}

func parse(r io.Reader, name string) (*Set, error) {
	p := fileParser{Document: yamlfile.Document{File: name}}
	root, err := p.Read(r)
	if err != nil {
		return nil, err
	}
	base, overrides, err := p.file(root)
	if err != nil {
		return nil, err
	}
	s := newSet(name, p.cpusPerHost, base, overrides)
	s.scatter = p.scatter
	return s, nil
}

// fileParser turns nodes into rules.
type fileParser struct {
	yamlfile.Document
	flop        bool // the file's unit
	cpusPerHost int
	scatter     float64
	noise       *noiseSpec // of models that say nothing about it; nil: none
	inFlop      bool       // coefficients of the model that is read are in flop, not seconds
}

// file parses the root of the document.
func (p *fileParser) file(root ast.Node) (base []rule, overrides []override, err error) {
	f, err := p.Fields(root, "kernel file", "version", "description", "source", "unit", "cpus_per_host", "noise", "host_scatter", "kernels", "hosts")
	if err != nil {
		return nil, nil, err
	}
	for _, key := range []string{"version", "unit", "kernels"} {
		if f[key] == nil {
			return nil, nil, p.Errorf(root, "kernel file: no key %q", key)
		}
	}
	if err := p.header(f); err != nil {
		return nil, nil, err
	}
	if base, err = p.rules(f["kernels"]); err != nil {
		return nil, nil, err
	}
	if f["hosts"] != nil {
		overrides, err = p.overrides(f["hosts"])
	}
	return base, overrides, err
}

// header parses the scalars at the top of the file.
func (p *fileParser) header(f map[string]ast.Node) (err error) {
	if _, err := p.Integer(f["version"], "version", formatVersion, formatVersion); err != nil {
		return err
	}
	for _, key := range []string{"description", "source"} {
		if f[key] != nil {
			if _, err := p.Text(f[key], key); err != nil {
				return err
			}
		}
	}
	if p.flop, err = p.unit(f["unit"]); err != nil {
		return err
	}
	p.cpusPerHost = 1
	if n := f["cpus_per_host"]; n != nil {
		if p.cpusPerHost, err = p.Integer(n, "cpus_per_host", 1, maxCPUs); err != nil {
			return err
		}
	}
	if n := f["host_scatter"]; n != nil {
		sd, err := p.Deviation(n, "host_scatter")
		if err != nil {
			return err
		}
		if sd.Fixed != 0 || sd.Relative > maxScatter {
			return p.Errorf(n, "host_scatter: want a percentage of at most %g%%, found %s", 100*maxScatter, yamlfile.Describe(n))
		}
		p.scatter = sd.Relative
	}
	if n := f["noise"]; n != nil {
		return p.noiseOfAll(n)
	}
	return nil
}

// maxScatter bounds host_scatter: hosts that differ more are of several kinds.
const maxScatter = 0.2

// noiseOfAll parses the noise of all models that have none of their own.
func (p *fileParser) noiseOfAll(n ast.Node) error {
	l, err := p.Noise(n, "noise", nil)
	if err == nil && !l.IsRelative() {
		err = p.Errorf(n, "noise: of all kernels it can only be in percent of their times, such as 3%%")
	}
	p.noise = &noiseSpec{law: l}
	return err
}

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
		pat, err := namepattern.Parse(e.Key)
		if err != nil {
			return nil, p.Errorf(e.Node, "kernels: %w", err)
		}
		model, err := p.model(e)
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule{pat, model})
	}
	slices.SortStableFunc(rules, func(a, b rule) int { return cmp.Compare(b.pattern.Specificity(), a.pattern.Specificity()) })
	return rules, nil
}

// overrides parses the list of host-dependent rules.
func (p *fileParser) overrides(n ast.Node) ([]override, error) {
	items, err := p.Items(n, "hosts")
	if err != nil {
		return nil, err
	}
	list := make([]override, 0, len(items))
	for _, item := range items {
		o, err := p.override(item)
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

func (p *fileParser) override(n ast.Node) (o override, err error) {
	f, err := p.Fields(n, "hosts", "host", "cpu", "kernels")
	if err != nil {
		return o, err
	}
	for _, key := range []string{"host", "kernels"} {
		if f[key] == nil {
			return o, p.Errorf(n, "hosts: no key %q", key)
		}
	}
	text, err := p.Text(f["host"], "hosts: host")
	if err != nil {
		return o, err
	}
	if o.host, err = namepattern.Parse(text); err != nil {
		return o, p.Errorf(f["host"], "hosts: host: %w", err)
	}
	o.cpu = anyCPU
	if f["cpu"] != nil {
		if o.cpu, err = p.Integer(f["cpu"], "hosts: cpu (less than cpus_per_host)", 0, p.cpusPerHost-1); err != nil {
			return o, err
		}
	}
	o.rules, err = p.rules(f["kernels"])
	return o, err
}
