package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"reprise/internal/command/commandtest"
)

// TestInterrupted: the first signal ends the command, also while it waits for somebody
// who reads or writes a pipe.
func TestInterrupted(t *testing.T) {
	pipe := commandtest.Pipe(t)
	for _, args := range [][]string{
		{"kernels", pipe}, {"kernels", "-"}, {"network", pipe}, {"hosts", pipe}, {"kernels", "-o", "x", "--base", pipe, pipe},
		{"hosts", "--draw", "3", "--from", "dahu-node", "-o", pipe}, {"hosts", "--draw", "3", "--from", pipe},
	} {
		commandtest.Interrupt(t, syscall.SIGTERM, 1, "calibrate", args...)
	}
	commandtest.Interrupt(t, syscall.SIGINT, 1, "calibrate", "hosts", "--draw", "3", "--from", "dahu-node", "-o", pipe)
}

// TestFullOutput: whatever is printed on a full disk has failed.
func TestFullOutput(t *testing.T) {
	table := filepath.Join(t.TempDir(), "t.csv")
	text := "function,m,n,k,seconds\ndgemm,1,1,1,1\ndgemm,2,2,2,8\ndgemm,3,3,3,27\ndgemm,4,4,4,64\n"
	if err := os.WriteFile(table, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{}, {"--help"}, {"help"}, {"--version"}, {"kernels", "--help"}, {"network", "--help"}, {"hosts", "--help"}, {"measure", "--help"}, {"measure", "kernels", "--help"},
		{"kernels", table}, {"kernels", "--json", table}, {"kernels", "-o", "-", table}, {"hosts", "--draw", "3", "--from", "dahu-node"},
	} {
		commandtest.Full(t, 1, "calibrate", args...)
	}
}
