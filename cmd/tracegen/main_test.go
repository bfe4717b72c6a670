package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"tracegen": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}

func TestStopsWhenCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	args := []string{"tracegen", "hpl", "-N", "100", "-P", "1", "-Q", "1", "-o", filepath.Join(dir, "t")}
	if err := run(ctx, args, strings.NewReader(""), io.Discard, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("files left: %v", left)
	}
}

var errWrite = errors.New("write failed")

func TestWriteWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t")
	if err := os.WriteFile(path, []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	fail := func(w io.Writer) error {
		_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<17))
		return errWrite
	}
	if err := writeTrace(path, nil, fail); !errors.Is(err, errWrite) {
		t.Errorf("error %v, want %v", err, errWrite)
	}
	if data, _ := os.ReadFile(path); string(data) != "before" {
		t.Errorf("the file holds %d bytes, want what it held before", len(data))
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("files left: %v", left)
	}
	write := func(w io.Writer) error { _, err := w.Write([]byte("after")); return err }
	if err := writeTrace(path, nil, write); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(path); string(data) != "after" {
		t.Errorf("the file holds %q", data)
	}
	if err := writeTrace(os.DevNull, nil, write); err != nil {
		t.Error(err)
	}
	if err := writeTrace(filepath.Join(dir, "no", "t"), nil, write); err == nil {
		t.Error("wrote into a directory that does not exist")
	}
}

func TestCommandLine(t *testing.T) {
	const want = `tracegen hpl -N 4 --copy-l --pivots 'file:my pivots' --hpl-dat -o`
	for _, where := range [][]string{nil, {"-o", "a"}, {"--o=a"}, {"--output", "-"}, {"-output=x", "--quiet"}, {"-quiet=true"}} {
		args := append([]string{"/some/where/tracegen", "hpl", "-N", "4", "--copy-l"}, where...)
		if got := commandLine(append(args, "--pivots", "file:my pivots", "--hpl-dat", "-o"), hplFlags()); got != want {
			t.Errorf("%v: %s, want %s", where, got, want)
		}
	}
}
