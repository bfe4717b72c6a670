// Command tracegen writes traces of what programs do, without running them. See
// docs/hpl.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"
)

// version is set by the build.
var version = "unknown"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	context.AfterFunc(ctx, stop) // a second signal ends what does not notice the first
	err := run(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "tracegen: interrupted")
	case err != nil:
		fmt.Fprintln(os.Stderr, "tracegen:", err)
	}
	os.Exit(exitCode(err))
}

// endings are the signals that end the run in an orderly way; a hangup does
// unless it is ignored, as nohup wants it.
func endings() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// usageError is a mistake in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitCode is 0 for success, 2 for mistakes in the command line, 1 for
// everything else.
func exitCode(err error) int {
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		return 2
	}
	return 1
}

// run is the command: stdout gets the trace or a list, stderr everything else.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	onUsageError := func(_ *cli.Context, err error, _ bool) error { return usageError{err} }
	app := &cli.App{
		Name:            "tracegen",
		Usage:           "write the trace of a program, without running it",
		Version:         version,
		HideHelpCommand: true,
		Reader:          stdin,
		Writer:          stdout,
		ErrWriter:       stderr,
		ExitErrHandler:  func(*cli.Context, error) {},
		OnUsageError:    onUsageError,
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return cli.ShowAppHelp(c)
			}
			return usagef("unknown program %q, want hpl", c.Args().First())
		},
		Commands: []*cli.Command{{
			Name:            "hpl",
			Usage:           "High Performance Linpack 2.3",
			UsageText:       "tracegen hpl -N n -P p -Q q [options] [-o FILE]\ntracegen hpl --hpl-dat FILE [--list | --combination k] [options] [-o FILE]",
			HideHelpCommand: true,
			OnUsageError:    onUsageError,
			Flags:           hplFlags(),
			Action:          func(c *cli.Context) error { return runHPL(c, args) },
		}},

		DisableSliceFlagSeparator: true,
	}
	return app.RunContext(ctx, args)
}
