package main

import (
	"fmt"
	"math"

	"reprise/internal/page"
)

// claims checks those about accuracy by N.
func (s *modelStudy) claims() []verdict {
	const tiny, small, middle, large = 50000, 100000, 250000, 500000
	ours, off := map[string]float64{}, map[string]float64{} // Gflops, and percent above the machine's
	for _, step := range s.steps {
		for n, gflops := range s.ours[step.name] {
			ours[cell(n, step.name)] = gflops
			if s.real[n] > 0 {
				off[cell(n, step.name)] = relative(gflops, s.real[n])
			}
		}
	}
	at := func(n int, model string) float64 { return off[cell(n, model)] }
	few := func(models ...string) (keys []string) {
		for _, n := range []int{tiny, small, middle, large} {
			keys = append(keys, cells(n, models...)...)
		}
		return keys
	}
	var all []string
	for _, n := range orders {
		all = append(all, cell(n, "D1_het"))
	}
	return []verdict{
		decide(1, off, []string{cell(large, "A1"), cell(small, "A1")}, func() (string, bool) {
			return fmt.Sprintf("%s %% at 500,000, %s %% at 100,000", tenth(at(large, "A1")), tenth(at(small, "A1"))), at(large, "A1") > 30
		}),
		decide(2, ours, few("A1", "A2", "D1_het", "D2_het"), func() (string, bool) {
			a, d := s.apart("A2", "A1"), s.apart("D2_het", "D1_het")
			return fmt.Sprintf("A2 within %.1f %% of A1, D2_het within %.1f %% of D1_het", a, d), a < 1.5 && d < 1.5
		}),
		decide(3, off, cells(large, "A1_het"), func() (string, bool) {
			return tenth(at(large, "A1_het")) + " % at 500,000", math.Abs(at(large, "A1_het")-8.7) < 1.5
		}),
		decide(4, off, append(cells(large, "A1_het", "C1_het"), cells(small, "A1_het", "C1_het")...), func() (string, bool) {
			return fmt.Sprintf("%s %% instead of %s %% at 100,000, %s %% instead of %s %% at 500,000", tenth(at(small, "C1_het")), tenth(at(small, "A1_het")), tenth(at(large, "C1_het")), tenth(at(large, "A1_het"))),
				math.Abs(at(small, "A1_het"))-math.Abs(at(small, "C1_het")) > 2 && math.Abs(at(large, "A1_het")) > math.Abs(at(large, "C1_het"))
		}),
		decide(5, off, all, func() (string, bool) {
			var e spread
			for _, n := range orders {
				e.add(at(n, "D1_het"), "")
			}
			return fmt.Sprintf("%s, %s %% at 500,000", e.limits(), tenth(at(large, "D1_het"))), e.within(5) == e.n() && math.Abs(at(large, "D1_het")) < 2
		}),
		decide(6, off, few("simple"), func() (string, bool) {
			return fmt.Sprintf("%s %% at 250,000, %s %% at 500,000, %s %% at 50,000", tenth(at(middle, "simple")), tenth(at(large, "simple")), tenth(at(tiny, "simple"))),
				math.Abs(at(middle, "simple")) <= 1 && math.Abs(at(large, "simple")) <= 1
		}),
		decide(7, ours, cells(large, "C1", "C1_het", "D1_het"), func() (string, bool) {
			spatial, temporal := relative(s.ours["C1"][large], s.ours["C1_het"][large]), relative(s.ours["C1_het"][large], s.ours["D1_het"][large])
			return fmt.Sprintf("spatial %.0f %%, temporal %.0f %%", spatial, temporal), math.Abs(spatial-22) < 3 && math.Abs(temporal-9) < 3
		}),
	}
}

// has reports whether a model was replayed for orders.
func (s *modelStudy) has(model string, orders ...int) bool {
	for _, n := range orders {
		if s.ours[model][n] == 0 {
			return false
		}
	}
	return true
}

// apart returns the largest difference between two models in percent.
func (s *modelStudy) apart(a, b string) float64 {
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
func (s *modelStudy) plot(l *runner) error {
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

func (s *modelStudy) plotErrors(l *runner) error {
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
