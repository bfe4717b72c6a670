// Command replay plays a trace on a model of a machine and prints when the program would have ended there, and
// where its time would have gone. See docs/replay.md.
//
// A [job] holds the command line, and then the opened trace and machine. One replay (replay.go), several with
// seeds or on drawn machines (several.go), and an estimate from windows of steps (sample.go) are ways to run it.
// Files and pictures that a job writes besides its result are rows of one table, [outputs]. "replay compare" and
// "replay platform" are commands of their own. Package replay does the work; this one reads, checks and writes.
package main

import (
	"context"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/hugepages"
	"reprise/internal/regular"
)

func main() {
	if slices.Contains(os.Args[1:min(2, len(os.Args))], "compare") { // before signals are listened to
		command.InterruptedCode(trouble)
	}
	if os.Getenv("GOGC") == "" { // A replay makes little garbage: to collect it later takes 2 to 10 % less time.
		debug.SetGCPercent(400)
	}
	command.InterruptedText("interrupted before the first event: nothing was replayed")
	command.Main("replay", run)
}

// run is the command: stdout gets the results, stderr everything else.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	return command.Execute(ctx, newApp(args, stdin, stdout, stderr), args)
}

// askOnce is because tests run the command many times in a process.
var askOnce sync.Once

// firstSteps are the commands that a newcomer needs.
const firstSteps = "    tracegen hpl -N 20000 -P 4 -Q 4 -o run.trace.zst          # what each rank does, without times\n" +
	"    replay run.trace.zst                                      # on a generic cluster\n" +
	"    replay --platform dahu --report run.html run.trace.zst    # on a known one, with pictures of where the time goes\n"

// newApp returns the command as its command line says it.
func newApp(args []string, stdin io.Reader, stdout, stderr io.Writer) *cli.App {
	app := command.App("replay", "play a trace on a model of a machine", stdin, stdout, stderr)
	app.ArgsUsage = "FILE|-"
	app.UsageText = "replay [options] FILE|-\nreplay platform FILE|DIR|NAME [--ranks N] [--route FROM TO] [--json]\n" +
		"replay platform new --nodes N [options]\nreplay compare [options] A B ..."
	app.Description = "FILE is a trace of tracegen, or the index of a SimGrid text trace; - is a trace on standard input.\n\n" +
		firstSteps +
		"    replay --platform dahu --pop run.trace.zst                # what slows it down\n" +
		"    replay --machine here --tolerance 1% run.trace.zst        # an estimate, of a machine that calibrate has measured"
	app.Flags = flags()
	app.Commands = []*cli.Command{platformCommand(stdout, stderr), compareCommand()}
	app.Action = func(c *cli.Context) error {
		if c.Args().First() == "help" && !regular.IsFile("help") {
			return cli.ShowAppHelp(c)
		}
		j := &job{args: args, stdin: stdin, stdout: stdout, stderr: stderr}
		if err := j.read(c); err != nil {
			return err
		}
		askOnce.Do(hugepages.Ask) // before the machine is loaded: a replay of 4,096 ranks takes a tenth less time
		return j.run(c.Context)
	}
	return app
}
