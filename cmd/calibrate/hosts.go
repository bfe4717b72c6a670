package main

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/calibrate"
	"reprise/calibrate/hosts"
	"reprise/calibrate/table"
	"reprise/internal/command"
	"reprise/warning"
)

func hostsCommand() *cli.Command {
	return &cli.Command{
		Name:  "hosts",
		Usage: "model how hosts differ, and draw machines of such hosts",
		UsageText: "calibrate hosts [options] [-o MODEL] CSV...|-\n" +
			"calibrate hosts --draw N --from MODEL [--seed S] [--day D] [-o KERNELS] [--platform FILE]",
		Description: "Tables have timings, with columns as for calibrate kernels, host and date among them, or, with --coefficient,\n" +
			"coefficients: a row for each host and day. Prints a report; -o writes the machine model (YAML).\n" +
			"--draw writes a kernel file with hosts drawn from a machine model.\n\n" +
			"    calibrate hosts -o machine.yaml timings.csv\n" +
			"    calibrate hosts --draw 64 --from machine.yaml --seed 7 -o kernels.yaml",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the machine model, or with --draw the kernel file (YAML), to `FILE`; -: to standard output, without a report"},
		}, estimateFlags(), fitFlags(), drawFlags(), []cli.Flag{
			command.TextFlag{StringFlag: &cli.StringFlag{Name: "source", Usage: "`TEXT` about the measurement for the file"}},
			&cli.BoolFlag{Name: "json", Usage: "print the report as JSON", DisableDefaultText: true},
			quietFlag(),
		}),
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
		&cli.StringFlag{Name: "classes", Value: "auto", Usage: "number of classes of hosts, `auto|1|2|3`: the best by BIC, or as many"},
		&cli.StringFlag{Name: "classes-by", Value: "time", Usage: "tell classes by the first coefficient of the `time|noise`"},
		&cli.StringFlag{Name: "class-column", Usage: "`NAME` of the column with the class of the host, instead of --classes; needs --coefficient"},
		&cli.StringSliceFlag{Name: "coefficient", Usage: "`COLUMN=KERNEL:TERM`: the table has coefficients, and this one there, as mnk=dgemm:M*N*K; may be repeated"},
		&cli.StringSliceFlag{Name: "noise", Usage: "`COLUMN=KERNEL:TERM`: the same of the standard deviation of the noise; may be repeated"},
		&cli.StringFlag{Name: "noise-shape", Usage: "`half-normal|normal` (default: by the skewness of timings; half-normal of coefficients)"},
	}
}

func runHosts(c *cli.Context) error {
	if given := firstSet(c, namesOf(drawFlags())); given != "" {
		return command.Usagef("hosts: --%s is about drawing: add --draw N", given)
	}
	o, perCPU, err := hostOptionsOf(c)
	if err != nil {
		return err
	}
	if err := checkHostFlags(c); err != nil {
		return err
	}
	if err := checkOutputs(c); err != nil {
		return err
	}
	sample, err := readSample(c, perCPU)
	if err != nil {
		return err
	}
	report, err := hosts.Estimate(sample, o)
	if err != nil {
		return warning.With(err, sample.Warnings)
	}
	command.Warn(c, report.Warnings)
	report.Model.Description, report.Model.Source = "estimated by calibrate hosts "+command.Version(), c.String("source")
	model := output{"machine model", c.String("output"), report.Model.WriteYAML, readModel}
	if written, err := writeOutputs(c, model); written || err != nil {
		return err
	}
	return printReport(c, report, report.WriteText)
}

// checkHostFlags refuses flags without effect. The criterion chooses among models, and
// the report, unlike that of kernels, does not have it.
func checkHostFlags(c *cli.Context) error {
	errs := []error{
		excludes(c, "coefficient", namesOf(fitFlags(), "where")...),
		excludes(c, "class-column", "classes-by"),
		needs(c, "output", "source"),
	}
	if c.String("model") != calibrate.Auto {
		errs = append(errs, excludes(c, "model", "criterion"))
	}
	return cmp.Or(errs...)
}

func printReport(c *cli.Context, report any, text func(io.Writer) error) error {
	if c.Bool("json") {
		return writeJSON(c.App.Writer, report)
	}
	return text(c.App.Writer)
}

