package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"reprise/calibrate/measure"
	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/terminal"
)

func measureCommand() *cli.Command {
	return command.Nest(&cli.Command{
		Name:  "measure",
		Usage: "time kernels and messages on this machine",
	}, "measurement", measureDgemmCommand(), measureNetworkCommand(), &cli.Command{
		Name: "worker", Hidden: true, HideHelp: true,
		Usage:  "answer sizes on standard input by seconds of Gonum's dgemm",
		Action: func(c *cli.Context) error { return measure.Serve(c.App.Reader, c.App.Writer, c.Args().First()) },
	})
}

func measureDgemmCommand() *cli.Command {
	d := measure.DefaultOptions()
	return &cli.Command{
		Name:      "dgemm",
		Usage:     "time products of matrices on this machine, for calibrate kernels",
		UsageText: "calibrate measure dgemm [options] [--for TRACE] [-o CSV]",
		Description: "Times C = C - A*B of random sizes in random order, on each core at once, by a BLAS (--blas) or by Gonum's own\n" +
			"dgemm. Writes a table (CSV) that calibrate kernels reads, headed by a description of the machine.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "-", Usage: "write the table to `FILE` and print a report; -: the table to standard output"},
			&cli.StringFlag{Name: "blas", Usage: "`LIBRARY` whose dgemm to time, as /usr/lib/libopenblas.so (default: Gonum's, which is in Go)"},
			&cli.StringFlag{Name: "cc", Usage: "C `COMPILER` of the program that loads it (default: cc, gcc or clang)"},
			&cli.IntFlag{Name: "sizes", Value: d.Sizes, Usage: "`NUMBER` of random sizes: a third with three random dimensions, a third as in HPL's update, a third as in its panels"},
			&cli.Int64Flag{Name: "max", Value: d.MaxDim, Usage: "largest dimension `N` of random sizes"},
			&cli.StringFlag{Name: "nb", Value: numbers(d.BlockSizes), Usage: "block sizes `NB,NB,...` of updates and panels; none: all dimensions at random"},
			&cli.StringSliceFlag{Name: "size", Usage: "time the size `MxNxK` instead of random ones; may be repeated"},
			&cli.StringFlag{Name: "for", Usage: "time sizes of the run in the `TRACE`, --sizes of them at most, instead of random ones: spread over its work and its calls"},
			&cli.IntFlag{Name: "reps", Value: d.Reps, Usage: "`NUMBER` of timings of each size on each core, spread over the whole time"},
			&cli.IntFlag{Name: "warm-up", Value: d.WarmUp, Usage: "`NUMBER` of calls on each core before, not recorded"},
			&cli.Uint64Flag{Name: "seed", Value: d.Seed, Usage: "`SEED` of sizes and order"},
			&cli.StringFlag{Name: "cores", Value: "all", Usage: "measure on cores `all|N,N-M,...`"},
			&cli.IntFlag{Name: "threads", Value: d.Threads, Usage: "`NUMBER` of threads of one dgemm, on as many of the cores"},
			&cli.BoolFlag{Name: "alone", Usage: "one core at a time, instead of all at once as HPL has them", DisableDefaultText: true},
			&cli.BoolFlag{Name: "no-pin", Usage: "do not bind to cores", DisableDefaultText: true},
			&cli.Int64Flag{Name: "memory", Value: d.Memory >> 20, Usage: "matrices of one core take at most this many `MIB`"},
			&cli.DurationFlag{Name: "budget", Usage: "begin no call after this `TIME`, as 60s", DefaultText: "none"},
			&cli.StringFlag{Name: "host", Usage: "`NAME` of this machine in the table (default: its own)"},
			&cli.BoolFlag{Name: "json", Usage: "print the report as JSON", DisableDefaultText: true},
			&cli.BoolFlag{Name: "quiet", Usage: "no progress on stderr", DisableDefaultText: true},
		},
		Action: runMeasure,
	}
}

func numbers(list []int64) string {
	var texts []string
	for _, n := range list {
		texts = append(texts, strconv.FormatInt(n, 10))
	}
	return strings.Join(texts, ",")
}

