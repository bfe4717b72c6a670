package main

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"reprise/internal/sniff/snifftest"
)

// TestForeignFiles: files of other formats are called by their names wherever one is read.
func TestForeignFiles(t *testing.T) {
	tracegen := func(args ...string) error {
		return run(context.Background(), append([]string{"tracegen"}, args...), strings.NewReader(""), io.Discard, io.Discard)
	}
	command := func(args ...string) error { return tracegen(append([]string{"hpl"}, args...)...) }
	snifftest.Check(t, "HPL.dat", func(path string) error { return command("--hpl-dat", path, "--list") }, "hpl-dat")
	snifftest.Check(t, "hpcg.dat", func(path string) error { return tracegen("hpcg", "--ranks", "8", "--hpcg-dat", path, "-o", os.DevNull) }, "hpcg-dat")
	snifftest.Check(t, "pivots", func(path string) error {
		return command("-N", "10", "--NB", "5", "-P", "1", "-Q", "1", "--pivots", "file:"+path)
	})
}