// hostOptionsOf reads the flags about the estimation.
func hostOptionsOf(c *cli.Context) (o hosts.Options, perCPU bool, err error) {
	i := slices.Index([]string{"auto", "1", "2", "3"}, c.String("classes"))
	if i < 0 {
		return o, false, command.Usagef("hosts: --classes %q, want auto, 1, 2 or 3", c.String("classes"))
	}
	o.Classes = i
	switch c.String("classes-by") {
	case "noise":
		o.ByNoise = true
	case "time":
	default:
		return o, false, command.Usagef("hosts: --classes-by %q, want time or noise", c.String("classes-by"))
	}
	switch c.String("per") {
	case "cpu":
		perCPU = true
	case "host":
	default:
		return o, false, command.Usagef("hosts: --per %q, want host or cpu", c.String("per"))
	}
	if s := c.String("noise-shape"); s != "" && s != hosts.Normal && s != hosts.HalfNormal {
		return o, false, command.Usagef("hosts: --noise-shape %q, want half-normal or normal", s)
	}
	coefficients := len(c.StringSlice("coefficient")) > 0
	switch {
	case !coefficients && len(c.StringSlice("noise")) > 0:
		return o, false, command.Usagef("hosts: --noise needs a --coefficient of the same kernel")
	case !coefficients && c.IsSet("class-column"):
		return o, false, command.Usagef("hosts: --class-column needs --coefficient: the classes of timings are learned")
	}
	return o, perCPU, nil
}

// readSample reads coefficients, or timings and fits them, one fit for each host and
// day.
func readSample(c *cli.Context, perCPU bool) (*hosts.Sample, error) {
	shape := c.String("noise-shape")
	if len(c.StringSlice("coefficient")) > 0 {
		if shape == "" {
			shape = hosts.HalfNormal
		}
		return readCoefficients(c, perCPU, shape)
	}
	s, err := fitSettingsOf(c)
	if err != nil {
		return nil, err
	}
	s.read.Days, s.fit.For = true, calibrate.ForHost
	if perCPU {
		s.fit.For = calibrate.ForCPU
	}
	timings, err := readTimings(c, s.read)
	if err != nil {
		return nil, err
	}
	if err := s.checkChoice(c, timings, "model", "criterion", "no-constant"); err != nil {
		return nil, err
	}
	fits, err := calibrate.FitKernels(timings, s.fit)
	if err != nil {
		return nil, err
	}
	sample, err := hosts.FromFits(fits, perCPU)
	if err != nil {
		return nil, warning.With(err, fits.Warnings)
	}
	if shape != "" {
		sample.Shape = shape
	}
	return sample, nil
}

func readCoefficients(c *cli.Context, perCPU bool, shape string) (*hosts.Sample, error) {
	o := hosts.ReadOptions{Class: strings.ToLower(c.String("class-column"))}
	var variables []hosts.Variable
	for _, flag := range []string{"coefficient", "noise"} {
		for _, text := range c.StringSlice(flag) {
			column, what, _ := strings.Cut(text, "=")
			kernel, term, ok := strings.Cut(what, ":")
			if !ok || column == "" {
				return nil, command.Usagef("hosts: --%s %q, want COLUMN=KERNEL:TERM, as mnk=dgemm:M*N*K", flag, text)
			}
			if column = strings.ToLower(column); slices.Contains(o.Columns, column) {
				return nil, command.Usagef("hosts: --%s %q: column %s has another meaning already", flag, text, column)
			}
			o.Columns = append(o.Columns, column)
			variables = append(variables, hosts.Variable{Kernel: kernel, Term: term, Noise: flag == "noise"})
		}
	}
	sample, err := hosts.NewSample(variables, perCPU, shape)
	if err != nil {
		return nil, command.Usagef("hosts: %w", err)
	}
	if o.Where, err = conditions(c); err != nil {
		return nil, err
	}
	read := func(t *table.Reader) error { return sample.Read(t, o) }
	if err := eachTable(c, func(path string) error { return readTable(c, path, read) }); err != nil {
		return nil, err
	}
	return sample, checkRows(c, int64(len(sample.Records)))
}
