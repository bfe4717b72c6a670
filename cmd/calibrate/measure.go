package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"reprise/calibrate/measure"
	"reprise/calibrate/measure/hpl"
	"reprise/calibrate/measure/network"
	"reprise/calibrate/runs"
	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/regular"
	"reprise/internal/terminal"
	"reprise/internal/textutil"
	"reprise/trace/warning"
)

// measureCommand is calibrate measure, a group of commands that look at the clock; all others of calibrate fit.
func measureCommand() *cli.Command {
	return command.Nest(&cli.Command{
		Name:  "measure",
		Usage: "time kernels and messages on this machine",
		Description: "calibrate machine does both, and fits them. One by one:\n\n" +
			"    calibrate measure kernels --for run.trace.zst -o kernels.csv\n" +
			"    calibrate measure network -o network.csv -- mpirun -np 2",
	}, "measurement", measureKernelsCommand(), measureNetworkCommand(), measureHPLCommand())
}

// measureKernelsCommand is calibrate measure kernels, for a run whose trace is there.
func measureKernelsCommand() *cli.Command {
	// Defaults in the help are those of the library.
	d := measure.DefaultOptions()
	return &cli.Command{
		Name:      "kernels",
		Usage:     "time the kernels that a run calls, at its sizes, for calibrate kernels",
		UsageText: "calibrate measure kernels [options] --for TRACE [-o CSV]",
		Description: "Times every kernel that the run in a trace calls, at sizes drawn from its calls by where its " +
			"time goes: BLAS by a\n" +
			"shared library, HPL's copies and row swaps by loops of the same accesses. All ranks of a host measure at once,\n" +
			"and the first one alone between them, bound to cores, in random order, on random numbers, with the leading\n" +
			"dimension of the run. Writes a table (CSV) that calibrate kernels reads, headed by a description of the machine:\n\n" +
			"    tracegen hpl -N 20000 --NB 128 -P 2 -Q 2 -o run.trace.zst\n" +
			"    calibrate measure kernels --for run.trace.zst -o kernels.csv\n" +
			"    calibrate kernels --for run.trace.zst -o kernels.yaml kernels.csv\n\n" +
			"HPCG's kernels are loops, compiled with the flags of HPCG's own makefiles or --cflags, on a box of the run, " +
			"in the\n" +
			"order of its iterations:\n\n" +
			"    tracegen hpcg --ranks 2 --nx 104 -o hpcg.trace.zst\n" +
			"    calibrate measure kernels --for hpcg.trace.zst --budget 1m -o kernels.csv",
		Flags: []cli.Flag{
			// The run, and the table.
			&cli.StringSliceFlag{Name: "for",
				Usage: "`TRACE` of the run, whose kernels are timed; may be repeated, for runs that count alike"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "-",
				Usage: "write the table to `FILE` and print a report; -: the table to standard output"},
			&cli.DurationFlag{Name: "budget", Value: d.Budget, Usage: "begin no call after this `TIME`, as 60s",
				DefaultText: "10m"},
			// The library, and the part of the machine that a run has of it.
			&cli.StringFlag{Name: "blas", Usage: "`LIBRARY` to time, by path or by name (default: the first found of " +
				"OpenBLAS, MKL, BLIS and what the system has chosen)"},
			&cli.IntFlag{Name: "ranks-per-host", Usage: "`NUMBER` of the run's ranks on a host, which measure at once",
				DefaultText: "all, or as many as there are cores for"},
			&cli.IntFlag{Name: "threads", Value: d.Threads, Usage: "`NUMBER` of threads of each rank, on as many cores"},
			&cli.StringFlag{Name: "cores", Value: "all", Usage: "measure on cores `all|N,N-M,...`, in the order of the ranks"},
			command.Switch("no-pin", "do not bind to cores"),
			// The calls: the place of their operands, and which of them.
			&cli.StringFlag{Name: "operands", Value: string(measure.AsRun),
				Usage: "where operands are, `run|hot|cold|both`: those used just before in caches, all in caches, all in " +
					"memory, or each size hot and cold"},
			&cli.StringFlag{Name: "only", Usage: "time these kernels alone, `NAME,...`"},
			&cli.Int64Flag{Name: "memory", Usage: "operands of one rank take at most this many `MIB`, and no more than " +
				"the run has", DefaultText: "its part of half of what is free"},
			&cli.Uint64Flag{Name: "seed", Value: d.Seed, Usage: "`SEED` of operands and order"},
			// The program that times.
			&cli.StringFlag{Name: "cc", Usage: "C `COMPILER` of the program that times (default: cc, gcc or clang)"},
			&cli.StringFlag{Name: "cflags",
				Usage: "`FLAGS` of the compiler (default: -O3 -fno-tree-vectorize for HPL's copies, -O3 -ffast-math for " +
					"HPCG's loops)"},
			&cli.StringFlag{Name: "host", Usage: "`NAME` of this machine in the table (default: its own)"},
			command.Switch("json", "print the report as JSON"),
			command.Quiet(),
		},
		Action: runMeasureKernels,
	}
}

