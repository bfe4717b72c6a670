package wholefile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/wholefile"
)

var errContent = errors.New("no more")

func text(s string, err error) func(io.Writer) error {
	return func(w io.Writer) error {
		io.WriteString(w, s)
		return err
	}
}

// names returns what a directory holds.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	for _, c := range []struct {
		text string
		err  error
		want string
	}{{"first", nil, "first"}, {"second", errContent, "first"}, {"third", nil, "third"}} {
		if err := wholefile.Write(path, text(c.text, c.err)); !errors.Is(err, c.err) {
			t.Errorf("%s: error %v, want %v", c.text, err, c.err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != c.want {
			t.Errorf("after %s: %q, error %v", c.text, got, err)
		}
	}
	if got := names(t, dir); got != "a.txt" {
		t.Errorf("directory holds %s", got)
	}
	if err := wholefile.Write(os.DevNull, text("nothing", nil)); err != nil {
		t.Errorf("a device: %v", err)
	}
	if err := wholefile.Write(filepath.Join(dir, "none", "b"), text("", nil)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: error %v", err)
	}
}

func TestWriteDir(t *testing.T) {
	outer := t.TempDir()
	path := filepath.Join(outer, "d")
	fill := func(err error) func(string) error {
		return func(dir string) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "f"), nil, 0o644), err)
		}
	}
	if err := wholefile.WriteDir(path, fill(errContent)); !errors.Is(err, errContent) || names(t, outer) != "" {
		t.Errorf("error %v, left %s", err, names(t, outer))
	}
	if err := os.Mkdir(path, 0o755); err != nil { // an empty one is in nobody's way
		t.Fatal(err)
	}
	if err := wholefile.WriteDir(path+"/", fill(nil)); err != nil {
		t.Fatal(err)
	}
	if got := names(t, outer) + ": " + names(t, path); got != "d: f" {
		t.Error(got)
	}
	err := wholefile.WriteDir(path, fill(nil))
	if err == nil || !strings.Contains(err.Error(), "d: it exists and is not empty") {
		t.Errorf("error %v", err)
	}
	if err := wholefile.WriteDir(filepath.Join(path, "f"), fill(nil)); err == nil {
		t.Error("a file was replaced by a directory")
	}
}
