// Command replay plays a trace on a model of a machine and prints when it would
// have ended. See docs/replay.md.
package main

import (
	"context"
	"io"
	"os"
	"runtime/debug"
	"slices"

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

// firstSteps are the commands that a newcomer needs.
const firstSteps = "    tracegen hpl -N 20000 -P 4 -Q 4 -o run.trace.zst          # what each rank does, without times\n" +
	"    replay run.trace.zst                                      # on a generic cluster\n" +
	"    replay --platform dahu --report run.html run.trace.zst    # on a known one, with pictures of where the time goes\n"

// newApp returns the command as its command line says it.
func newApp(args []string, stdin io.Reader, stdout, stderr io.Writer) *cli.App {
	app := command.App("replay", "play a trace on a model of a machine", stdin, stdout, stderr)
	app.ArgsUsage = "FILE|-"
	app.UsageText = "replay [options] FILE|-\nreplay platform FILE|DIR|NAME [--ranks N] [--route FROM TO] [--json]\nreplay platform new --nodes N [options]\nreplay compare [options] A B ..."
	app.Description = "FILE is a trace of tracegen, or the index of a SimGrid text trace; - is a trace on standard input.\n\n" + firstSteps +
		"    replay --platform dahu --pop run.trace.zst                # what slows it down\n" +
		"    replay --machine here --tolerance 1% run.trace.zst        # an estimate, of a machine that calibrate has measured"
	app.Flags = slices.Concat(machineFlags(), flags(), seedFlags(), sampleFlags(), uncertaintyFlags(), keepFlags(),
		outputFlags())
	app.Commands = []*cli.Command{platformCommand(stdout, stderr), compareCommand()}
	app.Action = func(c *cli.Context) error {
		if c.Args().First() == "help" && !regular.IsFile("help") {
			return cli.ShowAppHelp(c)
		}
		s, err := settingsOf(c)
		if err != nil {
			return err
		}
		s.args = args
		hugepages.Ask() // before the machine is loaded: a replay of 4,096 ranks takes a tenth less time
		switch {
		case s.draws > 0:
			if err := s.outputs.check(func(o *output) bool { return o.writeDraws != nil }, notOfDraws); err != nil {
				return err
			}
			return replayDraws(c.Context, s, stdout, stderr)
		case s.sample.on():
			if err := s.outputs.check(func(o *output) bool { return o.writeEstimate != nil }, notOfEstimate); err != nil {
				return err
			}
			return sampleTrace(c.Context, s, stdout, stderr)
		case s.noise.runs > 0:
			if err := s.outputs.check(func(o *output) bool { return o.writeRuns != nil }, notOfRuns); err != nil {
				return err
			}
			return replayRuns(c.Context, s, stdout, stderr)
		}
		return replayTrace(c.Context, s, stdin, stdout, stderr)
	}
	return app
}

func flags() []cli.Flag {
	return []cli.Flag{
		&cli.Float64Flag{Name: "setup-time",
			Usage: "`SECONDS` of HPCG's set-up, of which its rating counts a tenth for each timed set", DefaultText: "0"},
		&cli.StringFlag{Name: "steps", Usage: "play steps `A:B` only, B not included; either may be left out",
			DefaultText: "all"},
		&cli.BoolFlag{Name: "json", Usage: "print the result as JSON", DisableDefaultText: true},
		&cli.BoolFlag{Name: "quiet", Usage: "no progress and no notes on stderr", DisableDefaultText: true},
		&cli.BoolFlag{Name: "verbose", Usage: "say on stderr what is replayed on what, and which simulator options are not smpirun's defaults", DisableDefaultText: true},
	}
}
