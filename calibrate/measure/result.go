package measure

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/internal/textutil"
	"reprise/trace/warning"
)

// Columns of attributes and dimensions, in their order; a table has those that its kernels have.
var (
	attrColumns = []string{"side", "uplo", "trans", "diag", "transa", "transb"}
	dimColumns  = []string{"M", "N", "K", "M0", "M1", "JB", "ROLE", "LEVEL", "ROWS", "NNZ", "COLS", "VECTORS", "BRANCH",
		"ALIAS"}
)

// WriteCSV writes the timings as calibrate kernels reads them, after facts about
// the measurement as comments.
func (r *Result) WriteCSV(w io.Writer, p *Plan, host string, facts []Fact) error {
	var b strings.Builder
	for _, f := range facts {
		fmt.Fprintf(&b, "# %s: %s\n", f.Name, strings.Join(strings.Fields(f.Value), " "))
	}
	attrs, dims := p.columns()
	fmt.Fprintf(&b, "function,%s", strings.ToLower(strings.Join(slices.Concat(attrs, dims), ",")))
	b.WriteString(",operands,seconds,processor,host,rank,cpu,date\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	prefixes := make([]string, len(p.Calls))
	for i := range p.Calls {
		prefixes[i] = p.row(&p.Calls[i], attrs, dims)
	}
	for _, t := range r.Timings {
		seconds := strconv.FormatFloat(t.Seconds, 'e', 9, 64)
		date := t.Date.UTC().Format(time.RFC3339)
		if _, err := fmt.Fprintf(w, "%s,%s,%.3g,%s,%d,%d,%s\n", prefixes[t.Call], seconds, min(1, t.CPU/t.Seconds), host,
			t.Rank, p.Groups[t.Rank][0], date); err != nil {
			return err
		}
	}
	return nil
}

// columns returns the attributes and dimensions that some kernel has.
func (p *Plan) columns() (attrs, dims []string) {
	has := func(list []string, in func(k *Kernel, name string) bool) (found []string) {
		for _, name := range list {
			if slices.ContainsFunc(p.Kernels, func(k Kernel) bool { return in(&k, name) }) {
				found = append(found, name)
			}
		}
		return found
	}
	return has(attrColumns, func(k *Kernel, name string) bool { return k.attr(name) != "" }),
		has(dimColumns, func(k *Kernel, name string) bool { return slices.Contains(k.Dims, name) })
}

// row returns the fields of a call up to its operands.
func (p *Plan) row(c *Call, attrs, dims []string) string {
	k := &p.Kernels[c.Kernel]
	fields := []string{k.Name}
	for _, name := range attrs {
		fields = append(fields, k.attr(name))
	}
	for _, name := range dims {
		field := ""
		if i := slices.Index(k.Dims, name); i >= 0 {
			field = strconv.FormatInt(c.Dims[i], 10)
		}
		fields = append(fields, field)
	}
	return strings.Join(append(fields, string(c.Operands)), ",")
}

// HostName returns a name as tables and kernel files have them; that of none is unknown.
func HostName(name string) string {
	if name == "" {
		return unknown
	}
	return textutil.Plain(name)
}

// Quality says how quiet the machine was.
type Quality struct {
	// Processor is the part of the time of calls in which ranks had their processor; 0: not
	// known, as with several threads, some of which may have had nothing to do.
	Processor float64 `json:"processor_share,omitempty"`
	// Spread is how many times as long as the quickest timing of a size the median one
	// takes, averaged by time; 0: no size was timed three times.
	Spread float64 `json:"spread,omitempty"`
}

// What is usual on a quiet machine.
const (
	quietProcessor = 0.97
	quietSpread    = 1.15
)

// leastSeconds is the time of calls from which on two looks at the clock of the processor, of
// some tenths of microseconds, do not count; leastSpread is that from which on one tick of
// the clock does not.
const (
	leastSeconds = 20e-6
	leastSpread  = 1e-6
)

// Quality returns how quiet the machine was.
func (r *Result) Quality(p *Plan, threads int) (q Quality) {
	type place struct{ rank, call int }
	byPlace := map[place][]float64{}
	wall, cpu := 0.0, 0.0
	for _, t := range r.Timings {
		byPlace[place{t.Rank, t.Call}] = append(byPlace[place{t.Rank, t.Call}], t.Seconds)
		if t.Seconds >= leastSeconds {
			wall, cpu = wall+t.Seconds, cpu+min(t.CPU, t.Seconds)
		}
	}
	if wall > 0 && threads == 1 {
		q.Processor = cpu / wall
	}
	sum, least := 0.0, 0.0
	for rank := range p.Groups {
		for call := range p.Calls {
			list := byPlace[place{rank, call}]
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

// Warnings are about a machine that was not quiet, and kernels that were not reached.
func (r *Result) Warnings(p *Plan, q Quality) (list []warning.Warning) {
	if q.Processor > 0 && q.Processor < quietProcessor {
		list = append(list, warning.New("ranks had their processor for %.1f %% of the time only: other work ran on these cores, and timings are too long; measure again when there is none", 100*q.Processor))
	}
	if q.Spread > quietSpread {
		list = append(list, warning.New("timings take %.0f %% longer than the quickest of their size: the machine was busy, or its clock changed", 100*(q.Spread-1)))
	}
	if text := r.untimed(p); text != "" {
		list = append(list, warning.New("not timed, of all sizes: %s; more --budget would", text))
	}
	return list
}

// untimed returns "4 of 5 of dgemm transa=N; 1 of 1 of dcopy", "" if all sizes were timed.
func (r *Result) untimed(p *Plan) string {
	timed := make([]bool, len(p.Calls))
	for _, t := range r.Timings {
		timed[t.Call] = true
	}
	all, missing := make([]int, len(p.Kernels)), make([]int, len(p.Kernels))
	for i := range p.Calls {
		all[p.Calls[i].Kernel]++
		if !timed[i] {
			missing[p.Calls[i].Kernel]++
		}
	}
	var texts []string
	for i, n := range missing {
		if n > 0 {
			texts = append(texts, fmt.Sprintf("%d of %d of %v", n, all[i], &p.Kernels[i]))
		}
	}
	return strings.Join(texts, "; ")
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

// Summary is what there is of a kernel.
type Summary struct {
	Kernel  string  `json:"kernel"`
	Sizes   int     `json:"sizes"`
	Timings int     `json:"timings"`
	Largest string  `json:"largest"` // the size that took longest
	Seconds float64 `json:"seconds"` // median of its timings
}

// Summaries returns what there is of each kernel.
func (r *Result) Summaries(p *Plan) []Summary {
	byCall := make([][]float64, len(p.Calls))
	for _, t := range r.Timings {
		byCall[t.Call] = append(byCall[t.Call], t.Seconds)
	}
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
			s.Seconds, s.Largest = median, sizeText(&p.Kernels[c.Kernel], &c.Dims)
		}
	}
	return list
}

// Repeats says how often the calls are made.
func (p *Plan) Repeats() string { return p.program.passes(p) }

// Space says what memory the calls of a process work in.
func (p *Plan) Space() string { return p.program.space() }
