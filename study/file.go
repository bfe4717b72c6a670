package study

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"

	"reprise/internal/regular"
	"reprise/internal/sniff"
	"reprise/internal/textutil"
	"reprise/internal/yamlfile"
	"reprise/platforms/machines"
	"reprise/replay"
	"reprise/tracegen/programs"
)

// This file reads the file of a study: Load. rows.go reads its design.

// Limits of a study.
const (
	MaxRuns   = 1 << 18
	MaxLevels = 1 << 16 // of a factor
	maxCells  = 1 << 24 // levels in all rows of a design
	maxDat    = 1 << 20 // bytes of an input file of a program
)

// Load reads the file of a study; see docs/studies.md. Names of files in it are looked for where
// it is, then in the working directory.
func Load(path string) (*Study, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Parse(f, path)
}

// Parse is Load for the text of a file of that name.
func Parse(r io.Reader, name string) (s *Study, err error) {
	head := sniff.Remember(r)
	defer func() {
		if err != nil {
			err = head.Instead(err, name, sniff.YAML)
		}
	}()
	defer textutil.Stopped(&err)
	p := &parser{Document: yamlfile.Document{File: name}, study: &Study{File: name, Seeds: []uint64{1}},
		ranges: map[string]span{}, saidBy: map[string]string{}}
	p.file(textutil.Must(p.Read(head)))
	return p.study, nil
}

// parser is a file that is being read. The first error in the file ends the reading: methods of
// the parser end it by textutil.Stop, which no other code sees.
//
// The file is a mapping (docs/studies.md):
//
//	program: hpl                    or hpcg, or the file of a trace
//	parameters: {N: 20000, P: 4}    of the program, the same for all runs
//	machine: dahu                   and any other parameter of the machine or of the replay
//	options: {smpi/iprobe: 1e-6}    of the simulator
//	factors: {NB: [64, 128]}        what is varied: lists, named levels, ranges
//	design: {fractional: 1/2}       which combinations; without it all
//	seed: 1..5                      each combination with each of them
//	tolerance: 1%                   or exact
//	responses: [critical-path]      further results
//
// Keys may come in any order, so factors and design are kept as nodes until all others are read.
type parser struct {
	yamlfile.Document
	study *Study

	factors ast.Node // nil: none
	design  ast.Node
	ranges  map[string]span   // of factors of a Latin hypercube
	popAt   ast.Node          // where POP's efficiencies are asked for
	saidBy  map[string]string // the key that sets something for all runs
}

// file reads the file's keys, in any order, then the factors and the design, which need all of them.
func (p *parser) file(root ast.Node) {
	s := p.study
	entries := p.Entries(root, "study")
	names := mapped(programs.All(), func(of *programs.Program) string { return of.Name })
	known := strings.Join(names, ", ")
	// The program comes first, as the names of its parameters depend on it: a built-in one, or the file of a trace.
	for _, e := range entries {
		if e.Key != "program" {
			continue
		}
		s.Program = p.Text(e.Value, "program")
		if s.program = programs.Find(s.Program); s.program != nil {
			continue
		}
		in := &Input{Word: "trace", Name: s.Program, at: s.find(s.Program)}
		if _, err := os.Stat(in.at); err != nil {
			p.Stop(e.Value, "program: %s, want %s, or the file of a trace", yamlfile.Quote(s.Program), known)
		}
		err := in.readFile()
		if err == nil {
			s.trace = in
			s.program, err = programs.File(s.Program, in.text)
		}
		p.Check(err, e.Value, "program: %w")
	}
	if s.program == nil {
		p.Stop(root, "study: program is missing: want program: %s, or the file of a trace", known)
	}
	for _, e := range entries {
		p.key(e)
	}
	if p.factors != nil {
		p.readFactors()
	}
	// Rows come behind the factors, whose levels they number; a list makes the factors itself.
	p.makeRows(root)
	p.checkFactors(root)
	if s.Responses.POP && s.Tolerance > 0 {
		p.Stop(p.popAt, "responses: %s is of exact replays: want tolerance: exact, or leave it out", responsePOP)
	}
	// A quotient rather than a product, which may overflow.
	if len(s.Rows) > MaxRuns/len(s.Seeds) {
		p.Stop(root, "design: %d configurations with %d seeds are more than %d runs", len(s.Rows), len(s.Seeds), MaxRuns)
	}
}