// runMeasureKernels goes through these stages: flags, the output, the traces; the number of ranks and their memory, by
// the run and by what is free; the plan; the measurement, which users may interrupt; and the table with its report.
func runMeasureKernels(c *cli.Context) (err error) {
	root := os.DirFS("/")
	o := measure.Options{Ranks: max(1, c.Int("ranks-per-host")), Threads: c.Int("threads"), NoPin: c.Bool("no-pin"),
		Memory: measure.DefaultOptions().Memory, Caches: measure.LargestCache(root),
		Budget: c.Duration("budget"), Seed: c.Uint64("seed"),
		BLAS: c.String("blas"), Compiler: c.String("cc"), Flags: strings.Fields(c.String("cflags"))}
	// The options check themselves; messages about values that they never see are made here.
	const most = measure.MaxMemory >> 20
	traces, name := c.StringSlice("for"), c.String("host")
	switch mib := c.Int64("memory"); {
	case c.NArg() > 0:
		return command.Usagef("kernels: want flags only, found %q", c.Args().First())
	case len(traces) == 0:
		return command.Usagef("kernels: want the run to measure for: --for TRACE, which tracegen writes")
	case c.IsSet("ranks-per-host") && c.Int("ranks-per-host") < 1:
		return command.Usagef("kernels: --ranks-per-host %d, want at least 1", c.Int("ranks-per-host"))
	case name != "" && name != measure.HostName(name):
		return command.Usagef("kernels: --host %q, want letters, digits, points, _ and -", name)
	case c.IsSet("memory") && (mib < 1 || mib > most):
		return command.Usagef("kernels: --memory %d MiB, want 1 to %d", mib, most)
	case c.IsSet("memory"):
		o.Memory = mib << 20
	}
	var ok bool
	if o.Operands, ok = measure.ParseOperands(c.String("operands")); !ok {
		return command.Usagef("kernels: --operands %q, want run, hot, cold or both", c.String("operands"))
	}
	if o.Cores, err = measure.ParseCores(c.String("cores")); err != nil {
		return command.Usagef("kernels: --cores %w", err)
	}
	checkUsage(c, o.Validate())
	// A table that cannot be written is an error before anything is measured.
	checkTable(c, append(traces, c.String("blas"))...)

	// The run and the machine decide the number of ranks and their memory, where no flag does.
	var only []string
	if text := c.String("only"); text != "" {
		only = strings.Split(text, ",")
	}
	run := textutil.Must(runs.Read(traces, only))
	// As many ranks measure as the run has on a host, as they share the memory and the caches of a host.
	fit := textutil.Must(o.RanksOf(run.Ranks))
	if !c.IsSet("ranks-per-host") {
		o.Ranks = fit
	}
	free := measure.Available(root)
	if free > 0 && !c.IsSet("memory") {
		o.Memory = min(max(measure.MinMemory, free/2/int64(o.Ranks)), measure.MaxMemory)
	}
	// The plan fails for options that this machine cannot have, and for runs whose kernels cannot be timed; the latter
	// errors are about the traces.
	plan, err := measure.NewPlan(run, o)
	if errors.As(err, new(measure.OptionError)) {
		return command.Usagef("kernels: %w", err)
	} else if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(traces, ", "), err)
	}
	if free > 0 && plan.Bytes > free {
		return fmt.Errorf("operands of %d ranks take %d MiB, more than the %d MiB that are free: fewer --ranks-per-host or "+
			"less --memory", len(plan.Groups), plan.Bytes>>20, free>>20)
	}

	// Warnings about the plan come before a measurement that takes minutes, those about its result after it.
	if name == "" {
		name, _ = os.Hostname() // HostName returns "unknown" of an empty one
	}
	r := measure.Report{Host: measure.HostName(name)}
	if run.Ranks%o.Ranks != 0 {
		r.Warnings = append(r.Warnings, warning.New("%d ranks of the run do not divide among hosts of %d, as many as "+
			"measure at once: say by --ranks-per-host how many its hosts have", run.Ranks, o.Ranks))
	}
	r.Warnings = append(r.Warnings, plan.Warnings...)
	command.Warn(c, r.Warnings)
	before := len(r.Warnings)

	r.Begin, r.Machine, r.Method = time.Now(), measure.Describe(root), toolFacts(c, "kernels")
	// The first interrupt ends the measurement, and the command goes on to write the timings.
	ctx, stop := command.Interruptible(c.Context)
	bar, done := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), plan.Planned(), "calls"), 0
	result, failure := measure.Run(ctx, plan, o, func() {
		done++
		bar.Set(done)
	})
	bar.Clear()
	stop()
	// A failure after the first timing does not lose those that there are.
	if failure != nil && (result == nil || len(result.Timings) == 0) {
		return failure
	}
	r.End = time.Now()
	r.Complete(plan, &o, result, failure)
	return writeMeasurement(c, &r, r.Timings, r.Warnings[before:])
}

