package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/calibrate"
	"reprise/calibrate/runs"
	"reprise/calibrate/table"
	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/trace/warning"
)

func kernelsCommand() *cli.Command {
	return &cli.Command{
		Name:      "kernels",
		Usage:     "fit models of kernels to timings of them",
		UsageText: "calibrate kernels [options] [-o FILE] CSV...|-",
		Description: "Columns: function (or kernel), side, uplo, trans, m, n, k, seconds (or duration, time), host (or node), cpu, date.\n" +
			"Times are in seconds. Prints a report with a line for each kernel; -o writes the kernel file for replay --kernels:\n\n" +
			"    calibrate kernels --for run.trace.zst -o kernels.yaml kernels.csv\n" +
			"    calibrate kernels --statistic mean --per cpu -o nodes.yaml timings.csv",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"},
				Usage: "write the kernel file (YAML) to `FILE`; -: to standard output, without a report"},
			&cli.StringSliceFlag{Name: "for",
				Usage: "weigh sizes by the calls of the run in the `TRACE`, and say what part of its time each kernel takes; may be repeated"},
			&cli.StringFlag{Name: "statistic", Value: string(calibrate.Median),
				Usage: "what stands for the timings of a size, `median|min|mean`; mean fits --model by least squares in seconds, as published calibrations do"},
			&cli.IntFlag{Name: "max-pieces", Value: calibrate.DefaultLearnOptions().MaxPieces,
				Usage: "`NUMBER` of pieces, between thresholds, of a kernel's model at most"},
			&cli.StringFlag{Name: "per", Value: "all",
				Usage: "one model for `all|host|cpu`: for all hosts, for each host, or for each CPU of each host"},
		}, fitFlags(), []cli.Flag{
			&cli.StringFlag{Name: "host-name", Value: "{}",
				Usage: "`NAME` of a host on the platform, {} being the one in the table, as dahu-{}"},
			&cli.StringFlag{Name: "empty", Value: "free",
				Usage: "calls with a dimension of zero are `free|charged` the constant"},
			&cli.StringFlag{Name: "noise", Value: calibrate.NoNoise,
				Usage: "noise in the kernel file: `none|normal|half-normal|auto`, auto by the skewness of the timings"},
			&cli.StringFlag{Name: "base", Usage: "kernel `FILE`, or the name of a built-in set, with the models of all other kernels, to which those fitted are added"},
			command.TextFlag{StringFlag: &cli.StringFlag{Name: "source",
				Usage: "`TEXT` about the measurement for the kernel file"}},
			&cli.StringFlag{Name: "plots", Usage: "write plots of data, fit and residuals, one for each kernel and host, into `DIR`"},
			&cli.StringFlag{Name: "plot-format", Value: "svg", Usage: "`svg|png`"},
			&cli.BoolFlag{Name: "json", Usage: "print the report as JSON", DisableDefaultText: true},
			quietFlag(),
		}),
		Action: runKernels,
	}
}

// fitFlags say how timings of kernels are read and fitted.
func fitFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "model", Value: calibrate.Auto,
			Usage: "`auto|M-0|M-1|M-2`: a constant, one product and a constant, all products, or the best of them by --criterion"},
		&cli.StringFlag{Name: "criterion", Value: "bic", Usage: "choose among the models by `bic|aic`"},
		&cli.StringSliceFlag{Name: "terms",
			Usage: "`FUNCTION=TERM,TERM,...`: the terms of its model instead of --model, as dtrsm=M*N^2,1; may be repeated"},
		&cli.StringSliceFlag{Name: "product",
			Usage: "`FUNCTION=TERM`: the product of its M-1, as dtrsm=M*N^2 (default: of all dimensions); may be repeated"},
		&cli.BoolFlag{Name: "no-constant", Usage: "leave the constant out of M-1 and M-2", DisableDefaultText: true},
		&cli.BoolFlag{Name: "relative", Usage: "minimise relative residuals instead of those in seconds",
			DisableDefaultText: true},
		&cli.StringFlag{Name: "function", Usage: "`NAME` of the kernel, for tables without a column function"},
		&cli.StringFlag{Name: "dims", Usage: "`NAMES` of the columns with dimensions, as M0,M1,N (default: those of m, n, k that there are)"},
		&cli.StringSliceFlag{Name: "where", Usage: "`COLUMN=VALUE`: use only the rows with this value; may be repeated"},
	}
}

