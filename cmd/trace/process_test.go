package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"reprise/internal/command/commandtest"
)

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
