package measure

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"reprise/internal/textutil"
	"reprise/trace/warning"
)

// This file tells of a measurement: Result.WriteCSV writes its table, Report.Complete makes its
// report. Period and Account are parts of the reports on messages (measure/network), too.

// Columns of attributes and dimensions, in their order; a table has those that its kernels have.
var (
	attrColumns = []string{"side", "uplo", "trans", "diag", "transa", "transb"}
	dimColumns  = []string{"M", "N", "K", "M0", "M1", "JB", "ROLE", "LEVEL", "ROWS", "NNZ", "COLS", "VECTORS", "BRANCH",
		"ALIAS"}
)

// WriteCSV writes the timings as calibrate kernels reads them, after facts about the measurement as comments.
func (r *Result) WriteCSV(w io.Writer, p *Plan, host string, facts []Fact) error {
	// The header has the attributes and dimensions that some kernel has.
	attrs := slices.DeleteFunc(slices.Clone(attrColumns), func(name string) bool {
		return !slices.ContainsFunc(p.Kernels, func(k Kernel) bool { return k.attr(name) != "" })
	})
	dims := slices.DeleteFunc(slices.Clone(dimColumns), func(name string) bool {
		return !slices.ContainsFunc(p.Kernels, func(k Kernel) bool { return slices.Contains(k.Dims, name) })
	})
	if _, err := io.WriteString(w, Comments(facts)); err != nil {
		return err
	}
	table := csv.NewWriter(w)
	row := slices.Concat([]string{"function"}, attrs, dims,
		[]string{"operands", "seconds", "processor", "host", "rank", "alone", "cpu", "date"})
	alone := map[bool]string{true: "1"}
	for i, name := range row {
		row[i] = strings.ToLower(name)
	}
	_ = table.Write(row) // its error stays with the table
	for _, t := range r.Timings {
		c := &p.Calls[t.Call]
		k := &p.Kernels[c.Kernel]
		row = append(row[:0], k.Name)
		for _, name := range attrs {
			row = append(row, k.attr(name))
		}
		for _, name := range dims {
			field := ""
			if at := slices.Index(k.Dims, name); at >= 0 {
				field = strconv.FormatInt(c.Dims[at], 10)
			}
			row = append(row, field)
		}
		// The processor share is bounded, as its clock ticks in larger steps. The core is the first one of the rank.
		_ = table.Write(append(row, string(c.Operands), fmt.Sprintf("%.9e", t.Seconds),
			fmt.Sprintf("%.3g", min(1, t.CPU/t.Seconds)), host, strconv.Itoa(t.Rank), alone[t.Alone],
			strconv.Itoa(p.Groups[t.Rank][0]),
			t.Date.UTC().Format(time.RFC3339)))
	}
	table.Flush()
	return table.Error()
}

// HostName returns a name as tables and kernel files have them; an empty one becomes "unknown".
func HostName(name string) string { return textutil.Plain(cmp.Or(name, unknown)) }

// Quality says how quiet the machine was.
type Quality struct {
	// Processor is the part of the time of calls in which ranks had their processor; 0: not
	// known, as with several threads, some of which may have had nothing to do.
	Processor float64 `json:"processor_share,omitempty"`
	// Spread is the ratio of the median timing of a size to its quickest one, averaged by time; 0:
	// no size was timed three times.
	Spread float64 `json:"spread,omitempty"`
}

// Least processor share and greatest spread of a quiet machine.
const (
	quietProcessor = 0.97
	quietSpread    = 1.15
)

// Shorter calls do not count for the quality. leastSeconds is long beside two looks at the clock of
// the processor, of some tenths of microseconds, leastSpread beside one tick of the clock.
const (
	leastSeconds = 20e-6
	leastSpread  = 1e-6
)

// Quality returns how quiet the machine was.
func (r *Result) Quality(p *Plan, threads int) (q Quality) {
	// Timings of a size scatter for two reasons: other work on the core, and a clock or memory that
	// changes. The processor's time tells of the first, the spread of both.
	type place struct {
		rank int
		turn Turn
	}
	byPlace := map[place][]float64{}
	// Seconds of calls, and of the processor in them.
	wall, cpu := 0.0, 0.0
	for _, t := range r.Timings {
		at := place{t.Rank, t.Turn}
		byPlace[at] = append(byPlace[at], t.Seconds)
		if t.Seconds >= leastSeconds {
			wall, cpu = wall+t.Seconds, cpu+min(t.CPU, t.Seconds)
		}
	}
	// With several threads the seconds of the processor are a sum over them, some of which may have waited.
	if wall > 0 && threads == 1 {
		q.Processor = cpu / wall
	}
	// Sizes of each rank are compared with themselves: ranks on slower cores do not count as noise. Calls alone tell
	// nothing more.
	sum, least := 0.0, 0.0
	for rank := range p.Groups {
		for call := range p.Calls {
			list := byPlace[place{rank, Turn{Call: call}}]
			if len(list) < 3 {
				continue
			}
			slices.Sort(list)
			if median := list[len(list)/2]; median >= leastSpread {
				sum, least = sum+median, least+list[0]
			}
		}
	}
	if least > 0 {
		q.Spread = sum / least
	}
	return q
}

