package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"reprise/calibrate/measure"
	"reprise/calibrate/measure/hpl"
	"reprise/calibrate/runs"
	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/regular"
	"reprise/internal/terminal"
	"reprise/trace/warning"
)

func measureKernelsCommand() *cli.Command {
	d := measure.DefaultOptions()
	return &cli.Command{
		Name:      "kernels",
		Usage:     "time the kernels that a run calls, at its sizes, for calibrate kernels",
		UsageText: "calibrate measure kernels [options] --for TRACE [-o CSV]",
		Description: "Times every kernel that the run in a trace calls, at sizes drawn from its calls by where its time goes: BLAS by a\n" +
			"shared library, HPL's copies and row swaps by loops of the same accesses. All ranks of a host measure at once,\n" +
			"bound to cores, in random order, on random numbers, with the leading dimension of the run. Writes a table (CSV)\n" +
			"that calibrate kernels reads, headed by a description of the machine:\n\n" +
			"    tracegen hpl -N 20000 --NB 128 -P 2 -Q 2 -o run.trace.zst\n" +
			"    calibrate measure kernels --for run.trace.zst -o kernels.csv\n" +
			"    calibrate kernels --for run.trace.zst -o kernels.yaml kernels.csv\n\n" +
			"HPCG's kernels are loops, compiled with the flags of HPCG's own makefiles or --cflags, on a box of the run, in the\n" +
			"order of its iterations:\n\n" +
			"    tracegen hpcg --ranks 2 --nx 104 -o hpcg.trace.zst\n" +
			"    calibrate measure kernels --for hpcg.trace.zst --budget 1m -o kernels.csv",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "for",
				Usage: "`TRACE` of the run, whose kernels are timed; may be repeated, for runs that count alike"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "-",
				Usage: "write the table to `FILE` and print a report; -: the table to standard output"},
			&cli.DurationFlag{Name: "budget", Value: d.Budget, Usage: "begin no call after this `TIME`, as 60s",
				DefaultText: "10m"},
			&cli.StringFlag{Name: "blas", Usage: "`LIBRARY` to time, by path or by name (default: the first found of OpenBLAS, MKL, BLIS and what the system has chosen)"},
			&cli.IntFlag{Name: "ranks-per-host", Usage: "`NUMBER` of the run's ranks on a host, which measure at once",
				DefaultText: "all, or as many as there are cores for"},
			&cli.IntFlag{Name: "threads", Value: d.Threads, Usage: "`NUMBER` of threads of each rank, on as many cores"},
			&cli.StringFlag{Name: "cores", Value: "all", Usage: "measure on cores `all|N,N-M,...`, in the order of the ranks"},
			&cli.BoolFlag{Name: "no-pin", Usage: "do not bind to cores", DisableDefaultText: true},
			&cli.StringFlag{Name: "operands", Value: string(measure.AsRun),
				Usage: "where operands are, `run|hot|cold|both`: those used just before in caches, all in caches, all in memory, or each size hot and cold"},
			&cli.StringFlag{Name: "only", Usage: "time these kernels alone, `NAME,...`"},
			&cli.Int64Flag{Name: "memory", Usage: "operands of one rank take at most this many `MIB`, and no more than the run has", DefaultText: "its part of half of what is free"},
			&cli.Uint64Flag{Name: "seed", Value: d.Seed, Usage: "`SEED` of operands and order"},
			&cli.StringFlag{Name: "cc", Usage: "C `COMPILER` of the program that times (default: cc, gcc or clang)"},
			&cli.StringFlag{Name: "cflags",
				Usage: "`FLAGS` of the compiler (default: -O3 -fno-tree-vectorize for HPL's copies, -O3 -ffast-math for HPCG's loops)"},
			&cli.StringFlag{Name: "host", Usage: "`NAME` of this machine in the table (default: its own)"},
			&cli.BoolFlag{Name: "json", Usage: "print the report as JSON", DisableDefaultText: true},
			quietFlag(),
		},
		Action: runMeasureKernels,
	}
}

