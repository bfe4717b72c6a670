package importrules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// TestCommentsNameTheirDeclaration: a comment that begins with a name, which a capital within
// the word tells, is that of the function or type below it, not of what this was called before.
func TestCommentsNameTheirDeclaration(t *testing.T) {
	files := token.NewFileSet()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "out" {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		f, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			for name, comment := range named(d) {
				if first := firstWord(comment); hasInnerCapital(first) && first != name.Name {
					t.Errorf("%v: the comment of %s is that of %s", files.Position(name.Pos()), name.Name, first)
				}
			}
		}
		return nil
	})
	must(t, err)
}

// named yields the functions and types of a declaration that have comments of their own.
func named(d ast.Decl) func(yield func(*ast.Ident, *ast.CommentGroup) bool) {
	return func(yield func(*ast.Ident, *ast.CommentGroup) bool) {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Doc != nil {
				yield(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			if len(d.Specs) != 1 || d.Doc == nil {
				return
			}
			if s, ok := d.Specs[0].(*ast.TypeSpec); ok {
				yield(s.Name, d.Doc)
			}
		}
	}
}

func firstWord(c *ast.CommentGroup) string {
	word, _, _ := strings.Cut(strings.TrimSpace(c.Text()), " ")
	return strings.TrimRight(word, ",:.")
}

// hasInnerCapital tells names such as newSet and PollAnswers from the first words of
// sentences.
func hasInnerCapital(word string) bool {
	for i, r := range word {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
		if i > 0 && unicode.IsUpper(r) && word != strings.ToUpper(word) {
			return true
		}
	}
	return false
}
