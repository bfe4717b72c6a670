package main

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"reprise/trace"
)

// TestFrozen: the golden files have the names that docs/trace-format.md gives to them. They are
// part of the format, which is frozen: none is ever changed, new ones are added.
func TestFrozen(t *testing.T) {
	page, err := os.ReadFile("../../docs/trace-format.md")
	if err != nil {
		t.Fatal(err)
	}
	for i := range goldens {
		tr, err := trace.Open(goldens[i].path())
		if err != nil {
			t.Fatal(err)
		}
		hash, ok := tr.Hash()
		tr.Close()
		if row := "| `" + goldens[i].name + "` | `" + hex.EncodeToString(hash[:]) + "` |\n"; !ok || !strings.Contains(string(page), row) {
			t.Errorf("docs/trace-format.md lacks the row\n%s", row)
		}
	}
}
