package main

import (
	"bytes"
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
	"reprise/internal/regular"
	"reprise/internal/terminal"
	"reprise/internal/textutil"
	"reprise/internal/yamlfile"
	"reprise/kernels"
	"reprise/trace/warning"
)

// kernelsCommand is calibrate kernels, of docs/calibrate.md: tables of timed kernels become a kernel file.
func kernelsCommand() *cli.Command {
	return &cli.Command{
		Name:      "kernels",
		Usage:     "fit kernel models to timings",
		UsageText: "calibrate kernels [options] [-o FILE] CSV...|-",
		Description: "Columns: function (or kernel), side, uplo, trans, m, n, k, seconds (or duration, time), host " +
			"(or node), cpu, date.\n" +
			"Times are in seconds. Prints a report with a line for each kernel; -o writes the kernel file for replay " +
			"--kernels:\n\n" +
			"    calibrate kernels --for run.trace.zst -o kernels.yaml kernels.csv\n" +
			"    calibrate kernels --statistic mean --per cpu -o nodes.yaml timings.csv",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"},
				Usage: "write the kernel file (YAML) to `FILE`; -: to standard output, without a report"},
			// The fit: weights of sizes, their statistic, pieces, and which hosts have models of their own.
			&cli.StringSliceFlag{Name: "for",
				Usage: "weigh sizes by the calls of the run in the `TRACE`, and say what part of its time each kernel " +
					"takes; may be repeated"},
			&cli.StringFlag{Name: "statistic", Value: string(calibrate.Median),
				Usage: "statistic of the timings of a size, `median|min|mean`; mean fits --model by least squares in " +
					"seconds, as published calibrations do"},
			&cli.IntFlag{Name: "max-pieces", Value: calibrate.DefaultLearnOptions().MaxPieces,
				Usage: "largest `NUMBER` of pieces, between thresholds, of a kernel's model"},
			&cli.StringFlag{Name: "per", Value: "all",
				Usage: "one model for `all|host|cpu`: for all hosts, for each host, or for each CPU of each host"},
		}, fitFlags(), []cli.Flag{
			// The kernel file, which exists with --output only.
			&cli.StringFlag{Name: "host-name", Value: "{}",
				Usage: "`NAME` of a host on the platform, {} being the one in the table, as dahu-{}"},
			&cli.StringFlag{Name: "empty", Value: "free",
				Usage: "calls with a dimension of zero are `free|charged` the constant"},
			&cli.StringFlag{Name: "noise", Value: calibrate.NoNoise,
				Usage: "noise in the kernel file: `none|normal|half-normal|auto`, auto by the skewness of the timings"},
			&cli.StringFlag{Name: "base", Usage: "kernel `FILE`, or the name of a built-in set, with the models of all " +
				"other kernels, to which those fitted are added"},
			command.TextFlag{StringFlag: &cli.StringFlag{Name: "source",
				Usage: "`TEXT` about the measurement for the kernel file"}},
			// Other results.
			&cli.StringFlag{Name: "plots", Usage: "write plots of data, fit and residuals, one for each kernel and host, " +
				"into `DIR`"},
			&cli.StringFlag{Name: "plot-format", Value: "svg", Usage: "`svg|png`"},
			command.Switch("json", "print the report as JSON"),
			command.Quiet(),
		}),
		Action: runKernels,
	}
}

