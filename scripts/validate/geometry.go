package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"reprise/internal/page"
)

// geometryStudy replays the grids of 960 ranks on 30 nodes of Dahu with N = 250,000, by
// one of the calibrations of the network.
type geometryStudy struct {
	network     string
	gemms       func(*runner, *dahu) (*gemmModel, error)
	smpi        string // column of SMPI's Gflops
	firstHost   int
	allGrids    bool // also those of which the data tell nothing
	fewRows     bool // without -all only grids of few rows
	allNoisy    bool // noise of all kernels; else of dgemm, with minimal other kernels
	plot, title string
	claims      func([]point) []verdict
}

// gridRanks is the number of ranks of all grids.
const gridRanks = 960

// Grids of more than mostRows process rows take up to 20 times as long as others, since
// a pivot is exchanged among all rows. Without -all they are estimates, or left out.
const (
	mostRows     = 100
	rowTolerance = 2 // percent
)

// geometry2020 is with the network of September 2020.
var geometry2020 = geometryStudy{network: "dahu_ringrong_2020", gemms: july2020, smpi: "smpi_gflops",
	firstHost: 1, allGrids: true, allNoisy: true, plot: "geometry", title: "960 ranks, network of 2020", claims: geometryClaims}

// geometry2019 is with the network of 2019, which was wrong for grids of few rows. With
// it, those of many take minutes even to be estimated.
var geometry2019 = geometryStudy{network: "dahu_2019", gemms: january128, smpi: "smpi_old_gflops",
	fewRows: true, plot: "geometry-2019", title: "960 ranks, network of 2019", claims: firstNetworkClaims}

// july2020 are models of which the data have 7 processors and reconstruct the others.
func july2020(_ *runner, d *dahu) (*gemmModel, error) {
	return d.gemm("het_poly_2020-07-08_reconstructed")
}

// january128 are those of January 2020 with K = 128.
func january128(l *runner, d *dahu) (*gemmModel, error) {
	blocks, err := l.blockRatio()
	if err != nil {
		return nil, err
	}
	models, err := d.readJanuary2020(blocks)
	return &models.k128, err
}

func (g *geometryStudy) measure(l *runner) (section, error) {
	points, err := g.replay(l)
	if err != nil {
		return section{}, err
	}
	text := agree(points, gridName).text() + "\n" + ranking(points) + "\n" + page.Image(l.plots, g.plot, "Gflops of the grids, "+g.title) + "\n" + pointTable([]string{"P", "Q"}, points)
	if g.fewRows && !l.all {
		text += fmt.Sprintf("\nWithout `-all`, grids of more than %d rows are left out.\n", mostRows)
	}
	return section{text, g.claims(points)}, plotSorted(l, g.plot, g.title, points)
}

func gridName(p point) string { return strings.Join(p.labels, "x") }

// noRealGrid says why grids cannot be compared with the machine.
const noRealGrid = "the data have no Gflops of the machine for any of these grids"

// firstNetworkClaims checks how far off the first network is.
func firstNetworkClaims(points []point) []verdict {
	a := agree(points, gridName)
	if a.oursReal.n() == 0 {
		return []verdict{{Claim: 9, Ours: "–", Untested: noRealGrid}}
	}
	return []verdict{{Claim: 9, Ours: fmt.Sprintf("worst %s %% at %s", tenth(a.oursReal.worst), a.oursReal.worstAt), Reproduced: a.oursReal.worst > 40}}
}

// The claims tell which grids are the best and the worst on the machine, of all; the
// data may have some of them only.
const publishedBest, publishedWorst = "30x32", "960x1"

// geometryClaims checks how far off the second network is, and the order of all grids.
func geometryClaims(points []point) []verdict {
	a := agree(points, gridName)
	best, worst := extremes(points, ourGflops)
	flat, pairs := flatBeatsTall(points)
	ten := verdict{Claim: 10, Ours: "–", Untested: noRealGrid}
	if a.oursReal.n() > 0 && a.smpiReal.n() > 0 {
		ten = verdict{Claim: 10, Ours: fmt.Sprintf("%s, %d of %d within 6 %% (SMPI: %s, %d)", a.oursReal.limits(), a.oursReal.within(6), a.oursReal.n(), a.smpiReal.limits(), a.smpiReal.within(6)),
			Reproduced: a.oursReal.mean() <= a.smpiReal.mean()+1}
	}
	return []verdict{
		ten,
		{Claim: 14, Ours: fmt.Sprintf("best %s, worst %s, factor %.1f between them; small P beats large P in %d of %d pairs",
			gridName(best), gridName(worst), best.ours/worst.ours, flat, pairs),
			Reproduced: gridName(best) == publishedBest && gridName(worst) == publishedWorst && flat == pairs},
	}
}

