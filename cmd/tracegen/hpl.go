package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/tracegen/hpl"
)

func hplFlags() []cli.Flag {
	var flags []cli.Flag
	for _, par := range hpl.Parameters() {
		usage := par.Usage
		if par.Default == "" {
			usage += ", must be given"
		}
		flags = append(flags, &cli.StringFlag{Name: par.Name, Usage: usage, DefaultText: par.Default})
	}
	return append(flags,
		&cli.StringFlag{Name: "hpl-dat", Usage: "take the parameters from an HPL.dat `FILE`, or from standard input (-)"},
		&cli.BoolFlag{Name: "list", Usage: "list the combinations of the HPL.dat and stop", DisableDefaultText: true},
		&cli.StringFlag{Name: "combination", Usage: "take combination `k` of the HPL.dat, counted from 1",
			DefaultText: "the only one"},
		&cli.BoolFlag{Name: "copy-l", Usage: "HPL is built with HPL_COPY_L", DisableDefaultText: true},
		&cli.StringFlag{Name: "pivots", Value: "random", DefaultText: "random",
			Usage: "`source` of pivots: random, lu (factor HPL's own matrix), none, file:PATH (a row per line)"},
		&cli.StringFlag{Name: "seed", Usage: "`number` that random pivots follow from",
			DefaultText: strconv.FormatUint(defaultSeed(), 10)},
		&cli.StringFlag{Name: "first-steps", Usage: "write the first `n` panels only", DefaultText: "all"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "-", Usage: "write the trace to `FILE`",
			DefaultText: "-, standard output"},
		&cli.BoolFlag{Name: "quiet", Usage: "no progress and no notes on stderr", DisableDefaultText: true},
	)
}

// runHPL is the command hpl.
func runHPL(c *cli.Context, args []string) error {
	if c.NArg() != 0 {
		return command.Usagef("hpl: unexpected argument %q", c.Args().First())
	}
	if c.String("output") == "" {
		return command.Usagef("hpl: --output \"\", want the name of a file, or -")
	}
	if c.Bool("list") {
		return listCombinations(c)
	}
	if err := atomicfile.CheckOverwrite(c.String("output"), inputs(c)...); err != nil {
		return command.Usagef("hpl: --output %w", err)
	}
	p, o, err := request(c, args)
	if err != nil {
		return err
	}
	if !c.Bool("quiet") {
		tellDefaults(c, &p)
		tellIgnored(c, &p)
	}
	bar := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), max(1, p.Steps()), "steps")
	defer bar.Clear()
	o.Progress = bar.SetOf
	return writeTrace(c.String("output"), c.App.Writer,
		func(w io.Writer) error { return hpl.Generate(c.Context, w, p, o) })
}

// inputs returns the names of the files that are read.
func inputs(c *cli.Context) []string {
	names := []string{c.String("hpl-dat")}
	if path, isFile := strings.CutPrefix(c.String("pivots"), pivotsFile); isFile {
		names = append(names, path)
	}
	return names
}

// request returns what the command line asks for.
func request(c *cli.Context, args []string) (p hpl.Params, o hpl.Options, err error) {
	o = hpl.Options{Tool: "tracegen " + command.Version(), Command: commandLine(args, hplFlags())}
	if err = setCount(&o.FirstSteps, c, "first-steps"); err != nil {
		return p, o, err
	}
	if p, err = paramsOf(c); err != nil {
		return p, o, err
	}
	if p.Pivots, err = pivotsOf(c, p.N); err != nil {
		return p, o, err
	}
	if err = p.Validate(); err != nil {
		return p, o, command.Usage(err)
	}
	return p, o, nil
}

// setCount sets a number, 1 or more, from its flag, if that is given.
func setCount(to *int, c *cli.Context, name string) error {
	if !c.IsSet(name) {
		return nil
	}
	v, err := strconv.ParseInt(c.String(name), 10, 32)
	if err != nil || v < 1 {
		return command.Usagef("--%s %q, allowed 1 to %d", name, c.String(name), math.MaxInt32)
	}
	*to = int(v)
	return nil
}

// paramsOf returns the parameters, from flags with defaults or from an HPL.dat.
func paramsOf(c *cli.Context) (hpl.Params, error) {
	p, err := paramsFrom(c)
	p.CopyL = c.Bool("copy-l")
	return p, err
}

func paramsFrom(c *cli.Context) (hpl.Params, error) {
	if c.String("hpl-dat") != "" {
		return datParams(c)
	}
	if c.IsSet("combination") {
		return hpl.Params{}, command.Usagef("--combination goes with --hpl-dat")
	}
	for _, par := range hpl.Parameters() {
		if par.Default == "" && !c.IsSet(par.Name) {
			return hpl.Params{}, command.Usagef("%s is missing (or --hpl-dat FILE)", flagName(par.Name))
		}
	}
	return hpl.WithDefaults(func(p *hpl.Params) error { return setGiven(c, p) })
}

