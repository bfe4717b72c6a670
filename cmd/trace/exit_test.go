package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/command"
	"reprise/tracegen/hpl"
)

// writeTrace writes the trace of a small HPL run.
func writeTrace(t *testing.T, path string, nb int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	p := hpl.DefaultParams(24, 1, 2)
	p.NB = nb
	if err := hpl.Generate(context.Background(), f, p, hpl.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	a, b, bad := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "bad")
	writeTrace(t, a, 4)
	writeTrace(t, b, 8)
	data, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bad, data[:len(data)/2], 0o644); err != nil {
		t.Fatal(err)
	}
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
