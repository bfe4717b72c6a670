package main

import (
	"context"
	"io"
	"os"
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
