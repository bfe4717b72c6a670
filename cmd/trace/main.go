// Command trace shows, sums up, checks and compares traces. See docs/trace-tools.md.
package main

import (
	"cmp"
	"context"
	"io"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/textutil"
	"reprise/trace"
)

func main() { command.Main("trace", run, "diff") }

// run is the command: stdout gets the results, stderr everything else.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	return command.Execute(ctx, newApp(stdin, stdout, stderr), args)
}

// newApp returns the command as its command line says it.
func newApp(stdin io.Reader, stdout, stderr io.Writer) *cli.App {
	app := command.App("trace", "show, sum up, check and compare traces", stdin, stdout, stderr)
	app.Description = "    trace stat run.trace.zst\n    trace diff base.trace.zst new.trace.zst"
	command.Subcommands(app, "command", catCommand(), statCommand(), verifyCommand(), diffCommand(), cutCommand(),
		convertCommand(), extrapolateCommand())
	return app
}

// open opens the trace at a path, or standard input for "-".
func open(c *cli.Context, path string) *trace.Trace {
	if path == "-" {
		return textutil.Must(trace.NewReader(c.App.Reader, "stdin"))
	}
	return textutil.Must(trace.Open(path))
}

// onTrace opens the only argument of a command, calls do with it, and closes it. The error of do comes
// before one of closing.
func onTrace(c *cli.Context, do func(t *trace.Trace) error) (err error) {
	if c.NArg() != 1 {
		return command.Usagef("%s: want 1 trace, got %d", c.Command.Name, c.NArg())
	}
	t := open(c, c.Args().First())
	defer func() { err = cmp.Or(err, t.Close()) }()
	return do(t)
}