// fitFlags are the flags that say how timings of kernels are read and fitted.
func fitFlags() []cli.Flag {
	return []cli.Flag{
		// The models by least squares, which --statistic mean fits.
		&cli.StringFlag{Name: "model", Value: calibrate.Auto,
			Usage: "`auto|M-0|M-1|M-2`: a constant, one product and a constant, all products, or the best of them by " +
				"--criterion"},
		&cli.StringFlag{Name: "criterion", Value: "bic", Usage: "choose among the models by `bic|aic`"},
		&cli.StringSliceFlag{Name: "terms",
			Usage: "`FUNCTION=TERM,TERM,...`: the terms of its model instead of --model, as dtrsm=M*N^2,1; may be repeated"},
		&cli.StringSliceFlag{Name: "product",
			Usage: "`FUNCTION=TERM`: the product of its M-1, as dtrsm=M*N^2 (default: of all dimensions); may be repeated"},
		command.Switch("no-constant", "leave the constant out of M-1 and M-2"),
		command.Switch("relative", "minimise relative residuals instead of those in seconds"),
		// The table: names of its columns, and the rows that count.
		&cli.StringFlag{Name: "function", Usage: "`NAME` of the kernel, for tables without a column function"},
		&cli.StringFlag{Name: "dims", Usage: "`NAMES` of the columns with dimensions, as M0,M1,N (default: those of " +
			"m, n, k that there are)"},
		&cli.StringSliceFlag{Name: "where", Usage: "`COLUMN=VALUE`: use only the rows with this value; may be repeated"},
	}
}

// fitOptions returns the options of the fit flags, which calibrate kernels and calibrate hosts share: how tables of
// timings are read, and how they are fitted.
func fitOptions(c *cli.Context) (read calibrate.ReadOptions, fit calibrate.KernelOptions) {
	fit = calibrate.KernelOptions{Model: c.String("model"), Criterion: c.String("criterion"),
		NoOffset: c.Bool("no-constant"), Relative: c.Bool("relative"),
		Terms: map[string][]string{}, Product: map[string]string{}}
	read.Function = c.String("function")
	if dims := c.String("dims"); dims != "" {
		read.Dims = strings.Split(dims, ",")
	}

	// A function has terms or a product, once.
	given := map[string]string{} // the flag, by function
	for _, flag := range []string{"terms", "product"} {
		for _, text := range c.StringSlice(flag) {
			name, value, ok := strings.Cut(text, "=")
			if !ok || name == "" {
				command.Refuse(c, "--%s %q, want FUNCTION=TERM", flag, text)
			}
			if other, ok := given[name]; ok {
				command.Refuse(c, "--%s and --%s of %s: want one", other, flag, name)
			}
			if given[name] = flag; flag == "terms" {
				fit.Terms[name] = strings.Split(value, ",")
			} else {
				fit.Product[name] = value
			}
		}
	}
	// Options check themselves; both kinds report all that is wrong at once.
	read.Where = conditions(c)
	checkUsage(c, errors.Join(read.Validate(), fit.Validate()))
	if given := firstSet(c, []string{"no-constant", "product"}); given != "" && fit.Model == calibrate.Constant {
		command.Refuse(c, "--%s has no effect with --model %s: leave one out", given, calibrate.Constant)
	}
	return read, fit
}

// readTimings reads the tables of the arguments. It refuses the flags of choice, which are about the choice of a model,
// if all kernels have theirs from --terms.
func readTimings(c *cli.Context, o calibrate.ReadOptions, terms map[string][]string,
	choice ...string) *calibrate.Timings {
	timings := calibrate.NewTimings()
	readTables(c, timings.Rows, func(arg string) (string, func(*table.Reader) error) {
		return arg, func(t *table.Reader) error { return timings.Read(t, o) }
	})
	if !slices.ContainsFunc(timings.Functions(), func(f string) bool { return terms[f] == nil }) {
		excludes(c, "terms", choice...)
	}
	return timings
}

// kernelModels are the models of either way of fitting.
// The command writes either in the same way: as text, as a kernel file and as plots.
type kernelModels interface {
	Names() []string // of the kernels that have a model
	CheckNoise(noise string) error
	Warned() []warning.Warning
	WriteText(w io.Writer) error
	WriteYAML(w io.Writer, o calibrate.FileOptions) error
	Series() []calibrate.Series
}

