// Package docs tests the documentation: its commands run, its links have targets, the
// code that it names exists, and it names every flag.
package docs

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

// root is the top of the repository.
const root = "../.."

// page is a document; its path is relative to the root.
type page struct {
	path string
	text string
}

// readPages returns the documents that match the patterns, relative to the root.
func readPages(t *testing.T, patterns ...string) []page {
	t.Helper()
	var pages []page
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: no such page (%v)", pattern, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			must(t, err)
			pages = append(pages, page{strings.TrimPrefix(filepath.ToSlash(path), root+"/"), string(text)})
		}
	}
	return pages
}

// codeLine is a line of an indented or fenced block, without its indentation.
type codeLine struct {
	number int // from 1
	text   string
}

// codeLines returns the lines of a page's blocks of code.
func codeLines(text string) []codeLine {
	var lines []codeLine
	fenced := false
	for i, line := range strings.Split(text, "\n") {
		indented, ok := strings.CutPrefix(line, "    ")
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced:
			lines = append(lines, codeLine{i + 1, line})
		case ok:
			lines = append(lines, codeLine{i + 1, indented})
		}
	}
	return lines
}

// prose returns a page without its blocks of code.
func prose(text string) string {
	lines := strings.Split(text, "\n")
	fenced := false
	for i, line := range lines {
		fence := strings.HasPrefix(line, "```")
		if fence || fenced || strings.HasPrefix(line, "    ") {
			lines[i] = ""
		}
		fenced = fenced != fence
	}
	return strings.Join(lines, "\n")
}

var (
	linkTarget = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	notInSlug  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// slugs returns the names by which the headings of a page can be linked to.
func slugs(text string) map[string]bool {
	names := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(prose(text), -1) {
		name := notInSlug.ReplaceAllString(strings.ToLower(m[1]), "")
		names[strings.ReplaceAll(name, " ", "-")] = true
	}
	return names
}

// TestLinks: relative links lead to files of the repository, and to headings that
// exist.
func TestLinks(t *testing.T) {
	for _, p := range readPages(t, "*.md", "docs/*.md", "testdata/*/README.md") {
		for _, m := range linkTarget.FindAllStringSubmatch(prose(p.text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			path, anchor, _ := strings.Cut(m[1], "#")
			target := filepath.Join(root, filepath.Dir(p.path), path)
			if path == "" {
				target = filepath.Join(root, p.path)
			}
			checkTarget(t, p.path, m[1], target, anchor)
		}
	}
}

func checkTarget(t *testing.T, from, link, target, anchor string) {
	t.Helper()
	if _, err := os.Stat(target); err != nil {
		t.Errorf("%s: link to %s: %v", from, link, err)
		return
	}
	if anchor == "" {
		return
	}
	text, err := os.ReadFile(target)
	if err != nil {
		t.Errorf("%s: link to %s: %v", from, link, err)
	} else if !slugs(string(text))[anchor] {
		t.Errorf("%s: link to %s: no such heading", from, link)
	}
}

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
	must(t, err)
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
