// Command calibrate turns measurements into the models that replay reads. See
// docs/calibrate.md.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/calibrate"
	"reprise/calibrate/table"
)

// version is set by the build.
var version = "unknown"

func main() {
	err := run(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "calibrate:", err)
	}
	os.Exit(exitCode(err))
}

// usageError is a mistake in the command line.
type usageError struct{ error }

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

// argsKey is under what the command line is kept for those who write it down.
const argsKey = "args"

// run is the command: stdout gets the results, stderr everything else.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	app := &cli.App{
		Name:            "calibrate",
		Usage:           "measure, and turn measurements into models of kernels, networks and hosts",
		Version:         version,
		HideHelpCommand: true,
		Reader:          stdin,
		Metadata:        map[string]any{argsKey: args},
		Writer:          stdout,
		ErrWriter:       stderr,
		ExitErrHandler:  func(*cli.Context, error) {},
		OnUsageError:    onUsageError,
		Commands:        []*cli.Command{kernelsCommand(), networkCommand(), hostsCommand(), measureCommand()},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return cli.ShowAppHelp(c)
			}
			return usagef("unknown command %q, want kernels, network, hosts or measure", c.Args().First())
		},

		DisableSliceFlagSeparator: true,
	}
	return app.RunContext(ctx, args)
}

func onUsageError(_ *cli.Context, err error, _ bool) error { return usageError{err} }

// eachTable calls read for each argument, of which there must be one.
func eachTable(c *cli.Context, read func(arg string) error) error {
	if c.NArg() == 0 {
		return usagef("%s: want at least 1 table of measurements (CSV)", c.Command.Name)
	}
	for _, arg := range c.Args().Slice() {
		if len(arg) > 1 && arg[0] == '-' {
			return usagef("%s: %s after the first table: flags come before it", c.Command.Name, arg)
		}
		if err := read(arg); err != nil {
			return err
		}
	}
	return nil
}

// readTable calls read for the table in a file, "-" being standard input.
func readTable(c *cli.Context, path string, read func(*table.Reader) error) error {
	var t *table.Reader
	var err error
	if path == "-" {
		t, err = table.NewReader(c.App.Reader, "stdin")
	} else {
		t, err = table.Open(path)
	}
	if err != nil {
		return err
	}
	return errors.Join(read(t), t.Close())
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// conditions parses --where.
func conditions(c *cli.Context) ([]calibrate.Condition, error) {
	var list []calibrate.Condition
	for _, text := range c.StringSlice("where") {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, usagef("%s: --where %q, want COLUMN=VALUE", c.Command.Name, text)
		}
		list = append(list, calibrate.Condition{Column: strings.ToLower(name), Value: value})
	}
	return list, nil
}
