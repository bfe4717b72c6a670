package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"reprise/calibrate/measure"
	"reprise/internal/command"
	"reprise/warning"
)

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
		{Name: "tool", Value: "calibrate measure kernels " + command.Version()}, {Name: "command", Value: command.Quoted(args...)}, {Name: "seed", Value: strconv.FormatUint(o.Seed, 10)},
		{Name: "compiler", Value: r.result.Compiler}, {Name: "flags", Value: r.result.Flags},
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
		{Name: "begin", Value: r.Begin.UTC().Format(time.RFC3339)}, {Name: "end", Value: r.End.UTC().Format(time.RFC3339)}, {Name: "host", Value: r.Host},
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