// measureOptionsOf returns what the flags say, but for the ranks where they are to be found.
func measureOptionsOf(c *cli.Context) (o measure.Options, err error) {
	o = measure.Options{Ranks: max(1, c.Int("ranks-per-host")), Threads: c.Int("threads"), NoPin: c.Bool("no-pin"),
		Budget: c.Duration("budget"),
		Seed:   c.Uint64("seed"), BLAS: c.String("blas"), Compiler: c.String("cc"), Flags: strings.Fields(c.String("cflags")), Caches: measure.LargestCache(os.DirFS("/"))}
	const most = measure.MaxMemory >> 20
	switch mib := c.Int64("memory"); {
	case c.NArg() > 0:
		return o, command.Usagef("kernels: want flags only, found %q", c.Args().First())
	case len(c.StringSlice("for")) == 0:
		return o, command.Usagef("kernels: want the run to measure for: --for TRACE, which tracegen writes")
	case c.IsSet("ranks-per-host") && c.Int("ranks-per-host") < 1:
		return o, command.Usagef("kernels: --ranks-per-host %d, want at least 1", c.Int("ranks-per-host"))
	case c.String("host") != "" && c.String("host") != measure.HostName(c.String("host")):
		return o, command.Usagef("kernels: --host %q, want letters, digits, points, _ and -", c.String("host"))
	case c.IsSet("memory") && (mib < 1 || mib > most):
		return o, command.Usagef("kernels: --memory %d MiB, want 1 to %d", mib, most)
	}
	o.Memory = measure.DefaultOptions().Memory
	if c.IsSet("memory") {
		o.Memory = c.Int64("memory") << 20
	}
	switch text := c.String("operands"); text {
	case "both":
		o.Operands = []measure.Operands{measure.Hot, measure.Cold}
	case string(measure.AsRun), string(measure.Hot), string(measure.Cold):
		o.Operands = []measure.Operands{measure.Operands(text)}
	default:
		return o, command.Usagef("kernels: --operands %q, want run, hot, cold or both", text)
	}
	if o.Cores, err = coresOf(c.String("cores")); err != nil {
		return o, err
	}
	if err := o.Validate(); err != nil {
		return o, command.Usagef("kernels: %w", err)
	}
	return o, nil
}

// mostCores bounds the numbers of cores.
const mostCores = 1 << 12

// coresOf parses 0,2-5; nil for all.
func coresOf(text string) ([]int, error) {
	if text == "all" {
		return nil, nil
	}
	var list []int
	for field := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(field, "-")
		if !isRange {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err := errors.Join(err1, err2); err != nil || from < 0 || to < from || to >= mostCores {
			return nil, command.Usagef("kernels: --cores %q, want all, or numbers and ranges below %d as 0,2-5", text, mostCores)
		}
		for core := from; core <= to; core++ {
			list = append(list, core)
		}
	}
	return list, nil
}

func runMeasureKernels(c *cli.Context) error {
	o, err := measureOptionsOf(c)
	if err != nil {
		return err
	}
	if err := checkOutputs(c, append(c.StringSlice("for"), c.String("blas"))...); err != nil {
		return err
	}
	if err := atomicfile.Check(c.String("output")); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	name := c.String("host")
	if name == "" {
		name, _ = os.Hostname() // HostName says "unknown" of none
	}
	r := measureReport{Host: measure.HostName(name)}
	plan, err := r.plan(c, &o)
	if err != nil {
		return err
	}
	root := os.DirFS("/")
	if need, has := plan.Bytes(), measure.Available(root); has > 0 && need > has {
		return fmt.Errorf("operands of %d ranks take %d MiB, more than the %d MiB that are free: fewer --ranks-per-host or less --memory", len(plan.Groups), need>>20, has>>20)
	}
	command.Warn(c, r.Warnings)
	before := len(r.Warnings)
	r.Begin, r.Machine = time.Now(), measure.Describe(root)
	ctx, stop := command.Interruptible(c.Context)
	bar, done := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), len(plan.Order)*len(plan.Groups), "calls"), 0
	r.result, r.failure = measure.Run(ctx, plan, o, func() {
		done++
		bar.Set(done)
	})
	bar.Clear()
	stop()
	if r.failure != nil && (r.result == nil || len(r.result.Timings) == 0) {
		return r.failure
	}
	r.End = time.Now()
	r.set(c, plan, o)
	command.Warn(c, r.Warnings[before:])
	return r.write(c)
}

// plan reads the run and decides what to measure of it.
func (r *measureReport) plan(c *cli.Context, o *measure.Options) (*measure.Plan, error) {
	traces := c.StringSlice("for")
	var only []string // nil: all
	if text := c.String("only"); text != "" {
		only = strings.Split(text, ",")
	}
	run, err := runs.Read(traces, only)
	if err != nil {
		return nil, err
	}
	fit, err := o.RanksOf(run.Ranks)
	if err != nil {
		return nil, err
	}
	if !c.IsSet("ranks-per-host") {
		o.Ranks = fit
	}
	if free := measure.Available(os.DirFS("/")); free > 0 && !c.IsSet("memory") {
		o.Memory = min(max(measure.MinMemory, free/2/int64(o.Ranks)), measure.MaxMemory)
	}
	plan, err := measure.NewPlan(run.Calls, *o)
	if errors.As(err, new(measure.OptionError)) {
		return nil, command.Usagef("kernels: %w", err)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(traces, ", "), err)
	}
	if run.Ranks%o.Ranks != 0 {
		r.Warnings = append(r.Warnings,
			warning.New("%d ranks of the run do not divide among hosts of %d, as many as measure at once: say by --ranks-per-host how many its hosts have", run.Ranks, o.Ranks))
	}
	r.Warnings = append(r.Warnings, plan.Warnings...)
	return plan, nil
}

