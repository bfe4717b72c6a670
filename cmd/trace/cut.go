package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/internal/textutil"
	"reprise/trace"
	"reprise/trace/cut"
)

// cutCommand describes trace cut, which writes a part of a trace.
func cutCommand() *cli.Command {
	return &cli.Command{
		Name:      "cut",
		Usage:     "take a part of a trace, from one mark to another",
		UsageText: "trace cut [--from MARK] [--to MARK] -o FILE TRACE\ntrace cut --list [--json] TRACE",
		Description: "A mark is begin, end, step:N, phase:NAME, end-of-phase:NAME, comm:NAME (the first use of a communicator), end-of-comm:NAME (behind the last) or collective:N (behind N operations of all ranks); phase:NAME:3 is the third begin of the phase.\n\n" +
			"    trace cut --list run.trace.zst\n" +
			"    trace cut --from step:10 --to step:20 -o part.trace.zst run.trace.zst\n" +
			"    trace cut --from 'phase:pcontrol 1' --to 'end-of-phase:pcontrol 1' -o solve.trace.zst app.trace.zst",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "from", Value: "begin", Usage: "begin the part at `MARK`"},
			&cli.StringFlag{Name: "to", Value: "end", Usage: "end the part before `MARK`"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the part to `FILE`"},
			command.Switch("list", "print the marks that the trace has"),
			command.Switch("json", "print JSON"),
			command.Quiet(),
		},
		Action: runCut,
	}
}

// runCut lists marks or cuts a part out. Marks are read before the trace is opened, as a mistake in the
// command line should not cost the time of reading.
func runCut(c *cli.Context) error {
	output := c.String("output")
	switch {
	case c.Bool("list") && (c.IsSet("output") || c.IsSet("from") || c.IsSet("to")):
		return command.Usagef("cut: --list writes no part: leave out --from, --to and --output")
	case c.Bool("list"):
	case output == "" || output == "-":
		return command.Usagef("cut: --output is missing, the name of a file for the part")
	case !c.IsSet("from") && !c.IsSet("to"):
		return command.Usagef("cut: --from and --to are missing: trace cut --list TRACE prints the marks that there are")
	default: // the output is checked first, as a cut of a large trace takes minutes
		command.CheckOutput(c, "output", c.Args().Slice()...)
	}
	from, err := cut.Parse(c.String("from"))
	if err != nil {
		return command.Usagef("cut: --from: %w", err)
	}
	to, err := cut.Parse(c.String("to"))
	if err != nil {
		return command.Usagef("cut: --to: %w", err)
	}
	return onTrace(c, func(t *trace.Trace) error {
		if c.Bool("list") {
			list, err := cut.List(t)
			if err != nil {
				return fmt.Errorf("%s: %w", t.Name(), err)
			}
			if c.Bool("json") {
				return textutil.WriteJSON(c.App.Writer, list)
			}
			return cut.WriteList(c.App.Writer, list)
		}
		bar := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), 1, "steps")
		// The number of steps is known once the cut has begun: the bar gets it with its first call.
		o := cut.Options{Progress: bar.SetOf, Tool: "trace " + command.Version(),
			Command: fmt.Sprintf("trace cut --from %q --to %q %s", from, to, t.Name())}
		var s *cut.Summary
		err := atomicfile.Write(output, func(w io.Writer) (err error) {
			s, err = cut.Write(w, t, from, to, o)
			return err
		})
		bar.Clear()
		if err != nil {
			return fmt.Errorf("%s: %w", t.Name(), err)
		}
		if c.Bool("json") {
			return textutil.WriteJSON(c.App.Writer, s)
		}
		_, err = fmt.Fprintf(c.App.Writer, "%s: %v to %v, %s, %s, %s\n", output, from, to,
			textutil.Counted(int64(s.Ranks), "rank"), textutil.Counted(int64(s.Steps), "step"), textutil.Counted(s.Actions,
				"action"))
		return err
	})
}
