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
	"reprise/calibrate/table"
	"reprise/internal/command"
	"reprise/internal/textutil"
	"reprise/trace/warning"
)

// hostsCommand is calibrate hosts, of docs/calibrate.md: it estimates a machine model, or draws hosts from one.
func hostsCommand() *cli.Command {
	return &cli.Command{
		Name:  "hosts",
		Usage: "model the differences between hosts, and draw machines of such hosts",
		UsageText: "calibrate hosts [options] [-o MODEL] CSV...|-\n" +
			"calibrate hosts --draw N --from MODEL [--seed S] [--day D] [-o KERNELS] [--platform FILE]",
		Description: "Tables have timings, with columns as for calibrate kernels, host and date among them, or, with " +
			"--coefficient,\n" +
			"coefficients: a row for each host and day. Prints a report; -o writes the machine model (YAML).\n" +
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
			Usage: "number of classes of hosts, `auto|1|2|3`; auto: the best by BIC"},
		&cli.StringFlag{Name: "classes-by", Value: "time",
			Usage: "tell classes by the first coefficient of the `time|noise`"},
		&cli.StringFlag{Name: "class-column",
			Usage: "`NAME` of the column with the class of the host, instead of --classes; needs --coefficient"},
		&cli.StringSliceFlag{Name: "coefficient",
			Usage: "`COLUMN=KERNEL:TERM`: the table has coefficients, in COLUMN that of TERM, as mnk=dgemm:M*N*K; may be repeated"},
		&cli.StringSliceFlag{Name: "noise",
			Usage: "`COLUMN=KERNEL:TERM`: COLUMN has the standard deviation of the noise; may be repeated"},
		&cli.StringFlag{Name: "noise-shape",
			Usage: "`half-normal|normal` (default: by the skewness of timings; half-normal of coefficients)"},
	}
}

// runHosts estimates a machine model from a sample of hosts and days: tables of coefficients are one as they stand,
// timings become one by a fit for each host and day.
func runHosts(c *cli.Context) error {
	if given := firstSet(c, namesOf(drawFlags())); given != "" {
		return command.Usagef("hosts: --%s is about drawing: add --draw N", given)
	}
	// The number of classes is the place of its word in the list, and 0 leaves it to the criterion.
	var o hosts.Options
	classes := []string{"auto", "1", "2", "3"}
	o.Classes = slices.Index(classes, command.Choice(c, "classes", classes...))
	o.ByNoise = command.Choice(c, "classes-by", "time", "noise") == "noise"
	per, shape := command.Choice(c, "per", "host", "cpu"), c.String("noise-shape")
	if shape != "" {
		command.Choice(c, "noise-shape", hosts.HalfNormal, hosts.Normal)
	}
	coefficients := len(c.StringSlice("coefficient")) > 0
	switch {
	case !coefficients && len(c.StringSlice("noise")) > 0:
		return command.Usagef("hosts: --noise needs a --coefficient of the same kernel")
	case !coefficients && c.IsSet("class-column"):
		return command.Usagef("hosts: --class-column needs --coefficient: the classes of timings are learned")
	}

	// Flags without effect. The criterion chooses among models, and the report, unlike that of kernels, does not have
	// it.
	excludes(c, "coefficient", namesOf(fitFlags(), "where")...)
	excludes(c, "class-column", "classes-by")
	needs(c, "output", "source")
	if c.String("model") != calibrate.Auto {
		excludes(c, "model", "criterion")
	}
	checkOutputs(c)

	// Coefficients are read as they are; timings are fitted first.
	var sample *hosts.Sample
	if coefficients {
		sample = readCoefficients(c, per == "cpu", cmp.Or(shape, hosts.HalfNormal))
	} else {
		sample = fitSample(c, per == "cpu")
		sample.Shape = cmp.Or(shape, sample.Shape)
	}
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

// fitSample reads timings and fits them, one fit for each host or CPU and day: the difference between days is part of
// the model.
func fitSample(c *cli.Context, perCPU bool) *hosts.Sample {
	read, fit := fitOptions(c)
	read.Days, fit.For = true, calibrate.ForHost
	if perCPU {
		fit.For = calibrate.ForCPU
	}
	timings := readTimings(c, read, fit.Terms, "model", "criterion", "no-constant")
	fits := textutil.Must(calibrate.FitKernels(timings, fit))
	sample, err := hosts.FromFits(fits, perCPU)
	return textutil.Must(sample, warning.With(err, fits.Warnings))
}

// readCoefficients reads tables of coefficients, whose columns --coefficient and --noise name.
func readCoefficients(c *cli.Context, perCPU bool, shape string) *hosts.Sample {
	o := hosts.ReadOptions{Class: strings.ToLower(c.String("class-column"))}
	var variables []hosts.Variable
	for _, flag := range []string{"coefficient", "noise"} {
		for _, text := range c.StringSlice(flag) {
			// A column has one meaning.
			column, what, _ := strings.Cut(text, "=")
			kernel, term, ok := strings.Cut(what, ":")
			if !ok || column == "" {
				command.Refuse(c, "--%s %q, want COLUMN=KERNEL:TERM, as mnk=dgemm:M*N*K", flag, text)
			}
			if column = strings.ToLower(column); slices.Contains(o.Columns, column) {
				command.Refuse(c, "--%s %q: column %s has another meaning already", flag, text, column)
			}
			o.Columns = append(o.Columns, column)
			variables = append(variables, hosts.Variable{Kernel: kernel, Term: term, Noise: flag == "noise"})
		}
	}
	sample, err := hosts.NewSample(variables, perCPU, shape)
	checkUsage(c, err)
	o.Where = conditions(c)
	rows := func() int64 { return int64(len(sample.Records)) }
	readTables(c, rows, func(arg string) (string, func(*table.Reader) error) {
		return arg, func(t *table.Reader) error { return sample.Read(t, o) }
	})
	return sample
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
		// The platform: hosts on one switch.
		&cli.StringFlag{Name: "platform",
			Usage: "write a platform (XML) of the hosts on one switch to `FILE`; -: to standard output, without a report"},
		&cli.Float64Flag{Name: "bandwidth", Value: 12.5e9, Usage: "`BYTE/S` of its routes"},
		&cli.Float64Flag{Name: "latency", Value: 2e-5, Usage: "`SECONDS` of its routes"},
		&cli.IntFlag{Name: "cores", Value: 1, Usage: "`NUMBER` of cores of a host"},
		&cli.StringFlag{Name: "speed", Value: "1Gf", Usage: "flop/s of a core, as `1Gf`"},
		&cli.StringSliceFlag{Name: "property",
			Usage: "`NAME:VALUE` of a SimGrid property of the platform, as calibrate network prints them; may be repeated"},
	}
}

