package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/calibrate"
	"reprise/calibrate/hosts"
	"reprise/internal/command"
	"reprise/internal/textutil"
	"reprise/trace/warning"
)

// hostsCommand is calibrate hosts, of docs/calibrate.md: it estimates a machine model, or draws hosts from one.
func hostsCommand() *cli.Command {
	return &cli.Command{
		Name:  "hosts",
		Usage: "model how hosts differ, and draw machines of such hosts",
		UsageText: "calibrate hosts [options] [-o MODEL] CSV...|-\n" +
			"calibrate hosts --draw N --from MODEL [--seed S] [--day D] [-o KERNELS]",
		Description: "Tables have timings, with columns as for calibrate kernels, host and date among them. Prints a " +
			"report;\n" +
			"-o writes the machine model (YAML).\n" +
			"--draw writes a kernel file with hosts drawn from a machine model.\n\n" +
			"    calibrate hosts -o machine.yaml timings.csv\n" +
			"    calibrate hosts --draw 64 --from machine.yaml --seed 7 -o kernels.yaml",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"},
				Usage: "write the machine model, or with --draw the kernel file (YAML), to `FILE`; -: to standard output, " +
					"without a report"},
		}, estimateFlags(), fitFlags(), drawFlags(), []cli.Flag{
			command.TextFlag{StringFlag: &cli.StringFlag{Name: "source", Usage: "`TEXT` about the measurement for the file"}},
			command.Switch("json", "print the report as JSON"),
			command.Quiet(),
		}),
		// --draw makes another command of it, whose flags the estimate does not have, and the other way round.
		Action: func(c *cli.Context) error {
			if c.IsSet("draw") {
				return runDraw(c)
			}
			return runHosts(c)
		},
	}
}

// estimateFlags are those of calibrate hosts that say which model to estimate.
func estimateFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "per", Value: "host", Usage: "what differs: `host|cpu`: hosts, or the CPUs of hosts"},
		&cli.StringFlag{Name: "classes", Value: "auto",
			Usage: "number of classes of hosts, `auto|1|2|3`: the best by BIC, or as many"},
		&cli.StringFlag{Name: "classes-by", Value: "time",
			Usage: "tell classes by the first coefficient of the `time|noise`"},
		&cli.StringFlag{Name: "noise-shape", Usage: "`half-normal|normal` (default: by the skewness of timings)"},
	}
}

// runHosts estimates a machine model from timings, of which there is a fit for each host or CPU and day: the difference
// between days is part of the model.
func runHosts(c *cli.Context) error {
	if given := firstSet(c, namesOf(drawFlags())); given != "" {
		return command.Usagef("hosts: --%s is about drawing: add --draw N", given)
	}
	// The number of classes is the place of its word in the list, and 0 leaves it to the criterion.
	var o hosts.Options
	if o.Classes = slices.Index([]string{"auto", "1", "2", "3"}, c.String("classes")); o.Classes < 0 {
		return command.Usagef("hosts: --classes %q, want auto, 1, 2 or 3", c.String("classes"))
	}
	// Values that are one of some words.
	by, per, shape := c.String("classes-by"), c.String("per"), c.String("noise-shape")
	o.ByNoise = by == "noise"
	switch {
	case by != "noise" && by != "time":
		return command.Usagef("hosts: --classes-by %q, want time or noise", by)
	case per != "cpu" && per != "host":
		return command.Usagef("hosts: --per %q, want host or cpu", per)
	case shape != "" && shape != hosts.Normal && shape != hosts.HalfNormal:
		return command.Usagef("hosts: --noise-shape %q, want half-normal or normal", shape)
	}
	needs(c, "output", "source")
	checkOutputs(c)

	read, terms := fitOptions(c)
	read.Days = true
	fit := calibrate.LearnOptions{For: calibrate.ForHost, Statistic: calibrate.Median, MaxPieces: 1, Terms: terms}
	if per == "cpu" {
		fit.For = calibrate.ForCPU
	}
	fits := learn(c, read, fit)
	sample, err := hosts.FromFits(fits, per == "cpu")
	textutil.Check(warning.With(err, fits.Warnings))
	sample.Shape = cmp.Or(shape, sample.Shape)
	report, err := hosts.Estimate(sample, o)
	if err != nil {
		return warning.With(err, sample.Warnings)
	}
	command.Warn(c, report.Warnings)
	report.Model.Description, report.Model.Source = "estimated by calibrate hosts "+command.Version(), c.String("source")
	model := output{what: "machine model", path: c.String("output"), content: report.Model.WriteYAML,
		read: func(text []byte, name string) error {
			_, err := hosts.Parse(bytes.NewReader(text), name)
			return err
		}}
	if writeOutputs(c, model) {
		return nil
	}
	return printReport(c, report, report.WriteText)
}

