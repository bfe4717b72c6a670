// Package docs tests the documentation: its commands run, its links have targets, the
// code that it names exists, and it names every flag.
package docs

import (
	"os"
	"path/filepath"
	"regexp"
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

// split returns the lines of a page's blocks of code, and the page without them.
func split(text string) (code []codeLine, prose string) {
	fenced := false
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		indented, ok := strings.CutPrefix(line, "    ")
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced:
			code = append(code, codeLine{i + 1, line})
		case ok:
			code = append(code, codeLine{i + 1, indented})
		default:
			continue
		}
		lines[i] = ""
	}
	return code, strings.Join(lines, "\n")
}

var (
	linkTarget = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	notInSlug  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// slugs returns the names by which the headings of a page can be linked to.
func slugs(text string) map[string]bool {
	names := map[string]bool{}
	_, prose := split(text)
	for _, m := range heading.FindAllStringSubmatch(prose, -1) {
		name := notInSlug.ReplaceAllString(strings.ToLower(m[1]), "")
		names[strings.ReplaceAll(name, " ", "-")] = true
	}
	return names
}

// TestLinks: relative links lead to files of the repository, and to headings that
// exist.
func TestLinks(t *testing.T) {
	for _, p := range readPages(t, "*.md", "docs/*.md", "testdata/*/README.md") {
		_, prose := split(p.text)
		for _, m := range linkTarget.FindAllStringSubmatch(prose, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			path, anchor, _ := strings.Cut(m[1], "#")
			target := filepath.Join(root, filepath.Dir(p.path), path)
			if path == "" {
				target = filepath.Join(root, p.path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: link to %s: %v", p.path, m[1], err)
			} else if text, err := os.ReadFile(target); anchor != "" && (err != nil || !slugs(string(text))[anchor]) {
				t.Errorf("%s: link to %s: no such heading (%v)", p.path, m[1], err)
			}
		}
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
			text, err := os.ReadFile(file)
			if err != nil {
				t.Errorf("%s: %s: %v", p.path, m[0], err)
			} else if !regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type )`+name+`\b`).Match(text) && name != "" {
				t.Errorf("%s: %s: declared no longer", p.path, m[0])
			}
		}
	}
}
