package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"reprise/internal/page"
)

// geometry replays the grids of 960 ranks on 30 nodes of Dahu with N = 250,000, by
// both calibrations of the network. Input: dgemm of July 2020 with the network of
// September 2020 and all kernels noisy, hosts 1 to 30; or dgemm of January 2020 with
// the network of 2019, minimal kernels and noise of dgemm, hosts 0 to 29. Of the
// dgemm models 7 processors are published and the others reconstructed.
func geometry(l *lab) (section, error) {
	d, err := l.readDahu()
	if err != nil {
		return section{}, err
	}
	now, err := l.geometryPoints(d, "dahu_ringrong_2020", "het_poly_2020-07-08_reconstructed", "smpi_gflops", 1)
	if err != nil {
		return section{}, err
	}
	old, err := l.geometryPoints(d, "dahu_2019", "het_poly_2020-01-14_reconstructed", "smpi_old_gflops", 0)
	if err != nil {
		return section{}, err
	}
	name := func(p point) string { return strings.Join(p.labels, "x") }
	text := "Network of September 2020 (with large messages and loaded processors):\n\n" + agree(now, name).text() + "\n" + order(now) + "\n" +
		page.Image(l.plots, "geometry", "Gflops of the grids, network of 2020") + page.Image(l.plots, "geometry-old", "Gflops of the grids, network of 2019") +
		"\n" + pointTable([]string{"P", "Q"}, now) + "\nNetwork of 2019 (messages up to 1 MB):\n\n" + agree(old, name).text() + "\n" + order(old) +
		"\n" + pointTable([]string{"P", "Q"}, old)
	return section{text, geometryClaims(now, old)}, l.plotGeometry(now, old)
}

// geometryClaims checks how far off both networks are, and best and worst grids.
func geometryClaims(now, old []point) []verdict {
	name := func(p point) string { return strings.Join(p.labels, "x") }
	a, b := agree(now, name), agree(old, name)
	best := slices.MaxFunc(now, func(a, b point) int { return cmp.Compare(a.ours, b.ours) })
	worst := slices.MinFunc(now, func(a, b point) int { return cmp.Compare(a.ours, b.ours) })
	return []verdict{
		{9, fmt.Sprintf("worst %s %% at %s", tenth(b.oursReal.worst), b.oursReal.worstAt), b.oursReal.worst > 40},
		{10, fmt.Sprintf("%s, %d of %d within 5 %% (SMPI: %s, %d)", a.oursReal.limits(), a.oursReal.within5, a.oursReal.n, a.smpiReal.limits(), a.smpiReal.within5),
			a.oursReal.mean() <= a.smpiReal.mean()+1},
		{14, fmt.Sprintf("best %s, worst %s, factor %.1f between them among those replayed", name(best), name(worst), best.ours/worst.ours),
			sameExtremes(now)},
	}
}

// sameExtremes reports whether ours and the machine's best and worst are the same.
func sameExtremes(points []point) bool {
	extreme := func(pick func([]point, func(a, b point) int) point, of func(point) float64) string {
		return strings.Join(pick(points, func(a, b point) int { return cmp.Compare(of(a), of(b)) }).labels, "x")
	}
	ours, real := func(p point) float64 { return p.ours }, func(p point) float64 { return p.real }
	maxOf, minOf := slices.MaxFunc[[]point], slices.MinFunc[[]point]
	return extreme(maxOf, ours) == extreme(maxOf, real) && extreme(minOf, ours) == extreme(minOf, real)
}

func (l *lab) plotGeometry(now, old []point) error {
	if err := plotSorted(l, "geometry", "960 ranks, network of 2020", now); err != nil {
		return err
	}
	return plotSorted(l, "geometry-old", "960 ranks, network of 2019", old)
}

// geometryPoints replays the grids on 30 hosts numbered from first on.
func (l *lab) geometryPoints(d *dahu, network, gemms, smpi string, first int) ([]point, error) {
	others := d.others
	if first == 0 {
		others = others.minimal()
	}
	kernels, err := d.kernels(gemms, others)
	if err != nil {
		return nil, err
	}
	kernels.noisyGemm, kernels.noisyOthers = true, first > 0
	s, err := l.sheet("geometry/geometry.csv", "p", "q", "real_gflops_mean", smpi)
	if err != nil {
		return nil, err
	}
	machine, models := d.networks[network].xml(cluster{first: first, last: first + 29, cores: 32}), kernels.yaml()
	var points []point
	for _, r := range s.rows {
		points = append(points, point{
			labels: []string{r.text("p"), r.text("q")},
			run:    run{hpl: dahuFlags(250000, 128, r.whole("p"), r.whole("q"), "2rg", 1, "bin"), platform: machine, kernels: models},
			smpi:   r.number(smpi), real: r.number("real_gflops_mean"),
		})
	}
	if s.err != nil {
		return nil, s.err
	}
	return points, l.replayPoints(points)
}

// order compares the ranking of points with the machine's.
func order(points []point) string {
	var ours, smpi, real []float64
	for _, p := range points {
		ours, smpi, real = append(ours, p.ours), append(smpi, p.smpi), append(real, p.real)
	}
	t := page.NewTable("", "best", "worst", "rank correlation with reality")
	for _, x := range []struct {
		name   string
		values []float64
	}{{"ours", ours}, {"SMPI", smpi}, {"reality", real}} {
		best, worst := 0, 0
		for i, v := range x.values {
			if v > x.values[best] {
				best = i
			}
			if v < x.values[worst] {
				worst = i
			}
		}
		t.Row(x.name, strings.Join(points[best].labels, "x"), strings.Join(points[worst].labels, "x"), fmt.Sprintf("%.3f", rankCorrelation(x.values, real)))
	}
	return t.String()
}
