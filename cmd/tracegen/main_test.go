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
	"github.com/urfave/cli/v2"

	"reprise/internal/command/commandtest"
	"reprise/internal/sniff/snifftest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"tracegen": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
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

// TestExamples: the help of each command has examples, which the command takes.
func TestExamples(t *testing.T) {
	commandtest.Examples(t, func() *cli.App { return newApp(nil, strings.NewReader(""), io.Discard, io.Discard) })
}

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
