package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"reprise/internal/page"
)

// What is asked of the intervals of so many estimates: at most so many miss the complete
// run, none by more than so many half-widths.
const (
	wantedEstimates = 50
	mostMisses      = 6
	mostHalfWidths  = 2
)

// trial is an estimate beside the complete run of the same seed.
type trial struct {
	drawn
	estimate, complete result
}

// off returns how far the estimate is off, in half-widths of its interval.
func (t *trial) off() float64 {
	return (t.estimate.Makespan - t.complete.Makespan) / t.estimate.Interval
}

// missed reports whether the complete run is outside of the interval.
func (t *trial) missed() bool { return !(math.Abs(t.off()) <= 1) }

// trials are those of one seed.
type trials struct {
	seed  uint64
	list  []trial
	exact int // runs that were drawn, too, but replayed exactly
}

// replayTrials draws runs until so many are estimated, and replays these completely.
func (l *runner) replayTrials(seed uint64) (*trials, error) {
	const batch, mostDraws = 25, 20 * wantedEstimates
	t := &trials{seed: seed}
	for number := uint64(0); len(t.list) < wantedEstimates; number += batch {
		if number >= mostDraws {
			return nil, fmt.Errorf("seed %d: only %d of %d runs were estimated", seed, len(t.list), number)
		}
		if err := l.estimateDraws(t, number, number+batch); err != nil {
			return nil, err
		}
	}
	var runs []run
	for _, x := range t.list {
		runs = append(runs, x.run)
	}
	results, err := l.replayAll(runs)
	if err != nil {
		return nil, err
	}
	for i := range t.list {
		t.list[i].complete = results[i]
	}
	return t, nil
}

// estimateDraws adds the estimates among the draws [from, to), up to as many as are wanted.
func (l *runner) estimateDraws(t *trials, from, to uint64) error {
	var draws []drawn
	var runs []run
	for number := from; number < to; number++ {
		x, err := draw(t.seed, number)
		if err != nil {
			return err
		}
		draws = append(draws, x)
		x.flags += " " + tolerance(x.percent)
		runs = append(runs, x.run)
	}
	results, err := l.replayAll(runs)
	if err != nil {
		return err
	}
	for i, r := range results {
		switch {
		case len(t.list) == wantedEstimates:
			return nil
		case r.IsEstimate:
			t.list = append(t.list, trial{drawn: draws[i], estimate: r})
		default:
			t.exact++
		}
	}
	return nil
}

// misses returns how many complete runs are outside of their intervals, and the trial that is
// the most half-widths off.
func (t *trials) misses() (n int, worst *trial) {
	for i := range t.list {
		x := &t.list[i]
		if x.missed() {
			n++
		}
		if worst == nil || math.Abs(x.off()) > math.Abs(worst.off()) {
			worst = x
		}
	}
	return n, worst
}

// check returns an error if the intervals do not hold.
func (t *trials) check() error {
	n, worst := t.misses()
	if n > mostMisses || !(math.Abs(worst.off()) <= mostHalfWidths) {
		return fmt.Errorf("intervals of seed %d: %d of %d missed, the worst by %.2f half-widths; allowed are %d and %d",
			t.seed, n, len(t.list), math.Abs(worst.off()), mostMisses, mostHalfWidths)
	}
	return nil
}

// summary is a row for all trials of a seed.
func (t *trials) summary(table *page.Table) {
	var error, half, share float64
	for _, x := range t.list {
		error += relative(x.estimate.Makespan, x.complete.Makespan)
		half += 100 * x.estimate.Interval / x.estimate.Makespan
		share += 100 * float64(x.estimate.Simulated) / float64(x.estimate.Steps)
	}
	k := float64(len(t.list))
	n, worst := t.misses()
	table.Row(fmt.Sprint(t.seed), fmt.Sprint(len(t.list)), fmt.Sprint(n), signed(worst.off()), fmt.Sprintf("%.2f", half/k), signed(error/k),
		fmt.Sprintf("%.0f", share/k), fmt.Sprint(t.exact))
}

func summaryTable() *page.Table {
	return page.NewTable("seed", "estimates", "outside of the interval", "worst, half-widths", "mean half-width, %", "mean error, %", "steps simulated, %", "replayed exactly instead")
}

// signed writes two digits after the point, with the sign.
func signed(x float64) string { return strings.Replace(fmt.Sprintf("%+.2f", x), "-", "−", 1) }

// rows writes the trials one by one.
func (t *trials) rows() string {
	table := page.NewTable("run", "tracegen hpl", "replay", "tolerance, %", "estimate, s", "±, %", "complete, s", "off, half-widths", "steps", "simulated")
	for _, x := range t.list {
		e := x.estimate
		verdict := signed(x.off())
		if x.missed() {
			verdict += " missed"
		}
		table.Row(x.what, x.hpl, x.flags, exact(x.percent), fmt.Sprintf("%.6g", e.Makespan), fmt.Sprintf("%.3f", 100*e.Interval/e.Makespan), fmt.Sprintf("%.6g", x.complete.Makespan),
			verdict, fmt.Sprint(e.Steps), fmt.Sprint(e.Simulated))
	}
	return table.String()
}

// printIntervals compares the estimates of each seed with their complete runs and prints
// them all. The error says whose intervals do not hold.
func printIntervals(l *runner, seeds []uint64, w io.Writer) error {
	table := summaryTable()
	var failed []string
	for _, seed := range seeds {
		t, err := l.replayTrials(seed)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, t.rows()); err != nil {
			return err
		}
		t.summary(table)
		if err := t.check(); err != nil {
			failed = append(failed, err.Error())
		}
	}
	if _, err := fmt.Fprint(w, table); err != nil {
		return err
	}
	if len(failed) > 0 {
		return fmt.Errorf("%s", strings.Join(failed, "\n"))
	}
	return nil
}

// intervals is the part of the page: three seeds.
func intervals(l *runner) (section, error) {
	table := summaryTable()
	for seed := uint64(1); seed <= 3; seed++ {
		t, err := l.replayTrials(seed)
		if err != nil {
			return section{}, err
		}
		t.summary(table)
	}
	return section{text: table.String()}, nil
}
