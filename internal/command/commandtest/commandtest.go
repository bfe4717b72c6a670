// Package commandtest tests the duties of every command: as a process it ends when it is told to ([Interrupt]), and
// fails when its output does ([Full]); its help has examples that it takes ([Examples]).
package commandtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
)

// Command returns the command of a test binary whose TestMain knows it by name (testscript.Main).
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
	// How long a command takes to begin to wait is not known: the pause before the signal doubles until it was enough.
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

// Full runs a command whose standard output is a full disk: it must fail with a code, and say why.
func Full(t *testing.T, code int, name string, args ...string) {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	// The disk shows at the first write, or where output is buffered at the end.
	p := Command(t, name, args...)
	var text bytes.Buffer
	p.Stdout, p.Stderr = full, &text
	err = p.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != code || !strings.Contains(text.String(), "no space left on device") {
		t.Errorf("%s %q: %v, want code %d\n%s", name, args, err, code, text.String())
	}
}

// Examples checks that the description of each command of an application, which its help
// shows, has an example of that command: an indented line with its name. All examples there
// are must be command lines that the application takes. newApp makes the application.
func Examples(t *testing.T, newApp func() *cli.App) {
	t.Helper()
	app := newApp()
	// Each example is parsed by an application of its own, as parsing changes flags.
	check := func(path, description string) {
		own := false
		for _, line := range examplesIn(description, app.Name) {
			ran, err := parsed(newApp(), line)
			if err != nil {
				t.Errorf("%s --help: %s: %v", path, line, err)
			}
			own = own || ran == path
		}
		if !own {
			t.Errorf("%s --help has no example of %s", path, path)
		}
	}
	if len(app.Commands) == 0 || app.ArgsUsage != "" {
		check(app.Name, app.Description)
	} else if len(examplesIn(app.Description, app.Name)) == 0 {
		t.Errorf("%s --help has no example", app.Name)
	}
	eachCommand(app.Name, app.Commands, func(path string, c *cli.Command) {
		switch {
		case len(c.Subcommands) == 0 || c.ArgsUsage != "" || c.UsageText != "":
			check(path, c.Description)
		case !strings.Contains(c.Description, path+" "):
			t.Errorf("%s --help has no example of its commands", path)
		}
	})
}

// eachCommand visits all commands, those in others too.
func eachCommand(path string, list []*cli.Command, visit func(path string, c *cli.Command)) {
	for _, c := range list {
		path := path + " " + c.Name
		if c.Action != nil {
			visit(path, c)
		}
		eachCommand(path, c.Subcommands, visit)
	}
}

// examplesIn returns the indented lines of a text that call a program, without what follows in
// the same line: comments, pipes, and files for the output.
func examplesIn(text, program string) (list []string) {
	for line := range strings.SplitSeq(text, "\n") {
		line, indented := strings.CutPrefix(line, "   ")
		if line = strings.TrimSpace(line); indented && strings.HasPrefix(line, program+" ") {
			list = append(list, strings.TrimSpace(behind.ReplaceAllString(line, "")))
		}
	}
	return list
}

// behind matches the rest of a line behind a command.
var behind = regexp.MustCompile(` +(#|\||<|>) .*$`)

// parsed has an application parse a command line and returns the name of the command that would run.
func parsed(app *cli.App, line string) (ran string, err error) {
	// The words are those that a shell makes of the line.
	words, err := exec.Command("sh", "-c", "printf '%s\\n' "+line).Output()
	if err != nil {
		return "", fmt.Errorf("no command line: %w", err)
	}
	args := strings.Split(strings.TrimSuffix(string(words), "\n"), "\n")

	// Instead of running, commands note their names.
	app.Writer, app.ErrWriter = io.Discard, io.Discard
	app.Action = func(c *cli.Context) error {
		ran = c.Command.HelpName
		return nil
	}
	eachCommand(app.Name, app.Commands, func(_ string, c *cli.Command) { c.Action = app.Action })
	return ran, app.Run(command.FlagsFirst(app, args))
}
