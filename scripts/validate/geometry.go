package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"reprise/internal/page"
)

// geometryStudy replays the grids of 960 ranks on 30 nodes of Dahu with N = 250,000, by
// one of the calibrations of the network. Of the dgemm models 7 processors are published
// and the others reconstructed.
type geometryStudy struct {
	network, gemms string
	smpi           string // column of SMPI's Gflops
	firstHost      int
	fewRows        bool // without -all only grids of few rows
	allNoisy       bool // noise of all kernels; else of dgemm, with minimal other kernels
	plot, title    string
	claims         func([]point) []verdict
}

// Grids of more than mostRows process rows take up to 20 times as long as others, since
// a pivot is exchanged among all rows. Without -all they are estimates, or left out.
const (
	mostRows     = 100
	rowTolerance = 2 // percent
)

// geometry2020 is with the network of September 2020.
var geometry2020 = geometryStudy{network: "dahu_ringrong_2020", gemms: "het_poly_2020-07-08_reconstructed", smpi: "smpi_gflops",
	firstHost: 1, allNoisy: true, plot: "geometry", title: "960 ranks, network of 2020", claims: geometryClaims}

// geometry2019 is with the network of 2019, which was wrong for grids of few rows. With
// it, those of many take minutes even to be estimated.
var geometry2019 = geometryStudy{network: "dahu_2019", gemms: "het_poly_2020-01-14_reconstructed", smpi: "smpi_old_gflops",
	fewRows: true, plot: "geometry-2019", title: "960 ranks, network of 2019", claims: firstNetworkClaims}

func (g *geometryStudy) measure(l *lab) (section, error) {
	points, err := g.replay(l)
	if err != nil {
		return section{}, err
	}
	text := agree(points, gridName).text() + "\n" + ranking(points) + "\n" + page.Image(l.plots, g.plot, "Gflops of the grids, "+g.title) + "\n" + pointTable([]string{"P", "Q"}, points)
	return section{text, g.claims(points)}, plotSorted(l, g.plot, g.title, points)
}

func gridName(p point) string { return strings.Join(p.labels, "x") }

// firstNetworkClaims checks how far off the first network is.
func firstNetworkClaims(points []point) []verdict {
	a := agree(points, gridName)
	return []verdict{{9, fmt.Sprintf("worst %s %% at %s", tenth(a.oursReal.worst), a.oursReal.worstAt), a.oursReal.worst > 40}}
}

// geometryClaims checks how far off the second network is, and best and worst grids.
func geometryClaims(points []point) []verdict {
	a := agree(points, gridName)
	best := slices.MaxFunc(points, func(a, b point) int { return cmp.Compare(a.ours, b.ours) })
	worst := slices.MinFunc(points, func(a, b point) int { return cmp.Compare(a.ours, b.ours) })
	return []verdict{
		{10, fmt.Sprintf("%s, %d of %d within 5 %% (SMPI: %s, %d)", a.oursReal.limits(), a.oursReal.within5, a.oursReal.n, a.smpiReal.limits(), a.smpiReal.within5),
			a.oursReal.mean() <= a.smpiReal.mean()+1},
		{14, fmt.Sprintf("best %s, worst %s, factor %.1f between them among those replayed", gridName(best), gridName(worst), best.ours/worst.ours),
			sameExtremes(points)},
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

// replay replays the grids.
func (g *geometryStudy) replay(l *lab) ([]point, error) {
	d, err := l.readDahu()
	if err != nil {
		return nil, err
	}
	others := d.others
	if !g.allNoisy {
		others = others.minimal()
	}
	kernels, err := d.kernels(g.gemms, others)
	if err != nil {
		return nil, err
	}
	kernels.noisyGemm, kernels.noisyOthers = true, g.allNoisy
	s, err := l.sheet("geometry/geometry.csv", "p", "q", "real_gflops_mean", g.smpi)
	if err != nil {
		return nil, err
	}
	machine, models := d.networks[g.network].xml(cluster{first: g.firstHost, last: g.firstHost + 29, cores: 32}), kernels.yaml()
	var points []point
	for _, r := range s.rows {
		flags := ""
		if r.whole("p") > mostRows {
			if g.fewRows && !l.all {
				continue
			}
			flags = l.within(rowTolerance)
		}
		points = append(points, point{
			labels: []string{r.text("p"), r.text("q")},
			run:    run{hpl: dahuFlags(250000, 128, r.whole("p"), r.whole("q"), "2rg", 1, "bin"), platform: machine, kernels: models, flags: flags},
			smpi:   r.number(g.smpi), real: r.number("real_gflops_mean"),
		})
	}
	if s.err != nil {
		return nil, s.err
	}
	return points, l.replayPoints(points)
}

// ranking compares the order of points with the machine's.
func ranking(points []point) string {
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