func measureOptionsOf(c *cli.Context) (o measure.Options, err error) {
	o = measure.Options{Sizes: c.Int("sizes"), MaxDim: c.Int64("max"), Reps: c.Int("reps"), WarmUp: c.Int("warm-up"), Seed: c.Uint64("seed"),
		Threads: c.Int("threads"), Alone: c.Bool("alone"), NoPin: c.Bool("no-pin"), Budget: c.Duration("budget"), BLAS: c.String("blas"), Compiler: c.String("cc")}
	if err := checkMeasureFlags(c); err != nil {
		return o, err
	}
	o.Memory = c.Int64("memory") << 20
	for _, text := range c.StringSlice("size") {
		s, err := measure.ParseSize(text)
		if err != nil {
			return o, command.Usagef("dgemm: --size: %w", err)
		}
		o.Given = append(o.Given, s)
	}
	if path := c.String("for"); path != "" {
		if o.Given, err = runSizes(path, "dgemm", o.Sizes); err != nil {
			return o, err
		}
	}
	if text := c.String("nb"); text != "" && text != "none" {
		for field := range strings.SplitSeq(text, ",") {
			nb, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return o, command.Usagef("dgemm: --nb %q, want numbers as 64,128, or none", text)
			}
			o.BlockSizes = append(o.BlockSizes, nb)
		}
	}
	if o.Cores, err = coresOf(c.String("cores")); err != nil {
		return o, err
	}
	if err := o.Validate(); err != nil {
		return o, command.Usagef("dgemm: %w", adviseMemory(c, err))
	}
	self, err := os.Executable()
	o.Worker = []string{self, "measure", "worker"}
	return o, err
}

// adviseMemory adds to an error about too little memory which flags would help.
func adviseMemory(c *cli.Context, err error) error {
	var m *measure.MemoryError
	if !errors.As(err, &m) {
		return err
	}
	need := (m.Size.Bytes() + 1<<20 - 1) >> 20
	switch {
	case need > measure.MaxMemory>>20:
		return err
	case c.IsSet("size"), c.IsSet("for"):
		return fmt.Errorf("%w: give --memory %d", err, need)
	}
	return fmt.Errorf("--max %d: %w: give --memory %d, or --max %d at most", c.Int64("max"), err, need, m.MaxDim())
}

// checkMeasureFlags refuses values that Options cannot have, and flags without effect.
func checkMeasureFlags(c *cli.Context) error {
	const most = measure.MaxMemory >> 20
	switch mib, budget := c.Int64("memory"), c.Duration("budget"); {
	case c.NArg() > 0:
		return command.Usagef("dgemm: want flags only, found %q", c.Args().First())
	case c.IsSet("budget") && budget <= 0:
		return command.Usagef("dgemm: --budget %v, want more than 0", budget)
	case c.String("host") != "" && c.String("host") != measure.HostName(c.String("host")):
		return command.Usagef("dgemm: --host %q, want letters, digits, points, _ and -", c.String("host"))
	case mib < 1 || mib > most:
		return command.Usagef("dgemm: --memory %d MiB, want 1 to %d", mib, most)
	}
	if c.IsSet("for") && c.Int("sizes") < 1 {
		return command.Usagef("dgemm: --sizes %d, want at least 1", c.Int("sizes"))
	}
	if err := cmp.Or(excludes(c, "size", "sizes", "max", "nb", "for"), excludes(c, "for", "max", "nb")); err != nil {
		return err
	}
	return needs(c, "blas", "cc")
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
			return nil, command.Usagef("dgemm: --cores %q, want all, or numbers and ranges below %d as 0,2-5", text, mostCores)
		}
		for core := from; core <= to; core++ {
			list = append(list, core)
		}
	}
	return list, nil
}

func runMeasure(c *cli.Context) error {
	o, err := measureOptionsOf(c)
	if err != nil {
		return err
	}
	if err := checkOutputs(c, c.String("blas"), c.String("for")); err != nil {
		return err
	}
	plan, err := measure.NewPlan(o)
	if errors.As(err, new(measure.OptionError)) {
		return command.Usagef("dgemm: %w", err)
	} else if err != nil {
		return err
	}
	if err := atomicfile.Check(c.String("output")); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	root := os.DirFS("/")
	if need, has := plan.Bytes(), measure.Available(root); has > 0 && need > has {
		return fmt.Errorf("matrices of %d workers take %d MiB, more than the %d MiB that are free: fewer --cores or a smaller --max", len(plan.Groups), need>>20, has>>20)
	}
	r := measureReport{Begin: time.Now(), Host: hostName(c), Machine: measure.Describe(root)}
	ctx, stop := command.Interruptible(c.Context)
	r.result, r.failure = runPlan(ctx, c, plan, o)
	stop()
	if r.failure != nil && (r.result == nil || len(r.result.Timings) == 0) {
		return r.failure
	}
	r.End = time.Now()
	r.set(c, plan, o)
	return r.write(c)
}

// runPlan measures, with a bar on a terminal.
func runPlan(ctx context.Context, c *cli.Context, plan *measure.Plan, o measure.Options) (*measure.Result, error) {
	bar, done := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), len(plan.Calls), "calls"), 0
	defer bar.Clear()
	return measure.Run(ctx, plan, o, func() {
		done++
		bar.Set(done)
	})
}

