package main

import (
	"fmt"

	"reprise/internal/wording"
)

// paravance replays the five published simulations of a second cluster: 32x32 ranks
// on 64 nodes with 10 Gb/s Ethernet, noise of dgemm, Dahu's minimal other kernels.
func paravance(l *runner) (section, error) {
	points, err := l.paravancePoints(true)
	if err != nil {
		return section{}, err
	}
	if err := l.replayPoints(points); err != nil {
		return section{}, err
	}
	return section{text: agree(points, first).text() + "\n" + pointTable([]string{"N"}, points)}, nil
}

// paravancePoints returns the simulations, with or without noise.
func (l *runner) paravancePoints(noisy bool) ([]point, error) {
	d, err := l.readDahu()
	if err != nil {
		return nil, err
	}
	var n network
	if err := l.document("paravance/platform.json", &n); err != nil {
		return nil, err
	}
	if d.gemms, err = l.readGemms("paravance/dgemm_cpu_models.csv"); err != nil {
		return nil, err
	}
	kernels, err := d.kernels("", d.others.minimal())
	if err != nil {
		return nil, err
	}
	if len(kernels.processors) == 0 {
		return nil, fmt.Errorf("no dgemm models of paravance's processors in the data")
	}
	kernels.gemm = kernels.processors[0].gemm // of a host without a model, which there is none of
	kernels.noisyGemm = noisy
	s, err := l.csvTable("paravance/predictions.csv", "matrix_size", "smpi_gflops")
	if err != nil {
		return nil, err
	}
	machine, models := n.xml(cluster{first: 1, last: 64, cores: 16}), kernels.yaml()
	var points []point
	for _, r := range s.rows {
		order := r.whole("matrix_size")
		points = append(points, point{labels: []string{wording.Thousands(order)}, smpi: r.number("smpi_gflops"),
			run: run{hpl: dahuFlags(order, 128, 32, 32, "2rg", 1, "bin"), platform: machine, kernels: models}})
	}
	return points, s.err
}