// checkTable refuses an --output that cannot be written, or would replace an input.
func checkTable(c *cli.Context, inputs ...string) {
	checkOutputs(c, inputs...)
	if err := atomicfile.Check(c.String("output")); err != nil {
		textutil.Stop(fmt.Errorf("table: %w", err))
	}
}

// toolFacts are the first facts of how a measurement was made.
func toolFacts(c *cli.Context, what string) []measure.Fact {
	args, _ := c.App.Metadata[argsKey].([]string)
	return []measure.Fact{{Name: "tool", Value: "calibrate measure " + what + " " + command.Version()},
		{Name: "command", Value: command.Quoted(args...)}}
}

// measurement is the report of a measurement, of kernels or of messages.
type measurement interface {
	WriteCSV(io.Writer) error
	WriteText(io.Writer) error
	Reached() string
	Incomplete() error
}

// writeMeasurement tells of the warnings, and writes the table of so many timings, then the report. The timings of a
// measurement that was interrupted, or failed, are written too; its error comes behind them.
func writeMeasurement(c *cli.Context, r measurement, timings int, warnings []warning.Warning) error {
	command.Warn(c, warnings)
	if timings == 0 {
		return fmt.Errorf("%s: nothing to write", r.Reached())
	}
	if !writeOutputs(c, output{what: "table", path: c.String("output"), content: r.WriteCSV}) {
		textutil.Check(printReport(c, r, r.WriteText))
	}
	return r.Incomplete()
}

