package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/tracegen/hpcg"
)

// hpcgNumber is a parameter of HPCG that is a number.
type hpcgNumber struct {
	name, usage, unset string
	all                bool // it matters for --phase all only
	inDat              bool // an hpcg.dat says it
	of                 func(*hpcg.Params) *int
}

var hpcgNumbers = []hpcgNumber{
	{name: "ranks", usage: "`number` of ranks, must be given", of: func(p *hpcg.Params) *int { return &p.Ranks }},
	{name: "nx", usage: "`points` of each rank's box in x, divisible by 8", unset: "as HPCG chooses: the larger of the others", inDat: true, of: func(p *hpcg.Params) *int { return &p.NX }},
	{name: "ny", usage: "`points` in y", unset: "likewise", inDat: true, of: func(p *hpcg.Params) *int { return &p.NY }},
	{name: "nz", usage: "`points` in z", unset: "likewise", inDat: true, of: func(p *hpcg.Params) *int { return &p.NZ }},
	{name: "npx", usage: "`ranks` of the process grid in x", unset: "as HPCG chooses", inDat: true, of: func(p *hpcg.Params) *int { return &p.Grid.NX }},
	{name: "npy", usage: "`ranks` in y", unset: "as HPCG chooses", inDat: true, of: func(p *hpcg.Params) *int { return &p.Grid.NY }},
	{name: "npz", usage: "`ranks` in z", unset: "as HPCG chooses", inDat: true, of: func(p *hpcg.Params) *int { return &p.Grid.NZ }},
	{name: "pz", usage: "`ranks` in z, the lowest, whose boxes have --zl points in z; the others have --zu", unset: "boxes of one height", inDat: true, of: func(p *hpcg.Params) *int { return &p.PZ }},
	{name: "zl", usage: "`points` in z below --pz, must be given with it", unset: "boxes of one height", inDat: true, of: func(p *hpcg.Params) *int { return &p.ZL }},
	{name: "zu", usage: "`points` in z from --pz on, must be given with it", unset: "boxes of one height", inDat: true, of: func(p *hpcg.Params) *int { return &p.ZU }},
	{name: "sets", usage: "`number` of timed sets, which HPCG finds by its clock", unset: "1", of: func(p *hpcg.Params) *int { return &p.Sets }},
	{name: "iterations", usage: "`number` of iterations of a timed set", unset: "50, as with HPCG's own kernels", of: func(p *hpcg.Params) *int { return &p.Iterations }},
	{name: "rt", usage: "`seconds` that the run was asked to take; 0: one round of the reference timing, not ten", unset: "0", all: true, inDat: true, of: func(p *hpcg.Params) *int { return &p.Seconds }},
	{name: "setup-iterations", usage: "`number` of iterations of the run before the timed sets", unset: "those of a timed set", all: true, of: func(p *hpcg.Params) *int { return &p.SetupIterations }},
}

func hpcgFlags() []cli.Flag {
	var flags []cli.Flag
	for _, n := range hpcgNumbers {
		flags = append(flags, &cli.StringFlag{Name: n.name, Usage: n.usage, DefaultText: n.unset})
	}
	return append(flags,
		&cli.StringFlag{Name: "test-iterations", Usage: "`numbers` of iterations of the four runs of the convergence test, as 11,11,2,2", DefaultText: "11,11,2,2; 11,11,1,1 of one rank"},
		&cli.StringFlag{Name: "phase", Value: "timed", Usage: "`part` of the run: timed (the timed sets, which are rated) or all (set-up, tests and report too)", DefaultText: "timed"},
		&cli.StringFlag{Name: "hpcg-dat", Usage: "take sizes, seconds and process grid from an hpcg.dat `FILE`, or from standard input (-)"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "-", Usage: "write the trace to `FILE`", DefaultText: "-, standard output"},
		&cli.BoolFlag{Name: "quiet", Usage: "no progress and no notes on stderr", DisableDefaultText: true},
	)
}

func hpcgCommand(args []string) *cli.Command {
	return &cli.Command{
		Name:      "hpcg",
		Usage:     "High Performance Conjugate Gradients 3.1",
		UsageText: "tracegen hpcg --ranks n --nx n [--ny n --nz n] [options] [-o FILE]\ntracegen hpcg --ranks n --hpcg-dat FILE [options] [-o FILE]",
		Description: "Parameters are those of HPCG's command line, by flags or from an hpcg.dat.\n\n" +
			"    tracegen hpcg --ranks 64 --nx 104 -o run.trace.zst\n" +
			"    tracegen hpcg --ranks 8 --nx 24 --ny 16 --nz 16 --npx 4 --npy 2 --npz 1 | replay -\n" +
			"    tracegen hpcg --ranks 12 --nx 16 --ny 16 --npx 2 --npy 2 --npz 3 --pz 1 --zl 32 --zu 16 -o slabs.trace.zst",
		Flags:  hpcgFlags(),
		Action: func(c *cli.Context) error { return runHPCG(c, args) },
	}
}

