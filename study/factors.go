package study

import (
	"strings"

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
		return Factor{}, p.Errorf(e.Node, "factors: seed is a key of its own: seed: [1, 2, 3] beside factors has all configurations with each; %s is that of random pivots", pivotSeed)
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

// listed reads a factor that is a word and a list of its values.
func (p *parser) listed(e yamlfile.Entry) (Factor, error) {
	f := Factor{Name: e.Key}
	if _, err := findWord(e.Key); err != nil {
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
		if err := p.add(&f, known, item, Level{text, list}, valueOf(list)); err != nil {
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
		return p.Errorf(n, "factors: %s has one level twice: as %s and as %s", f.Name, yamlfile.Quote(first), yamlfile.Quote(l.Label))
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
