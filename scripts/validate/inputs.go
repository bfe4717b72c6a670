package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"reprise/internal/page"
)

// The error of a reconstructed processor, as the data tell it of the 7 of January 2020
// that are published (dahu/dgemm_versions.json); how many machines are drawn; how close to
// 5 % off the machine a combination is that is replayed on all of them, in percent.
const (
	reconstructionSD = 0.0042
	drawnMachines    = 3
	closeTo5         = 1.0
)

// inputs asks what the processors that are not public decide: it replays the
// combinations that are about 5 % off the machine with each reconstructed processor as
// much quicker or slower as the reconstruction may be wrong. The points are all, replayed.
func (x *factorialStudy) inputs(l *lab, points []point) (string, error) {
	smpi, ours := make([]float64, len(points)), make([]float64, len(points))
	var near []int
	for i, p := range points {
		smpi[i], ours[i] = relative(p.smpi, p.real), relative(p.ours, p.real)
		if math.Abs(math.Abs(ours[i])-5) < closeTo5 {
			near = append(near, i)
		}
	}
	columns := []errorColumn{{"SMPI", smpi}, {"as reconstructed", ours}}
	for seed := range uint64(drawnMachines) {
		errs, err := l.drawnErrors(x, seed+1, near, ours)
		if err != nil {
			return "", err
		}
		columns = append(columns, errorColumn{fmt.Sprintf("draw %d", seed+1), errs})
	}
	return errorTable(points, near, columns), nil
}

// drawnErrors returns how far all combinations are off the machine with processors drawn
// from a seed, where those that are not chosen are as far off as before.
func (l *lab) drawnErrors(x *factorialStudy, seed uint64, chosen []int, before []float64) ([]float64, error) {
	points := x.points(x.kernels.drawn(seed, x.exact))
	var replayed []point
	for _, i := range chosen {
		replayed = append(replayed, points[i])
	}
	if err := l.replayPoints(replayed); err != nil {
		return nil, err
	}
	errs := slices.Clone(before)
	for k, i := range chosen {
		errs[i] = relative(replayed[k].ours, replayed[k].real)
	}
	return errs, nil
}

// drawn returns the models with other processors in the place of those that are not
// exact: quicker or slower by a normal factor.
func (m machineKernels) drawn(seed uint64, exact []processor) machineKernels {
	random := rand.New(rand.NewPCG(seed, 0))
	m.processors = slices.Clone(m.processors)
	for i, p := range m.processors {
		factor := 1 + reconstructionSD*random.NormFloat64()
		if !slices.ContainsFunc(exact, func(e processor) bool { return e.host == p.host && e.cpu == p.cpu }) {
			m.processors[i].gemm = p.times(factor)
		}
	}
	return m
}

// errorColumn is how far predictions are off the machine, in percent, by combination.
type errorColumn struct {
	name string
	errs []float64
}

// errorTable lists the columns of the chosen points, and how many of all are within 5 %.
func errorTable(points []point, chosen []int, columns []errorColumn) string {
	head := []string{"Gflops, off reality, %"}
	last := []string{fmt.Sprintf("within 5 %%, of all %d", len(points))}
	for _, c := range columns {
		within := 0
		for _, e := range c.errs {
			if math.Abs(e) <= 5 {
				within++
			}
		}
		head, last = append(head, c.name), append(last, fmt.Sprint(within))
	}
	t := page.NewTable(head...)
	for _, i := range chosen {
		cells := []string{combination(points[i])}
		for _, c := range columns {
			cells = append(cells, percent(c.errs[i]))
		}
		t.Row(cells...)
	}
	t.Row(last...)
	return t.String()
}
