package main

import (
	"fmt"
	"strings"

	"reprise/internal/page"
	"reprise/internal/wording"
)

// modelStep is one of the models A1 to D2_het and simple: how much of the machine's
// variability the simulation knows.
type modelStep struct {
	name                     string
	gemms                    string // set of dgemm models
	minimal                  bool   // other kernels
	noisyKernels, noisyLinks bool
}

// readModelSeries reads dahu/model_ladder.csv.
func (l *runner) readModelSeries() ([]modelStep, error) {
	s, err := l.csvTable("dahu/model_ladder.csv", "model", "stochastic_cpu", "stochastic_network", "dgemm_model", "kernel_variant")
	if err != nil {
		return nil, err
	}
	var series []modelStep
	for _, r := range s.rows {
		series = append(series, modelStep{
			name: r.text("model"), gemms: r.text("dgemm_model"), minimal: r.text("kernel_variant") == "minimal",
			noisyKernels: r.number("stochastic_cpu") != 0, noisyLinks: r.number("stochastic_network") != 0,
		})
	}
	return series, s.err
}

// sized are Gflops by order of the matrix.
type sized map[int]float64

// readPredictions reads SMPI's Gflops by model and order of the matrix.
func (l *runner) readPredictions() (map[string]sized, error) {
	s, err := l.csvTable("dahu/predictions.csv", "model", "matrix_size", "smpi_gflops")
	if err != nil {
		return nil, err
	}
	all := map[string]sized{}
	for _, r := range s.rows {
		if all[r.text("model")] == nil {
			all[r.text("model")] = sized{}
		}
		all[r.text("model")][r.whole("matrix_size")] = r.number("smpi_gflops")
	}
	return all, s.err
}

// readReality returns the mean Gflops of a campaign of real runs.
func (l *runner) readReality(campaign string) (sized, error) {
	s, err := l.csvTable("dahu/reality.csv", "campaign", "matrix_size", "gflops_mean")
	if err != nil {
		return nil, err
	}
	means := sized{}
	for _, r := range s.rows {
		if r.text("campaign") == campaign {
			means[r.whole("matrix_size")] = r.number("gflops_mean")
		}
	}
	return means, s.err
}

// orders are those of the matrix-size study.
var orders = []int{50000, 75000, 100000, 125000, 150000, 175000, 200000, 250000, 300000, 350000, 400000, 450000, 500000}

// matrixSize replays all models for all orders.
func matrixSize(l *runner) (section, error) {
	d, err := l.readDahu()
	if err != nil {
		return section{}, err
	}
	series, err := l.readModelSeries()
	if err != nil {
		return section{}, err
	}
	smpi, err := l.readPredictions()
	if err != nil {
		return section{}, err
	}
	real, err := l.readReality("2019-03")
	if err != nil {
		return section{}, err
	}
	st := &modelStudy{smpi: smpi, real: real, ours: map[string]sized{}}
	for _, step := range series {
		st.steps = append(st.steps, step)
		if st.ours[step.name], err = l.replaySizes(d, step); err != nil {
			return section{}, err
		}
	}
	if err := st.plot(l); err != nil {
		return section{}, err
	}
	return section{st.text(l) + l.estimated(), st.claims()}, nil
}

// replaySizes returns our Gflops of a model by order.
func (l *runner) replaySizes(d *dahu, step modelStep) (sized, error) {
	others := d.others
	if step.minimal {
		others = others.minimal()
	}
	kernels, err := d.kernels(step.gemms, others)
	if err != nil {
		return nil, err
	}
	kernels.noisyGemm, kernels.noisyOthers = step.noisyKernels, step.noisyKernels && !step.minimal
	net, err := d.network("dahu_2019")
	if err != nil {
		return nil, err
	}
	machine := net.xml(cluster{first: 0, last: 31, cores: 32})
	links := ""
	if step.noisyLinks {
		links = d.linkNoise
	}
	var runs []run
	list := step.orders()
	for _, n := range list {
		runs = append(runs, run{hpl: dahuFlags(n, 128, 32, 32, "2rg", 1, "bin"), platform: machine, kernels: kernels.yaml(), links: links, flags: l.estimate(step, n)})
	}
	results, err := l.replayAll(runs)
	if err != nil {
		return nil, err
	}
	gflops := sized{}
	for i, n := range list {
		gflops[n] = results[i].Gflops
	}
	return gflops, nil
}

