package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/trace/warning"
	"reprise/tracegen/mxp"
)

// mxpCommand is tracegen hpl-mxp, of docs/hpl.md. args is the command line, which the header of the trace has.
func mxpCommand(args []string) *cli.Command {
	return &cli.Command{
		Name:      "hpl-mxp",
		Usage:     "HPL-MxP (HPL-AI): RIKEN's program of 2021 and rocHPL-MxP of 2025",
		UsageText: "tracegen hpl-mxp -N n --NB n -P n -Q n [options] [-o FILE]",
		Description: "    tracegen hpl-mxp -N 4800 --NB 120 -P 4 -Q 4 --bcast chain -o run.trace.zst\n" +
			"    tracegen hpl-mxp -N 4800 --NB 120 -P 4 -Q 4 --variant rocm --BCAST 2 | trace cat --rank 3 -",
		Flags:  append(flagsOf(mxp.Parameters()), outputFlags()...),
		Action: func(c *cli.Context) error { return runMxP(c, args) },
	}
}

// runMxP takes the parameters from the flags, tells users of those that they did not give, and writes the trace.
func runMxP(c *cli.Context, args []string) error {
	checkOutput(c)
	for _, name := range []string{"N", "NB", "P", "Q"} {
		if !c.IsSet(name) {
			return command.Usagef("hpl-mxp: %s is missing", flagName(name))
		}
	}
	p, err := mxp.WithDefaults(givenOf(c, mxp.Parameters()))
	if err != nil { // each begins with the name of a parameter
		return command.Usage(fmt.Errorf("hpl-mxp: %w", err))
	}
	if hazard := p.Hazard(); hazard != "" {
		command.Warn(c, []warning.Warning{{Text: hazard}})
	}
	if !c.Bool("quiet") {
		var defaults []string
		for _, param := range p.List() {
			if !c.IsSet(param.Name) && param.Value != "false" {
				defaults = append(defaults, param.Name+" "+param.Value)
			}
		}
		tell(c, "by default:", strings.Join(defaults, ", "))
	}
	o := mxp.Options{Tool: "tracegen " + command.Version(), Command: commandLine(args, c.Command.Flags)}
	return generate(c, p.Steps(), func(w io.Writer, progress func(done, all int)) error {
		o.Progress = progress
		return mxp.Generate(c.Context, w, p, o)
	})
}