// measureReport is what was measured where and how.
type measureReport struct {
	Begin    time.Time         `json:"begin"`
	End      time.Time         `json:"end"`
	Host     string            `json:"host"`
	Machine  []measure.Fact    `json:"machine"`
	Method   []measure.Fact    `json:"method"`
	Planned  int               `json:"planned"`
	Timings  int               `json:"timings"`
	Ended    string            `json:"ended"`
	Quality  measure.Quality   `json:"quality"`
	Kernels  []measure.Summary `json:"kernels"`
	Warnings []warning.Warning `json:"warnings"`

	result  *measure.Result
	failure error // of a process, after the timings that there are
	table   func(w io.Writer, facts []measure.Fact) error
}

// set fills in how it was measured, and what came out.
func (r *measureReport) set(c *cli.Context, plan *measure.Plan, o measure.Options) {
	bound := "bound to cores"
	if o.NoPin {
		bound = "not bound to cores"
	}
	r.Quality, r.Kernels = r.result.Quality(plan, o.Threads), r.result.Summaries(plan)
	r.Warnings = append(r.Warnings, r.result.Warnings(plan, r.Quality)...)
	if r.Warnings == nil {
		r.Warnings = []warning.Warning{}
	}
	args, _ := c.App.Metadata[argsKey].([]string)
	r.Method = []measure.Fact{
		{Name: "tool", Value: "calibrate measure kernels " + command.Version()},
		{Name: "command", Value: command.Quoted(args...)},
		{Name: "seed", Value: strconv.FormatUint(o.Seed, 10)},
		{Name: "compiler", Value: r.result.Compiler},
		{Name: "flags", Value: r.result.Flags},
		{Name: "ranks", Value: fmt.Sprintf("%d at once, threads of each: %d, on cores %s, %s", len(plan.Groups), o.Threads, plan.Cores(), bound)},
		{Name: "operands", Value: c.String("operands") + ", " + plan.Space()},
		{Name: "sizes", Value: fmt.Sprintf("%d of %d kernels, %s", len(plan.Calls), len(plan.Kernels), plan.Repeats())},
		{Name: "quality", Value: r.Quality.String()},
	}
	if r.result.BLAS != "" {
		r.Method = append(r.Method, measure.Fact{Name: "blas", Value: r.result.BLAS})
	}
	r.Planned, r.Timings = r.result.Planned, len(r.result.Timings)
	r.table = func(w io.Writer, facts []measure.Fact) error { return r.result.WriteCSV(w, plan, r.Host, facts) }
	switch {
	case r.failure != nil:
		r.Ended = "failed: " + r.failure.Error()
	case r.result.Interrupted:
		r.Ended = "interrupted"
	case r.result.OverBudget:
		r.Ended = fmt.Sprintf("budget of %v used up", o.Budget)
	default:
		r.Ended = "complete"
	}
}

// write writes the table, then the report.
func (r *measureReport) write(c *cli.Context) error {
	e := measurementEnding{r.Ended, r.Timings, r.Planned, r.result.Interrupted, r.failure}
	facts := slices.Concat([]measure.Fact{
		{Name: "begin", Value: r.Begin.UTC().Format(time.RFC3339)},
		{Name: "end", Value: r.End.UTC().Format(time.RFC3339)},
		{Name: "host", Value: r.Host},
	}, r.Machine, r.Method, []measure.Fact{{Name: "ended", Value: e.String()}})
	for _, w := range r.Warnings {
		facts = append(facts, measure.Fact{Name: "warning", Value: w.String()})
	}
	return e.write(c, func(w io.Writer) error { return r.table(w, facts) }, r, r.writeText)
}

