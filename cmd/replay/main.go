// Command replay plays a trace on a model of a machine and prints when the program would have ended there, and where
// its time would have gone. See docs/replay.md.
//
// A [job] holds the command line, and then the opened trace and machine. Its life has four stages:
//
//	read     flags and arguments (job.go), and the outputs that they ask for (outputs.go): no file is opened yet
//	open     the trace (input.go), then the machine, which depends on the ranks and kernels of the trace
//	way      one replay (replay.go), or several: with seeds, on drawn machines, or of windows of steps, from which
//	         the whole is estimated (several.go)
//	write    the outputs, then the result on standard output, then the error that decides the exit code
//
// Files and pictures that a job writes besides its result are rows of one table, [outputs]: the critical path and the
// efficiencies in the printed text (outputs.go), timelines, tables and profiles (exports.go), the page (page.go). Files
// that may grow large are written by a goroutine of their own while the replay goes on (streamed.go). Checkpoints are
// saved beside all that (checkpoint.go).
//
// Mistakes in the command line are usage errors, exit code 2, and are found as early as possible: those of flags before
// any file is opened, those of the trace before the machine is loaded, those of the machine before the first event. A
// signal ends the process at once until the first event; after it, a replay stops at its next event, and is reported,
// with its outputs, up to there.
//
// "replay compare" (compare.go) and "replay platform" (platform.go) are commands of their own. Package replay and those
// below it do the work, package report and those below it observe and draw; this one reads, checks and writes.
package main

import (
	"context"
	"io"
	"os"
	"runtime/debug"
	"sync"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/hugepages"
	"reprise/internal/regular"
	"reprise/internal/textutil"
)

func main() {
	if os.Getenv("GOGC") == "" { // A replay makes little garbage: to collect it later takes 2 to 10 % less time.
		debug.SetGCPercent(400)
	}
	command.InterruptedText("interrupted before the first event: nothing was replayed")
	command.Main("replay", run, "compare")
}

// run is the command: stdout gets the results, stderr everything else. Tests call it in their own process: nothing in
// it may depend on being called once.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	return command.Execute(ctx, newApp(args, stdin, stdout, stderr), args)
}

// askOnce asks the kernel once for huge pages, as tests run the command many times in a process.
var askOnce sync.Once

// firstSteps are the commands that a newcomer needs.
const firstSteps = `    tracegen hpl -N 20000 -P 4 -Q 4 -o run.trace.zst          # what each rank does, without times
    replay run.trace.zst                                      # on a generic cluster
    replay --platform dahu --report run.html run.trace.zst    # on a known one, with pictures of where the time goes
`

// newApp returns the application, with args as the command line that a page of --report names as its origin.
func newApp(args []string, stdin io.Reader, stdout, stderr io.Writer) *cli.App {
	app := command.App("replay", "play a trace on a model of a machine", stdin, stdout, stderr)
	app.ArgsUsage = "FILE|-"
	app.UsageText = "replay [options] FILE|-\nreplay platform FILE|DIR|NAME [--ranks N] [--route FROM TO] [--json]\n" +
		"replay platform new --nodes N [options]\nreplay compare [options] A B ..."
	app.Description = `FILE is a trace of tracegen, or the index of a SimGrid text trace; - is a trace on standard input.

` + firstSteps + `    replay --platform dahu --pop run.trace.zst                # what slows it down
    replay --machine here --tolerance 1% run.trace.zst        # an estimate, of a machine that calibrate has measured`
	app.Flags = flags()
	app.Commands = []*cli.Command{platformCommand(stdout, stderr), compareCommand()}
	app.Action = func(c *cli.Context) (err error) {
		// The stages end the command at their first error, as those of other commands (command.Prepare).
		defer textutil.Stopped(&err)
		// The library has no command help here (see command.App): the word asks for help unless a trace has that name.
		if c.Args().First() == "help" && !regular.IsFile("help") {
			return cli.ShowAppHelp(c)
		}
		j := &job{args: args, stdin: stdin, stdout: stdout, stderr: stderr}
		textutil.Check(j.read(c))
		askOnce.Do(hugepages.Ask) // before the machine is loaded: a replay of 4,096 ranks takes a tenth less time
		return j.run(c.Context)
	}
	return app
}
