package study

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"reprise/internal/regular"
	"reprise/internal/sniff"
	"reprise/internal/textutil"
	"reprise/internal/yamlfile"
	"reprise/platforms/machines"
	"reprise/replay"
	"reprise/tracegen/programs"
)

// Limits of a study.
const (
	MaxRuns   = 1 << 18
	MaxLevels = 1 << 16
	maxCells  = 1 << 24 // levels in all rows of a design
)

// Load reads the file of a study; see docs/studies.md. Names of files in it are looked for
// where it is, then in the working directory.
func Load(path string) (*Study, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Parse(f, path)
}

// Parse is Load for the text of a file of that name.
func Parse(r io.Reader, name string) (*Study, error) {
	head := sniff.Remember(r)
	p := &parser{Document: yamlfile.Document{File: name}, study: &Study{File: name, Seeds: []uint64{1}},
		ranges: map[string]span{}, saidBy: map[string]string{}}
	root, err := p.Read(head)
	if err == nil {
		err = p.file(root)
	}
	if err != nil {
		return nil, head.Instead(err, name, sniff.YAML)
	}
	return p.study, nil
}

// parser is a file that is being read.
type parser struct {
	yamlfile.Document
	study *Study

	factors ast.Node // nil: none
	design  ast.Node
	ranges  map[string]span   // of factors of a Latin hypercube
	popAt   ast.Node          // where POP's efficiencies are asked for
	saidBy  map[string]string // the key that sets something for all runs
}

// file reads the file's keys, in any order, and then what needs all of them.
func (p *parser) file(root ast.Node) error {
	entries, err := p.Entries(root, "study")
	if err != nil {
		return err
	}
	for _, e := range entries { // parameters are those of the program
		if e.Key == "program" {
			if err := p.readProgram(e.Value); err != nil {
				return err
			}
		}
	}
	if p.study.program == nil {
		return p.Errorf(root, "study: program is missing: want program: %s, or the file of a trace", programNames())
	}
	for _, e := range entries {
		if err := p.key(e); err != nil {
			return err
		}
	}
	if p.factors != nil {
		if err := p.readFactors(p.factors); err != nil {
			return err
		}
	}
	if err := p.makeRows(root); err != nil {
		return err
	}
	if err := p.checkFactors(root); err != nil {
		return err
	}
	if p.study.Responses.POP && p.study.Tolerance > 0 {
		return p.Errorf(p.popAt, "responses: %s is of exact replays: want tolerance: exact, or leave it out", responsePOP)
	}
	return p.checkSize(root)
}

// key reads one key.
func (p *parser) key(e yamlfile.Entry) error {
	if e.Key == p.study.program.DatName && p.study.program.ReadDat != nil {
		return p.readDat(e.Value)
	}
	switch e.Key {
	case "program":
		return nil
	case "parameters":
		return p.parameters(e.Value)
	case "options":
		return p.options(e.Value)
	case "factors":
		p.factors = e.Value
		return nil
	case "design":
		p.design = e.Value
		return nil
	case "tolerance":
		return p.tolerance(e.Value)
	case "seed":
		return p.seeds(e.Value)
	case "responses":
		return p.responses(e.Value)
	}
	if !OfMachine(e.Key) {
		return p.Errorf(e.Node, "study: unknown key %s: want program, parameters, hpl-dat, factors, design, tolerance, seed, responses, options, or of the machine and the replay %s", yamlfile.Quote(e.Key), strings.Join(machineNames(), ", "))
	}
	text, err := p.Text(e.Value, e.Key)
	if err != nil {
		return err
	}
	return p.fix(e.Value, e.Key, text)
}

// readProgram reads the name of a program, or of the file of a trace.
func (p *parser) readProgram(n ast.Node) error {
	s := p.study
	var err error
	if s.Program, err = p.Text(n, "program"); err != nil {
		return err
	}
	if s.program = programs.Find(s.Program); s.program != nil {
		return nil
	}
	in := &Input{Word: "trace", Name: s.Program, at: s.find(s.Program)}
	if _, err := os.Stat(in.at); err != nil {
		return p.Errorf(n, "program: %s, want %s, or the file of a trace", yamlfile.Quote(s.Program), programNames())
	}
	if err = in.readFile(); err == nil {
		s.trace = in
		s.program, err = programs.File(s.Program, in.text)
	}
	if err != nil {
		return p.Errorf(n, "program: %w", err)
	}
	return nil
}