// runHPCG is the command hpcg.
func runHPCG(c *cli.Context, args []string) error {
	if c.NArg() != 0 {
		return command.Usagef("hpcg: unexpected argument %q", c.Args().First())
	}
	if c.String("output") == "" {
		return command.Usagef("hpcg: --output \"\", want the name of a file, or -")
	}
	if err := atomicfile.CheckOverwrite(c.String("output"), c.String("hpcg-dat")); err != nil {
		return command.Usagef("hpcg: --output %w", err)
	}
	p, notes, err := hpcgParams(c)
	if err != nil {
		return err
	}
	completed, err := p.Complete()
	if err != nil {
		return command.Usage(err)
	}
	if !c.Bool("quiet") {
		tellHPCG(c, &p, slices.Concat(notes, completed))
	}
	o := hpcg.Options{Tool: "tracegen " + command.Version(), Command: commandLine(args, hpcgFlags())}
	bar := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), p.Steps(), "steps")
	defer bar.Clear()
	o.Progress = bar.SetOf
	return writeTrace(c.String("output"), c.App.Writer, func(w io.Writer) error { return hpcg.Generate(c.Context, w, p, o) })
}

// hpcgParams returns the parameters, from flags with defaults and from an hpcg.dat.
func hpcgParams(c *cli.Context) (p hpcg.Params, notes []string, err error) {
	if !c.IsSet("ranks") {
		return p, nil, command.Usagef("--ranks is missing")
	}
	if !c.IsSet("hpcg-dat") && !c.IsSet("nx") && !c.IsSet("ny") && !c.IsSet("nz") && !c.IsSet("zl") {
		return p, nil, command.Usagef("--nx is missing, the points of a rank's box (or --hpcg-dat FILE)")
	}
	ranks, err := hpcgInt(c, "ranks")
	if err != nil {
		return p, nil, err
	}
	p = hpcg.DefaultParams(ranks, 0)
	if p.Phase, err = hpcgPhase(c); err != nil {
		return p, nil, err
	}
	if c.IsSet("hpcg-dat") {
		if notes, err = readHPCGDat(c, &p); err != nil {
			return p, nil, err
		}
	}
	for _, n := range hpcgNumbers {
		switch {
		case !c.IsSet(n.name):
			continue
		case n.all && p.Phase != hpcg.All:
			return p, nil, command.Usagef("--%s goes with --phase all: the timed sets do not depend on it", n.name)
		}
		if *n.of(&p), err = hpcgInt(c, n.name); err != nil {
			return p, nil, err
		}
	}
	if !c.IsSet("setup-iterations") {
		p.SetupIterations = p.Iterations
	}
	return p, notes, setTestIterations(c, &p)
}

func hpcgInt(c *cli.Context, name string) (int, error) {
	v, err := strconv.ParseInt(c.String(name), 10, 32)
	if err != nil || v < 0 {
		return 0, command.Usagef("--%s %q, want a whole number in digits, at most %d", name, c.String(name), math.MaxInt32)
	}
	return int(v), nil
}

func hpcgPhase(c *cli.Context) (hpcg.Phase, error) {
	for _, phase := range []hpcg.Phase{hpcg.Timed, hpcg.All} {
		if c.String("phase") == phase.String() {
			return phase, nil
		}
	}
	return 0, command.Usagef("--phase %q, want timed or all", c.String("phase"))
}

func setTestIterations(c *cli.Context, p *hpcg.Params) error {
	if !c.IsSet("test-iterations") {
		return nil
	}
	if p.Phase != hpcg.All {
		return command.Usagef("--test-iterations goes with --phase all: the timed sets do not depend on it")
	}
	words := strings.Split(c.String("test-iterations"), ",")
	for i, word := range words {
		v, err := strconv.Atoi(word)
		if err != nil || len(words) != len(p.TestIterations) {
			return command.Usagef("--test-iterations %q, want %d numbers with commas between", c.String("test-iterations"), len(p.TestIterations))
		}
		p.TestIterations[i] = v
	}
	return nil
}

// readHPCGDat reads the hpcg.dat, which excludes the flags of its parameters.
func readHPCGDat(c *cli.Context, p *hpcg.Params) ([]string, error) {
	for _, n := range hpcgNumbers {
		if n.inDat && c.IsSet(n.name) {
			return nil, command.Usagef("--%s and --hpcg-dat exclude each other", n.name)
		}
	}
	path := c.String("hpcg-dat")
	if path == "-" {
		return p.ReadDat(c.App.Reader, "stdin")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return p.ReadDat(f, path)
}

// tellHPCG says which parameters nobody gave, and what HPCG makes of those that it does not take.
func tellHPCG(c *cli.Context, p *hpcg.Params, notes []string) {
	for _, note := range notes {
		fmt.Fprintln(c.App.ErrWriter, "tracegen:", note)
	}
	var chosen []string
	for _, n := range hpcgNumbers {
		if v := *n.of(p); v != 0 && !c.IsSet(n.name) && (!n.inDat || !c.IsSet("hpcg-dat")) && (!n.all || p.Phase == hpcg.All) {
			chosen = append(chosen, fmt.Sprintf("%s %d", n.name, v))
		}
	}
	if len(chosen) > 0 {
		fmt.Fprintln(c.App.ErrWriter, "tracegen: by default:", strings.Join(chosen, ", "))
	}
}