// drawFlags are those of calibrate hosts that say which machine to draw.
func drawFlags() []cli.Flag {
	return []cli.Flag{
		// The draws: how many hosts, from which model, on which day.
		&cli.IntFlag{Name: "draw", Usage: "draw `N` hosts", DefaultText: "estimate a model"},
		&cli.StringFlag{Name: "from", Usage: "draw from the machine model in `FILE`, or a built-in one: " +
			strings.Join(hosts.BuiltinNames(), ", ")},
		&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`SEED` of the draws: each draws another machine"},
		&cli.IntFlag{Name: "day", Value: 1, Usage: "the machine on day `D`; 0: on average over days"},
		// The kernel file.
		&cli.StringFlag{Name: "host-name", Value: "node-{}",
			Usage: "`NAME` of a host on the platform, {} being its number from 0"},
		&cli.StringFlag{Name: "empty", Value: "free",
			Usage: "calls with a dimension of zero are `free|charged` the constant"},
		&cli.StringFlag{Name: "base", Usage: "kernel `FILE` with the models of all other kernels, and of other hosts"},
	}
}

// runDraw draws hosts from a machine model, and writes their kernel file. The same model, seed and day give the same
// hosts.
func runDraw(c *cli.Context) error {
	if c.NArg() > 0 {
		return command.Usagef("hosts: --draw reads no table, but there is %q", c.Args().First())
	}
	excludes(c, "draw", namesOf(slices.Concat(estimateFlags(), fitFlags()))...)
	needs(c, "output", "source", "empty", "base", "host-name")
	from := c.String("from")
	if from == "" {
		return command.Usagef("hosts: --draw needs --from FILE, a machine model that calibrate hosts -o wrote")
	}
	o := hosts.DrawOptions{Hosts: c.Int("draw"), Seed: c.Uint64("seed"), Day: c.Int("day")}
	checkUsage(c, o.Validate())
	// The description names everything that the draws depend on.
	file := hosts.FileOptions{Source: c.String("source"), BaseName: c.String("base"), HostName: c.String("host-name"),
		Empty: c.String("empty"),
		Description: fmt.Sprintf("%d hosts drawn by calibrate hosts %s from %s, seed %d, day %d", o.Hosts, command.Version(),
			from, o.Seed, o.Day)}
	checkUsage(c, (*calibrate.FileOptions)(&file).Validate())
	// A built-in model is no file that an output could replace.
	inputs := []string{c.String("base")}
	if !slices.Contains(hosts.BuiltinNames(), from) {
		inputs = append(inputs, from)
	}
	checkOutputs(c, inputs...)
	// From here on files are read, and hosts drawn.
	model := textutil.Must(hosts.Find(from))
	file.Base = readBase(c.String("base"))
	// Without a source of its own, the file has that of the model.
	if file.Source == "" {
		file.Source = model.SourceOfDraw(from)
	}
	machine, err := model.Draw(o)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	kernelFile := output{"kernel file", c.String("output"), func(w io.Writer) error { return machine.WriteYAML(w, file) },
		readKernels}
	if writeOutputs(c, kernelFile) {
		return nil
	}
	s := machine.Summary()
	return printReport(c, s, s.WriteText)
}
