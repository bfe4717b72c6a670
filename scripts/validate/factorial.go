package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/plotter"

	"reprise/internal/page"
)

// factorial replays the combinations of NB, DEPTH, BCAST and SWAP that were run on
// Dahu with N = 250,000.
func factorial(l *runner) (section, error) {
	x, points, err := replayFactorial(l)
	if err != nil {
		return section{}, err
	}
	effects, orders, err := effectTable([]string{"NB", "DEPTH", "BCAST", "SWAP"}, points)
	if err != nil {
		return section{}, err
	}
	a := agree(points, combination)
	text := fmt.Sprintf("With K = 256, dgemm takes %.3f times as long here for each M N K, %.3f for each M K and %.3f for each N K, as with K = 128, and by the figure all of it %.3f times that, on average.\n\n",
		x.blocks.work, x.blocks.mk, x.blocks.nk, x.slower) + a.text() + "\n" + page.Image(l.plots, "factorial", "Gflops of the combinations") + "\nAnalysis of variance, main effects:\n\n" + effects +
		"\nAll combinations:\n\n" + pointTable([]string{"NB", "DEPTH", "BCAST", "SWAP"}, points)
	return section{text, factorialClaims(points, a, orders)}, plotSorted(l, "factorial", "Factorial experiment, N = 250,000", points)
}

// factorialStudy is what the simulations of the factorial experiment were given: dgemm
// of January 2020, one for each NB, minimal other kernels, noise of dgemm.
type factorialStudy struct {
	kernels       map[int]string // YAML, by NB
	reconstructed string         // with NB = 128, as the data have it
	blocks        blockRatio     // of NB = 256 to NB = 128
	slower        float64        // beyond that
	machine       string
	rows          []row
}

func newFactorialStudy(l *runner) (*factorialStudy, error) {
	d, err := l.readDahu()
	if err != nil {
		return nil, err
	}
	net, err := d.network("dahu_2019")
	if err != nil {
		return nil, err
	}
	x := &factorialStudy{machine: net.xml(cluster{last: 31, cores: 32})}
	if x.blocks, err = l.blockRatio(); err != nil {
		return nil, err
	}
	models, err := d.readJanuary2020(x.blocks)
	if err != nil {
		return nil, err
	}
	noisy := func(g *gemmModel) string {
		m := g.kernels(d.others.minimal())
		m.noisyGemm = true
		return m.yaml()
	}
	x.kernels = map[int]string{128: noisy(&models.k128), 256: noisy(&models.k256)}
	x.reconstructed, x.slower = noisy(d.gemms[reconstructed2020]), models.slower
	s, err := l.csvTable("factorial/factorial.csv", "nb", "depth", "bcast", "swap", "real_time_mean_s", "smpi_gflops")
	if err != nil {
		return nil, err
	}
	for _, r := range s.rows {
		if nb := r.whole("nb"); x.kernels[nb] == "" {
			return nil, fmt.Errorf("%sno dgemm model for NB = %d", r.where, nb)
		}
		r.whole("depth")
		if !(r.number("real_time_mean_s") > 0 && r.number("smpi_gflops") > 0) && s.err == nil {
			return nil, fmt.Errorf("%sno time of the machine, or no Gflops of SMPI's", r.where)
		}
	}
	x.rows = s.rows
	return x, s.err
}

// replayFactorial returns the study and all its combinations, replayed.
func replayFactorial(l *runner) (*factorialStudy, []point, error) {
	x, err := newFactorialStudy(l)
	if err != nil {
		return nil, nil, err
	}
	points := x.points()
	return x, points, l.replayPoints(points)
}

// points lists the combinations.
func (x *factorialStudy) points() []point {
	var points []point
	for _, r := range x.rows {
		nb := r.whole("nb")
		points = append(points, point{
			labels: []string{r.text("nb"), r.text("depth"), r.text("bcast_name"), r.text("swap_name")},
			run:    run{hpl: dahuFlags(250000, nb, 32, 32, r.text("bcast"), r.whole("depth"), r.text("swap")), platform: x.machine, kernels: x.kernels[nb]},
			smpi:   r.number("smpi_gflops"), real: hplGflops(250000, r.number("real_time_mean_s")),
		})
	}
	return points
}

// combination names a point.
func combination(p point) string { return strings.Join(p.labels, " ") }

// blockRatio is how many times as long the terms of dgemm take with K = 256 as with K =
// 128: those that grow with all three dimensions, and those of M*K and of N*K. HPL
// updates NB columns at a time while it polls, where M*K counts, and all of them otherwise.
type blockRatio struct{ work, mk, nk float64 }

