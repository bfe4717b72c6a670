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

// Names of standard input and output in messages.
const (
	stdinName  = "stdin"
	stdoutName = "stdout"
)

// argsKey is under what the command line is kept for those who write it down.
const argsKey = "args"

// run is the command: stdout gets the results, stderr everything else.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	return command.Execute(ctx, newApp(args, stdin, stdout, stderr), args)
}

// newApp returns the command as its command line says it.
func newApp(args []string, stdin io.Reader, stdout, stderr io.Writer) *cli.App {
	app := command.App("calibrate", "measure, and turn measurements into models of kernels, networks and hosts", stdin,
		stdout, stderr)
	app.Description = "Most people want all of a machine in one go:\n\n" +
		"    calibrate machine here --for run.trace.zst -- mpirun -np 2"
	app.Metadata = map[string]any{argsKey: args}
	command.Subcommands(app, "command", kernelsCommand(), networkCommand(), hostsCommand(), measureCommand(),
		machineCommand())
	return app
}

// eachTable calls read for each argument, of which there must be one.
func eachTable(c *cli.Context, read func(arg string) error) error {
	if c.NArg() == 0 {
		return command.Usagef("%s: want at least 1 table of measurements (CSV)", c.Command.Name)
	}
	for _, arg := range c.Args().Slice() {
		if err := read(arg); err != nil {
			return err
		}
	}
	return nil
}

// checkRows refuses tables of which there is no row that is asked for.
func checkRows(c *cli.Context, rows int64) error {
	if rows > 0 {
		return nil
	}
	var names []string
	for _, arg := range c.Args().Slice() {
		if arg == "-" {
			arg = stdinName
		}
		names = append(names, arg)
	}
	asked := ""
	if where := c.StringSlice("where"); len(where) > 0 {
		asked = " with " + strings.Join(where, " and ")
	}
	return fmt.Errorf("%s: %w: no rows%s", strings.Join(names, ", "), calibrate.ErrMeaningless, asked)
}

// readTable calls read for the table in a file, "-" being standard input.
func readTable(c *cli.Context, path string, read func(*table.Reader) error) error {
	t, bar, err := openTable(c, path)
	if err != nil {
		return err
	}
	err = read(t)
	bar.Clear()
	if closing := t.Close(); err == nil { // else it may say the same again
		err = closing
	}
	if errors.Is(err, calibrate.ErrContradiction) {
		err = command.Usage(err)
	}
	return err
}

// quietFlag is that of commands that show progress.
func quietFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Usage: "no progress on stderr", DisableDefaultText: true}
}

// openTable opens a table, and a bar over what is read of it if it is a file.
func openTable(c *cli.Context, path string) (*table.Reader, *terminal.Bar, error) {
	if path == "-" {
		t, err := table.NewReader(c.App.Reader, stdinName)
		return t, nil, err
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		t, err := table.Open(path)
		return t, nil, err
	}
	bar := terminal.NewBytes(c.App.ErrWriter, c.Bool("quiet"), info.Size(), "reading "+textutil.Quote(filepath.Base(path)))
	t, err := table.OpenWith(path, bar.Reader)
	if err != nil {
		bar.Clear()
		return nil, nil, err
	}
	return t, bar, nil
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
			return nil, command.Usagef("%s: --where %q, want COLUMN=VALUE", c.Command.Name, text)
		}
		list = append(list, calibrate.Condition{Column: strings.ToLower(name), Value: value})
	}
	return list, nil
}

// needs refuses flags that have no effect without another one, which is not given.
func needs(c *cli.Context, other string, flags ...string) error {
	if given := firstSet(c, flags); given != "" && !c.IsSet(other) {
		return command.Usagef("%s: --%s is about --%s: it needs one", c.Command.Name, given, other)
	}
	return nil
}

// excludes refuses flags that have no effect with another one, which is given.
func excludes(c *cli.Context, other string, flags ...string) error {
	if given := firstSet(c, flags); given != "" && c.IsSet(other) {
		return command.Usagef("%s: --%s has no effect with --%s: leave one out", c.Command.Name, given, other)
	}
	return nil
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