// measureNetworkCommand is calibrate measure network. The launcher of MPI programs stands behind the flags.
func measureNetworkCommand() *cli.Command {
	d := network.DefaultOptions()
	return &cli.Command{
		Name:      "network",
		Usage:     "time messages between MPI ranks, for calibrate network",
		UsageText: "calibrate measure network [options] [-o CSV] -- LAUNCHER [ARGUMENT...]",
		Description: "Compiles a small MPI program, has the launcher start it, and writes a table (CSV) that " +
			"calibrate network reads:\n" +
			"send, isend, recv, ping-pong and exchange of random sizes in random order, polls, and pairs of ranks at the " +
			"same\n" +
			"time. Two ranks on one host give messages within it, on two hosts messages between them, and more give pairs:\n" +
			"\n" +
			"    calibrate measure network -o network.csv -- mpirun -np 2\n" +
			"    calibrate measure network -o network.csv -- mpirun -np 8 --map-by ppr:4:node --bind-to core\n" +
			"    calibrate measure network -o network.csv --between nodes -- srun -N 2 -n 8",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "-",
				Usage: "write the table to `FILE` and print a report; -: the table to standard output"},
			// The MPI, and the messages that are timed.
			&cli.StringFlag{Name: "mpicc", Value: d.Compiler,
				Usage: "`COMPILER` of MPI programs, of the MPI that the launcher is of"},
			&cli.StringFlag{Name: "between", Value: string(d.Between),
				Usage: "time messages within a host (cores), between two (nodes), both, or what the places of the ranks " +
					"allow: `cores|nodes|both|auto`"},
			&cli.DurationFlag{Name: "budget", Value: d.Budget, Usage: "time for this `TIME` at most, as 5m"},
			// How many timings there are, and of which sizes.
			&cli.IntFlag{Name: "sizes", Value: d.Sizes, Usage: "`NUMBER` of sizes, uniform in their logarithm"},
			&cli.Int64Flag{Name: "max", Value: d.MaxBytes, Usage: "largest size in `BYTES`"},
			&cli.IntFlag{Name: "reps", Value: d.Reps,
				Usage: "`NUMBER` of timings of each operation and size, spread over the whole time"},
			&cli.Uint64Flag{Name: "seed", Value: d.Seed, Usage: "`SEED` of sizes and order"},
			&cli.StringFlag{Name: "dir", Value: d.Dir, Usage: "`DIR` that all hosts see, for the program while it runs"},
			command.Switch("json", "print the report as JSON"),
			command.Quiet(),
		},
		Action: runMeasureNetwork,
	}
}

// runMeasureNetwork has the launcher start the ranks that time messages, and writes their table with its report.
func runMeasureNetwork(c *cli.Context) error {
	o := network.Options{Launcher: c.Args().Slice(), Compiler: c.String("mpicc"), Dir: c.String("dir"),
		Sizes: c.Int("sizes"), MaxBytes: c.Int64("max"), Reps: c.Int("reps"), Budget: c.Duration("budget"),
		Seed: c.Uint64("seed"), Between: network.Between(c.String("between"))}
	checkUsage(c, o.Validate())
	checkTable(c)
	// The machine of the report is the one that this command runs on, which need not be one of the ranks'.
	var r network.Report
	r.Begin, r.Machine, r.Method = time.Now(), measure.Describe(os.DirFS("/")), toolFacts(c, "network")

	// A bar of the budget on a terminal; without one nobody needs progress.
	ctx, stop := command.Interruptible(c.Context)
	budget := max(int(o.Budget.Seconds()), 1)
	bar := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), budget, "seconds of the budget")
	// The ranks print nothing while they time, so that time itself is the only progress that can be shown.
	var progress func(time.Duration)
	if bar != nil {
		progress = func(since time.Duration) { bar.Set(min(int(since.Seconds()), budget)) }
	}
	result, failure := network.Run(ctx, o, progress)
	bar.Clear()
	stop()
	if failure != nil && (result == nil || len(result.Timings) == 0) {
		return failure
	}
	r.End = time.Now()
	r.Complete(&o, result, failure)
	return writeMeasurement(c, &r, r.Timings, r.Warnings)
}

