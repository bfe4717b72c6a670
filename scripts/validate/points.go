package main

import (
	"fmt"

	"reprise/internal/page"
	"reprise/internal/wording"
)

// point is one configuration of a study: a run of ours beside what was published.
type point struct {
	labels []string // cells that say which
	run    run
	smpi   float64 // Gflops that SMPI predicted; 0: none published
	real   float64 // Gflops that the machine had; 0: none published
	ours   float64 // Gflops
	result result
}

// replayPoints fills in what is ours.
func (l *runner) replayPoints(points []point) error {
	runs := make([]run, len(points))
	for i, p := range points {
		runs[i] = p.run
	}
	results, err := l.replayAll(runs)
	if err != nil {
		return err
	}
	for i, r := range results {
		points[i].result, points[i].ours = r, r.Gflops
	}
	return nil
}

// pointTable lists points: ours, SMPI's and the machine's Gflops, errors in percent,
// and the intervals of ours if they are estimates.
func pointTable(head []string, points []point) string {
	withReal, estimated := false, false
	for _, p := range points {
		withReal = withReal || p.real > 0
		estimated = estimated || p.result.Interval > 0
	}
	head = append(head[:len(head):len(head)], "ours, Gflops")
	if estimated {
		head = append(head, "±, %")
	}
	head = append(head, "SMPI", "ours − SMPI, %")
	if withReal {
		head = append(head, "reality", "ours − reality, %", "SMPI − reality, %")
	}
	t := page.NewTable(head...)
	for _, p := range points {
		cells := append(p.labels[:len(p.labels):len(p.labels)], gflops(p.ours))
		if estimated {
			cells = append(cells, p.result.width())
		}
		cells = append(cells, published(gflops, p.smpi), off(p.ours, p.smpi))
		if withReal {
			cells = append(cells, published(gflops, p.real), off(p.ours, p.real), off(p.smpi, p.real))
		}
		t.Row(cells...)
	}
	return t.String()
}

// published writes what was published, if something was.
func published(write func(float64) string, x float64) string {
	if x == 0 {
		return "–"
	}
	return write(x)
}

// off writes how much larger got is than want, in percent, if both are there.
func off(got, want float64) string {
	if got == 0 || want == 0 {
		return "–"
	}
	return percent(relative(got, want))
}

// width writes the half-width of an estimate's interval in percent.
func (r result) width() string {
	if r.Interval == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", 100*r.Interval/r.Makespan)
}

// gflops writes Gflops with four digits or to the unit.
func gflops(x float64) string {
	if x < 1000 {
		return fmt.Sprintf("%.4g", x)
	}
	return wording.Thousands(int64(x + 0.5))
}

// agreement is how far points are off.
type agreement struct{ oursSMPI, oursReal, smpiReal spread }

func agree(points []point, name func(point) string) agreement {
	var a agreement
	for _, p := range points {
		if p.smpi > 0 {
			a.oursSMPI.add(relative(p.ours, p.smpi), name(p))
		}
		if p.real > 0 {
			a.oursReal.add(relative(p.ours, p.real), name(p))
		}
		if p.real > 0 && p.smpi > 0 {
			a.smpiReal.add(relative(p.smpi, p.real), name(p))
		}
	}
	return a
}

// text sums up in a table.
func (a agreement) text() string {
	t := page.NewTable("Gflops, errors in percent", "points", "mean of absolute values", "mean", "worst", "at", "within 5 %")
	for _, r := range []struct {
		name string
		s    spread
	}{{"ours against SMPI", a.oursSMPI}, {"ours against reality", a.oursReal}, {"SMPI against reality", a.smpiReal}} {
		if r.s.n() > 0 {
			t.Row(r.name, fmt.Sprint(r.s.n()), fmt.Sprintf("%.2f", r.s.mean()), percent(r.s.bias()), percent(r.s.worst), r.s.worstAt, fmt.Sprint(r.s.within(5)))
		}
	}
	return t.String()
}

// first returns the first label of a point.
func first(p point) string { return p.labels[0] }

// order returns the order of the point's matrix.
func (p point) order() int {
	var n int
	if _, err := fmt.Sscanf(p.run.hpl, "-N %d", &n); err != nil {
		panic("validate: a run without -N: " + p.run.hpl)
	}
	return n
}
