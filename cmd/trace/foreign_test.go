package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"reprise/internal/recognise/recognisetest"
)

// TestForeignFiles: files of other formats are called by their names wherever one is read.
func TestForeignFiles(t *testing.T) {
	command := func(args ...string) error {
		return run(context.Background(), append([]string{"trace"}, args...), strings.NewReader(""), io.Discard, io.Discard)
	}
	for _, args := range []string{"cat", "stat", "verify", "convert --to goal", "convert --to simgrid", "diff"} {
		recognisetest.Check(t, args, func(path string) error {
			words := append(strings.Fields(args), path)
			if args == "diff" {
				words = append(words, path)
			}
			return command(words...)
		}, "trace")
	}
	out := t.TempDir() + "/out"
	recognisetest.Check(t, "convert --from simgrid", func(path string) error {
		return command("convert", "--from", "simgrid", "-o", out, path)
	}, "index", "actions")
}