// measureHPLCommand is calibrate measure hpl, which writes the files that an HPL of the user is linked with. That HPL
// does the measuring.
func measureHPLCommand() *cli.Command {
	return &cli.Command{
		Name:      "hpl",
		Usage:     "time the kernels of your own HPL while it runs, for calibrate kernels",
		UsageText: "calibrate measure hpl [-o DIR]",
		Description: "Writes DIR/hpl-kernels.c and DIR/hpl-kernels.flags. Linked into an HPL that you build, they " +
			"time its kernels where\n" +
			"they are called, long calls all and short ones by samples, for less than 2 % of the time; at the end each rank\n" +
			"writes a table (CSV) that calibrate kernels reads. With DIR = timing:\n\n" +
			"    calibrate measure hpl -o timing\n" +
			"    cc -O2 -c timing/hpl-kernels.c -o timing/hpl-kernels.o\n" +
			"    # in HPL's Make.<arch>: LINKFLAGS = $(CCFLAGS) /path/to/timing/hpl-kernels.o " +
			"@/path/to/timing/hpl-kernels.flags\n" +
			"    REPRISE_KERNELS=timing/run mpirun -np 4 ./xhpl    # writes timing/run-0.csv to timing/run-3.csv\n" +
			"    calibrate kernels --for run.trace.zst -o kernels.yaml timing/run-*.csv\n\n" +
			"Without REPRISE_KERNELS the tables are hpl-kernels-RANK.csv in the directory of the run. dlocmax and " +
			"dlocswp are not\n" +
			"timed: their sizes are in structures of HPL's own. Their models come from --base or measure kernels.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: ".",
				Usage: "write both files into `DIR`, which is made if it is missing"},
			command.Switch("json", "print the paths as JSON"),
		},
		Action: runMeasureHPL,
	}
}

// mostSource bounds a file of calibrate measure hpl that is there already, in bytes.
const mostSource = 64 << 20

// runMeasureHPL writes the C file and the flags of its linker, and tells what to do with them.
func runMeasureHPL(c *cli.Context) error {
	if c.NArg() > 0 {
		return command.Usagef("hpl: want flags only, found %q", c.Args().First())
	}
	// An empty name would silently be the current directory.
	dir := c.String("output")
	if dir == "" {
		return command.Usagef("hpl: --output needs a directory")
	}
	textutil.Check(os.MkdirAll(dir, 0o777))
	// Both files belong to one version of Reprise: they are written together, or neither is.
	files := []struct {
		path    string
		content []byte
	}{{filepath.Join(dir, "hpl-kernels.c"), hpl.Source()}, {filepath.Join(dir, "hpl-kernels.flags"), hpl.Flags()}}
	for _, f := range files {
		// A file with another content is not overwritten: somebody may have changed it.
		old, err := regular.Read(f.path, mostSource)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case !bytes.Equal(old, f.content):
			return fmt.Errorf("%s has another content: it is not overwritten; remove it, or give another directory by --output",
				f.path)
		}
	}
	for _, f := range files {
		textutil.Check(atomicfile.Write(f.path, atomicfile.Bytes(f.content)))
	}
	// Paths are quoted where users copy them into a shell.
	source, flags, object := files[0].path, files[1].path, filepath.Join(dir, "hpl-kernels.o")
	report := map[string]any{"source": source, "flags": flags, "functions": hpl.Functions()}
	return printReport(c, report, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s and %s are written. Next:\n"+
			"    cc -O2 -c %s -o %s\n"+
			"    link HPL with %s %s, as in LINKFLAGS of its Make.<arch>\n"+
			"    run it: each rank writes hpl-kernels-RANK.csv, for calibrate kernels\n",
			source, flags, command.Quoted(source), command.Quoted(object), command.Quoted(object), command.Quoted("@"+flags))
		return err
	})
}