// orders are those that a model is replayed for: all without noise and for D1_het,
// the best model; a few for the others with noise.
func (s modelStep) orders() []int {
	if s.noisyLinks || s.noisyKernels && s.name != "D1_het" {
		return []int{50000, 100000, 250000, 500000}
	}
	return orders
}

// modelStudy holds Gflops of models: ours and SMPI's, and those of the machine.
type modelStudy struct {
	steps      []modelStep
	ours, smpi map[string]sized
	real       sized
}

// text writes the tables: errors by order and model, then their means.
func (s *modelStudy) text(l *runner) string {
	return page.Image(l.plots, "dahu", "Gflops by N and model") + page.Image(l.plots, "dahu-smpi", "errors against SMPI") + "\nOurs against SMPI, error of Gflops in percent:\n\n" + s.errors(s.ours, func(name string) sized { return s.smpi[name] }) +
		"\nOurs against reality:\n\n" + s.errors(s.ours, func(string) sized { return s.real }) +
		"\nSMPI against reality:\n\n" + s.errors(s.smpi, func(string) sized { return s.real }) +
		"\nAll orders together, absolute errors in percent:\n\n" + s.summary()
}

func (s *modelStudy) errors(got map[string]sized, want func(name string) sized) string {
	head := []string{"N"}
	for _, step := range s.steps {
		head = append(head, step.name)
	}
	t := page.NewTable(head...)
	for _, n := range orders {
		cells := []string{wording.Thousands(n)}
		for _, step := range s.steps {
			cells = append(cells, off(got[step.name][n], want(step.name)[n]))
		}
		t.Row(cells...)
	}
	return t.String()
}

func (s *modelStudy) summary() string {
	t := page.NewTable("model", "points", "ours − SMPI: mean", "worst", "at N", "ours − reality: mean", "worst", "SMPI − reality: mean", "worst")
	for _, step := range s.steps {
		var smpi, real, theirs spread
		for _, n := range orders {
			if s.ours[step.name][n] == 0 {
				continue
			}
			smpi.add(relative(s.ours[step.name][n], s.smpi[step.name][n]), wording.Thousands(n))
			real.add(relative(s.ours[step.name][n], s.real[n]), wording.Thousands(n))
			theirs.add(relative(s.smpi[step.name][n], s.real[n]), wording.Thousands(n))
		}
		t.Row(step.name, fmt.Sprint(smpi.n()), fmt.Sprintf("%.2f", smpi.mean()), percent(smpi.worst), smpi.worstAt,
			fmt.Sprintf("%.2f", real.mean()), percent(real.worst), fmt.Sprintf("%.2f", theirs.mean()), percent(theirs.worst))
	}
	return t.String()
}

// percent writes an error with its sign: +1.23, −0.45.
func percent(x float64) string { return strings.Replace(fmt.Sprintf("%+.2f", x), "-", "−", 1) }

// Runs without noise of kernels are estimates from the order estimatedFrom on, without
// -all. Below, they are short and many too chaotic to be estimated any quicker. With
// noise, windows need long warm-ups (docs/sampling.md): an estimate simulates a quarter to
// half of the steps, and the run might as well be complete.
const (
	estimatedFrom = 250000
	sizeTolerance = 1 // percent
)

// estimated says which runs of a table of all orders are estimates.
func (l *runner) estimated() string {
	if l.all {
		return ""
	}
	return fmt.Sprintf("\nOurs without noise of kernels (A and C) are estimates within %d %% (95 %% confidence) from N = %s on.\n", sizeTolerance, wording.Thousands(estimatedFrom))
}

// estimate returns the flags of replay for a run of order n.
func (l *runner) estimate(step modelStep, n int) string {
	if step.noisyKernels || n < estimatedFrom {
		return ""
	}
	return l.within(sizeTolerance)
}
