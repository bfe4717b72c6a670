// Command study makes many replays of one question: factors, designs, workers, a table. See
// docs/studies.md.
package main

import (
	"context"
	"io"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
)

func main() {
	if len(os.Args) > 1 && slices.Contains([]string{"check", "rerun"}, os.Args[1]) { // before signals are listened to
		command.InterruptedCode(trouble)
	}
	command.Main("study", run)
}

// run is the command: stdout gets the results, stderr everything else.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	return command.Execute(ctx, newApp(stdin, stdout, stderr), args)
}

// newApp returns the command.
func newApp(stdin io.Reader, stdout, stderr io.Writer) *cli.App {
	app := command.App("study", "many replays for one question", stdin, stdout, stderr)
	app.Description = "A file says what is varied; the result is a directory with a table.\n\n" +
		"    study run nb.yaml -o nb --dry-run\n" +
		"    study run nb.yaml -o nb"
	command.Subcommands(app, "command", runCommand(), planCommand(), workerCommand(), statusCommand(), tuneCommand(),
		submitCommand(), cancelCommand(), reportCommand(), checkCommand(), archiveCommand(), rerunCommand())
	return app
}

// directory returns the argument of a command that has one: a study's directory.
func directory(c *cli.Context) (string, error) {
	if c.NArg() != 1 {
		return "", command.Usagef("%s: want the directory of a study, got %d arguments", c.Command.Name, c.NArg())
	}
	return c.Args().First(), nil
}