// key reads one key. Everything that is no key of its own is a parameter of the machine or of the replay.
func (p *parser) key(e yamlfile.Entry) {
	s := p.study
	if e.Key == s.program.DatName && s.program.ReadDat != nil {
		p.readDat(e.Value)
		return
	}
	switch e.Key {
	case "program":
	case "factors":
		p.factors = e.Value
	case "design":
		p.design = e.Value
	case "seed":
		p.seeds(e.Value)
	case "parameters", "options":
		p.settings(e)
	case "tolerance":
		text := p.Text(e.Value, "tolerance")
		if text == "exact" {
			return
		}
		var err error
		s.Tolerance, err = textutil.ParsePercent(text, "the makespan", false)
		p.Check(err, e.Value, "tolerance: %w; or exact")
	case "responses":
		for _, item := range p.Items(e.Value, "responses") {
			switch text := p.Text(item, "responses"); text {
			case responsePath:
				s.Responses.CriticalPath = true
			case responsePOP:
				s.Responses.POP, p.popAt = true, item
			default:
				p.Stop(item, "responses: %s, want %s or %s", yamlfile.Quote(text), responsePath, responsePOP)
			}
		}
	default:
		if !OfMachine(e.Key) {
			p.Stop(e.Node, "study: unknown key %s: want program, parameters, hpl-dat, factors, design, tolerance, seed,"+
				" responses, options, or of the machine and the replay %s", yamlfile.Quote(e.Key),
				strings.Join(machineNames(), ", "))
		}
		p.fix(e.Value, e.Key, p.Text(e.Value, e.Key))
	}
}

// settings reads the mappings parameters, of the program, and options, of the simulator, which all runs have.
func (p *parser) settings(of yamlfile.Entry) {
	for _, e := range p.Entries(of.Value, of.Key) {
		name := e.Key
		if of.Key == "parameters" {
			if OfMachine(name) && p.study.ofProgram(name) == nil {
				p.Stop(e.Node, "parameters: %s is of the machine: put it beside parameters", name)
			}
			if seed := p.study.program.SeedName; name == "seed" && seed != "" { // replay's stands beside parameters
				name = seed
			}
		}
		text := p.Text(e.Value, e.Key)
		if of.Key == "options" && !strings.Contains(name, "/") {
			p.Stop(e.Node, "options: %s is no simulator option: these have names as smpi/iprobe", yamlfile.Quote(name))
		}
		p.fix(e.Value, name, text)
	}
}

// seeds reads one seed, a list, or a range as 1..10.
func (p *parser) seeds(n ast.Node) {
	nodes := []ast.Node{n}
	if _, list := n.(*ast.SequenceNode); list {
		nodes = p.Items(n, "seed")
	}
	p.study.Seeds = nil
	known := map[uint64]bool{}
	for _, item := range nodes {
		text := p.Text(item, "seed")
		a, b, ok := textutil.ParseRange(text, "..")
		if !ok || b-a >= MaxRuns {
			p.Stop(item, "seed: %s, want a number of at least 0, or a range such as 1..10", yamlfile.Quote(text))
		}
		for s := a; len(p.study.Seeds) < MaxRuns && s-a <= b-a; s++ { // s-a: the last seed may be the largest uint64
			if known[s] {
				p.Stop(item, "seed: %d is there twice", s)
			}
			known[s] = true
			p.study.Seeds = append(p.study.Seeds, s)
		}
	}
	if len(p.study.Seeds) == 0 {
		p.Stop(n, "seed: want one or more")
	}
}

