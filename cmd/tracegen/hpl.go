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
	"reprise/tracegen/hpl"
)

// Parameters that an HPL.dat gives, too: name, what is printed for it in help.
var paramFlags = []struct{ name, usage string }{
	{"N", "`order` of the matrix, must be given"},
	{"NB", "block `size`"},
	{"P", "process `rows`, must be given"},
	{"Q", "process `columns`, must be given"},
	{"PMAP", "`order` of ranks in the grid: row (0), col (1)"},
	{"PFACT", "panel factorization `variant`: left (0), crout (1), right (2)"},
	{"NBMIN", "`columns` at which the recursion stops"},
	{"NDIV", "`panels` in a recursion step"},
	{"RFACT", "recursive factorization `variant`: left (0), crout (1), right (2)"},
	{"BCAST", "panel broadcast `algorithm`: 1ring (0), 1ringM (1), 2ring (2), 2ringM (3), long (4), longM (5)"},
	{"DEPTH", "look-ahead `depth`"},
	{"SWAP", "row swap `algorithm`: bin (0), long (1), mix (2)"},
	{"swap-threshold", "with --SWAP mix, the `columns` above which a swap is long"},
	{"L1", "`form` of L1: transposed (0), no-transposed (1)"},
	{"U", "`form` of U: transposed (0), no-transposed (1)"},
	{"EQUIL", "equilibration in long swaps: no (0), yes (1)"},
	{"ALIGN", "alignment of buffers in `doubles`; nothing in the trace depends on it"},
}

