package main

import (
	"math"

	"reprise/internal/page"
)

// closeTo5 is how close to 5 % off the machine a combination is of which reconstructed
// tells, in percent.
const closeTo5 = 1.0

// reconstructed replays combinations with NB = 128 that are about 5 % off the machine once
// more, with processors as the data reconstruct them instead of as figures show them.
func reconstructed(l *runner) (section, error) {
	x, points, err := replayFactorial(l)
	if err != nil {
		return section{}, err
	}
	var near, again []point
	for _, p := range points {
		if p.labels[0] == "128" && math.Abs(math.Abs(relative(p.ours, p.real))-5) < closeTo5 {
			near = append(near, p)
			p.run.kernels = x.reconstructed
			again = append(again, p)
		}
	}
	if err := l.replayPoints(again); err != nil {
		return section{}, err
	}
	t := page.NewTable("Gflops, off reality, %", "SMPI", "ours", "without readings")
	for i, p := range near {
		t.Row(combination(p), off(p.smpi, p.real), off(p.ours, p.real), off(again[i].ours, p.real))
	}
	return section{text: t.String()}, nil
}