// readDat makes the lists of a program's input file factors, and those of one value a parameter.
func (p *parser) readDat(n ast.Node) {
	s, key := p.study, p.study.program.DatName
	name := p.Text(n, key)
	text, err := regular.Read(s.find(name), maxDat)
	p.Check(err, n, "%s: %w", key)
	// P and Q come as one list of pairs, as HPL takes them: the factor is the grid PxQ.
	for _, list := range textutil.Must(s.program.ReadDat(text, name)) {
		f, known := Factor{Name: strings.Join(list.Names, "x")}, map[string]bool{}
		for _, values := range list.Values {
			l := Level{Label: strings.Join(values, "x")}
			for i, v := range values {
				l.Settings = append(l.Settings, Setting{list.Names[i], v})
			}
			if known[l.Label] { // labels are values as the program reads them
				p.Stop(n, "%s: %s: %s has the value %s twice", key, name, f.Name, l.Label)
			}
			known[l.Label] = true
			f.Levels = append(f.Levels, l)
		}
		// All levels of a list set the same words, so the first stands for the others.
		p.say(p.saidBy, n, key, f.Levels[0].Settings)
		if len(f.Levels) == 1 {
			s.Fixed = append(s.Fixed, f.Levels[0].Settings...)
			continue
		}
		s.Factors = append(s.Factors, f)
	}
}

// fix adds a setting of all runs.
func (p *parser) fix(n ast.Node, name, value string) {
	list := p.set(n, name, value)
	p.say(p.saidBy, n, name, list)
	p.study.Fixed = append(p.study.Fixed, list...)
}

// set checks a setting, and returns it with files by the names that they have in the study's file, which are the same
// wherever that is read from. A machine becomes its platform and its kernel models.
func (p *parser) set(n ast.Node, name, value string) []Setting {
	s := p.study
	p.Check(s.known(name), n, "%w")
	found := value
	if of := replay.FindParameter(name); of != nil && of.File {
		found = s.find(value)
	}
	// Settings keep the names as they are written: the plan of a study has no path of this machine.
	if name == "machine" && regular.IsFile(found) { // the file of a platform, with the kernel models that it has by itself
		name = "platform"
	}
	if name == "machine" {
		platform, kernels, err := machines.Find(found)
		if err == nil && kernels == "" && s.trace == nil {
			err = fmt.Errorf("%s has no %s, and %s calls kernels: name its %s, and kernels beside it", value,
				machines.KernelsFile, s.program.Title, machines.PlatformFile)
		}
		p.Check(err, n, "machine: %w")
		// A part is a file of the machine's directory, or the name of something built in.
		written := func(part string) string {
			if part == found {
				return value
			}
			return filepath.Join(value, filepath.Base(part))
		}
		if kernels == "" {
			return p.set(n, "platform", written(platform))
		}
		return []Setting{{"platform", written(platform)}, {"kernels", written(kernels)}}
	}
	list := []Setting{{name, value}}
	p.Check(s.parameters.set(&replay.MachineSpec{}, new(string), list[0]), n, "%w")
	if name == "platform" { // whose kernel models are those of a built-in machine, and the generic ones of a file
		own := value
		if isInline("platform", value) || regular.IsFile(found) {
			own = "default"
		}
		list = append(list, Setting{ownKernels, own})
	}
	return list
}

// say notes which key sets what. Two keys that set the same are an error, as only one of them could count.
func (p *parser) say(saidBy map[string]string, n ast.Node, key string, list []Setting) {
	for _, s := range list {
		for _, word := range s.Sets() {
			if by, known := saidBy[word]; known {
				p.Stop(n, "%s is set twice: by %s and by %s: leave one out", word, by, key)
			}
			saidBy[word] = key
		}
	}
}