func hplFlags() []cli.Flag {
	defaults := map[string]string{"N": "", "P": "", "Q": "", "NB": "32 to 256, by N, P and Q"}
	params := hpl.DefaultParams(1, 1, 1)
	for _, param := range params.List() {
		if _, ok := defaults[param.Name]; !ok {
			defaults[param.Name] = param.Value
		}
	}
	var flags []cli.Flag
	for _, f := range paramFlags {
		flags = append(flags, &cli.StringFlag{Name: f.name, Usage: f.usage, DefaultText: defaults[f.name]})
	}
	return append(flags,
		&cli.StringFlag{Name: "hpl-dat", Usage: "take the parameters from an HPL.dat `FILE`, or from standard input (-)"},
		&cli.BoolFlag{Name: "list", Usage: "list the combinations of the HPL.dat and stop", DisableDefaultText: true},
		&cli.StringFlag{Name: "combination", Usage: "take combination `k` of the HPL.dat, counted from 1", DefaultText: "the only one"},
		&cli.BoolFlag{Name: "copy-l", Usage: "HPL is built with HPL_COPY_L", DisableDefaultText: true},
		&cli.StringFlag{Name: "pivots", Value: "random", DefaultText: "random", Usage: "`source` of pivots: random, lu (factor HPL's own matrix), none, file:PATH (a row per line)"},
		&cli.StringFlag{Name: "seed", Usage: "`number` that random pivots follow from", DefaultText: defaults["seed"]},
		&cli.StringFlag{Name: "first-steps", Usage: "write the first `n` panels only", DefaultText: "all"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "-", Usage: "write the trace to `FILE`", DefaultText: "-, standard output"},
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
	return writeTrace(c.String("output"), c.App.Writer, func(w io.Writer) error { return hpl.Generate(c.Context, w, p, o) })
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
	o = hpl.Options{Tool: "tracegen " + command.Version(), Command: commandLine(args)}
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

// commandLine joins the arguments as a person would have typed them, but for
// where the trace goes and for --quiet: the same parameters give the same bytes.
func commandLine(args []string) string {
	words := []string{"tracegen"}
	for i := 1; i < len(args); i++ {
		name, _, hasValue := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		first := i
		if strings.HasPrefix(args[i], "-") && !hasValue && takesValue(name) && i+1 < len(args) {
			i++
		}
		if strings.HasPrefix(args[first], "-") && (name == "o" || name == "output" || name == "quiet") {
			continue
		}
		for _, arg := range args[first : i+1] {
			words = append(words, command.Quoted(arg))
		}
	}
	return strings.Join(words, " ")
}

// takesValue reports whether a flag has a value as its next argument.
func takesValue(name string) bool {
	for _, f := range hplFlags() {
		if _, ok := f.(*cli.StringFlag); ok && slices.Contains(f.Names(), name) {
			return true
		}
	}
	return false
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
	var sizes [3]int
	for i, name := range []string{"N", "P", "Q"} {
		if !c.IsSet(name) {
			return hpl.Params{}, command.Usagef("%s is missing (or --hpl-dat FILE)", flagName(name))
		}
		if err := setInt(&sizes[i], c, name); err != nil {
			return hpl.Params{}, err
		}
	}
	p := hpl.DefaultParams(sizes[0], sizes[1], sizes[2])
	if err := setFlags(c, &p); err != nil {
		return p, err
	}
	return p, nil
}

// setFlags changes the parameters for which there are flags.
func setFlags(c *cli.Context, p *hpl.Params) error {
	numbers := []struct {
		name string
		to   *int
	}{{"NB", &p.NB}, {"NBMIN", &p.NBMin}, {"NDIV", &p.NDiv}, {"DEPTH", &p.Depth}, {"swap-threshold", &p.SwapThreshold}, {"ALIGN", &p.Align}}
	for _, n := range numbers {
		if err := setInt(n.to, c, n.name); err != nil {
			return err
		}
	}
	steps := []func() error{
		func() error { return setEnum(&p.PMap, c, "PMAP", hpl.ParseOrder) },
		func() error { return setEnum(&p.PFact, c, "PFACT", factParser("PFACT")) },
		func() error { return setEnum(&p.RFact, c, "RFACT", factParser("RFACT")) },
		func() error { return setEnum(&p.Bcast, c, "BCAST", hpl.ParseBcast) },
		func() error { return setEnum(&p.Swap, c, "SWAP", hpl.ParseSwap) },
		func() error { return setEnum(&p.L1, c, "L1", formParser("L1")) },
		func() error { return setEnum(&p.U, c, "U", formParser("U")) },
		func() error { return setEnum(&p.Equil, c, "EQUIL", hpl.ParseEquil) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func factParser(what string) func(string) (hpl.Fact, error) {
	return func(s string) (hpl.Fact, error) { return hpl.ParseFact(what, s) }
}

func formParser(what string) func(string) (hpl.Form, error) {
	return func(s string) (hpl.Form, error) { return hpl.ParseForm(what, s) }
}

// flagName returns a flag as it is written: -N, --NB.
func flagName(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// setInt sets a number from its flag, if that is given.
func setInt(to *int, c *cli.Context, name string) error {
	if !c.IsSet(name) {
		return nil
	}
	v, err := strconv.Atoi(c.String(name))
	if err != nil {
		return command.Usagef("%s %q, want a whole number in digits, at most %d", flagName(name), c.String(name), math.MaxInt32)
	}
	*to = v
	return nil
}

// setEnum sets a value from its flag, if that is given.
func setEnum[T any](to *T, c *cli.Context, name string, parse func(string) (T, error)) error {
	if !c.IsSet(name) {
		return nil
	}
	v, err := parse(c.String(name))
	if err != nil {
		return command.Usage(err)
	}
	*to = v
	return nil
}

// tellDefaults says which parameters neither a flag nor an HPL.dat gave.
func tellDefaults(c *cli.Context, p *hpl.Params) {
	known := map[string]bool{"copy-l": true} // a build option: off unless said
	for _, f := range paramFlags {
		known[f.name] = c.IsSet("hpl-dat")
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
	for _, f := range paramFlags {
		if c.IsSet(f.name) {
			return nil, command.Usagef("%s and --hpl-dat exclude each other", flagName(f.name))
		}
	}
	path := c.String("hpl-dat")
	if path == "-" {
		return hpl.ReadDat(c.App.Reader, "stdin")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return hpl.ReadDat(f, path)
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
		return hpl.Params{}, command.Usagef("%s has %d combinations: choose one with --combination (--list shows them)", c.String("hpl-dat"), n)
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
			return command.Usagef("--list and --%s exclude each other: the list shows all combinations, and no trace is written", name)
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
	switch {
	case source == "random":
		seed, err := seedOf(c)
		return hpl.Pivots{Kind: hpl.RandomPivots, Seed: seed}, err
	case source == "lu":
		return hpl.Pivots{Kind: hpl.LUPivots}, nil
	case source == "none":
		return hpl.Pivots{Kind: hpl.NoPivots}, nil
	case !isFile || path == "":
		return hpl.Pivots{}, command.Usagef("--pivots %q, want random, lu, none or file:PATH", source)
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
		return hpl.DefaultParams(1, 1, 1).Pivots.Seed, nil
	}
	seed, err := strconv.ParseUint(c.String("seed"), 10, 64)
	if err != nil {
		return 0, command.Usagef("--seed %q, allowed 0 to %d", c.String("seed"), uint64(math.MaxUint64))
	}
	return seed, nil
}
