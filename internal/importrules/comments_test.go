package importrules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
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
			var name *ast.Ident
			var doc *ast.CommentGroup
			switch d := d.(type) {
			case *ast.FuncDecl:
				name, doc = d.Name, d.Doc
			case *ast.GenDecl:
				if len(d.Specs) == 1 {
					if s, ok := d.Specs[0].(*ast.TypeSpec); ok {
						name, doc = s.Name, d.Doc
					}
				}
			}
			first, _, _ := strings.Cut(strings.TrimSpace(doc.Text()), " ")
			first = strings.TrimRight(first, ",:.")
			if innerCapital.MatchString(first) && first != strings.ToUpper(first) && first != name.Name {
				t.Errorf("%v: the comment of %s is that of %s", files.Position(name.Pos()), name.Name, first)
			}
		}
		return nil
	})
	must(t, err)
}

// innerCapital tells names such as newSet and PollAnswers from the first words of sentences.
var innerCapital = regexp.MustCompile(`^[\pL\pN]+\p{Lu}[\pL\pN]*$`)
