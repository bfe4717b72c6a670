package main

import (
	"fmt"
	"math"

	"reprise/internal/page"
)

// claims checks those about accuracy by N.
func (s *ladderStudy) claims() []verdict {
	var list []verdict
	add := func(number int, ours string, ok bool) {
		list = append(list, verdict{Claim: number, Ours: ours, Reproduced: ok})
	}
	toReal := func(model string, n int) float64 { return relative(s.ours[model][n], s.real[n]) }
	const large, small = 500000, 100000
	if s.has("A1", large, small) {
		add(1, fmt.Sprintf("%s %% at 500,000, %s %% at 100,000", tenth(toReal("A1", large)), tenth(toReal("A1", small))), toReal("A1", large) > 30)
	}
	if s.has("A2", small) && s.has("D2_het", small) {
		a, d := s.apart("A2", "A1"), s.apart("D2_het", "D1_het")
		add(2, fmt.Sprintf("A2 within %.1f %% of A1, D2_het within %.1f %% of D1_het", a, d), a < 1.5 && d < 1.5)
	}
	if s.has("A1_het", large) {
		add(3, tenth(toReal("A1_het", large))+" % at 500,000", math.Abs(toReal("A1_het", large)-8.7) < 1.5)
	}
	if s.has("C1_het", large, small) && s.has("A1_het", large, small) {
		add(4, fmt.Sprintf("%s %% instead of %s %% at 100,000, %s %% instead of %s %% at 500,000", tenth(toReal("C1_het", small)), tenth(toReal("A1_het", small)), tenth(toReal("C1_het", large)), tenth(toReal("A1_het", large))),
			toReal("A1_het", small)-toReal("C1_het", small) > 2 && toReal("A1_het", large) > toReal("C1_het", large))
	}
	if s.has("D1_het", orders...) {
		var e spread
		for _, n := range orders {
			e.add(toReal("D1_het", n), "")
		}
		add(5, fmt.Sprintf("%s, %s %% at 500,000", e.limits(), tenth(toReal("D1_het", large))), e.within(5) == e.n() && math.Abs(toReal("D1_het", large)) < 2)
	}
	if s.has("simple", 250000, 50000) {
		ours, worst := "", 0.0
		for _, n := range orders {
			if n >= 250000 && s.has("simple", n) {
				ours += fmt.Sprintf("%s %% at %s, ", tenth(toReal("simple", n)), page.Count(n))
				worst = max(worst, math.Abs(toReal("simple", n)))
			}
		}
		add(6, ours+fmt.Sprintf("%s %% at 50,000", tenth(toReal("simple", 50000))), worst <= 1)
	}
	if s.has("C1", large) && s.has("C1_het", large) && s.has("D1_het", large) {
		spatial, temporal := relative(s.ours["C1"][large], s.ours["C1_het"][large]), relative(s.ours["C1_het"][large], s.ours["D1_het"][large])
		add(7, fmt.Sprintf("spatial %.0f %%, temporal %.0f %%", spatial, temporal), math.Abs(spatial-22) < 3 && math.Abs(temporal-9) < 3)
	}
	return list
}

// has reports whether a model was replayed for orders.
func (s *ladderStudy) has(model string, orders ...int) bool {
	for _, n := range orders {
		if s.ours[model][n] == 0 {
			return false
		}
	}
	return true
}

// apart returns the largest difference between two models in percent.
func (s *ladderStudy) apart(a, b string) float64 {
	largest := 0.0
	for _, n := range orders {
		if s.has(a, n) && s.has(b, n) {
			largest = max(largest, math.Abs(relative(s.ours[a][n], s.ours[b][n])))
		}
	}
	return largest
}

// plot draws Gflops of telling models against the machine's, and all errors against
// SMPI.
func (s *ladderStudy) plot(l *lab) error {
	g := page.Graph{Title: "Dahu, 1,024 ranks", X: "N / 1000", Y: "Tflops", Linear: true}
	real := page.Curve{Name: "reality"}
	for _, n := range orders {
		real.Add(float64(n)/1000, s.real[n]/1000)
	}
	g.Curves = append(g.Curves, real)
	for i, model := range []string{"A1", "A1_het", "C1_het", "D1_het"} {
		ours := page.Curve{Name: model, Style: page.Style{Color: i + 2}}
		smpi := page.Curve{Name: model + ", SMPI", Style: page.Style{Color: i + 2, Dashed: true}}
		for _, n := range orders {
			ours.Add(float64(n)/1000, s.ours[model][n]/1000)
			smpi.Add(float64(n)/1000, s.smpi[model][n]/1000)
		}
		g.Curves = append(g.Curves, ours, smpi)
	}
	if err := g.Write(l.plots, "dahu"); err != nil {
		return err
	}
	return s.plotErrors(l)
}

func (s *ladderStudy) plotErrors(l *lab) error {
	g := page.Graph{Title: "Ours against SMPI", X: "N / 1000", Y: "error of Gflops, %", Linear: true}
	for _, step := range s.steps {
		c := page.Curve{Name: step.name}
		for _, n := range orders {
			if s.has(step.name, n) {
				c.Add(float64(n)/1000, relative(s.ours[step.name][n], s.smpi[step.name][n]))
			}
		}
		if !step.noisyLinks {
			g.Curves = append(g.Curves, c)
		}
	}
	return g.Write(l.plots, "dahu-smpi")
}
