package main

import (
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

func TestCommandLine(t *testing.T) {
	const want = `tracegen hpl -N 4 --copy-l --pivots 'file:my pivots' --hpl-dat -o`
	for _, where := range [][]string{nil, {"-o", "a"}, {"--o=a"}, {"--output", "-"}, {"-output=x", "--quiet"}, {"-quiet=true"}} {
		args := append([]string{"/some/where/tracegen", "hpl", "-N", "4", "--copy-l"}, where...)
		if got := commandLine(append(args, "--pivots", "file:my pivots", "--hpl-dat", "-o"), hplCommand(nil).Flags); got != want {
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

// TestWriteWhole: a trace that cannot be written to its end leaves the file as it was, and nothing beside it.
func TestWriteWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t")
	failed := errors.New("failed")
	for _, c := range []struct {
		text string
		err  error
		want string // in the file then
	}{{"before", nil, "before"}, {strings.Repeat("x", 1<<17), failed, "before"}, {"after", nil, "after"}} {
		err := writeTrace(path, nil, func(w io.Writer) error {
			_, err := io.WriteString(w, c.text)
			return errors.Join(err, c.err)
		})
		if !errors.Is(err, c.err) {
			t.Errorf("%.6s: error %v, want %v", c.text, err, c.err)
		}
		data, err := os.ReadFile(path)
		left, _ := os.ReadDir(dir)
		if err != nil || string(data) != c.want || len(left) != 1 {
			t.Errorf("%.6s: %d bytes, want %q; %v, files %v", c.text, len(data), c.want, err, left)
		}
	}
	if err := writeTrace(os.DevNull, nil, func(io.Writer) error { return nil }); err != nil {
		t.Error(err)
	}
}
