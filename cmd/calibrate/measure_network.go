package main

import (
	"cmp"
	"context"
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
	"reprise/calibrate/measure/network"
	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/trace/warning"
)

func measureNetworkCommand() *cli.Command {
	d := network.DefaultOptions()
	return &cli.Command{
		Name:      "network",
		Usage:     "time messages between MPI ranks, for calibrate network",
		UsageText: "calibrate measure network [options] [-o CSV] -- LAUNCHER [ARGUMENT...]",
		Description: "Compiles a small MPI program, has the launcher start it, and writes a table (CSV) that calibrate network reads:\n" +
			"send, isend, recv, ping-pong and exchange of random sizes in random order, polls, and pairs of ranks at the same\n" +
			"time. Two ranks on one host give messages within it, on two hosts messages between them, and more give pairs:\n" +
			"\n" +
			"    calibrate measure network -o network.csv -- mpirun -np 2\n" +
			"    calibrate measure network -o network.csv -- mpirun -np 8 --map-by ppr:4:node --bind-to core\n" +
			"    calibrate measure network -o network.csv --between nodes -- srun -N 2 -n 8",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "-",
				Usage: "write the table to `FILE` and print a report; -: the table to standard output"},
			&cli.StringFlag{Name: "mpicc", Value: d.Compiler,
				Usage: "`COMPILER` of MPI programs, of the MPI that the launcher is of"},
			&cli.StringFlag{Name: "between", Value: string(d.Between),
				Usage: "time messages within a host (cores), between two (nodes), both, or what the places of the ranks allow: `cores|nodes|both|auto`"},
			&cli.DurationFlag{Name: "budget", Value: d.Budget, Usage: "time for this `TIME` at most, as 5m"},
			&cli.IntFlag{Name: "sizes", Value: d.Sizes, Usage: "`NUMBER` of sizes, uniform in their logarithm"},
			&cli.Int64Flag{Name: "max", Value: d.MaxBytes, Usage: "largest size in `BYTES`"},
			&cli.IntFlag{Name: "reps", Value: d.Reps,
				Usage: "`NUMBER` of timings of each operation and size, spread over the whole time"},
			&cli.Uint64Flag{Name: "seed", Value: d.Seed, Usage: "`SEED` of sizes and order"},
			&cli.StringFlag{Name: "dir", Value: d.Dir, Usage: "`DIR` that all hosts see, for the program while it runs"},
			&cli.BoolFlag{Name: "json", Usage: "print the report as JSON", DisableDefaultText: true},
			quietFlag(),
		},
		Action: runMeasureNetwork,
	}
}

func networkMeasurementOf(c *cli.Context) (network.Options, error) {
	o := network.Options{Launcher: c.Args().Slice(), Compiler: c.String("mpicc"), Dir: c.String("dir"),
		Sizes: c.Int("sizes"), MaxBytes: c.Int64("max"),
		Reps: c.Int("reps"), Budget: c.Duration("budget"), Seed: c.Uint64("seed"), Between: network.Between(c.String("between"))}
	if err := o.Validate(); err != nil {
		return o, command.Usagef("network: %w", err)
	}
	return o, nil
}

func runMeasureNetwork(c *cli.Context) error {
	o, err := networkMeasurementOf(c)
	if err != nil {
		return err
	}
	if err := checkOutputs(c); err != nil {
		return err
	}
	if err := atomicfile.Check(c.String("output")); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	r := networkMeasurement{Begin: time.Now(), Machine: measure.Describe(os.DirFS("/"))}
	ctx, stop := command.Interruptible(c.Context)
	r.result, r.failure = timeMessages(ctx, c, o)
	stop()
	if r.failure != nil && (r.result == nil || len(r.result.Timings) == 0) {
		return r.failure
	}
	r.End = time.Now()
	r.set(c, o)
	command.Warn(c, r.Warnings)
	return r.write(c)
}

// timeMessages measures, with a bar of the budget on a terminal.
func timeMessages(ctx context.Context, c *cli.Context, o network.Options) (*network.Result, error) {
	budget := max(int(o.Budget.Seconds()), 1)
	bar := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), budget, "seconds of the budget")
	defer bar.Clear()
	if bar == nil {
		return network.Run(ctx, o, nil)
	}
	return network.Run(ctx, o, func(since time.Duration) { bar.Set(min(int(since.Seconds()), budget)) })
}

// networkMeasurement is what was timed where and how.
type networkMeasurement struct {
	Begin    time.Time         `json:"begin"`
	End      time.Time         `json:"end"`
	Library  string            `json:"mpi"`
	Hosts    string            `json:"hosts"`
	Ranks    []network.Rank    `json:"ranks"`
	Machine  []measure.Fact    `json:"machine"`
	Method   []measure.Fact    `json:"method"`
	Planned  int               `json:"planned"`
	Timings  int               `json:"timings"`
	Ended    string            `json:"ended"`
	Busy     float64           `json:"processor_part"` // of the time that the rank had which had least
	Shortest []shortestTime    `json:"shortest"`
	Warnings []warning.Warning `json:"warnings"`

	result  *network.Result
	failure error // of the ranks, after the timings that there are
}

// shortestTime is the quickest timing of the smallest and the largest size of an operation.
type shortestTime struct {
	Operation string          `json:"operation"`
	Between   network.Between `json:"between"`
	Pairs     int             `json:"pairs"`
	Timings   int             `json:"timings"`
	Small     float64         `json:"smallest_size_s"`
	Large     float64         `json:"largest_size_s"`
}

