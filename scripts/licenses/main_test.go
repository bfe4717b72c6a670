package main

import (
	"os"
	"strings"
	"testing"
)

// TestCurrent: the file has the licenses of the modules that are linked now. That of Go
// is its own version's.
func TestCurrent(t *testing.T) {
	have, err := os.ReadFile("../../" + output)
	if err != nil {
		t.Fatal(err)
	}
	want, err := moduleLicenses()
	if err != nil {
		t.Fatal(err)
	}
	if text := string(have); !strings.HasPrefix(text, intro) || !strings.HasSuffix(text, want) || !strings.Contains(text, "The Go Authors") {
		t.Errorf("%s is not what is linked: make licenses", output)
	}
	for _, module := range []string{"github.com/golang/freetype", "gonum.org/v1/plot"} {
		if !strings.Contains(want, module) {
			t.Errorf("%s is not linked?", module)
		}
	}
}
