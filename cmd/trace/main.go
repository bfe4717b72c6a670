// Command trace shows, sums up, checks and compares traces. See
// docs/trace-tools.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"reprise/trace"
)

// version is set by the build.
var version = "unknown"

func main() {
	err := run(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, errDifferent) {
		fmt.Fprintln(os.Stderr, "trace:", err)
	}
	os.Exit(exitCode(err))
}

// usageError is a mistake in the command line.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitCode is 0 for success, 2 for mistakes in the command line and for a diff that
// could not be made, 1 for everything else.
func exitCode(err error) int {
	var usage usageError
	var trouble diffTrouble
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage), errors.As(err, &trouble):
		return 2
	}
	return 1
}

// run is the command: stdout gets the results, stderr everything else.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	app := &cli.App{
		Name:            "trace",
		Usage:           "show, sum up, check and compare traces",
		Version:         version,
		HideHelpCommand: true,
		Reader:          stdin,
		Writer:          stdout,
		ErrWriter:       stderr,
		ExitErrHandler:  func(*cli.Context, error) {},
		OnUsageError:    onUsageError,
		Commands:        []*cli.Command{catCommand(), statCommand(), verifyCommand(), diffCommand(), convertCommand()},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return cli.ShowAppHelp(c)
			}
			return usagef("unknown command %q, want cat, stat, verify, diff or convert", c.Args().First())
		},
	}
	return app.RunContext(ctx, args)
}

func onUsageError(_ *cli.Context, err error, _ bool) error { return usageError{err} }

// open opens the trace at a path, or standard input for "-".
func open(c *cli.Context, path string) (*trace.Trace, error) {
	if path == "-" {
		return trace.NewReader(c.App.Reader, "stdin")
	}
	return trace.Open(path)
}

// openOnly opens the only argument of a command.
func openOnly(c *cli.Context) (*trace.Trace, error) {
	if c.NArg() != 1 {
		return nil, usagef("%s: want 1 trace, got %d (flags come before it)", c.Command.Name, c.NArg())
	}
	return open(c, c.Args().First())
}

// closing closes a trace; it keeps the error of what was done before.
func closing(t *trace.Trace, err *error) {
	if cerr := t.Close(); *err == nil {
		*err = cerr
	}
}