// readFactors reads the factors: each is a parameter with a list of its values, or a name with a
// mapping that gives names to levels, each of which has several settings. A range such as
// 1000..4000 is for Latin hypercubes: makeRows puts levels in its place.
func (p *parser) readFactors() {
	known := map[string]bool{}
	// Factors keep the order of the file, which is that of the columns, and by which the last changes fastest.
	for _, e := range p.Entries(p.factors, "factors") {
		f := Factor{Name: e.Key}
		switch e.Key {
		case "seed":
			other := ""
			if name := p.study.program.SeedName; name != "" {
				other = "; " + name + " is that of the program itself"
			}
			p.Stop(e.Node, "factors: seed is a key of its own: seed: [1, 2, 3] beside factors has all configurations with"+
				" each%s", other)
		case "tolerance":
			p.Stop(e.Node, "factors: tolerance is a key of its own, the same for all runs")
		}
		switch e.Value.(type) {
		case *ast.SequenceNode, *ast.MappingNode, *ast.MappingValueNode:
			if f.Levels = p.levels(e); len(f.Levels) == 0 {
				p.Stop(e.Node, "factors: %s has no levels", f.Name)
			}
		default:
			text := p.Text(e.Value, e.Key)
			if !strings.Contains(text, "..") {
				p.Stop(e.Value, "factors: %s: want a list of levels, found %s", e.Key, yamlfile.Describe(e.Value))
			}
			p.ranges[e.Key] = p.parseRange(e.Value, e.Key, text)
		}
		if known[f.Name] {
			p.Stop(e.Node, "factors: %s is there twice", f.Name)
		}
		known[f.Name] = true
		if len(f.Levels) > MaxLevels {
			p.Stop(e.Node, "factors: %s has %d levels, at most %d", f.Name, len(f.Levels), MaxLevels)
		}
		p.study.Factors = append(p.study.Factors, f)
	}
}

// levels reads the levels of a factor, a list of values or a mapping of names. Two levels that
// are the same, though they may be written otherwise, are an error.
func (p *parser) levels(e yamlfile.Entry) (levels []Level) {
	known := map[string]string{} // labels, by the value of a level
	add := func(n ast.Node, l Level, value string) {
		switch first, twice := known[value]; {
		case twice && first == l.Label:
			p.Stop(n, "factors: %s has the level %s twice", e.Key, yamlfile.Quote(l.Label))
		case twice:
			p.Stop(n, "factors: %s has one level twice: as %s and as %s", e.Key, yamlfile.Quote(first),
				yamlfile.Quote(l.Label))
		}
		known[value] = l.Label
		levels = append(levels, l)
	}

	if _, list := e.Value.(*ast.SequenceNode); list {
		p.Check(p.study.known(e.Key), e.Node, "factors: %w; or names of levels with what they set")
		for _, item := range p.Items(e.Value, e.Key) {
			text := p.Text(item, e.Key)
			set := p.set(item, e.Key, text)
			add(item, Level{text, set}, p.study.canonical(set))
		}
		return levels
	}
	for _, level := range p.Entries(e.Value, e.Key) {
		// The label stands for the level, so two levels may set the same under two names.
		l, saidBy := Level{Label: level.Key}, map[string]string{}
		for _, s := range p.Entries(level.Value, e.Key+", "+level.Key) {
			set := p.set(s.Value, s.Key, p.Text(s.Value, s.Key))
			p.say(saidBy, s.Node, s.Key, set)
			l.Settings = append(l.Settings, set...)
		}
		add(level.Node, l, l.Label)
	}
	return levels
}

// checkFactors refuses two factors that set the same, of which one would have no effect, and
// names of factors that are columns of the table, or may be.
func (p *parser) checkFactors(root ast.Node) {
	n := root
	if p.factors != nil {
		n = p.factors
	}
	columns := append(mapped(resultColumns, resultColumn.title), "seed", "error")
	isName := func(text string) bool { return text != "" && !strings.ContainsFunc(text, unicode.IsControl) }
	// Two levels of one factor may set the same; two factors may not.
	setBy := map[string]string{}
	for _, f := range p.study.Factors {
		switch {
		case slices.Contains(columns, f.Name) || strings.HasSuffix(f.Name, "_s") || strings.HasPrefix(f.Name, popPrefix):
			p.Stop(n, "factors: %s is a column of the table: call it something else", f.Name)
		case !isName(f.Name):
			p.Stop(n, "factors: %s: want a name of one line", yamlfile.Quote(f.Name))
		}
		for _, l := range f.Levels {
			if !isName(l.Label) {
				p.Stop(n, "factors: %s, %s: want a name of one line", f.Name, yamlfile.Quote(l.Label))
			}
			for _, s := range l.Settings {
				for _, word := range s.Sets() {
					if by, known := setBy[word]; known && by != f.Name {
						p.Stop(n, "factors: %s and %s both set %s: make them one, whose levels have names", by, f.Name, word)
					}
					setBy[word] = f.Name
				}
			}
		}
	}
}