// String returns "processor 99.7 % of the time, median 1.03 times the quickest".
func (q Quality) String() string {
	processor, spread := unknown, unknown
	if q.Processor > 0 {
		processor = fmt.Sprintf("%.1f %% of the time", 100*q.Processor)
	}
	if q.Spread > 0 {
		spread = fmt.Sprintf("%.3f times the quickest", q.Spread)
	}
	return "processor " + processor + ", median " + spread
}

// Warnings are about a machine that was not quiet, and kernels that were not reached.
func (r *Result) Warnings(p *Plan, q Quality) (list []warning.Warning) {
	if q.Processor > 0 && q.Processor < quietProcessor {
		list = append(list, warning.New("ranks had their processor for %.1f %% of the time only: other work ran on these "+
			"cores, and timings are too long; measure again when there is none", 100*q.Processor))
	}
	if q.Spread > quietSpread {
		list = append(list, warning.New("timings take %.0f %% longer than the quickest of their size: the machine was busy, "+
			"or its clock changed", 100*(q.Spread-1)))
	}

	// Sizes without a timing, as "4 of 5 of dgemm transa=N; 1 of 1 of dcopy".
	all := make([]int, len(p.Kernels))
	for i := range p.Calls {
		all[p.Calls[i].Kernel]++
	}
	var texts []string
	for i, s := range r.Summaries(p) {
		if missing := all[i] - s.Sizes; missing > 0 {
			texts = append(texts, fmt.Sprintf("%d of %d of %s", missing, all[i], s.Kernel))
		}
	}
	if len(texts) > 0 {
		list = append(list, warning.New("not timed, of all sizes: %s; more --budget would", strings.Join(texts, "; ")))
	}
	return list
}

// Summary tells of the timings of a kernel.
type Summary struct {
	Kernel  string  `json:"kernel"`
	Sizes   int     `json:"sizes"` // that were timed
	Timings int     `json:"timings"`
	Largest string  `json:"largest"` // the size that took longest, as 100x20
	Seconds float64 `json:"seconds"` // median of its timings
}

// Summaries returns a summary of each kernel of the plan.
func (r *Result) Summaries(p *Plan) []Summary {
	// Ranks are not told apart: a size has timings of all of them.
	byCall := make([][]float64, len(p.Calls))
	for _, t := range r.Timings {
		if !t.Alone {
			byCall[t.Call] = append(byCall[t.Call], t.Seconds)
		}
	}
	// Kernels without a timing have a line, too.
	list := make([]Summary, len(p.Kernels))
	for i := range list {
		list[i].Kernel = p.Kernels[i].String()
	}
	for i, seconds := range byCall {
		if len(seconds) == 0 {
			continue
		}
		c := &p.Calls[i]
		s := &list[c.Kernel]
		s.Sizes++
		s.Timings += len(seconds)
		slices.Sort(seconds)
		if median := seconds[len(seconds)/2]; median > s.Seconds {
			s.Seconds, s.Largest = median, numbers(c.Dims[:len(p.Kernels[c.Kernel].Dims)], "x")
		}
	}
	return list
}

// Period is the time in which a measurement was made.
// Reports of kernels and of messages have it in common, as they have an [Account].
type Period struct {
	Begin time.Time `json:"begin"`
	End   time.Time `json:"end"`
}

// Facts returns the period as the head of a table has it.
func (p Period) Facts() []Fact {
	return []Fact{{"begin", p.Begin.UTC().Format(time.RFC3339)}, {"end", p.End.UTC().Format(time.RFC3339)}}
}

// Account tells where and how a measurement was made, of kernels or of messages, and how far it has
// come. An interrupted or failed measurement has an account, too, as its timings are good.
type Account struct {
	Machine []Fact `json:"machine"`
	Method  []Fact `json:"method"`
	Planned int    `json:"planned"`
	Timings int    `json:"timings"`
	Ended   string `json:"ended"` // "complete", "interrupted", ...

	// How the measurement ended, for the error of the command.
	interrupted bool
	failure     error // of a process, after the timings that there are
}

