package netmodel

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestOptionsAreDocumented compares the names in the option table of
// docs/network-model.md with those that Set understands.
func TestOptionsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/network-model.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| `[^|]*\\|").FindAllString(string(text), -1) {
		for _, name := range regexp.MustCompile("`([a-zA-Z]+/[a-zA-Z_-]+)`").FindAllStringSubmatch(row, -1) {
			documented = append(documented, name[1])
		}
	}
	names := OptionNames()
	for _, name := range names {
		if !slices.Contains(documented, name) {
			t.Errorf("option %s is not documented", name)
		}
	}
	for _, name := range documented {
		if !slices.Contains(names, name) {
			t.Errorf("documented option %s does not exist", name)
		}
	}
}