// fitSettings is how the command line says to read and fit timings.
type fitSettings struct {
	read calibrate.ReadOptions
	fit  calibrate.KernelOptions
}

func fitSettingsOf(c *cli.Context) (s fitSettings, err error) {
	s.fit = calibrate.KernelOptions{Model: c.String("model"), Criterion: c.String("criterion"),
		NoOffset: c.Bool("no-constant"), Relative: c.Bool("relative"),
		Terms: map[string][]string{}, Product: map[string]string{}}
	s.read.Function = c.String("function")
	if dims := c.String("dims"); dims != "" {
		s.read.Dims = strings.Split(dims, ",")
	}
	if err := s.assignments(c); err != nil {
		return s, err
	}
	if s.read.Where, err = conditions(c); err != nil {
		return s, err
	}
	if err := errors.Join(s.read.Validate(), s.fit.Validate()); err != nil {
		return s, command.Usagef("%s: %w", c.Command.Name, err)
	}
	if given := firstSet(c, []string{"no-constant", "product"}); given != "" && s.fit.Model == calibrate.Constant {
		return s, command.Usagef("%s: --%s has no effect with --model %s: leave one out", c.Command.Name, given,
			calibrate.Constant)
	}
	return s, nil
}

// kernelSettings is what the command line of calibrate kernels says.
type kernelSettings struct {
	fitSettings
	file  calibrate.FileOptions
	learn calibrate.LearnOptions
	mean  bool // least squares of means, instead of learning
}

func kernelSettingsOf(c *cli.Context) (s kernelSettings, err error) {
	if s.fitSettings, err = fitSettingsOf(c); err != nil {
		return s, err
	}
	s.file = calibrate.FileOptions{Source: c.String("source"), BaseName: c.String("base"), HostName: c.String("host-name"),
		Empty: c.String("empty"), Noise: c.String("noise")}
	per := map[string]calibrate.Grouping{"all": calibrate.ForAll, "host": calibrate.ForHost, "cpu": calibrate.ForCPU}
	var ok bool
	if s.fit.For, ok = per[c.String("per")]; !ok {
		return s, command.Usagef("kernels: --per %q, want all, host or cpu", c.String("per"))
	}
	if f := c.String("plot-format"); f != "svg" && f != "png" {
		return s, command.Usagef("kernels: --plot-format %q, want svg or png", f)
	}
	if s.fit.For == calibrate.ForAll && c.IsSet("host-name") {
		return s, command.Usagef("kernels: --host-name is about models of hosts: it needs --per host or cpu")
	}
	if err := needs(c, "plots", "plot-format"); err != nil {
		return s, err
	}
	if err := s.setLearn(c); err != nil {
		return s, err
	}
	if err := s.file.Validate(); err != nil {
		return s, command.Usagef("kernels: %w", err)
	}
	return s, needs(c, "output", "host-name", "empty", "noise", "base", "source")
}

// setLearn decides between the two ways to fit, each of which has flags of its own.
func (s *kernelSettings) setLearn(c *cli.Context) error {
	s.mean = c.String("statistic") == string(calibrate.Mean)
	ofMean := []string{"model", "criterion", "product", "no-constant", "relative"}
	switch given := firstSet(c, ofMean); {
	case s.mean:
		if given := firstSet(c, []string{"for", "max-pieces"}); given != "" {
			return command.Usagef("kernels: --%s has no effect with --statistic mean: leave one out", given)
		}
		return nil
	case given != "":
		return command.Usagef("kernels: --%s is about --statistic mean, least squares in seconds: give that, too", given)
	}
	s.read.Keep = true
	s.learn = calibrate.LearnOptions{For: s.fit.For, Statistic: calibrate.Statistic(c.String("statistic")),
		MaxPieces: c.Int("max-pieces"), Terms: s.fit.Terms}
	if err := s.learn.Validate(); err != nil {
		return command.Usagef("kernels: %w", err)
	}
	return nil
}