// set fills in how it was measured, and what came out.
func (r *networkMeasurement) set(c *cli.Context, o network.Options) {
	args, _ := c.App.Metadata[argsKey].([]string)
	r.Library, r.Hosts, r.Ranks = r.result.Library, r.result.Hosts(), r.result.Ranks
	r.Method = []measure.Fact{
		{Name: "tool", Value: "calibrate measure network " + command.Version()},
		{Name: "command", Value: command.Quoted(args...)},
		{Name: "seed", Value: strconv.FormatUint(o.Seed, 10)},
		{Name: "mpi", Value: r.Library},
		{Name: "compiler", Value: r.result.Compiler},
		{Name: "hosts", Value: r.Hosts},
		{Name: "sizes", Value: fmt.Sprintf("%d up to %d bytes, each %d times", o.Sizes, o.MaxBytes, o.Reps)},
	}
	for _, i := range firstOfHosts(r.Ranks) {
		rank := r.Ranks[i]
		r.Method = append(r.Method, measure.Fact{Name: fmt.Sprintf("rank %d", i),
			Value: fmt.Sprintf("on %s, %s, cores allowed %s, load %s", rank.Host, rank.Processor, rank.CPUs, rank.Load)})
	}
	r.Busy = r.result.Busy.Part()
	r.Method = append(r.Method, measure.Fact{Name: "processor time",
		Value: fmt.Sprintf("%.1f %% of the time, of rank %d, which had least", 100*r.Busy, r.result.Busy.Rank)})
	r.Planned, r.Timings, r.Warnings, r.Shortest = r.result.Planned, len(r.result.Timings), r.result.Warnings(), shortestOf(r.result.Timings)
	switch {
	case r.failure != nil:
		r.Ended = "failed: " + r.failure.Error()
	case r.result.Interrupted:
		r.Ended = "interrupted"
	case r.result.Ended == network.OverBudget:
		r.Ended = fmt.Sprintf("budget of %v used up", o.Budget)
	default:
		r.Ended = "complete"
	}
}

// mostHosts is of how many hosts a description has the first rank.
const mostHosts = 16

// firstOfHosts returns the first rank on each host.
func firstOfHosts(ranks []network.Rank) (list []int) {
	seen := map[string]bool{}
	for i, r := range ranks {
		if !seen[r.Host] && len(list) < mostHosts {
			seen[r.Host] = true
			list = append(list, i)
		}
	}
	return list
}

// shortestOf returns the quickest timings of each operation, in the order of their names.
func shortestOf(timings []network.Timing) []shortestTime {
	sorted := slices.Clone(timings)
	slices.SortFunc(sorted, func(a, b network.Timing) int {
		return cmp.Or(cmp.Compare(a.Between, b.Between), cmp.Compare(a.Pairs, b.Pairs), cmp.Compare(a.Operation, b.Operation),
			cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Seconds, b.Seconds))
	})
	list := []shortestTime{}
	for i := 0; i < len(sorted); {
		s := shortestTime{Operation: sorted[i].Operation, Between: sorted[i].Between, Pairs: sorted[i].Pairs,
			Small: sorted[i].Seconds}
		for bytes := int64(-1); i < len(sorted) && s.isOf(sorted[i]); i++ {
			if sorted[i].Bytes > bytes { // the first of a size is its quickest
				bytes, s.Large = sorted[i].Bytes, sorted[i].Seconds
			}
			s.Timings++
		}
		list = append(list, s)
	}
	return list
}

func (s *shortestTime) isOf(t network.Timing) bool {
	return s.Operation == t.Operation && s.Between == t.Between && s.Pairs == t.Pairs
}

// write writes the table, then the report.
func (r *networkMeasurement) write(c *cli.Context) error {
	e := measurementEnding{r.Ended, r.Timings, r.Planned, r.result.Interrupted, r.failure}
	facts := slices.Concat([]measure.Fact{
		{Name: "begin", Value: r.Begin.UTC().Format(time.RFC3339)},
		{Name: "end", Value: r.End.UTC().Format(time.RFC3339)},
	}, r.Method, []measure.Fact{
		{Name: "machine", Value: "that of the launcher"},
	}, r.Machine, []measure.Fact{
		{Name: "ended", Value: e.String()},
	})
	return e.write(c, func(w io.Writer) error { return r.result.WriteCSV(w, facts) }, r, r.writeText)
}

func (r *networkMeasurement) writeText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d timings in %.1f s, %s\nmpi: %s\nhosts: %s\n", r.Timings, r.Planned,
		r.End.Sub(r.Begin).Seconds(), r.Ended, r.Library, r.Hosts)
	for _, missing := range []struct {
		between network.Between
		text    string
	}{
		{network.Nodes, "between hosts: nothing, all ranks ran on one; two on each of two hosts would give both"},
		{network.Cores, "within a host: nothing, no two ranks ran on one"},
	} {
		if !r.result.Has(missing.between) {
			fmt.Fprintln(&b, missing.text)
		}
	}
	tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tab, "  operation\tbetween\tpairs\ttimings\tquickest, smallest size (s)\tquickest, largest size (s)\t\n")
	for _, s := range r.Shortest {
		fmt.Fprintf(tab, "  %s\t%s\t%d\t%d\t%.3e\t%.3e\t\n", s.Operation, s.Between, s.Pairs, s.Timings, s.Small, s.Large)
	}
	_ = tab.Flush() // into memory
	_, err := io.WriteString(w, b.String())
	return err
}
