// Command trace shows, sums up, checks and compares traces. See docs/trace-tools.md.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/trace"
)

func main() {
	// diff(1) exits with 2 in trouble, and an early interrupt is trouble.
	if slices.Contains(os.Args[1:min(2, len(os.Args))], "diff") { // before signals are listened to
		command.InterruptedCode(trouble)
	}
	command.Main("trace", run)
}

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
func open(c *cli.Context, path string) (*trace.Trace, error) {
	if path == "-" {
		return trace.NewReader(c.App.Reader, "stdin")
	}
	return trace.Open(path)
}

// onTrace opens the only argument of a command, calls do with it, and closes it. The error of do comes
// before one of closing.
func onTrace(c *cli.Context, do func(t *trace.Trace) error) error {
	if c.NArg() != 1 {
		return command.Usagef("%s: want 1 trace, got %d", c.Command.Name, c.NArg())
	}
	t, err := open(c, c.Args().First())
	if err != nil {
		return err
	}
	return cmp.Or(do(t), t.Close())
}

// writeJSON writes a result as JSON that people can read, too.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// quietFlag is that of commands that show progress.
func quietFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Usage: "no progress on stderr", DisableDefaultText: true}
}
