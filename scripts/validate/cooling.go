package main

import (
	"fmt"
	"math"
	"strings"

	"reprise/internal/page"
	"reprise/internal/wording"
)

// cooling replays model D1_het for the two states of Dahu's cooling. Input, broken:
// that of D1_het. Repaired (September 2020): the dgemm models are not public; those
// of July 2020 are the closest, with 7 processors published and the others
// reconstructed; hosts 1 to 32.
func cooling(l *runner) (section, error) {
	d, err := l.readDahu()
	if err != nil {
		return section{}, err
	}
	s, err := l.csvTable("dahu/predictions_cooling.csv", "cooling", "matrix_size", "smpi_gflops")
	if err != nil {
		return section{}, err
	}
	real, err := l.pooledRuns()
	if err != nil {
		return section{}, err
	}
	broken, err := d.kernels("het_poly_2019-04-05", d.others)
	if err != nil {
		return section{}, err
	}
	repaired, err := d.kernels("het_poly_2020-07-08_reconstructed", d.others)
	if err != nil {
		return section{}, err
	}
	net, err := d.network("dahu_2019")
	if err != nil {
		return section{}, err
	}
	broken.noisyGemm, broken.noisyOthers = true, true
	repaired.noisyGemm, repaired.noisyOthers = true, true
	states := map[string]struct {
		first   int
		kernels string
	}{"bad": {0, broken.yaml()}, "good": {1, repaired.yaml()}}
	var points []point
	for _, r := range s.rows {
		n, st := r.whole("matrix_size"), states[r.text("cooling")]
		points = append(points, point{
			labels: []string{r.text("cooling"), wording.Thousands(n)},
			run: run{hpl: dahuFlags(n, 128, 32, 32, "2rg", 1, "bin"), kernels: st.kernels,
				platform: net.xml(cluster{first: st.first, last: st.first + 31, cores: 32})},
			smpi: r.number("smpi_gflops"), real: real[r.text("cooling")][n],
		})
	}
	if s.err != nil {
		return section{}, s.err
	}
	if err := l.replayPoints(points); err != nil {
		return section{}, err
	}
	text := agree(points, func(p point) string { return p.labels[0] + " " + p.labels[1] }).text() + "\n" +
		page.Image(l.plots, "cooling", "Gflops by N, cooling broken and repaired") + "\n" + pointTable([]string{"cooling", "N"}, points)
	return section{text, coolingClaims(points)}, plotCooling(l, points)
}

// coolingClaims checks what broken cooling costs, and how well both states are
// predicted.
func coolingClaims(points []point) []verdict {
	at, smpi := map[string]float64{}, map[string]float64{}
	errors := map[string]*spread{"good": {}, "bad": {}}
	for _, p := range points {
		at[strings.Join(p.labels, " ")], smpi[strings.Join(p.labels, " ")] = p.ours, p.smpi
		if e := errors[p.labels[0]]; e != nil && p.real > 0 {
			e.add(relative(p.ours, p.real), "")
		}
	}
	const good, bad = "good 500,000", "bad 500,000"
	return []verdict{decide(8, at, []string{good, bad}, func() (string, bool) {
		loss, g, b := relative(at[bad], at[good]), errors["good"], errors["bad"]
		return fmt.Sprintf("%s %% at 500,000 (SMPI: %s %%); good %s, bad %s", tenth(loss), tenth(relative(smpi[bad], smpi[good])), g.limits(), b.limits()),
			math.Abs(loss+12.8) < 4 && g.within(5) == g.n() && b.within(5) >= b.n()-1
	})}
}

// pooledRuns returns the mean Gflops of all real runs by the state of the cooling.
func (l *runner) pooledRuns() (map[string]sized, error) {
	s, err := l.csvTable("dahu/reality_runs.csv", "cooling", "matrix_size", "gflops")
	if err != nil {
		return nil, err
	}
	type key struct {
		cooling string
		n       int
	}
	count := map[key]float64{}
	sums := map[string]sized{"good": {}, "bad": {}}
	for _, r := range s.rows {
		k := key{r.text("cooling"), r.whole("matrix_size")}
		if sums[k.cooling] == nil {
			sums[k.cooling] = sized{}
		}
		count[k]++
		sums[k.cooling][k.n] += r.number("gflops")
	}
	for k, n := range count {
		sums[k.cooling][k.n] /= n
	}
	return sums, s.err
}

func plotCooling(l *runner, points []point) error {
	g := page.Graph{Title: "Dahu's cooling", X: "N / 1000", Y: "Tflops", Linear: true}
	for i, state := range []string{"good", "bad"} {
		real := page.Curve{Name: "reality, " + state, Style: page.Style{Color: i + 1}}
		ours := page.Curve{Name: "ours, " + state, Style: page.Style{Color: i + 1, Dashed: true}}
		for _, p := range points {
			if p.labels[0] == state {
				n := float64(p.order()) / 1000
				real.Add(n, p.real/1000)
				ours.Add(n, p.ours/1000)
			}
		}
		g.Curves = append(g.Curves, real, ours)
	}
	return g.Write(l.plots, "cooling")
}
