package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/textutil"
	"reprise/trace/warning"
	"reprise/tracegen/hpl"
)

// hplCommand is tracegen hpl, of docs/hpl.md. args is the command line, which the header of the trace has.
func hplCommand(args []string) *cli.Command {
	// Parameters of HPL.dat have the names of HPL's documentation.
	flags := append(flagsOf(hpl.Parameters()), &cli.StringFlag{Name: "variant", Value: "hpl", DefaultText: "hpl",
		Usage: "`program`: hpl (2.3), rochpl (rocHPL 7.0.1 for GPUs), rochpl6 (6.0.0)"})
	flags = append(append(flags, flagsOf(hpl.VariantParameters())...),
		// A file in their place, of which one combination is taken.
		&cli.StringFlag{Name: "hpl-dat", Usage: "take the parameters from an HPL.dat `FILE`, or from standard input (-)"},
		command.Switch("list", "list the combinations of the HPL.dat and stop"),
		&cli.StringFlag{Name: "combination", Usage: "take combination `k` of the HPL.dat, counted from 1",
			DefaultText: "the only one"},
		// Things that HPL.dat does not tell.
		command.Switch("copy-l", "HPL is built with HPL_COPY_L"),
		&cli.StringFlag{Name: "pivots", Value: "random", DefaultText: "random",
			Usage: "`source` of pivots: random, lu (factor HPL's own matrix), none, file:PATH (a row per line)"},
		&cli.StringFlag{Name: "seed", Usage: "`number` that random pivots follow from",
			DefaultText: strconv.FormatUint(defaultSeed(), 10)},
		&cli.StringFlag{Name: "first-steps", Usage: "write the first `n` panels only", DefaultText: "all"},
	)
	return &cli.Command{
		Name:  "hpl",
		Usage: "High Performance Linpack 2.3",
		UsageText: "tracegen hpl -N n -P p -Q q [options] [-o FILE]\ntracegen hpl --hpl-dat FILE [--list | " +
			"--combination k] [options] [-o FILE]",
		Description: "Parameters are those of HPL.dat, by flags or from the file itself.\n\n" +
			"    tracegen hpl -N 50000 --NB 128 -P 8 -Q 16 -o run.trace.zst\n" +
			"    tracegen hpl -N 20000 --NB 192 -P 4 -Q 4 --BCAST 2rM --DEPTH 1 | replay -\n" +
			"    tracegen hpl --hpl-dat HPL.dat --list\n" +
			"    tracegen hpl --hpl-dat HPL.dat --combination 3 -o run.trace.zst",
		Flags:  append(flags, outputFlags()...),
		Action: func(c *cli.Context) error { return runHPL(c, args) },
	}
}

// runHPL takes the parameters from the flags or from one combination of an HPL.dat, tells users of those that they did
// not give, and writes the trace; with --list it lists the combinations instead.
func runHPL(c *cli.Context, args []string) error {
	// The trace may replace no file that it is made from.
	inputs := []string{c.String("hpl-dat")}
	if path, isFile := strings.CutPrefix(c.String("pivots"), pivotsFile); isFile {
		inputs = append(inputs, path)
	}
	checkOutput(c, inputs...)
	if c.Bool("list") {
		return listCombinations(c)
	}
	// The header of the trace says how it was made.
	o := hpl.Options{Tool: "tracegen " + command.Version(), Command: commandLine(args, c.Command.Flags)}
	p := hplParams(c)
	setCount(&p.FirstSteps, c, "first-steps")
	p.CopyL, p.Pivots = c.Bool("copy-l"), pivotsOf(c, p.N)
	checkUsage(p.Validate())
	if wrong := p.Wrong(); wrong != "" {
		command.Warn(c, []warning.Warning{{Text: wrong}})
	}

	// Users are told which parameters have their default, as neither a flag nor an HPL.dat gave them, and of a threshold
	// that HPL ignores; an HPL.dat always has one.
	if !c.Bool("quiet") {
		given := map[string]bool{"copy-l": true} // a build option: off unless said
		for _, par := range hpl.Parameters() {
			given[par.Name] = c.IsSet("hpl-dat")
		}
		var defaults []string
		for _, param := range p.List() {
			if !c.IsSet(param.Name) && !given[param.Name] {
				defaults = append(defaults, param.Name+" "+param.Value)
			}
		}
		if len(defaults) > 0 {
			tell(c, "by default:", strings.Join(defaults, ", "))
		}
		if c.IsSet("swap-threshold") && p.Swap != hpl.Mix {
			tell(c, fmt.Sprintf("--swap-threshold has no effect: it is for --SWAP mix, not %v", p.Swap))
		}
	}
	// A run of no step has a bar of one.
	return generate(c, max(1, p.Steps()), func(w io.Writer, progress func(done, all int)) error {
		o.Progress = progress
		return hpl.Generate(c.Context, w, p, o)
	})
}

// checkUsage ends the command at parameters that it cannot have.
func checkUsage(err error) {
	if err != nil {
		textutil.Stop(command.Usage(err))
	}
}

