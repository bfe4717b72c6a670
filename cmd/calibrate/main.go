// Command calibrate turns measurements into the models that replay reads. See docs/calibrate.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/calibrate"
	"reprise/calibrate/table"
	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/internal/textutil"
)

func main() {
	command.Main("calibrate", run)
}

// argsKey is the key of the metadata with the command line, which tables of measurements have.
const argsKey = "args"

// run is the command: stdout gets the results, stderr everything else.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	return command.Execute(ctx, newApp(args, stdin, stdout, stderr), args)
}

// checkUsage refuses options that are not valid.
func checkUsage(c *cli.Context, err error) {
	if err != nil {
		command.Refuse(c, "%w", err)
	}
}

// newApp returns the command with its subcommands.
func newApp(args []string, stdin io.Reader, stdout, stderr io.Writer) *cli.App {
	app := command.App("calibrate", "measure, and turn measurements into models of kernels, networks and hosts", stdin,
		stdout, stderr)
	// The steps one by one are subcommands; most users need none of them.
	app.Description = "Most people want all of a machine in one go:\n\n" +
		"    calibrate machine here --for run.trace.zst -- mpirun -np 2"
	app.Metadata = map[string]any{argsKey: args}
	command.Subcommands(app, "command", kernelsCommand(), networkCommand(), hostsCommand(), measureCommand(),
		machineCommand())
	return app
}

// readTables reads the tables of the arguments, of which there must be one; "-" is standard input. source returns the
// path of an argument and the function that reads its table. rows returns how many rows were read so far: a table
// of which nobody asked for a row is refused.
func readTables(c *cli.Context, rows func() int64,
	source func(arg string) (path string, read func(*table.Reader) error)) {
	if c.NArg() == 0 {
		command.Refuse(c, "want at least 1 table of measurements (CSV)")
	}
	// All tables are read before anything is fitted; the first error ends the command.
	var names []string
	for _, arg := range c.Args().Slice() {
		path, read := source(arg)

		// Reading a regular file has a bar.
		var t *table.Reader
		var err error
		var bar *terminal.Bar
		info, missing := os.Stat(path)
		if path != "-" && missing == nil && info.Mode().IsRegular() {
			bar = terminal.NewBytes(c.App.ErrWriter, c.Bool("quiet"), info.Size(),
				"reading "+textutil.Quote(filepath.Base(path)))
		}
		if path == "-" {
			t, err = table.NewReader(c.App.Reader, "stdin")
		} else {
			t, err = table.OpenWith(path, bar.Reader)
		}
		if err == nil {
			err = read(t)
			if closing := t.Close(); err == nil { // else it may say the same again
				err = closing
			}
		}
		bar.Clear()
		if errors.Is(err, calibrate.ErrContradiction) {
			err = command.Usage(err)
		}
		textutil.Check(err)
		if arg == "-" {
			arg = "stdin"
		}
		names = append(names, arg)
	}
	if rows() > 0 {
		return
	}
	// No row at all is mostly a mistake in --where.
	asked := ""
	if where := c.StringSlice("where"); len(where) > 0 {
		asked = " with " + strings.Join(where, " and ")
	}
	textutil.Stop(fmt.Errorf("%s: %w: no rows%s", strings.Join(names, ", "), calibrate.ErrMeaningless, asked))
}

// printReport prints a report, as JSON or as text.
func printReport(c *cli.Context, report any, text func(io.Writer) error) error {
	if !c.Bool("json") {
		return text(c.App.Writer)
	}
	return textutil.WriteJSON(c.App.Writer, report)
}

// conditions parses --where.
func conditions(c *cli.Context) (list []calibrate.Condition) {
	for _, text := range c.StringSlice("where") {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			command.Refuse(c, "--where %q, want COLUMN=VALUE", text)
		}
		// Columns are found in lower case, values are as the table has them.
		list = append(list, calibrate.Condition{Column: strings.ToLower(name), Value: value})
	}
	return list
}

// needs refuses flags that have no effect without another one, which is not given.
func needs(c *cli.Context, other string, flags ...string) {
	// Defaults do not count: a flag is given if the command line has it.
	if given := firstSet(c, flags); given != "" && !c.IsSet(other) {
		command.Refuse(c, "--%s needs --%s", given, other)
	}
}

// excludes refuses flags that have no effect with another one, which is given.
func excludes(c *cli.Context, other string, flags ...string) {
	if given := firstSet(c, flags); given != "" && c.IsSet(other) {
		command.Refuse(c, "--%s has no effect with --%s: leave one out", given, other)
	}
}

// firstSet returns the first of the flags that is given, "" if none is.
func firstSet(c *cli.Context, flags []string) string {
	for _, f := range flags {
		if c.IsSet(f) {
			return f
		}
	}
	return ""
}

// namesOf returns the names of flags, but for some.
func namesOf(flags []cli.Flag, but ...string) []string {
	var names []string
	for _, f := range flags {
		if name := f.Names()[0]; !slices.Contains(but, name) {
			names = append(names, name)
		}
	}
	return names
}