func (r *measureReport) writeText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d timings in %.1f s, %s\n", r.Timings, r.Planned, r.End.Sub(r.Begin).Seconds(), r.Ended)
	for _, f := range slices.Concat(r.Machine, r.Method) {
		if slices.Contains([]string{"cpu", "governor", "blas", "flags", "ranks", "operands", "quality"}, f.Name) {
			fmt.Fprintf(&b, "%s: %s\n", f.Name, f.Value)
		}
	}
	tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tab, "\nkernel\tsizes\ttimings\tlargest\tits median (s)\n")
	for _, s := range r.Kernels {
		fmt.Fprintf(tab, "%s\t%d\t%d\t%s\t%.3e\n", s.Kernel, s.Sizes, s.Timings, s.Largest, s.Seconds)
	}
	_ = tab.Flush() // into memory
	_, err := io.WriteString(w, b.String())
	return err
}

// measurementEnding is how far a measurement, of kernels or of messages, has come.
type measurementEnding struct {
	how              string // complete, interrupted, ...
	timings, planned int
	interrupted      bool
	failure          error // of a process, after the timings that there are
}

func (e *measurementEnding) String() string {
	if e.failure != nil {
		return fmt.Sprintf("failed after %d of %d timings: %v", e.timings, e.planned, e.failure)
	}
	return fmt.Sprintf("%s after %d of %d timings", e.how, e.timings, e.planned)
}

// write writes the table, then the report. Of a measurement that was interrupted, or
// failed, it keeps what there is, and says so.
func (e *measurementEnding) write(c *cli.Context, table func(io.Writer) error, report any,
	text func(io.Writer) error) error {
	if e.timings == 0 {
		return fmt.Errorf("%s: nothing to write", e)
	}
	written, err := writeOutputs(c, output{what: "table", path: c.String("output"), content: table})
	if err == nil && !written {
		err = printReport(c, report, text)
	}
	switch {
	case err != nil:
	case e.failure != nil:
		err = fmt.Errorf("%w; the table has the %d of %d timings before", e.failure, e.timings, e.planned)
	case e.interrupted:
		err = fmt.Errorf("%s, which were written", e)
	}
	return err
}

func measureHPLCommand() *cli.Command {
	return &cli.Command{
		Name:      "hpl",
		Usage:     "time the kernels of your own HPL while it runs, for calibrate kernels",
		UsageText: "calibrate measure hpl [-o DIR]",
		Description: "Writes DIR/hpl-kernels.c and DIR/hpl-kernels.flags. Linked into an HPL that you build, they time its kernels where\n" +
			"they are called, long calls all and short ones by samples, for less than 2 % of the time; at the end each rank\n" +
			"writes a table (CSV) that calibrate kernels reads. With DIR = timing:\n\n" +
			"    calibrate measure hpl -o timing\n" +
			"    cc -O2 -c timing/hpl-kernels.c -o timing/hpl-kernels.o\n" +
			"    # in HPL's Make.<arch>: LINKFLAGS = $(CCFLAGS) /path/to/timing/hpl-kernels.o @/path/to/timing/hpl-kernels.flags\n" +
			"    REPRISE_KERNELS=timing/run mpirun -np 4 ./xhpl    # writes timing/run-0.csv to timing/run-3.csv\n" +
			"    calibrate kernels --for run.trace.zst -o kernels.yaml timing/run-*.csv\n\n" +
			"Without REPRISE_KERNELS the tables are hpl-kernels-RANK.csv in the directory of the run. dlocmax and dlocswp are not\n" +
			"timed: their sizes are in structures of HPL's own. Their models come from --base or measure kernels.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: ".",
				Usage: "write both files into `DIR`, which is made if it is missing"},
			&cli.BoolFlag{Name: "json", Usage: "print the paths as JSON", DisableDefaultText: true},
		},
		Action: runMeasureHPL,
	}
}

func runMeasureHPL(c *cli.Context) error {
	if c.NArg() > 0 {
		return command.Usagef("hpl: want flags only, found %q", c.Args().First())
	}
	dir := c.String("output")
	if dir == "" {
		return command.Usagef("hpl: --output needs a directory")
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	files := []struct {
		path    string
		content []byte
	}{{filepath.Join(dir, "hpl-kernels.c"), hpl.Source()}, {filepath.Join(dir, "hpl-kernels.flags"), hpl.Flags()}}
	for _, f := range files {
		if err := checkUnchanged(f.path, f.content); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := atomicfile.Write(f.path, func(w io.Writer) error {
			_, err := w.Write(f.content)
			return err
		}); err != nil {
			return err
		}
	}
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

// checkUnchanged refuses to overwrite a file that has another content, which somebody may have changed.
func checkUnchanged(path string, content []byte) error {
	old, err := regular.Read(path, maxMachineFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !bytes.Equal(old, content):
		return fmt.Errorf("%s has another content: it is not overwritten; remove it, or give another directory by --output",
			path)
	}
	return nil
}
