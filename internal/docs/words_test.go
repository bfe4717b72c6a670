package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// term matches a row of the glossary: its word, in bold.
var term = regexp.MustCompile(`(?m)^\| \*\*([^*]+)\*\* \| [^|]+ \|[^|]*\|$`)

// TestGlossary: each row of the glossary has a word and its meaning, and the words
// are in order, each once.
func TestGlossary(t *testing.T) {
	text := readPages(t, "docs/words.md")[0].text
	rows := strings.Count(text, "\n| ") - 2 // without the head and the line under it
	var words []string
	for _, m := range term.FindAllStringSubmatch(text, -1) {
		words = append(words, strings.ToLower(m[1]))
	}
	if len(words) != rows {
		t.Errorf("%d of %d rows are a word, its meaning, and our use", len(words), rows)
	}
	for i := 1; i < len(words); i++ {
		if words[i] <= words[i-1] {
			t.Errorf("%q stands after %q", words[i], words[i-1])
		}
	}
	for _, w := range []string{"rank", "action", "block", "chunk", "step", "window", "poll", "eager", "detached", "rendezvous", "bottleneck", "level", "constraint", "makespan"} {
		if !slices.Contains(words, w) {
			t.Errorf("%q is not explained", w)
		}
	}
}