// The Gflops of a grid, 0 where none are published.
func ourGflops(p point) float64  { return p.ours }
func smpiGflops(p point) float64 { return p.smpi }
func realGflops(p point) float64 { return p.real }

// extremes returns the points of most and of fewest Gflops.
func extremes(points []point, gflops func(point) float64) (best, worst point) {
	order := func(a, b point) int { return cmp.Compare(gflops(a), gflops(b)) }
	return slices.MaxFunc(points, order), slices.MinFunc(points, order)
}

// flatBeatsTall counts the pairs of a grid and the same turned over, and those among
// them in which that of fewer rows is quicker. The points are all grids, by rows.
func flatBeatsTall(points []point) (flat, pairs int) {
	pairs = len(points) / 2
	for i, p := range points[:pairs] {
		if p.ours > points[len(points)-1-i].ours {
			flat++
		}
	}
	return flat, pairs
}

// ranking compares the orders of the grids, of all and of those with published Gflops.
func ranking(points []point) string {
	t := page.NewTable("", "grids", "best", "worst", "rank correlation with reality")
	published := slices.DeleteFunc(slices.Clone(points), func(p point) bool { return p.real == 0 })
	if len(published) == 0 {
		return noRealGrid + "\n"
	}
	if len(published) < len(points) {
		best, worst := extremes(points, ourGflops)
		t.Row("ours", "all "+fmt.Sprint(len(points)), gridName(best), gridName(worst), "")
		t.Row("reality, by the claims", "all "+fmt.Sprint(len(points)), publishedBest, publishedWorst, "")
	}
	for _, x := range []struct {
		name   string
		gflops func(point) float64
	}{{"ours", ourGflops}, {"SMPI", smpiGflops}, {"reality", realGflops}} {
		best, worst := extremes(published, x.gflops)
		var these, real []float64
		for _, p := range published {
			these, real = append(these, x.gflops(p)), append(real, p.real)
		}
		t.Row(x.name, fmt.Sprint(len(published)), gridName(best), gridName(worst), fmt.Sprintf("%.3f", rankCorrelation(these, real)))
	}
	return t.String()
}

// replay replays the grids.
func (g *geometryStudy) replay(l *runner) ([]point, error) {
	d, err := l.readDahu()
	if err != nil {
		return nil, err
	}
	others := d.others
	if !g.allNoisy {
		others = others.minimal()
	}
	gemms, err := g.gemms(l, d)
	if err != nil {
		return nil, err
	}
	kernels := gemms.kernels(others)
	kernels.noisyGemm, kernels.noisyOthers = true, g.allNoisy
	s, err := l.csvTable("geometry/geometry.csv", "p", "q", "real_gflops_mean", g.smpi)
	if err != nil {
		return nil, err
	}
	net, err := d.network(g.network)
	if err != nil {
		return nil, err
	}
	machine, models := net.xml(cluster{first: g.firstHost, last: g.firstHost + 29, cores: 32}), kernels.yaml()
	grids := g.grids(l, s)
	if len(grids) == 0 {
		return nil, fmt.Errorf("none of the grids in the data is replayed without -all: they have more than %d rows", mostRows)
	}
	var points []point
	for _, grid := range grids {
		flags := ""
		if grid.p > mostRows {
			flags = l.within(rowTolerance)
		}
		points = append(points, point{
			labels: []string{fmt.Sprint(grid.p), fmt.Sprint(grid.q)},
			run:    run{hpl: dahuFlags(250000, 128, grid.p, grid.q, "2rg", 1, "bin"), platform: machine, kernels: models, flags: flags},
			smpi:   grid.smpi, real: grid.real,
		})
	}
	if s.err != nil {
		return nil, s.err
	}
	return points, l.replayPoints(points)
}

// grid is a shape of the ranks, with its published Gflops, 0 if there are none.
type grid struct {
	p, q       int
	smpi, real float64
}

// grids returns the grids to replay, by their numbers of rows.
func (g *geometryStudy) grids(l *runner, s *csvTable) []grid {
	var grids []grid
	for p := 1; p <= gridRanks; p++ {
		if gridRanks%p != 0 || p > mostRows && g.fewRows && !l.all {
			continue
		}
		x := grid{p: p, q: gridRanks / p}
		i := slices.IndexFunc(s.rows, func(r row) bool { return r.whole("p") == x.p && r.whole("q") == x.q })
		if i >= 0 {
			x.smpi, x.real = s.rows[i].number(g.smpi), s.rows[i].number("real_gflops_mean")
		}
		if i >= 0 || g.allGrids {
			grids = append(grids, x)
		}
	}
	return grids
}
