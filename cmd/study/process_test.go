package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"reprise/internal/command/commandtest"
)

// write writes a file of the test.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// endless is a study of runs that take hours.
const endless = "program: hpl\nparameters: {N: 2000000, NB: 32, P: 16, Q: 16}\nmachine: dahu\nfactors: {DEPTH: [0, 1]}\n"

// TestInterrupted: the first signal ends the command, with the leases given back.
func TestInterrupted(t *testing.T) {
	file := write(t, "long.yaml", endless)
	dir := filepath.Join(t.TempDir(), "long")
	if out, err := commandtest.Command(t, "study", "plan", file, "-o", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		commandtest.Interrupt(t, sig, 1, "study", "run", file, "-o", dir)
		commandtest.Interrupt(t, sig, 1, "study", "worker", dir)
		out, err := commandtest.Command(t, "study", "status", dir).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "0 of 2 runs done, 0 running, 2 waiting") {
			t.Errorf("%v: %s", err, out)
		}
	}
	commandtest.Interrupt(t, syscall.SIGTERM, 1, "study", "run", commandtest.Pipe(t), "-o", dir)
}

// TestFullOutput: whatever is printed on a full disk has failed.
func TestFullOutput(t *testing.T) {
	file := write(t, "s.yaml", "program: hpl\nparameters: {N: 100, P: 1, Q: 1}\n")
	dir := filepath.Join(t.TempDir(), "s")
	for _, args := range [][]string{{"--help"}, {"run", "--help"}, {"run", file, "--dry-run"}, {"run", file, "-o", dir}, {"worker", dir}, {"status", dir}, {"status", dir, "--json"}} {
		commandtest.Full(t, 1, "study", args...)
	}
}