// runKernels goes through these stages: the options of the fit and of the kernel file, which check themselves; outputs
// that would replace an input; the base, the traces that weigh sizes, and the tables; the fit, one of two; the plots,
// the kernel file, and the report if the file did not go to the standard output.
func runKernels(c *cli.Context) (err error) {
	read, fit := fitOptions(c)
	per := map[string]calibrate.Grouping{"all": calibrate.ForAll, "host": calibrate.ForHost, "cpu": calibrate.ForCPU}
	fit.For = per[command.Choice(c, "per", "all", "host", "cpu")]
	if fit.For == calibrate.ForAll && c.IsSet("host-name") {
		return command.Usagef("kernels: --host-name is about models of hosts: it needs --per host or cpu")
	}
	checkPlotFormat(c)

	// There are two ways to fit, each of which has flags of its own: to learn models of medians, and least squares of
	// means. Learning needs each timing by itself, least squares only the sums of each size.
	mean := c.String("statistic") == string(calibrate.Mean)
	learn := calibrate.LearnOptions{For: fit.For, Statistic: calibrate.Statistic(c.String("statistic")),
		MaxPieces: c.Int("max-pieces"), Terms: fit.Terms}
	var choice []string // flags that only least squares have
	if mean {
		choice = []string{"model", "no-constant"}
		if given := firstSet(c, []string{"for", "max-pieces"}); given != "" {
			return command.Usagef("kernels: --%s has no effect with --statistic mean: leave one out", given)
		}
	} else {
		ofMean := []string{"model", "criterion", "product", "no-constant", "relative"}
		if given := firstSet(c, ofMean); given != "" {
			return command.Usagef("kernels: --%s is about --statistic mean, least squares in seconds: give that, too", given)
		}
		read.Keep = true
		checkUsage(c, learn.Validate())
	}

	// The kernel file. Its base is read when all flags are known to be right.
	file := calibrate.FileOptions{Source: c.String("source"), BaseName: c.String("base"), HostName: c.String("host-name"),
		Empty: c.String("empty"), Noise: c.String("noise")}
	checkUsage(c, file.Validate())
	needs(c, "output", "host-name", "empty", "noise", "base", "source")
	checkOutputs(c, append(c.StringSlice("for"), c.String("base"))...)
	file.Base = readBase(c.String("base"))
	if traces := c.StringSlice("for"); len(traces) > 0 {
		learn.Run = textutil.Must(runs.Weights(traces))
	}

	timings := readTimings(c, read, fit.Terms, choice...)
	var report kernelModels
	if mean {
		report, err = calibrate.FitKernels(timings, fit)
	} else {
		bar := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), 1, "kernels fitted")
		learn.Progress = bar.SetOf
		report, err = calibrate.LearnKernels(timings, learn)
		bar.Clear()
	}
	textutil.Check(err)
	// A kernel file with noise needs repeated timings, which is known after the fit.
	textutil.Check(report.CheckNoise(file.Noise))
	command.Warn(c, report.Warned())
	file.Description = fmt.Sprintf("%s fitted by calibrate kernels %s", strings.Join(report.Names(), ", "),
		command.Version())
	writePlots(c, report.Series())
	// A kernel file on standard output takes the place of the report.
	content := func(w io.Writer) error { return report.WriteYAML(w, file) }
	if writeOutputs(c, output{"kernel file", c.String("output"), content, readKernels}) {
		return nil
	}
	return printReport(c, report, report.WriteText)
}

// readBase returns the text of a kernel file or of a built-in set, nil without one.
func readBase(name string) (text []byte) {
	if name == "" {
		return nil
	}
	var err error
	// The text is kept as it is, since comments of the base are taken over with its models.
	if regular.IsFile(name) { // it comes before a set of its name
		text, err = regular.Load(name, func(f io.Reader, _ string) ([]byte, error) {
			return io.ReadAll(io.LimitReader(f, yamlfile.MaxBytes+1)) // a byte more than the limit lets the parser refuse it
		})
	} else {
		text, err = kernels.BuiltinText(name)
		err = regular.Missing(name, err)
	}
	if err == nil {
		_, err = kernels.Parse(bytes.NewReader(text), name)
	}
	if err != nil {
		textutil.Stop(fmt.Errorf("base: %w", err))
	}
	if err := calibrate.CheckBase(text); err != nil {
		textutil.Stop(fmt.Errorf("%s: %w", name, err))
	}
	return text
}
