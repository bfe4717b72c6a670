package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxParagraph is how long a paragraph or an item of a list may be, in characters:
// it has one idea. Code and tables are not counted.
const maxParagraph = 600

// paragraph is a piece of prose without its line breaks.
type paragraph struct {
	line int // of its beginning, from 1
	text string
}

var (
	item     = regexp.MustCompile(`^\s*([-*]|\d+\.) `)
	notProse = regexp.MustCompile(`^\s*([|#]|<!--|!\[|$)`)
)

// paragraphs returns the paragraphs and items of a page.
func paragraphs(text string) []paragraph {
	var list []paragraph
	open := false
	for i, line := range strings.Split(prose(text), "\n") {
		switch {
		case notProse.MatchString(line):
			open = false
		case open && !item.MatchString(line):
			list[len(list)-1].text += " " + strings.TrimSpace(line)
		default:
			list = append(list, paragraph{i + 1, strings.TrimSpace(line)})
			open = true
		}
	}
	return list
}

// TestParagraphs: no paragraph of a page is too long to read.
func TestParagraphs(t *testing.T) {
	for _, p := range readPages(t, "*.md", "docs/*.md", "testdata/*/README.md", "testdata/*/*/README.md") {
		for _, par := range paragraphs(p.text) {
			if n := utf8.RuneCountInString(par.text); n > maxParagraph {
				t.Errorf("%s:%d: a paragraph of %d characters, at most %d: %.60s...", p.path, par.line, n, maxParagraph, par.text)
			}
		}
	}
}

func TestParagraphsOf(t *testing.T) {
	got := paragraphs("# Title\n\none\ntwo\n- three\n  four\n- five\n\n| a | b |\n\n    code\n```\ncode\n```\n<!-- mark -->\nsix\n")
	want := []paragraph{{3, "one two"}, {5, "- three four"}, {7, "- five"}, {16, "six"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