// setGiven sets the parameters whose flags are given.
func setGiven(c *cli.Context, p *hpl.Params) error {
	for _, par := range hpl.Parameters() {
		if !c.IsSet(par.Name) {
			continue
		}
		if err := par.Set(p, c.String(par.Name)); err != nil {
			return command.Usagef("%s %w", flagName(par.Name), err)
		}
	}
	return nil
}

// flagName returns a flag as it is written: -N, --NB.
func flagName(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// tellDefaults says which parameters neither a flag nor an HPL.dat gave.
func tellDefaults(c *cli.Context, p *hpl.Params) {
	known := map[string]bool{"copy-l": true} // a build option: off unless said
	for _, par := range hpl.Parameters() {
		known[par.Name] = c.IsSet("hpl-dat")
	}
	var defaults []string
	for _, param := range p.List() {
		if !c.IsSet(param.Name) && !known[param.Name] {
			defaults = append(defaults, param.Name+" "+param.Value)
		}
	}
	if len(defaults) > 0 {
		fmt.Fprintln(c.App.ErrWriter, "tracegen: by default:", strings.Join(defaults, ", "))
	}
}

// tellIgnored says that a threshold was given where HPL ignores it. In an HPL.dat it
// always stands.
func tellIgnored(c *cli.Context, p *hpl.Params) {
	if c.IsSet("swap-threshold") && p.Swap != hpl.Mix {
		fmt.Fprintf(c.App.ErrWriter, "tracegen: --swap-threshold has no effect: it is for --SWAP mix, not %v\n", p.Swap)
	}
}

// readDat reads the HPL.dat, which excludes the flags of its parameters.
func readDat(c *cli.Context) (*hpl.Dat, error) {
	for _, par := range hpl.Parameters() {
		if c.IsSet(par.Name) {
			return nil, command.Usagef("%s and --hpl-dat exclude each other", flagName(par.Name))
		}
	}
	path, in := c.String("hpl-dat"), c.App.Reader
	if path == "-" {
		path = "stdin"
	} else {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	dat, err := hpl.ReadDat(in, path)
	if err == nil {
		command.Warn(c, dat.Warnings())
	}
	return dat, err
}

// datParams returns one combination of the HPL.dat.
func datParams(c *cli.Context) (hpl.Params, error) {
	dat, err := readDat(c)
	if err != nil {
		return hpl.Params{}, err
	}
	k := 1
	if err := setCount(&k, c, "combination"); err != nil {
		return hpl.Params{}, err
	}
	if n := dat.Combinations(); n != 1 && !c.IsSet("combination") {
		return hpl.Params{}, command.Usagef("%s has %d combinations: choose one with --combination (--list shows them)",
			c.String("hpl-dat"), n)
	}
	p, err := dat.Combination(k)
	if err != nil {
		return p, command.Usage(err)
	}
	return p, nil
}

// listCombinations prints the combinations of the HPL.dat, a line each.
func listCombinations(c *cli.Context) error {
	if c.String("hpl-dat") == "" {
		return command.Usagef("--list goes with --hpl-dat")
	}
	for _, name := range []string{"combination", "copy-l", "pivots", "seed", "first-steps", "output"} {
		if c.IsSet(name) {
			return command.Usagef("--list and --%s exclude each other: the list shows all combinations, and no trace is written",
				name)
		}
	}
	dat, err := readDat(c)
	if err != nil {
		return err
	}
	for k := 1; k <= dat.Combinations(); k++ {
		p, err := dat.Combination(k)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.App.Writer, "%4d  %-14s N %d NB %d P %d Q %d\n", k, p.Variant(), p.N, p.NB, p.P, p.Q)
		if err == nil {
			err = c.Context.Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pivotsFile stands before the name of a file of pivots.
const pivotsFile = "file:"

// pivotsOf returns the source of pivots for a matrix of order n.
func pivotsOf(c *cli.Context, n int) (hpl.Pivots, error) {
	source := c.String("pivots")
	path, isFile := strings.CutPrefix(source, pivotsFile)
	if c.IsSet("seed") && source != "random" {
		return hpl.Pivots{}, command.Usagef("--seed goes with --pivots random")
	}
	if !isFile || path == "" {
		var pivots hpl.Pivots
		if err := pivots.Set(source); err != nil {
			return pivots, command.Usagef("--pivots %w or file:PATH", err)
		}
		if pivots.Kind != hpl.RandomPivots {
			return pivots, nil
		}
		seed, err := seedOf(c)
		pivots.Seed = seed
		return pivots, err
	}
	f, err := os.Open(path)
	if err != nil {
		return hpl.Pivots{}, err
	}
	defer f.Close()
	rows, err := hpl.ReadPivots(f, path, n)
	return hpl.Pivots{Kind: hpl.GivenPivots, Rows: rows, Name: path}, err
}

func seedOf(c *cli.Context) (uint64, error) {
	if !c.IsSet("seed") {
		return defaultSeed(), nil
	}
	seed, err := strconv.ParseUint(c.String("seed"), 10, 64)
	if err != nil {
		return 0, command.Usagef("--seed %q, allowed 0 to %d", c.String("seed"), uint64(math.MaxUint64))
	}
	return seed, nil
}

func defaultSeed() uint64 { return hpl.DefaultParams(1, 1, 1).Pivots.Seed }