func hostName(c *cli.Context) string {
	name := c.String("host")
	if name == "" {
		name, _ = os.Hostname() // HostName says "unknown" of none
	}
	return measure.HostName(name)
}

// measureReport is what was measured where and how.
type measureReport struct {
	Begin   time.Time       `json:"begin"`
	End     time.Time       `json:"end"`
	Host    string          `json:"host"`
	Machine []measure.Fact  `json:"machine"`
	Method  []measure.Fact  `json:"method"`
	Planned int             `json:"planned"`
	Timings int             `json:"timings"`
	Ended   string          `json:"ended"`
	Speeds  []measure.Speed `json:"cpus"`

	result  *measure.Result
	failure error // of a worker, after the timings that there are
}

// set fills in how it was measured, and what came out.
func (r *measureReport) set(c *cli.Context, plan *measure.Plan, o measure.Options) {
	load := "all workers at once"
	if o.Alone {
		load = "one worker at a time"
	}
	bound := "bound to cores"
	if o.NoPin {
		bound = "not bound to cores"
	}
	blas := r.result.About
	if o.BLAS != "" {
		blas += ", " + o.BLAS
	}
	compiler := r.result.Compiler
	if compiler == "" {
		compiler = "none"
	}
	args, _ := c.App.Metadata[argsKey].([]string)
	r.Method = []measure.Fact{
		{Name: "tool", Value: "calibrate measure dgemm " + command.Version()}, {Name: "command", Value: command.Quoted(args...)}, {Name: "seed", Value: strconv.FormatUint(o.Seed, 10)},
		{Name: "dgemm", Value: blas}, {Name: "compiler", Value: compiler},
		{Name: "workers", Value: fmt.Sprintf("%d, threads of each: %d, on cores %s, %s, %s", len(plan.Groups), o.Threads, plan.Cores(), bound, load)},
		{Name: "sizes", Value: fmt.Sprintf("%d, each %d times on each worker, after %d calls to warm up", len(plan.Sizes), o.Reps, o.WarmUp)},
		{Name: "memory for matrices", Value: fmt.Sprintf("%d bytes", plan.Bytes())},
	}
	r.Planned, r.Timings, r.Speeds = r.result.Planned, len(r.result.Timings), r.result.Speeds()
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

// write writes the table, then the report. Of a measurement that was interrupted, or
// failed, it keeps what there is, and says so.
func (r *measureReport) write(c *cli.Context) error {
	ended := fmt.Sprintf("%s after %d of %d timings", r.Ended, r.Timings, r.Planned)
	if r.failure != nil {
		ended = fmt.Sprintf("failed after %d of %d timings: %v", r.Timings, r.Planned, r.failure)
	}
	if r.Timings == 0 {
		return fmt.Errorf("%s: nothing to write", ended)
	}
	facts := slices.Concat([]measure.Fact{
		{Name: "begin", Value: r.Begin.UTC().Format(time.RFC3339)}, {Name: "end", Value: r.End.UTC().Format(time.RFC3339)}, {Name: "host", Value: r.Host},
	}, r.Machine, r.Method, []measure.Fact{{Name: "ended", Value: ended}})
	content := func(w io.Writer) error { return r.result.WriteCSV(w, r.Host, facts) }
	written, err := writeOutputs(c, output{what: "table", path: c.String("output"), content: content})
	if err == nil && !written {
		err = printReport(c, r, r.writeText)
	}
	switch {
	case err != nil:
	case r.failure != nil:
		err = fmt.Errorf("%w; the table has the %d of %d timings before", r.failure, r.Timings, r.Planned)
	case r.result.Interrupted:
		err = fmt.Errorf("%s, which were written", ended)
	}
	return err
}

func (r *measureReport) writeText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d timings in %.1f s, %s\n", r.Timings, r.Planned, r.End.Sub(r.Begin).Seconds(), r.Ended)
	for _, f := range slices.Concat(r.Machine, r.Method) {
		if slices.Contains([]string{"cpu", "governor", "dgemm", "workers"}, f.Name) {
			fmt.Fprintf(&b, "%s: %s\n", f.Name, f.Value)
		}
	}
	tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tab, "  CPU\ttimings\tGflop/s, all\tbest call\t\n")
	for _, s := range r.Speeds {
		fmt.Fprintf(tab, "  %d\t%d\t%.3f\t%.3f\t\n", s.CPU, s.Timings, s.Average/1e9, s.Best/1e9)
	}
	_ = tab.Flush() // into memory
	_, err := io.WriteString(w, b.String())
	return err
}
