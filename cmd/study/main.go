// Command study makes many replays of one question: factors, designs, workers, a table. See docs/studies.md.
//
// The command reads flags and prints; packages study, study/slurm, study/report and study/tune
// do the work. Runs and their workers are in run.go, what is read of a study that has run in
// results.go, the scheduler in submit.go, the search for the best configuration in tune.go, and data sheets in buy.go.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/study"
)

const (
	// maxJobs is more than any machine has cores.
	maxJobs = 1 << 14

	// maxTold is how many warnings of a kind are printed.
	maxTold = 10
)

func main() { command.Main("study", run, "check", "rerun") }

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
	command.Subcommands(app, "command", runCommand(), planCommand(), workerCommand(), statusCommand(), tuneCommand(), buyCommand(),
		submitCommand(), cancelCommand(), reportCommand(), checkCommand(), archiveCommand(), rerunCommand())
	return app
}

// version returns the version of the program, which is part of the names of runs. The version of a
// working copy with changes, or without a history, does not identify the program: the first digits
// of the SHA-256 of the executable stand behind it.
var version = sync.OnceValue(func() string {
	v := command.Version()
	if v != "unknown" && !strings.HasSuffix(v, "dirty") {
		return v
	}
	// The executable is read once in a process, by the first command that names a run.
	path, err := os.Executable()
	if err != nil {
		return v
	}
	hash, err := regular.Hash(path)
	if err != nil {
		return v // a user who may run the program but not read it has to tell builds apart
	}
	return v + " (executable " + hash[:12] + ")"
})

// textFlag returns a flag with a text, and the help's description of its default.
func textFlag(name, usage, usual string) *cli.StringFlag {
	return &cli.StringFlag{Name: name, Usage: usage, DefaultText: usual}
}

// outputFlag returns the flag --output, which is also -o.
func outputFlag(usage, usual string) cli.Flag {
	f := textFlag("output", usage, usual)
	f.Aliases = []string{"o"}
	return f
}

// jobsFlag returns the flag --jobs of commands that use all cores; see jobsOf.
func jobsFlag(usage string) cli.Flag {
	return &cli.IntFlag{Name: "jobs", Usage: usage, DefaultText: "one a core"}
}

// jobsOf returns the number of runs at once: that of --jobs, or the usual one.
func jobsOf(c *cli.Context, usual int) int {
	if !c.IsSet("jobs") {
		return usual
	}
	n := c.Int("jobs")
	if n < 1 || n > maxJobs {
		command.Refuse(c, "--jobs %d, want 1 to %d", n, maxJobs)
	}
	return n
}

// sizeOf returns the bytes of --memory.
func sizeOf(c *cli.Context) int64 {
	size, err := study.ParseBytes(c.String("memory"))
	command.CheckFlag(c, "memory", err)
	return size
}

// directory returns the argument of a command that has one: a study's directory.
func directory(c *cli.Context) string {
	if c.NArg() != 1 {
		command.Refuse(c, "want the directory of a study, got %d arguments", c.NArg())
	}
	return c.Args().First()
}

// ofDirectory returns the action of a command whose argument is a study's directory.
func ofDirectory(action func(c *cli.Context, dir string) error) cli.ActionFunc {
	return func(c *cli.Context) error { return action(c, directory(c)) }
}

// tell prints the first of so many errors, and the number of the others.
func tell(c *cli.Context, list []string, all int) {
	list = list[:min(len(list), maxTold)]
	for _, text := range list {
		command.Tell(c.App.ErrWriter, "study", text)
	}
	if more := all - len(list); more > 0 {
		command.Tell(c.App.ErrWriter, "study", fmt.Sprintf("and %s more", textutil.Count(more, "error")))
	}
}

// result is a result that has a form for people, and one as JSON.
type result interface{ WriteText(w io.Writer) error }

// show prints a result, as JSON if --json is given.
func show(c *cli.Context, r result) error {
	if !c.Bool("json") {
		return r.WriteText(c.App.Writer)
	}
	return textutil.WriteJSON(c.App.Writer, r)
}