// runDraw draws hosts from a machine model, and writes their kernel file and on request a platform of them. The same
// model, seed and day give the same hosts.
func runDraw(c *cli.Context) error {
	if c.NArg() > 0 {
		return command.Usagef("hosts: --draw reads no table, but there is %q", c.Args().First())
	}
	// Flags without effect. Hosts have names in the kernel file and on the platform.
	// The kernel file exists with --output only, the platform with --platform.
	inFile := []string{"source", "empty", "base"}
	if !c.IsSet("platform") {
		inFile = append(inFile, "host-name")
	}
	excludes(c, "draw", namesOf(slices.Concat(estimateFlags(), fitFlags()))...)
	needs(c, "output", inFile...)
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
	checkUsage(c, file.Validate())
	// A built-in model is no file that an output could replace.
	inputs := []string{c.String("base")}
	if !slices.Contains(hosts.BuiltinNames(), from) {
		inputs = append(inputs, from)
	}
	checkOutputs(c, inputs...)
	// A platform that cannot be written is refused before the draws, which may take long.
	platform := drawnPlatform(c, o.Hosts)
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
	if writeOutputs(c, platform, kernelFile) {
		return nil
	}
	s := machine.Summary()
	return printReport(c, s, s.WriteText)
}

// drawnPlatform returns the output of --platform, a platform whose hosts have the names of --host-name. That must end
// in -{}: hosts of a platform are numbered at the end of their names.
func drawnPlatform(c *cli.Context, hosts int) output {
	o := output{what: "platform", path: c.String("platform"), read: readPlatform}
	if o.path == "" {
		needs(c, "platform", "bandwidth", "latency", "cores", "speed", "property")
		return o
	}
	// The platform names its hosts NAME-0, NAME-1, ..., and the kernel file must name the same ones.
	name, ok := strings.CutSuffix(c.String("host-name"), "-{}")
	if !ok {
		command.Refuse(c, "--platform needs a --host-name that ends in -{}, found %q", c.String("host-name"))
	}
	machine := machineOf(c, name, hosts)
	var properties []calibrate.Property
	for _, text := range c.StringSlice("property") {
		name, value, ok := strings.Cut(text, ":")
		if !ok || name == "" {
			command.Refuse(c, "--property %q, want NAME:VALUE", text)
		}
		properties = append(properties, calibrate.Property{Name: name, Value: value})
	}
	if err := checkProperties(properties); err != nil {
		command.Refuse(c, "--property: %w", err)
	}
	o.content = func(w io.Writer) error {
		return calibrate.WritePlatform(w, machine,
			calibrate.Cables{Bandwidth: c.Float64("bandwidth"), Latency: c.Float64("latency")}, properties)
	}
	// Errors of flags appear here, with the exit status of wrong usage.
	checkUsage(c, o.content(io.Discard))
	return o
}
