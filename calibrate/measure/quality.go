package measure

import (
	"fmt"
	"slices"
	"strings"

	"reprise/warning"
)

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