// blockRatio reads the ratio off the published regressions of timings with one K only, on
// both processors of a node. With one K, products of M*N*K and M*N are one term.
func (l *runner) blockRatio() (blockRatio, error) {
	s, err := l.csvTable("dgemm_calibration/dgemm_raw_expected.csv", "experiment", "mnk", "mn", "mk", "nk")
	if err != nil {
		return blockRatio{}, err
	}
	sums := map[float64]*blockRatio{128: {}, 256: {}} // by K: seconds
	for _, r := range s.rows {
		k := map[string]float64{"128_01": 128, "256_00": 256}[r.text("experiment")]
		if sum := sums[k]; sum != nil {
			sum.work += r.number("mnk") + r.number("mn")/k
			sum.mk += r.number("mk")
			sum.nk += r.number("nk")
		}
	}
	few, many := sums[128], sums[256]
	if !(min(few.work, few.mk, few.nk, many.work, many.mk, many.nk) > 0) {
		return blockRatio{}, errors.Join(s.err, fmt.Errorf("no timings with K = 128 and with K = 256 in the data"))
	}
	return blockRatio{many.work / few.work, many.mk / few.mk, many.nk / few.nk}, s.err
}

// factorialClaims checks accuracy, range and order of the factors.
func factorialClaims(points []point, a agreement, orders []string) []verdict {
	best := slices.MaxFunc(points, func(a, b point) int { return cmp.Compare(a.ours, b.ours) })
	worst := slices.MinFunc(points, func(a, b point) int { return cmp.Compare(a.ours, b.ours) })
	far, theirs := farOff(points, ourGflops), farOff(points, smpiGflops)
	return []verdict{
		{Claim: 11, Ours: fmt.Sprintf("%d of %d within 5 %% (SMPI: %d); above 10 %%: %s (SMPI: %s)", a.oursReal.within(5), a.oursReal.n(), a.smpiReal.within(5), far, theirs),
			Reproduced: a.oursReal.within(5) >= a.smpiReal.within(5) && far == theirs},
		{Claim: 15, Ours: fmt.Sprintf("best %.0f %% above worst", relative(best.ours, worst.ours)), Reproduced: relative(best.ours, worst.ours) > 25},
		{Claim: 16, Ours: orders[0] + "; best " + strings.Join(best.labels, " "), Reproduced: orders[0] == orders[2] && best.labels[0] == "128" && best.labels[1] == "0" && slices.Contains(ringBcasts, best.labels[2])},
	}
}

// ringBcasts are the broadcasts along rings, as the data name them.
var ringBcasts = []string{"1rg", "1rM", "2rg", "2rM"}

// farOff names the combinations whose Gflops are more than 10 % from the machine's.
func farOff(points []point, gflops func(point) float64) string {
	var names []string
	for _, p := range points {
		if math.Abs(relative(gflops(p), p.real)) > 10 {
			names = append(names, combination(p))
		}
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}

// hplGflops returns HPL's Gflops of a run of some seconds.
func hplGflops(n int, seconds float64) float64 {
	x := float64(n)
	return (2.0/3*x*x*x + 1.5*x*x) / seconds / 1e9
}

// effectTable compares the analyses of variance of ours, SMPI's and the machine's
// Gflops by the labels of points, and returns the three orders of factors.
func effectTable(names []string, points []point) (text string, orders []string, err error) {
	factors := make([]factor, len(names))
	var ours, smpi, real []float64
	for i, name := range names {
		factors[i].name = name
	}
	for _, p := range points {
		for i := range names {
			factors[i].levels = append(factors[i].levels, p.labels[i])
		}
		ours, smpi, real = append(ours, p.ours), append(smpi, p.smpi), append(real, p.real)
	}
	t := page.NewTable("Gflops of", "order of factors", "F", "share of the sum of squares, %")
	for _, x := range []struct {
		name string
		y    []float64
	}{{"ours", ours}, {"SMPI", smpi}, {"reality", real}} {
		effects, err := variance(factors, x.y)
		if err != nil {
			return "", nil, err
		}
		slices.SortStableFunc(effects, func(a, b effect) int { return cmp.Compare(b.f, a.f) })
		var order, f, share []string
		for _, e := range effects {
			order, f, share = append(order, e.name), append(f, fmt.Sprintf("%.1f", e.f)), append(share, fmt.Sprintf("%.1f", e.share))
		}
		orders = append(orders, strings.Join(order, ", "))
		t.Row(x.name, strings.Join(order, ", "), strings.Join(f, ", "), strings.Join(share, ", "))
	}
	return t.String(), orders, nil
}

// plotSorted draws ours, SMPI's and the machine's Gflops of points in the order of
// the machine's.
func plotSorted(l *runner, name, title string, points []point) error {
	points = slices.DeleteFunc(slices.Clone(points), func(p point) bool { return p.real == 0 })
	slices.SortStableFunc(points, func(a, b point) int { return cmp.Compare(a.real, b.real) })
	curves := []page.Curve{{Name: "reality", Style: page.Style{Color: 1}}, {Name: "ours", Style: page.Style{Color: 2, Marks: true}}, {Name: "SMPI", Style: page.Style{Color: 3, Dashed: true}}}
	for i, p := range points {
		for k, y := range []float64{p.real, p.ours, p.smpi} {
			curves[k].Points = append(curves[k].Points, plotter.XY{X: float64(i + 1), Y: y / 1000})
		}
	}
	return page.Graph{Title: title, X: "configuration, by reality", Y: "Tflops", Curves: curves, Linear: true}.Write(l.plots, name)
}
