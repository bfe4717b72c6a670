package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/textutil"
	"reprise/trace"
	"reprise/trace/extrapolate"
)

// extrapolateCommand describes trace extrapolate.
func extrapolateCommand() *cli.Command {
	return &cli.Command{
		Name:        "extrapolate",
		Usage:       "make the trace of many ranks from recordings of few",
		ArgsUsage:   "--ranks N -o FILE TRACE TRACE TRACE ...",
		Description: "    trace extrapolate --ranks 256 -o big.trace.zst run4.trace.zst run16.trace.zst run64.trace.zst\n",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "ranks", Usage: "`NUMBER` of ranks; must be given"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the trace to `FILE`; must be given"},
			command.Switch("approximate", "take means of sizes and counts that follow no rule, with warnings"),
			command.Switch("weak", "weak scaling, the problem grows with the ranks: computations of a rank keep their times"),
			command.Switch("strong", "strong scaling, the problem stays: times of computations are divided by the ranks"),
			command.Switch("json", "print JSON"),
		},
		Action: runExtrapolate,
	}
}

// runExtrapolate checks the command line, reads the recordings, and writes the trace.
func runExtrapolate(c *cli.Context) (err error) {
	output, ranks := c.String("output"), c.Int("ranks")
	switch {
	case output == "" || output == "-":
		return command.Usagef("extrapolate: --output is missing, the name of a file for the trace")
	case !c.IsSet("ranks"):
		return command.Usagef("extrapolate: --ranks is missing, the number of ranks of the trace")
	case ranks < 1 || ranks > trace.MaxRanks:
		return command.Usagef("extrapolate: --ranks %d, allowed 1 to %d", ranks, trace.MaxRanks)
	case c.Bool("weak") && c.Bool("strong"):
		return command.Usagef("extrapolate: --weak and --strong exclude each other")
	case c.NArg() < 3:
		return command.Usagef("extrapolate: want 3 traces or more, of a program on different numbers of ranks, got %d", c.NArg())
	}
	command.CheckOutput(c, "output", c.Args().Slice()...)
	var traces []*trace.Trace
	defer func() {
		for _, t := range traces {
			err = cmp.Or(err, t.Close())
		}
	}()
	for _, path := range c.Args().Slice() {
		traces = append(traces, open(c, path))
	}
	o := extrapolate.Options{Ranks: ranks, Approximate: c.Bool("approximate"), Tool: "trace " + command.Version(),
		Command: fmt.Sprintf("trace extrapolate --ranks %d %s", ranks, strings.Join(c.Args().Slice(), " "))}
	switch {
	case c.Bool("weak"):
		o.Scaling = extrapolate.Weak
	case c.Bool("strong"):
		o.Scaling = extrapolate.Strong
	}
	var s *extrapolate.Summary
	textutil.Check(atomicfile.Write(output, func(w io.Writer) (err error) {
		s, err = extrapolate.Write(w, traces, o)
		return err
	}))
	for _, text := range s.Warnings {
		fmt.Fprintln(c.App.ErrWriter, "warning:", text)
	}
	if c.Bool("json") {
		return textutil.WriteJSON(c.App.Writer, s)
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s: %s in a grid of %s\nThe smaller recordings predict %s of the largest; %d more "+
		"needed the largest for their fit.\nComputations follow their fits within %.0f %%.\n", output, textutil.Counted(int64(s.Ranks), "rank"), s.Grid,
		textutil.Count(s.Foretold, "number"), s.Fitted, 100*s.ComputeError)
	return err
}
