package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// place matches what names code in a page: `dir/file.go` or `dir/file.go:name`.
var place = regexp.MustCompile("`(\\w[\\w/.-]*/[\\w.-]+\\.go)(?::(\\w+))?`")

// TestPlaces: each file of ours that a page names exists, and declares the function or
// type that it is named for.
func TestPlaces(t *testing.T) {
	for _, p := range readPages(t, "*.md", "docs/*.md", "testdata/*/README.md") {
		for _, m := range place.FindAllStringSubmatch(p.text, -1) {
			file, name := filepath.Join(root, m[1]), m[2]
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: %s: %v", p.path, m[0], err)
			} else if name != "" && !slices.Contains(declared(t, file), name) {
				t.Errorf("%s: %s: declared no longer", p.path, m[0])
			}
		}
	}
}

// declared returns the names of the functions, methods and types of a file.
func declared(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			names = append(names, d.Name.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok {
					names = append(names, s.Name.Name)
				}
			}
		}
	}
	return names
}
