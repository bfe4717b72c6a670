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
		return run(context.Background(), append([]string{"tracegen", "hpl"}, args...), strings.NewReader(""), io.Discard, io.Discard)
	}
	recognisetest.Check(t, "HPL.dat", func(path string) error { return command("--hpl-dat", path, "--list") }, "hpl-dat")
	recognisetest.Check(t, "pivots", func(path string) error {
		return command("-N", "10", "--NB", "5", "-P", "1", "-Q", "1", "--pivots", "file:"+path)
	})
}
