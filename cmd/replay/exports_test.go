package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"reprise/tracegen/hpl"
)

// TestExportsOnAnyNumberOfCores: files are the same bytes on one core and on more, and one
// that is compressed holds what the other one is.
func TestExportsOnAnyNumberOfCores(t *testing.T) {
	dir := t.TempDir()
	trace := filepath.Join(dir, "run.trace.zst")
	var text bytes.Buffer
	if err := hpl.Generate(t.Context(), &text, hpl.DefaultParams(600, 2, 3), hpl.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(trace, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	names := []string{"run.pftrace", "run.paje", "run.paje.gz", "run.pb.gz", "run.csv", "run.parquet"}
	export := func(cores int) map[string]string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		files := map[string]string{}
		for _, name := range names {
			flag := "--timeline"
			switch filepath.Ext(strings.TrimSuffix(name, ".gz")) {
			case ".pb":
				flag = "--profile"
			case ".csv", ".parquet":
				flag = "--table"
			}
			path := filepath.Join(dir, name)
			args := []string{"replay", "--quiet", "--platform", "dahu", flag, path, trace}
			if err := run(t.Context(), args, strings.NewReader(""), io.Discard, io.Discard); err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = string(content)
		}
		return files
	}
	one, four := export(1), export(4)
	for _, name := range names {
		if len(one[name]) == 0 || one[name] != four[name] {
			t.Errorf("%s: %d bytes on one core, %d others on four", name, len(one[name]), len(four[name]))
		}
	}
	zip, err := gzip.NewReader(strings.NewReader(one["run.paje.gz"]))
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := io.ReadAll(zip); err != nil || string(plain) != one["run.paje"] {
		t.Errorf("run.paje.gz holds %d bytes, and run.paje has %d (%v)", len(plain), len(one["run.paje"]), err)
	}
}
