package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"reprise/internal/page"
)

// result is a point with what was predicted and measured, in Gflop/s.
type result struct {
	point
	predicted float64
	measured  []float64 // ascending
}

func (r *result) best() float64   { return r.measured[len(r.measured)-1] }
func (r *result) median() float64 { return r.measured[len(r.measured)/2] }
func (r *result) error() float64  { return r.predicted/r.best() - 1 }

type results []result

// join puts predictions beside runs.
func join(p *plan, predicted map[string]float64, runs []run) (list results, err error) {
	for _, c := range p.points() {
		r := result{point: c}
		var ok bool
		if r.predicted, ok = predicted[c.String()]; !ok {
			return nil, fmt.Errorf("no prediction of %v", c)
		}
		for i := range runs {
			if runs[i].point == c {
				r.measured = append(r.measured, runs[i].gflops)
			}
		}
		if len(r.measured) == 0 {
			return nil, fmt.Errorf("no run of %v", c)
		}
		slices.Sort(r.measured)
		list = append(list, r)
	}
	return list, nil
}

func (list results) table() string {
	t := page.NewTable("grid", "NB", "N", "predicted Gflop/s", "best", "median", "worst", "runs", "error %")
	for i := range list {
		r := &list[i]
		t.Row(r.grid.String(), fmt.Sprint(r.nb), fmt.Sprint(r.n), page.Digits(r.predicted), page.Digits(r.best()),
			page.Digits(r.median()), page.Digits(r.measured[0]), fmt.Sprint(len(r.measured)), fmt.Sprintf("%+.1f", 100*r.error()))
	}
	return t.String()
}

// large is the least N of the main figures: smaller runs take parts of a second.
const large = 4000

// errorsOf returns mean and largest of the absolute errors of points of some sizes.
func (list results) errorsOf(of func(n int) bool) (mean, worst float64, some bool) {
	count := 0
	for i := range list {
		if of(list[i].n) {
			e := math.Abs(list[i].error())
			mean += e
			worst = max(worst, e)
			count++
		}
	}
	return mean / float64(max(count, 1)), worst, count > 0
}

// ordered returns of how many pairs of points whose bests differ by over a tenth the order
// is predicted, and of how many there are.
func (list results) ordered() (right, pairs int) {
	for i := range list {
		for k := range i {
			a, b := &list[i], &list[k]
			if a.best() < b.best() {
				a, b = b, a
			}
			if a.best() <= 1.1*b.best() {
				continue
			}
			pairs++
			if a.predicted > b.predicted {
				right++
			}
		}
	}
	return right, pairs
}

// verdict says in sentences what the table comes to.
func (list results) verdict() string {
	var b strings.Builder
	for _, part := range []struct {
		text string
		has  func(n int) bool
	}{{"N below", func(n int) bool { return n < large }}, {"N from", func(n int) bool { return n >= large }}} {
		if mean, worst, some := list.errorsOf(part.has); some {
			fmt.Fprintf(&b, "Mean absolute error %.1f %%, worst %.1f %% for %s %d.\n", 100*mean, 100*worst, part.text, large)
		}
	}
	if right, pairs := list.ordered(); pairs > 0 {
		fmt.Fprintf(&b, "Of %d pairs whose bests differ by over 10 %%, %d are predicted in order (%.1f %%).\n", pairs, right, 100*float64(right)/float64(pairs))
	}
	return b.String()
}

// lastLine is what scripts look for.
func (list results) lastLine() string {
	mean, worst, _ := list.errorsOf(func(n int) bool { return n >= large })
	return fmt.Sprintf("mean absolute error %.1f %%, worst %.1f %% (N >= %d)", 100*mean, 100*worst, large)
}

// conditions says on what, when and how steadily it was measured.
func (l *lab) conditions(runs []run) string {
	spread := 0.0
	for _, c := range l.plan.points() {
		low, high := math.Inf(1), 0.0
		for i := range runs {
			if runs[i].point == c {
				low, high = min(low, runs[i].gflops), max(high, runs[i].gflops)
			}
		}
		spread = max(spread, 1-low/high)
	}
	return fmt.Sprintf("Measured on %s: %s. HPL 2.0 of Debian's hpcc, OpenBLAS with one thread a rank, Open MPI. "+
		"The slowest run of a case is up to %.0f %% below its best. Load before each start: %s.\n",
		time.Now().UTC().Format("2006-01-02"), processor(), 100*spread, l.loads())
}

// processor returns the name of the processor and the number of its cores here.
func processor() string {
	text, err := exec.Command("lscpu").Output()
	if err != nil {
		return "an unknown processor"
	}
	model, cpus := "", ""
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(name) {
		case "Model name":
			model = strings.TrimSpace(value)
		case "CPU(s)":
			cpus = strings.TrimSpace(value)
		}
	}
	return fmt.Sprintf("%s, %s cores", model, cpus)
}

// loads returns the load of the last minute before each start of hpcc.
func (l *lab) loads() string {
	var list []string
	for start := range l.plan.starts {
		for _, ranks := range l.plan.rankCounts() {
			text, err := os.ReadFile(l.runFile(ranks, start))
			if err != nil {
				continue
			}
			if fields := strings.Fields(string(text)); len(fields) > 1 {
				list = append(list, fields[1])
			}
		}
	}
	return strings.Join(list, ", ")
}
