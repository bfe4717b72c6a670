package terminal_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"reprise/internal/terminal"
)

func TestOthersAreNoTerminals(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, os.DevNull, "/dev/full", "/dev/zero", filepath.Dir(file), file + "none"} {
		if terminal.IsPath(path) {
			t.Errorf("%s taken for a terminal", path)
		}
	}
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, w := range []any{f, nil, "text"} {
		if terminal.Is(w) {
			t.Errorf("%v taken for a terminal", w)
		}
	}
}

// A pseudo-terminal's master end is a terminal on Linux.
func TestTerminal(t *testing.T) {
	const path = "/dev/ptmx"
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	if !terminal.Is(f) || !terminal.IsPath(path) {
		t.Error("a pseudo-terminal is a terminal")
	}
}

// TestNoTerminal: where nobody would see it, a bar is nil, which does nothing, and there are no columns.
func TestNoTerminal(t *testing.T) {
	bar := terminal.NewBar(io.Discard, false, 3, "steps")
	if bar != nil {
		t.Fatal("a bar on no terminal")
	}
	bar.Set(2)
	bar.Clear()
	if w := terminal.Wide(io.Discard); w != io.Discard {
		t.Errorf("%v", w)
	}
}
