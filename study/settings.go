package study

import (
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"

	"reprise/internal/yamlfile"
)

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
