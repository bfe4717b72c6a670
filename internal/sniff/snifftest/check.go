package snifftest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Check gives a reader a file of each format but its own: its error must say what that is, and name the file.
func Check(t *testing.T, reader string, read func(path string) error, own ...string) {
	t.Helper()
	dir := t.TempDir()
	for _, s := range Samples {
		if slices.Contains(own, s.Name) {
			continue
		}
		path := filepath.Join(dir, s.Name)
		if err := os.WriteFile(path, []byte(s.Text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := read(path)
		if err == nil || !strings.Contains(err.Error(), s.What) {
			t.Errorf("%s of %s: error %v, want %q", reader, s.Name, err, s.What)
		} else if !strings.Contains(err.Error(), s.Name) {
			t.Errorf("%s of %s: %v does not name the file", reader, s.Name, err)
		}
	}
}
