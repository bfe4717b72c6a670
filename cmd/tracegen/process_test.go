package main

import (
	"bufio"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"reprise/internal/command/commandtest"
)

// TestInterrupted: the first signal ends the command, also while it waits for somebody
// who reads or writes a pipe.
func TestInterrupted(t *testing.T) {
	pipe := commandtest.Pipe(t)
	for _, args := range [][]string{
		{"hpl", "-N", "10", "-P", "1", "-Q", "1", "-o", pipe},
		{"hpl", "--hpl-dat", pipe, "-o", filepath.Join(t.TempDir(), "t")},
		{"hpl", "--hpl-dat", "-", "-o", filepath.Join(t.TempDir(), "t")},
	} {
		commandtest.Interrupt(t, syscall.SIGTERM, 1, "tracegen", args...)
	}
	commandtest.Interrupt(t, syscall.SIGINT, 1, "tracegen", "hpl", "-N", "10", "-P", "1", "-Q", "1", "-o", pipe)
}

// TestInterruptedLeavesNothing: nothing of a trace that was being written is left.
func TestInterruptedLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	commandtest.Interrupt(t, syscall.SIGTERM, 1, "tracegen", "hpl", "-N", "2000000", "--NB", "8", "-P", "64", "-Q", "64", "--quiet", "-o", filepath.Join(dir, "t"))
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, error %v", left, err)
	}
}

// TestInterruptedTwice: a program that does not end by a signal is left by the second one, and
// nothing of its recordings is.
func TestInterruptedTwice(t *testing.T) {
	dir := t.TempDir()
	p := commandtest.Command(t, "tracegen", "mpi", "-o", filepath.Join(dir, "t"), "--", "sh", "-c", "trap '' INT; echo ready; read forever")
	in, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close() // which ends the program
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v: want the recordings", left, err)
	}
	ended := make(chan error)
	go func() {
		_, err := p.Process.Wait()
		ended <- err
	}()
	for {
		_ = p.Process.Signal(os.Interrupt)
		select {
		case err := <-ended:
			if left, lerr := os.ReadDir(dir); err != nil || lerr != nil || len(left) > 0 {
				t.Errorf("left %v, errors %v, %v", left, err, lerr)
			}
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// TestFullOutput: whatever is printed on a full disk has failed.
func TestFullOutput(t *testing.T) {
	for _, args := range [][]string{{}, {"--help"}, {"help"}, {"--version"}, {"hpl", "--help"}, {"help", "hpl"}, {"hpl", "-N", "10", "-P", "1", "-Q", "1"}} {
		commandtest.Full(t, 1, "tracegen", args...)
	}
}
