package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/command/commandtest"
	"reprise/internal/sniff/snifftest"
	"reprise/internal/tracetest"
	"reprise/trace"
	"reprise/tracegen/hpl"
)

// writeTrace writes the trace of a small HPL run.
func writeTrace(t *testing.T, path string, nb int) {
	t.Helper()
	f := tracetest.Must(os.Create(path))
	p := hpl.DefaultParams(24, 1, 2)
	p.NB = nb
	tracetest.Check(t, hpl.Generate(context.Background(), f, p, hpl.Options{}))
	tracetest.Check(t, f.Close())
}

func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	a, b, bad := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "bad")
	writeTrace(t, a, 4)
	writeTrace(t, b, 8)
	data := tracetest.Must(os.ReadFile(a))
	tracetest.Check(t, os.WriteFile(bad, data[:len(data)/2], 0o644))
	for _, test := range []struct {
		args string
		want int
	}{
		{"", 0}, {"--help", 0}, {"help", 0}, {"help cat", 0}, {"--version", 0}, {"cat --rank 0 A", 0}, {"stat A", 0}, {"verify A", 0}, {"diff A A", 0},
		{"diff A B", 1}, {"diff --quiet A B", 1}, {"diff --quiet --json A A", 2}, {"diff --quiet --actions A A", 2},
		{"cat BAD", 1}, {"stat BAD", 1}, {"verify BAD", 1}, {"stat MISSING", 1}, {"cat --rank 0 --polls MISSING A", 1}, {"cat --structure BAD", 1},
		{"diff A BAD", 2}, {"diff MISSING A", 2}, {"diff A", 2},
		{"cat", 2}, {"cat A B", 2}, {"cat --rank 7 A", 2}, {"cat --steps 5 A", 2}, {"stat --polls x A", 2}, {"verify", 2}, {"stat --nonsense A", 2}, {"nonsense", 2}, {"help nonsense", 2},
		{"convert --to goal -o A A", 2},
	} {
		args := []string{"trace"}
		for _, arg := range strings.Fields(test.args) {
			switch arg {
			case "A":
				arg = a
			case "B":
				arg = b
			case "BAD":
				arg = bad
			}
			args = append(args, arg)
		}
		var out, errs bytes.Buffer
		if got := command.ExitCode(run(context.Background(), args, strings.NewReader(""), &out, &errs)); got != test.want {
			t.Errorf("trace %s: exit code %d, want %d", test.args, got, test.want)
		}
	}
}

// TestExamples: the help of each command has examples, which the command takes.
func TestExamples(t *testing.T) {
	commandtest.Examples(t, func() *cli.App { return newApp(strings.NewReader(""), io.Discard, io.Discard) })
}

// TestForeignFiles: files of other formats are called by their names wherever one is read.
func TestForeignFiles(t *testing.T) {
	command := func(args ...string) error {
		return run(context.Background(), append([]string{"trace"}, args...), strings.NewReader(""), io.Discard, io.Discard)
	}
	for _, args := range []string{"cat", "stat", "verify", "convert --to goal", "convert --to simgrid", "diff"} {
		snifftest.Check(t, args, func(path string) error {
			words := append(strings.Fields(args), path)
			if args == "diff" {
				words = append(words, path)
			}
			return command(words...)
		}, "trace")
	}
	out := t.TempDir() + "/out"
	snifftest.Check(t, "convert --from simgrid", func(path string) error {
		return command("convert", "--from", "simgrid", "-o", out, path)
	}, "index", "actions")
}

// TestFrozen: the golden files have the names that docs/trace-format.md gives to them. They are
// part of the format, which is frozen: none is ever changed, new ones are added.
func TestFrozen(t *testing.T) {
	page := tracetest.Must(os.ReadFile("../../docs/trace-format.md"))
	for i := range goldens {
		tr := tracetest.Must(trace.Open(goldens[i].path()))
		hash, ok := tr.Hash()
		tr.Close()
		if row := "| `" + goldens[i].name + "` | `" + hex.EncodeToString(hash[:]) + "` |\n"; !ok || !strings.Contains(string(page), row) {
			t.Errorf("docs/trace-format.md lacks the row\n%s", row)
		}
	}
}

// TestInterrupted: the first signal ends every command, also while it waits for somebody
// who reads or writes a pipe. In trace diff 1 means something else.
func TestInterrupted(t *testing.T) {
	dir, pipe := t.TempDir(), commandtest.Pipe(t)
	a := filepath.Join(dir, "a")
	writeTrace(t, a, 4)
	for args, code := range map[string]int{
		"cat PIPE": 1, "stat PIPE": 1, "verify PIPE": 1, "verify -": 1, "diff A PIPE": 2, "diff PIPE A": 2, "cat --rank 0 --polls PIPE A": 1,
		"convert --to goal -o PIPE A": 1, "convert --to simgrid -o PIPE A": 1, "convert --to goal PIPE": 1, "convert --to goal -": 1, "convert --to goal --kernels PIPE A": 1,
	} {
		args = strings.NewReplacer("PIPE", pipe, "A", a).Replace(args)
		commandtest.Interrupt(t, syscall.SIGTERM, code, "trace", strings.Fields(args)...)
	}
	commandtest.Interrupt(t, syscall.SIGINT, 1, "trace", "convert", "--to", "goal", "-o", pipe, a)
}

// TestFullOutput: whatever is printed on a full disk has failed.
func TestFullOutput(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	writeTrace(t, a, 4)
	writeTrace(t, b, 8)
	for args, code := range map[string]int{
		"": 1, "--help": 1, "help": 1, "--version": 1, "cat --help": 1, "stat --help": 1, "verify --help": 1, "diff --help": 1, "convert --help": 1, "help diff": 1,
		"cat A": 1, "cat --rank 0 A": 1, "cat --structure A": 1, "stat A": 1, "stat --json A": 1, "verify A": 1, "diff A A": 2, "diff A B": 2, "diff --json A B": 2, "diff --actions A B": 2,
		"convert --to goal A": 1, "convert --to simgrid A": 1,
	} {
		args = strings.NewReplacer("A", a, "B", b).Replace(args)
		commandtest.Full(t, code, "trace", strings.Fields(args)...)
	}
}
