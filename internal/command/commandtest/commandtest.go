// Package commandtest tries what every command must do as a process: end when it is told
// to, and fail when its output does.
package commandtest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Command returns the command of a test binary whose TestMain knows it by name
// (testscript.Main).
func Command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := exec.CommandContext(t.Context(), self, args...)
	p.Args[0] = name
	return p
}

// Pipe makes a named pipe, which nobody opens.
func Pipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	return path
}

// patience is when a process is taken for one that never ends.
const patience = time.Minute

// Interrupt starts a command that waits for ever and sends it one signal, by which it must
// end with a code and a word. A command that ends by itself, or by the signal
// before it catches any, is started again and gets more time. It returns what was printed.
func Interrupt(t *testing.T, sig syscall.Signal, code int, name string, args ...string) string {
	t.Helper()
	for pause := 20 * time.Millisecond; pause < patience; pause *= 2 {
		p := Command(t, name, args...)
		in, err := p.StdinPipe() // which never ends
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		var text bytes.Buffer
		p.Stdout, p.Stderr = &text, &text
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(pause)
		if err := p.Process.Signal(sig); err != nil {
			t.Fatalf("%s %q has ended: %v\n%s", name, args, err, text.String())
		}
		kill := time.AfterFunc(patience, func() { _ = p.Process.Kill() })
		err = p.Wait()
		if !kill.Stop() {
			t.Fatalf("%s %q outlives %v", name, args, sig)
		}
		if status := p.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() && status.Signal() == sig {
			continue // it had not begun to listen
		}
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != code || !strings.Contains(text.String(), "interrupted") &&
			!strings.Contains(text.String(), "stopped by a signal") {
			t.Errorf("%s %q, %v: %v, want code %d\n%s", name, args, sig, err, code, text.String())
		}
		return text.String()
	}
	t.Errorf("%s %q never catches %v", name, args, sig)
	return ""
}

// Full runs a command whose standard output is a full disk: it must fail with a code, and
// say why.
func Full(t *testing.T, code int, name string, args ...string) {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	p := Command(t, name, args...)
	var text bytes.Buffer
	p.Stdout, p.Stderr = full, &text
	err = p.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != code || !strings.Contains(text.String(), "no space left on device") {
		t.Errorf("%s %q: %v, want code %d\n%s", name, args, err, code, text.String())
	}
}
