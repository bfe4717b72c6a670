package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/trace"
	"reprise/trace/warning"
	"reprise/tracegen/mxp"
)

// mxpCommand is tracegen hpl-mxp, of docs/hpl.md. args is the command line, which the header of the trace has.
func mxpCommand(args []string) *cli.Command {
	var flags []cli.Flag
	for _, p := range mxp.Parameters() {
		if p.Switch {
			flags = append(flags, command.Switch(p.Name, p.Usage))
			continue
		}
		flags = append(flags, &cli.StringFlag{Name: p.Name, Usage: p.Usage, DefaultText: p.Default})
	}
	return &cli.Command{
		Name:      "hpl-mxp",
		Usage:     "HPL-MxP (HPL-AI): RIKEN's program of 2021 and rocHPL-MxP of 2025",
		UsageText: "tracegen hpl-mxp -N n --NB n -P n -Q n [options] [-o FILE]",
		Description: "    tracegen hpl-mxp -N 4800 --NB 120 -P 4 -Q 4 --bcast chain -o run.trace.zst\n" +
			"    tracegen hpl-mxp -N 4800 --NB 120 -P 4 -Q 4 --variant rocm --BCAST 2 | trace cat --rank 3 -",
		Flags:  append(flags, outputFlags()...),
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
	var given []trace.Param
	for _, par := range mxp.Parameters() {
		switch {
		case par.Switch && c.Bool(par.Name):
			given = append(given, trace.Param{Name: par.Name, Value: strconv.FormatBool(true)})
		case !par.Switch && c.IsSet(par.Name):
			given = append(given, trace.Param{Name: par.Name, Value: c.String(par.Name)})
		}
	}
	p, err := mxp.WithDefaults(given)
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
