package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/tracegen/hpcg"
)

// hpcgCommand is tracegen hpcg, of docs/hpcg.md. args is the command line, which the header of the trace has.
func hpcgCommand(args []string) *cli.Command {
	// Parameters have the names and the meaning of HPCG's command line.
	flags := append(flagsOf(hpcg.Parameters()), &cli.StringFlag{Name: "hpcg-dat",
		Usage: "take sizes, seconds and process grid from an hpcg.dat `FILE`, or from standard input (-)"})
	return &cli.Command{
		Name:  "hpcg",
		Usage: "High Performance Conjugate Gradients 3.1",
		UsageText: "tracegen hpcg --ranks n --nx n [--ny n --nz n] [options] [-o FILE]\ntracegen hpcg --ranks n " +
			"--hpcg-dat FILE [options] [-o FILE]",
		Description: "Parameters are those of HPCG's command line, by flags or from an hpcg.dat.\n\n" +
			"    tracegen hpcg --ranks 64 --nx 104 -o run.trace.zst\n" +
			"    tracegen hpcg --ranks 8 --nx 24 --ny 16 --nz 16 --npx 4 --npy 2 --npz 1 | replay -\n" +
			"    tracegen hpcg --ranks 12 --nx 16 --ny 16 --npx 2 --npy 2 --npz 3 --pz 1 --zl 32 --zu 16 -o slabs.trace.zst",
		Flags:  append(flags, outputFlags()...),
		Action: func(c *cli.Context) error { return runHPCG(c, args) },
	}
}

// runHPCG takes the parameters from the flags or from an hpcg.dat, tells users of those that they did not give, and
// writes the trace. The order of the checks is that of their cost: files are read when the flags are known to be right,
// and the output is begun when the parameters are.
func runHPCG(c *cli.Context, args []string) error {
	checkOutput(c, c.String("hpcg-dat"))
	if !c.IsSet("ranks") {
		return command.Usagef("--ranks is missing")
	}
	// A box needs some extent; the others are equal to it.
	hasDat := c.IsSet("hpcg-dat")
	if !hasDat && !c.IsSet("nx") && !c.IsSet("ny") && !c.IsSet("nz") && !c.IsSet("zl") {
		return command.Usagef("--nx is missing, the points of a rank's box (or --hpcg-dat FILE)")
	}

	// Parameters come from flags and from an hpcg.dat: both for the same parameter would contradict each other.
	for _, par := range hpcg.Parameters() {
		if c.IsSet(par.Name) && par.InDat && hasDat {
			return command.Usagef("--%s and --hpcg-dat exclude each other", par.Name)
		}
	}
	// Errors of the file are told apart from those of the flags, which get the name of theirs.
	var ofDat error
	var notes []string // on values of the file that were replaced
	p, err := hpcg.WithDefaults(givenOf(c, hpcg.Parameters()), func(p *hpcg.Params) error {
		if hasDat {
			ofDat = withDat(c, c.String("hpcg-dat"), func(in io.Reader, name string) (err error) {
				notes, err = p.ReadDat(in, name)
				return err
			})
		}
		return ofDat
	})
	// Errors of the file name it; those of flags begin with the name of the parameter.
	switch {
	case ofDat != nil:
		return err
	case err != nil:
		return command.Usagef("--%w", err)
	}

	// Numbers that are left out follow from others, as in HPCG: the process grid from the ranks.
	completed, err := p.Complete()
	if err != nil {
		return command.Usage(err)
	}
	if !c.Bool("quiet") {
		for _, note := range slices.Concat(notes, completed) {
			tell(c, note)
		}
		// Users see the numbers that they did not give, since a trace depends on all of them.
		var chosen []string // numbers that neither a flag nor an hpcg.dat gave
		for _, par := range hpcg.Parameters() {
			n, err := strconv.Atoi(par.Get(&p))
			if err == nil && n != 0 && !c.IsSet(par.Name) && (!par.InDat || !hasDat) && (par.Of == "" || p.Phase == hpcg.All) {
				chosen = append(chosen, fmt.Sprintf("%s %d", par.Name, n))
			}
		}
		if len(chosen) > 0 {
			tell(c, "by default:", strings.Join(chosen, ", "))
		}
	}
	o := hpcg.Options{Tool: "tracegen " + command.Version(), Command: commandLine(args, c.Command.Flags)}
	return generate(c, p.Steps(), func(w io.Writer, progress func(done, all int)) error {
		o.Progress = progress
		return hpcg.Generate(c.Context, w, p, o)
	})
}