// hplParams returns the parameters, from flags with defaults or from one combination of an HPL.dat.
func hplParams(c *cli.Context) (p hpl.Params) {
	if path := c.String("hpl-dat"); path != "" {
		dat := readDat(c)
		// A file of one combination needs no choice.
		k := 1
		setCount(&k, c, "combination")
		if n := dat.Combinations(); n != 1 && !c.IsSet("combination") {
			checkUsage(fmt.Errorf("%s has %d combinations: choose one with --combination (--list shows them)", path, n))
		}
		p, err := dat.Combination(k)
		checkUsage(err)
		setVariant(c, &p)
		return p
	}
	variant := variantOf(c)
	if c.IsSet("combination") {
		checkUsage(errors.New("--combination goes with --hpl-dat"))
	}
	for _, par := range hpl.Parameters() {
		if par.Default == "" && !c.IsSet(par.Name) {
			checkUsage(fmt.Errorf("%s is missing (or --hpl-dat FILE)", flagName(par.Name)))
		}
	}
	// Defaults depend on the parameters that are given, so that the library asks for these in between.
	return textutil.Must(hpl.WithDefaults(func(p *hpl.Params) error {
		p.Program = variant
		for _, par := range hpl.Parameters() {
			if c.IsSet(par.Name) {
				checkFlag(par.Name, par.Set(p, variant.Known(par.Name, c.String(par.Name))))
			}
		}
		setVariant(c, p)
		return nil
	}))
}

// variantOf returns the program that --variant names.
func variantOf(c *cli.Context) (variant hpl.Variant) {
	checkFlag("variant", variant.Set(c.String("variant")))
	return variant
}

// setVariant sets the parameters of variants from their flags.
func setVariant(c *cli.Context, p *hpl.Params) {
	for _, par := range hpl.VariantParameters() {
		if c.IsSet(par.Name) {
			checkFlag(par.Name, par.Set(p, c.String(par.Name)))
		}
	}
}

// checkFlag ends the command at a flag whose value is wrong.
func checkFlag(name string, err error) {
	if err != nil {
		checkUsage(fmt.Errorf("%s %w", flagName(name), err))
	}
}

// setCount sets a number, 1 or more, from its flag, if that is given.
func setCount(to *int, c *cli.Context, name string) {
	if !c.IsSet(name) {
		return
	}
	v, err := strconv.ParseInt(c.String(name), 10, 32)
	if err != nil || v < 1 {
		checkUsage(fmt.Errorf("--%s %q, allowed 1 to %d", name, c.String(name), math.MaxInt32))
	}
	*to = int(v)
}

// flagName returns a flag as it is written: -N, --NB.
func flagName(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// readDat reads the HPL.dat, which excludes the flags of its parameters.
func readDat(c *cli.Context) (dat *hpl.Dat) {
	variant := variantOf(c)
	for _, par := range hpl.Parameters() {
		if c.IsSet(par.Name) {
			checkUsage(fmt.Errorf("%s and --hpl-dat exclude each other", flagName(par.Name)))
		}
	}
	textutil.Check(withDat(c, c.String("hpl-dat"), func(in io.Reader, name string) (err error) {
		dat, err = variant.ReadDat(in, name)
		return err
	}))
	command.Warn(c, dat.Warnings())
	return dat
}

// listCombinations prints the combinations of the HPL.dat, a line each.
func listCombinations(c *cli.Context) error {
	if c.String("hpl-dat") == "" {
		return command.Usagef("--list goes with --hpl-dat")
	}
	// Flags about a trace have no effect on the list.
	for _, name := range []string{"combination", "copy-l", "pivots", "seed", "first-steps", "output"} {
		if c.IsSet(name) {
			return command.Usagef("--list and --%s exclude each other: the list shows all combinations, and no trace is written",
				name)
		}
	}
	dat := readDat(c)
	// A file may have millions of combinations: the list is written as it is made, and can be interrupted.
	for k := 1; k <= dat.Combinations(); k++ {
		p := textutil.Must(dat.Combination(k))
		_, err := fmt.Fprintf(c.App.Writer, "%4d  %-14s N %d NB %d P %d Q %d\n", k, p.Variant(), p.N, p.NB, p.P, p.Q)
		if err := cmp.Or(err, c.Context.Err()); err != nil {
			return err
		}
	}
	return nil
}

// pivotsFile stands before the name of a file of pivots.
const pivotsFile = "file:"

// pivotsOf returns the source of pivots for a matrix of order n.
func pivotsOf(c *cli.Context, n int) (pivots hpl.Pivots) {
	source := c.String("pivots")
	if c.IsSet("seed") && source != "random" {
		checkUsage(errors.New("--seed goes with --pivots random"))
	}
	if path, isFile := strings.CutPrefix(source, pivotsFile); isFile && path != "" {
		f := textutil.Must(os.Open(path))
		defer f.Close()
		// A row for each of the n columns.
		return hpl.Pivots{Kind: hpl.GivenPivots, Rows: textutil.Must(hpl.ReadPivots(f, path, n)), Name: path}
	}
	if err := pivots.Set(source); err != nil {
		checkUsage(fmt.Errorf("--pivots %w or file:PATH", err))
	}
	if pivots.Kind != hpl.RandomPivots {
		return pivots
	}
	if pivots.Seed = defaultSeed(); c.IsSet("seed") {
		var err error
		if pivots.Seed, err = strconv.ParseUint(c.String("seed"), 10, 64); err != nil {
			checkUsage(fmt.Errorf("--seed %q, allowed 0 to %d", c.String("seed"), uint64(math.MaxUint64)))
		}
	}
	return pivots
}

// defaultSeed is that of the library, which the help shows.
func defaultSeed() uint64 { return hpl.DefaultParams(1, 1, 1).Pivots.Seed }
