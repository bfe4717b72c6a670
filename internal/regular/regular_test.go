package regular_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/regular"
	"reprise/internal/regular/regulartest"
)

func TestSpecial(t *testing.T) {
	regulartest.Special(t, func(t *testing.T, what string, put func(string)) {
		path := filepath.Join(t.TempDir(), "f")
		put(path)
		want := path + ": want a regular file, this is " + what
		if _, err := regular.Open(path); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if _, err := regular.Read(path, 10); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	})
}

// TestRead: a file is read up to the bound, through links, and not beyond.
func TestRead(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("f", make([]byte, 2048), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("f", "link"); err != nil {
		t.Fatal(err)
	}
	regulartest.Sparse(t, "large", 1<<40)
	for _, c := range []struct {
		path string
		most int64
		want string
	}{
		{"f", 2048, ""}, {"link", 4096, ""}, {"f", 2047, "f: more than 1 KiB"}, {"large", 64 << 20, "large: more than 64 MiB"},
		{"none", 10, "open none: no such file or directory"},
	} {
		text, err := regular.Read(c.path, c.most)
		if err == nil && (c.want != "" || len(text) != 2048) || err != nil && err.Error() != c.want {
			t.Errorf("%s: %d bytes, %v, want %q", c.path, len(text), err, c.want)
		}
	}
}

func TestMissing(t *testing.T) {
	known := errors.New("no such set, want this or that")
	if err := regular.Missing("./none.yaml", known); !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, known) || err.Error() != "./none.yaml: file does not exist; no such set, want this or that" {
		t.Errorf("a path: %v", err)
	}
	if err := regular.Missing(t.TempDir(), known); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("a directory: %v", err)
	}
	if err := regular.Missing("dahu2", known); err != known {
		t.Errorf("a name: %v", err)
	}
	if regular.IsFile(t.TempDir()) || regular.IsFile("none") || !regular.IsFile("regular.go") {
		t.Error("a directory, or nothing, taken for a file, or a file not")
	}
}