func programNames() string {
	var names []string
	for _, p := range programs.All() {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// fix adds what all runs have.
func (p *parser) fix(n ast.Node, name, value string) error {
	list, err := p.set(n, name, value)
	if err != nil {
		return err
	}
	if err := p.say(p.saidBy, n, name, list); err != nil {
		return err
	}
	p.study.Fixed = append(p.study.Fixed, list...)
	return nil
}

// set checks a setting, and returns it with files by the names that they have in the study's file,
// which are the same wherever that is read from.
func (p *parser) set(n ast.Node, name, value string) ([]Setting, error) {
	if err := p.study.known(name); err != nil {
		return nil, p.Errorf(n, "%w", err)
	}
	s, found := Setting{name, value}, value
	if of := replay.FindParameter(name); of != nil && of.File {
		found = p.study.find(value)
	}
	switch {
	case name == "machine" && regular.IsFile(found): // of a platform, with the kernel models that it has by itself
		return p.set(n, "platform", value)
	case name == "machine":
		platform, kernels, err := machines.Find(found)
		if err == nil && kernels == "" && p.study.trace == nil {
			err = fmt.Errorf("%s has no %s, and %s calls kernels: name its %s, and kernels beside it", value,
				machines.KernelsFile, p.study.program.Title, machines.PlatformFile)
		}
		if err != nil {
			return nil, p.Errorf(n, "machine: %w", err)
		}
		if kernels == "" {
			return p.set(n, "platform", written(platform, found, value))
		}
		return []Setting{{"platform", written(platform, found, value)}, {"kernels", written(kernels, found, value)}}, nil
	}
	if err := p.study.parameters.set(&replay.MachineSpec{}, new(string), s); err != nil {
		return nil, p.Errorf(n, "%w", err)
	}
	if name == "platform" {
		return []Setting{s, {ownKernels, kernelsOf(s.Value, found)}}, nil
	}
	return []Setting{s}, nil
}

// parameters reads those of the program that all runs have.
func (p *parser) parameters(n ast.Node) error {
	entries, err := p.Entries(n, "parameters")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if OfMachine(e.Key) && p.study.ofProgram(e.Key) == nil {
			return p.Errorf(e.Node, "parameters: %s is of the machine: put it beside parameters", e.Key)
		}
		name := e.Key
		if seed := p.study.program.SeedName; name == "seed" && seed != "" { // replay's stands beside parameters
			name = seed
		}
		text, err := p.Text(e.Value, e.Key)
		if err == nil {
			err = p.fix(e.Value, name, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// options reads simulator options that all runs have.
func (p *parser) options(n ast.Node) error {
	entries, err := p.Entries(n, "options")
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := p.Text(e.Value, e.Key)
		if err == nil && !strings.Contains(e.Key, "/") {
			err = p.Errorf(e.Node, "options: %s is no simulator option: these have names as smpi/iprobe", yamlfile.Quote(e.Key))
		}
		if err == nil {
			err = p.fix(e.Value, e.Key, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxDat bounds an input file of a program, in bytes.
const maxDat = 1 << 20

// readDat makes the lists of a program's input file factors, and what has one value a parameter.
func (p *parser) readDat(n ast.Node) error {
	key := p.study.program.DatName
	name, err := p.Text(n, key)
	if err != nil {
		return err
	}
	text, err := regular.Read(p.study.find(name), maxDat)
	if err != nil {
		return p.Errorf(n, "%s: %w", key, err)
	}
	lists, err := p.study.program.ReadDat(text, name)
	if err != nil {
		return err
	}
	for _, list := range lists {
		f, known := Factor{Name: strings.Join(list.Names, "x")}, map[string]bool{}
		for _, values := range list.Values {
			l := Level{Label: strings.Join(values, "x")}
			for i, v := range values {
				l.Settings = append(l.Settings, Setting{list.Names[i], v})
			}
			if known[l.Label] { // labels are values as the program reads them
				return p.Errorf(n, "%s: %s: %s has the value %s twice", key, name, f.Name, l.Label)
			}
			known[l.Label] = true
			f.Levels = append(f.Levels, l)
		}
		if err := p.say(p.saidBy, n, key, f.Levels[0].Settings); err != nil {
			return err
		}
		if len(f.Levels) == 1 {
			p.study.Fixed = append(p.study.Fixed, f.Levels[0].Settings...)
			continue
		}
		p.study.Factors = append(p.study.Factors, f)
	}
	return nil
}

// tolerance reads "exact", or a percentage.
func (p *parser) tolerance(n ast.Node) error {
	text, err := p.Text(n, "tolerance")
	if err != nil || text == "exact" {
		return err
	}
	if p.study.Tolerance, err = textutil.ParsePercent(text, "the makespan", false); err != nil {
		return p.Errorf(n, "tolerance: %w; or exact", err)
	}
	return nil
}

// responses reads what is found out of each run.
func (p *parser) responses(n ast.Node) error {
	items, err := p.Items(n, "responses")
	if err != nil {
		return err
	}
	r := &p.study.Responses
	for _, item := range items {
		text, err := p.Text(item, "responses")
		if err != nil {
			return err
		}
		switch text {
		case responsePath:
			r.CriticalPath = true
		case responsePOP:
			r.POP, p.popAt = true, item
		default:
			return p.Errorf(item, "responses: %s, want %s or %s", yamlfile.Quote(text), responsePath, responsePOP)
		}
	}
	return nil
}

// seeds reads one seed, a list, or a range as 1..10.
func (p *parser) seeds(n ast.Node) error {
	nodes := []ast.Node{n}
	if _, list := n.(*ast.SequenceNode); list {
		var err error
		if nodes, err = p.Items(n, "seed"); err != nil {
			return err
		}
	}
	p.study.Seeds = nil
	known := map[uint64]bool{}
	for _, item := range nodes {
		text, err := p.Text(item, "seed")
		if err != nil {
			return err
		}
		first, last, isRange := strings.Cut(text, "..")
		if !isRange {
			last = first
		}
		a, err1 := strconv.ParseUint(first, 10, 64)
		b, err2 := strconv.ParseUint(last, 10, 64)
		if err1 != nil || err2 != nil || b < a || b-a >= MaxRuns {
			return p.Errorf(item, "seed: %s, want a number of at least 0, or a range such as 1..10", yamlfile.Quote(text))
		}
		for s := a; len(p.study.Seeds) < MaxRuns && s-a <= b-a; s++ {
			if known[s] {
				return p.Errorf(item, "seed: %d is there twice", s)
			}
			known[s] = true
			p.study.Seeds = append(p.study.Seeds, s)
		}
	}
	if len(p.study.Seeds) == 0 {
		return p.Errorf(n, "seed: want one or more")
	}
	return nil
}

// checkSize refuses what nobody can have meant.
func (p *parser) checkSize(root ast.Node) error {
	s := p.study
	if len(s.Rows) > MaxRuns/len(s.Seeds) {
		return p.Errorf(root, "design: %d configurations with %d seeds are more than %d runs", len(s.Rows), len(s.Seeds),
			MaxRuns)
	}
	return nil
}