// Finish sets how the measurement ended: by the failure of a process, by an interrupt, or with its budget used up.
func (a *Account) Finish(failure error, interrupted, overBudget bool, budget time.Duration) {
	a.failure, a.interrupted, a.Ended = failure, interrupted, "complete"
	switch {
	case failure != nil:
		a.Ended = "failed: " + failure.Error()
	case interrupted:
		a.Ended = "interrupted"
	case overBudget:
		a.Ended = fmt.Sprintf("budget of %v used up", budget)
	}
}

// Reached returns how the measurement ended, and after how many timings.
func (a *Account) Reached() string {
	if a.failure != nil {
		return fmt.Sprintf("failed after %d of %d timings: %v", a.Timings, a.Planned, a.failure)
	}
	return fmt.Sprintf("%s after %d of %d timings", a.Ended, a.Timings, a.Planned)
}

// Incomplete returns the error of a measurement that was interrupted or failed, and whose timings were written.
func (a *Account) Incomplete() error {
	switch {
	case a.failure != nil:
		return fmt.Errorf("%w; the table has the %d of %d timings before", a.failure, a.Timings, a.Planned)
	case a.interrupted:
		return fmt.Errorf("%s, which were written", a.Reached())
	}
	return nil
}

// Report tells of a measurement of kernels.
type Report struct {
	Period
	Host string `json:"host"`
	Account
	Ranks    int               `json:"ranks"` // that measured at once
	Quality  Quality           `json:"quality"`
	Kernels  []Summary         `json:"kernels"`
	Warnings []warning.Warning `json:"warnings"` // never nil

	plan   *Plan
	result *Result
}

// Complete fills in, of a report with period, host, machine, warnings of the plan and the first
// facts of its method, the rest of the method and everything that follows from the result.
func (r *Report) Complete(plan *Plan, o *Options, result *Result, failure error) {
	r.plan, r.result, r.Ranks = plan, result, len(plan.Groups)
	r.Quality, r.Kernels = result.Quality(plan, o.Threads), result.Summaries(plan)
	r.Warnings = append(append([]warning.Warning{}, r.Warnings...), result.Warnings(plan, r.Quality)...)
	bound := "bound to cores"
	if o.NoPin {
		bound = "not bound to cores"
	}
	operands := "both"
	if len(o.Operands) == 1 {
		operands = string(o.Operands[0])
	}
	cores := textutil.Texts(plan.Groups, func(g []int) string { return numbers(g, ",") })
	// The facts are those that somebody needs who repeats the measurement, or compares it with another one.
	r.Method = append(r.Method,
		Fact{"seed", strconv.FormatUint(o.Seed, 10)},
		Fact{"compiler", result.Compiler},
		Fact{"flags", result.Flags},
		Fact{"ranks", fmt.Sprintf("%d at once, threads of each: %d, on cores %s, %s", len(plan.Groups), o.Threads,
			strings.Join(cores, "; "), bound)},
		Fact{"operands", operands + ", " + plan.Space},
		Fact{"sizes", fmt.Sprintf("%d of %d kernels, %s", len(plan.Calls), len(plan.Kernels), plan.Repeats)},
		Fact{"quality", r.Quality.String()})
	if result.BLAS != "" {
		r.Method = append(r.Method, Fact{"blas", result.BLAS})
	}
	r.Planned, r.Timings = result.Planned, len(result.Timings)
	r.Finish(failure, result.Interrupted, result.OverBudget, o.Budget)
}

// WriteCSV writes the table of the timings, headed by the report.
func (r *Report) WriteCSV(w io.Writer) error {
	facts := slices.Concat(r.Facts(), []Fact{{"host", r.Host}}, r.Machine, r.Method, []Fact{{"ended", r.Reached()}})
	// Warnings stand in the table, as it may be all that is kept of the measurement.
	for _, w := range r.Warnings {
		facts = append(facts, Fact{"warning", w.String()})
	}
	return r.result.WriteCSV(w, r.plan, r.Host, facts)
}

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d timings in %.1f s, %s\n", r.Timings, r.Planned, r.End.Sub(r.Begin).Seconds(), r.Ended)
	// Facts that a reader checks first; the table has all of them.
	shown := []string{"cpu", "governor", "blas", "flags", "ranks", "operands", "quality"}
	for _, f := range slices.Concat(r.Machine, r.Method) {
		if slices.Contains(shown, f.Name) {
			fmt.Fprintf(&b, "%s: %s\n", f.Name, f.Value)
		}
	}
	tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tab, "\nkernel\tsizes\ttimings\tlargest\tits median (s)\n")
	for _, s := range r.Kernels {
		fmt.Fprintf(tab, "%s\t%d\t%d\t%s\t%.3e\n", s.Kernel, s.Sizes, s.Timings, s.Largest, s.Seconds)
	}
	_ = tab.Flush() // into memory
	return textutil.Write(w, b.String())
}
