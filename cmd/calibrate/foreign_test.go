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
		return run(context.Background(), append([]string{"calibrate"}, args...), strings.NewReader(""), io.Discard, io.Discard)
	}
	recognisetest.Check(t, "kernels", func(path string) error { return command("kernels", path) }, "table", "gzip")
	recognisetest.Check(t, "hosts", func(path string) error { return command("hosts", path) }, "table", "gzip")
	recognisetest.Check(t, "network", func(path string) error { return command("network", path) }, "table", "gzip")
	recognisetest.Check(t, "hosts --from", func(path string) error { return command("hosts", "--draw", "3", "--from", path) }, "kernels", "json")
	base := t.TempDir() + "/base"
	recognisetest.Check(t, "hosts --base", func(path string) error {
		return command("hosts", "--draw", "3", "--from", "dahu-node", "-o", base, "--base", path)
	}, "kernels", "json")
}
