package hosts

import (
	"os"
	"strings"
	"testing"
)

// TestDocumented: the file of the documentation is a machine model.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/calibrate.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	text, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("docs/calibrate.md has no YAML")
	}
	m, err := Parse(strings.NewReader(text), "docs/calibrate.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Classes) != 2 || m.Classes[1].Mean[0] != 8.7e-11 {
		t.Errorf("model %+v", m)
	}
}
