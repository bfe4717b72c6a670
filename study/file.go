package study

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// file reads the file's keys, in any order, then the factors and the design, which need all of
// them.
func (p *parser) file(root ast.Node) error {
	s := p.study
	entries, err := p.Entries(root, "study")
	if err != nil {
		return err
	}
	var known []string
	for _, of := range programs.All() {
		known = append(known, of.Name)
	}
	for _, e := range entries { // first, as parameters are those of the program
		if e.Key == "program" {
			if err := p.readProgram(e.Value, strings.Join(known, ", ")); err != nil {
				return err
			}
		}
	}
	if s.program == nil {
		return p.Errorf(root, "study: program is missing: want program: %s, or the file of a trace", strings.Join(known, ", "))
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
	if s.Responses.POP && s.Tolerance > 0 {
		return p.Errorf(p.popAt, "responses: %s is of exact replays: want tolerance: exact, or leave it out", responsePOP)
	}
	if len(s.Rows) > MaxRuns/len(s.Seeds) {
		return p.Errorf(root, "design: %d configurations with %d seeds are more than %d runs", len(s.Rows), len(s.Seeds),
			MaxRuns)
	}
	return nil
}

// readProgram reads the name of a program, or of the file of a trace.
func (p *parser) readProgram(n ast.Node, known string) error {
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
		return p.Errorf(n, "program: %s, want %s, or the file of a trace", yamlfile.Quote(s.Program), known)
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

// key reads one key. Everything that is no key of its own is a parameter of the machine or of the
// replay.
func (p *parser) key(e yamlfile.Entry) error {
	s := p.study
	if e.Key == s.program.DatName && s.program.ReadDat != nil {
		return p.readDat(e.Value)
	}
	switch e.Key {
	case "program":
		return nil
	case "factors":
		p.factors = e.Value
		return nil
	case "design":
		p.design = e.Value
		return nil
	case "seed":
		return p.seeds(e.Value)
	case "parameters", "options":
		return p.settings(e)
	case "tolerance":
		text, err := p.Text(e.Value, "tolerance")
		if err != nil || text == "exact" {
			return err
		}
		if s.Tolerance, err = textutil.ParsePercent(text, "the makespan", false); err != nil {
			return p.Errorf(e.Value, "tolerance: %w; or exact", err)
		}
		return nil
	case "responses":
		items, err := p.Items(e.Value, "responses")
		if err != nil {
			return err
		}
		for _, item := range items {
			text, err := p.Text(item, "responses")
			if err != nil {
				return err
			}
			switch text {
			case responsePath:
				s.Responses.CriticalPath = true
			case responsePOP:
				s.Responses.POP, p.popAt = true, item
			default:
				return p.Errorf(item, "responses: %s, want %s or %s", yamlfile.Quote(text), responsePath, responsePOP)
			}
		}
		return nil
	}
	if !OfMachine(e.Key) {
		return p.Errorf(e.Node, "study: unknown key %s: want program, parameters, hpl-dat, factors, design, tolerance, seed,"+
			" responses, options, or of the machine and the replay %s", yamlfile.Quote(e.Key),
			strings.Join(machineNames(), ", "))
	}
	text, err := p.Text(e.Value, e.Key)
	if err != nil {
		return err
	}
	return p.fix(e.Value, e.Key, text)
}

// settings reads the mappings parameters, of the program, and options, of the simulator, which
// all runs have.
func (p *parser) settings(of yamlfile.Entry) error {
	entries, err := p.Entries(of.Value, of.Key)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Key
		if of.Key == "parameters" {
			if OfMachine(name) && p.study.ofProgram(name) == nil {
				return p.Errorf(e.Node, "parameters: %s is of the machine: put it beside parameters", name)
			}
			if seed := p.study.program.SeedName; name == "seed" && seed != "" { // replay's stands beside parameters
				name = seed
			}
		}
		text, err := p.Text(e.Value, e.Key)
		if err == nil && of.Key == "options" && !strings.Contains(name, "/") {
			err = p.Errorf(e.Node, "options: %s is no simulator option: these have names as smpi/iprobe", yamlfile.Quote(name))
		}
		if err == nil {
			err = p.fix(e.Value, name, text)
		}
		if err != nil {
			return err
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

// readDat makes the lists of a program's input file factors, and those of one value a parameter.
func (p *parser) readDat(n ast.Node) error {
	s, key := p.study, p.study.program.DatName
	name, err := p.Text(n, key)
	if err != nil {
		return err
	}
	text, err := regular.Read(s.find(name), maxDat)
	if err != nil {
		return p.Errorf(n, "%s: %w", key, err)
	}
	lists, err := s.program.ReadDat(text, name)
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
			s.Fixed = append(s.Fixed, f.Levels[0].Settings...)
			continue
		}
		s.Factors = append(s.Factors, f)
	}
	return nil
}

// fix adds a setting of all runs.
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

// set checks a setting, and returns it with files by the names that they have in the study's
// file, which are the same wherever that is read from. A machine becomes its platform and its
// kernel models.
func (p *parser) set(n ast.Node, name, value string) ([]Setting, error) {
	s := p.study
	if err := s.known(name); err != nil {
		return nil, p.Errorf(n, "%w", err)
	}
	found := value
	if of := replay.FindParameter(name); of != nil && of.File {
		found = s.find(value)
	}
	if name == "machine" && regular.IsFile(found) { // the file of a platform, with the kernel models that it has by itself
		return p.set(n, "platform", value)
	}
	if name == "machine" {
		platform, kernels, err := machines.Find(found)
		if err == nil && kernels == "" && s.trace == nil {
			err = fmt.Errorf("%s has no %s, and %s calls kernels: name its %s, and kernels beside it", value,
				machines.KernelsFile, s.program.Title, machines.PlatformFile)
		}
		if err != nil {
			return nil, p.Errorf(n, "machine: %w", err)
		}
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
		return []Setting{{"platform", written(platform)}, {"kernels", written(kernels)}}, nil
	}
	list := []Setting{{name, value}}
	if err := s.parameters.set(&replay.MachineSpec{}, new(string), list[0]); err != nil {
		return nil, p.Errorf(n, "%w", err)
	}
	if name == "platform" { // whose kernel models are those of a built-in machine, and the generic ones of a file
		own := value
		if isInline("platform", value) || regular.IsFile(found) {
			own = "default"
		}
		list = append(list, Setting{ownKernels, own})
	}
	return list, nil
}

// say notes that a key sets something. Two keys that set the same are an error: which of them
// would count?
func (p *parser) say(saidBy map[string]string, n ast.Node, key string, list []Setting) error {
	for _, s := range list {
		for _, word := range s.Sets() {
			if by, known := saidBy[word]; known {
				return p.Errorf(n, "%s is set twice: by %s and by %s: leave one out", word, by, key)
			}
			saidBy[word] = key
		}
	}
	return nil
}

// readFactors reads the factors: each is a parameter with a list of its values, or a name with a
// mapping that gives names to levels, each of which has several settings. A range such as
// 1000..4000 is for Latin hypercubes: makeRows puts levels in its place.
func (p *parser) readFactors(n ast.Node) error {
	entries, err := p.Entries(n, "factors")
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, e := range entries {
		f := Factor{Name: e.Key}
		switch e.Key {
		case "seed":
			other := ""
			if name := p.study.program.SeedName; name != "" {
				other = "; " + name + " is that of the program itself"
			}
			return p.Errorf(e.Node, "factors: seed is a key of its own: seed: [1, 2, 3] beside factors has all configurations with"+
				" each%s", other)
		case "tolerance":
			return p.Errorf(e.Node, "factors: tolerance is a key of its own, the same for all runs")
		}
		switch e.Value.(type) {
		case *ast.SequenceNode, *ast.MappingNode, *ast.MappingValueNode:
			if f.Levels, err = p.levels(e); err == nil && len(f.Levels) == 0 {
				err = p.Errorf(e.Node, "factors: %s has no levels", f.Name)
			}
		default:
			var text string
			text, err = p.Text(e.Value, e.Key)
			if err == nil && !strings.Contains(text, "..") {
				err = p.Errorf(e.Value, "factors: %s: want a list of levels, found %s", e.Key, yamlfile.Describe(e.Value))
			}
			if err == nil {
				p.ranges[e.Key], err = p.parseRange(e.Value, e.Key, text)
			}
		}
		if err != nil {
			return err
		}
		if known[f.Name] {
			return p.Errorf(e.Node, "factors: %s is there twice", f.Name)
		}
		known[f.Name] = true
		if len(f.Levels) > MaxLevels {
			return p.Errorf(e.Node, "factors: %s has %d levels, at most %d", f.Name, len(f.Levels), MaxLevels)
		}
		p.study.Factors = append(p.study.Factors, f)
	}
	return nil
}

// levels reads the levels of a factor, a list of values or a mapping of names. Two levels that
// are the same, though they may be written otherwise, are an error.
func (p *parser) levels(e yamlfile.Entry) (levels []Level, err error) {
	known := map[string]string{} // labels, by the value of a level
	add := func(n ast.Node, l Level, value string) error {
		switch first, twice := known[value]; {
		case twice && first == l.Label:
			return p.Errorf(n, "factors: %s has the level %s twice", e.Key, yamlfile.Quote(l.Label))
		case twice:
			return p.Errorf(n, "factors: %s has one level twice: as %s and as %s", e.Key, yamlfile.Quote(first),
				yamlfile.Quote(l.Label))
		}
		known[value] = l.Label
		levels = append(levels, l)
		return nil
	}

	if _, list := e.Value.(*ast.SequenceNode); list {
		if err := p.study.known(e.Key); err != nil {
			return nil, p.Errorf(e.Node, "factors: %w; or names of levels with what they set", err)
		}
		items, err := p.Items(e.Value, e.Key)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			text, err := p.Text(item, e.Key)
			if err != nil {
				return nil, err
			}
			list, err := p.set(item, e.Key, text)
			if err != nil {
				return nil, err
			}
			if err := add(item, Level{text, list}, p.study.canonical(list)); err != nil {
				return nil, err
			}
		}
		return levels, nil
	}

	named, err := p.Entries(e.Value, e.Key)
	if err != nil {
		return nil, err
	}
	for _, level := range named {
		l, saidBy := Level{Label: level.Key}, map[string]string{}
		sets, err := p.Entries(level.Value, e.Key+", "+level.Key)
		if err != nil {
			return nil, err
		}
		for _, s := range sets {
			text, err := p.Text(s.Value, s.Key)
			if err != nil {
				return nil, err
			}
			list, err := p.set(s.Value, s.Key, text)
			if err != nil {
				return nil, err
			}
			if err := p.say(saidBy, s.Node, s.Key, list); err != nil {
				return nil, err
			}
			l.Settings = append(l.Settings, list...)
		}
		if err := add(level.Node, l, l.Label); err != nil {
			return nil, err
		}
	}
	return levels, nil
}

// checkFactors refuses two factors that set the same, of which one would have no effect, and
// names of factors that are columns of the table, or may be.
func (p *parser) checkFactors(root ast.Node) error {
	n := root
	if p.factors != nil {
		n = p.factors
	}
	columns := []string{"seed", "error"}
	for _, c := range resultColumns {
		columns = append(columns, c.name)
	}
	isName := func(text string) bool { return text != "" && !strings.ContainsFunc(text, unicode.IsControl) }
	setBy := map[string]string{}
	for _, f := range p.study.Factors {
		switch {
		case slices.Contains(columns, f.Name) || strings.HasSuffix(f.Name, "_s") || strings.HasPrefix(f.Name, popPrefix):
			return p.Errorf(n, "factors: %s is a column of the table: call it something else", f.Name)
		case !isName(f.Name):
			return p.Errorf(n, "factors: %s: want a name of one line", yamlfile.Quote(f.Name))
		}
		for _, l := range f.Levels {
			if !isName(l.Label) {
				return p.Errorf(n, "factors: %s, %s: want a name of one line", f.Name, yamlfile.Quote(l.Label))
			}
			for _, s := range l.Settings {
				for _, word := range s.Sets() {
					if by, known := setBy[word]; known && by != f.Name {
						return p.Errorf(n, "factors: %s and %s both set %s: make them one, whose levels have names", by, f.Name, word)
					}
					setBy[word] = f.Name
				}
			}
		}
	}
	return nil
}