// assignments parses the flags that are NAME=VALUE, of which a function has one at most.
func (s *fitSettings) assignments(c *cli.Context) error {
	given := map[string]string{} // the flag, by function
	for _, flag := range []struct {
		name string
		set  func(name, value string)
	}{
		{"terms", func(name, value string) { s.fit.Terms[name] = strings.Split(value, ",") }},
		{"product", func(name, value string) { s.fit.Product[name] = value }},
	} {
		for _, text := range c.StringSlice(flag.name) {
			name, value, ok := strings.Cut(text, "=")
			if !ok || name == "" {
				return command.Usagef("%s: --%s %q, want FUNCTION=TERM", c.Command.Name, flag.name, text)
			}
			if other, ok := given[name]; ok {
				return command.Usagef("%s: --%s and --%s of %s: want one", c.Command.Name, other, flag.name, name)
			}
			given[name] = flag.name
			flag.set(name, value)
		}
	}
	return nil
}

func runKernels(c *cli.Context) error {
	s, err := kernelSettingsOf(c)
	if err != nil {
		return err
	}
	if err := checkOutputs(c, append(c.StringSlice("for"), c.String("base"))...); err != nil {
		return err
	}
	if s.file.Base, err = readBase(c.String("base")); err != nil {
		return err
	}
	if traces := c.StringSlice("for"); len(traces) > 0 {
		if s.learn.Run, err = runs.Weights(traces); err != nil {
			return err
		}
	}
	timings, err := readTimings(c, s.read)
	if err != nil {
		return err
	}
	report, err := s.fitTo(c, timings)
	if err != nil {
		return err
	}
	if dir := c.String("plots"); dir != "" {
		if err := writePlots(dir, c.String("plot-format"), report.Series()); err != nil {
			return err
		}
	}
	content := func(w io.Writer) error { return report.WriteYAML(w, s.file) }
	if written, err := writeOutputs(c, output{"kernel file", c.String("output"), content, readKernels}); written ||
		err != nil {
		return err
	}
	return printReport(c, report, report.WriteText)
}

// kernelModels is what either way of fitting comes to.
type kernelModels interface {
	WriteText(w io.Writer) error
	WriteYAML(w io.Writer, o calibrate.FileOptions) error
	Series() []calibrate.Series
}

// fitTo fits models to timings, and warns of what is odd about them.
func (s *kernelSettings) fitTo(c *cli.Context, timings *calibrate.Timings) (kernelModels, error) {
	if !s.mean {
		bar := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), 1, "kernels fitted")
		s.learn.Progress = bar.SetOf
		report, err := calibrate.LearnKernels(timings, s.learn)
		bar.Clear()
		if err != nil {
			return nil, err
		}
		if err := report.CheckNoise(s.file.Noise); err != nil {
			return nil, warning.With(err, report.Warnings)
		}
		command.Warn(c, report.Warnings)
		s.describe(report.Names())
		return report, nil
	}
	if err := s.checkChoice(c, timings, "model", "no-constant"); err != nil {
		return nil, err
	}
	report, err := calibrate.FitKernels(timings, s.fit)
	if err != nil {
		return nil, err
	}
	if err := report.CheckNoise(s.file.Noise); err != nil {
		return nil, warning.With(err, report.Warnings)
	}
	command.Warn(c, report.Warnings)
	s.describe(report.Kernels())
	return report, nil
}

func (s *kernelSettings) describe(kernels []string) {
	s.file.Description = fmt.Sprintf("%s fitted by calibrate kernels %s", strings.Join(kernels, ", "), command.Version())
}

// checkChoice refuses flags about the choice of a model if all kernels have theirs from
// --terms.
func (s *fitSettings) checkChoice(c *cli.Context, t *calibrate.Timings, flags ...string) error {
	for _, name := range t.Functions() {
		if s.fit.Terms[name] == nil {
			return nil
		}
	}
	return excludes(c, "terms", flags...)
}

func readTimings(c *cli.Context, o calibrate.ReadOptions) (*calibrate.Timings, error) {
	timings := calibrate.NewTimings()
	read := func(t *table.Reader) error { return timings.Read(t, o) }
	if err := eachTable(c, func(path string) error { return readTable(c, path, read) }); err != nil {
		return nil, err
	}
	return timings, checkRows(c, timings.Rows())
}
