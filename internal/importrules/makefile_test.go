package importrules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRaceList: make race runs tests of all packages below the commands that start goroutines.
func TestRaceList(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	must(t, err)
	named := regexp.MustCompile(`(?s)\nCONCURRENT = (.*?[^\\])\n`).FindSubmatch(makefile)
	if named == nil {
		t.Fatal("the Makefile has no CONCURRENT")
	}
	listed := strings.Fields(strings.ReplaceAll(string(named[1]), "\\\n", " "))
	for _, p := range list(t, "reprise/...") {
		dir := "./" + strings.TrimPrefix(p.ImportPath, "reprise/")
		if !startsGoroutines(t, dir, p.GoFiles) || strings.HasPrefix(dir, "./scripts/") || strings.HasPrefix(dir, "./cmd/") {
			continue
		}
		if !slices.ContainsFunc(listed, func(l string) bool {
			above, all := strings.CutSuffix(l, "/...")
			return dir == l || all && strings.HasPrefix(dir+"/", above+"/")
		}) {
			t.Errorf("%s starts goroutines, but is not in CONCURRENT of the Makefile", dir)
		}
	}
}

// startsGoroutines reports whether files have a go statement, or call a method Go, as that of sync.WaitGroup.
func startsGoroutines(t *testing.T, dir string, files []string) (starts bool) {
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../..", dir, name), nil, 0)
		must(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				starts = true
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Go" {
					starts = true
				}
			}
			return !starts
		})
	}
	return starts
}

// TestPackagesOfScripts: the packages that the Makefile and scripts name exist.
func TestPackagesOfScripts(t *testing.T) {
	files, err := filepath.Glob("../../scripts/*.sh")
	must(t, err)
	path := regexp.MustCompile(`(?:^|[\s"'=])\./([a-z][a-z0-9/_-]*)`)
	for _, file := range append(files, "../../Makefile", "../../.ci/run") {
		text, err := os.ReadFile(file)
		must(t, err)
		for _, m := range path.FindAllSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join("../..", strings.TrimSuffix(string(m[1]), "/"))); err != nil {
				t.Errorf("%s: %v", filepath.Base(file), err)
			}
		}
	}
}
