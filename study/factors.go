package study

import (
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"

	"reprise/internal/yamlfile"
)

// readFactors reads what is varied: a list of values of a word, or a mapping that gives
// names to levels, each of which sets several words. A range such as 1000..4000 is for Latin
// hypercubes: makeRows puts levels in its place.
func (p *parser) readFactors(n ast.Node) error {
	entries, err := p.Entries(n, "factors")
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, e := range entries {
		f, err := p.factor(e)
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

func (p *parser) factor(e yamlfile.Entry) (Factor, error) {
	switch e.Key {
	case "seed":
		return Factor{}, p.Errorf(e.Node,
			"factors: seed is a key of its own: seed: [1, 2, 3] beside factors has all configurations with each%s", ofPivots(p.study.program.SeedName))
	case "tolerance":
		return Factor{}, p.Errorf(e.Node, "factors: tolerance is a key of its own, the same for all runs")
	}
	switch e.Value.(type) {
	case *ast.SequenceNode:
		return p.listed(e)
	case *ast.MappingNode, *ast.MappingValueNode:
		return p.named(e)
	}
	text, err := p.Text(e.Value, e.Key)
	if err == nil && !strings.Contains(text, "..") {
		err = p.Errorf(e.Value, "factors: %s: want a list of levels, found %s", e.Key, yamlfile.Describe(e.Value))
	}
	if err != nil {
		return Factor{}, err
	}
	p.ranges[e.Key], err = p.parseRange(e.Value, e.Key, text)
	return Factor{Name: e.Key}, err
}

// ofPivots tells the seed of a program from that of noise.
func ofPivots(name string) string {
	if name == "" {
		return ""
	}
	return "; " + name + " is that of the program itself"
}

// listed reads a factor that is a word and a list of its values.
func (p *parser) listed(e yamlfile.Entry) (Factor, error) {
	f := Factor{Name: e.Key}
	if err := p.study.known(e.Key); err != nil {
		return f, p.Errorf(e.Node, "factors: %w; or names of levels with what they set", err)
	}
	items, err := p.Items(e.Value, e.Key)
	if err != nil {
		return f, err
	}
	known := map[string]string{}
	for _, item := range items {
		text, err := p.Text(item, e.Key)
		if err != nil {
			return f, err
		}
		list, err := p.set(item, e.Key, text)
		if err != nil {
			return f, err
		}
		if err := p.add(&f, known, item, Level{text, list}, p.study.canonical(list)); err != nil {
			return f, err
		}
	}
	return f, p.notEmpty(e, &f)
}

// named reads a factor whose levels have names.
func (p *parser) named(e yamlfile.Entry) (Factor, error) {
	f := Factor{Name: e.Key}
	levels, err := p.Entries(e.Value, e.Key)
	if err != nil {
		return f, err
	}
	known := map[string]string{}
	for _, level := range levels {
		l, saidBy := Level{Label: level.Key}, map[string]string{}
		sets, err := p.Entries(level.Value, e.Key+", "+level.Key)
		if err != nil {
			return f, err
		}
		for _, s := range sets {
			text, err := p.Text(s.Value, s.Key)
			if err != nil {
				return f, err
			}
			list, err := p.set(s.Value, s.Key, text)
			if err != nil {
				return f, err
			}
			if err := p.say(saidBy, s.Node, s.Key, list); err != nil {
				return f, err
			}
			l.Settings = append(l.Settings, list...)
		}
		if err := p.add(&f, known, level.Node, l, l.Label); err != nil {
			return f, err
		}
	}
	return f, p.notEmpty(e, &f)
}

// add adds a level, whose value must be another one than those that are known, each with its label.
func (p *parser) add(f *Factor, known map[string]string, n ast.Node, l Level, value string) error {
	switch first, twice := known[value]; {
	case twice && first == l.Label:
		return p.Errorf(n, "factors: %s has the level %s twice", f.Name, yamlfile.Quote(l.Label))
	case twice:
		return p.Errorf(n, "factors: %s has one level twice: as %s and as %s", f.Name, yamlfile.Quote(first),
			yamlfile.Quote(l.Label))
	}
	known[value] = l.Label
	f.Levels = append(f.Levels, l)
	return nil
}

func (p *parser) notEmpty(e yamlfile.Entry, f *Factor) error {
	if len(f.Levels) == 0 {
		return p.Errorf(e.Node, "factors: %s has no levels", f.Name)
	}
	return nil
}

// say notes that a key sets something. Two keys that set the same are an error: which of them would count?
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

// checkFactors refuses two factors that set the same word, of which one would do nothing, and
// names of factors that are columns of the table.
func (p *parser) checkFactors(root ast.Node) error {
	n := root
	if p.factors != nil {
		n = p.factors
	}
	setBy := map[string]string{}
	for _, f := range p.study.Factors {
		switch {
		case isColumn(f.Name):
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

// isName reports whether a text can stand in a table.
func isName(text string) bool {
	return text != "" && !strings.ContainsFunc(text, unicode.IsControl)
}

// isColumn reports whether the table has a column of its own of that name, or may have one.
func isColumn(name string) bool {
	columns := []string{"seed", "error"}
	for _, c := range resultColumns {
		columns = append(columns, c.name)
	}
	return slices.Contains(columns, name) || strings.HasSuffix(name, "_s") || strings.HasPrefix(name, popPrefix)
}
