package builtin

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
)

func TestMissing(t *testing.T) {
	known := errors.New("no such set, want this or that")
	if err := Missing("./none.yaml", known); !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, known) || err.Error() != "./none.yaml: file does not exist; no such set, want this or that" {
		t.Errorf("a path: %v", err)
	}
	if err := Missing(t.TempDir(), known); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("a directory: %v", err)
	}
	if err := Missing("dahu2", known); err != known {
		t.Errorf("a name: %v", err)
	}
	if IsFile(t.TempDir()) || IsFile("none") || !IsFile("builtin.go") {
		t.Error("a directory, or nothing, taken for a file, or a file not")
	}
}
