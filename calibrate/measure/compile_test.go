package measure

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompilers: what a compiler says, says nothing of, or is interrupted in is the error.
func TestCompilers(t *testing.T) {
	dir := t.TempDir()
	script := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		name, text, want string
		ctx              context.Context
	}{
		{"loud", "echo no mpi.h; exit 1", "loud: exit status 1: no mpi.h", t.Context()},
		{"silent", "exit 3", "silent: exit status 3", t.Context()},
		{"slow", "sleep 60", "interrupted while it was compiled: nothing was timed", ended},
	} {
		_, err := Compile(c.ctx, script(c.name, c.text), nil, filepath.Join(dir, "program"))
		if err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}
