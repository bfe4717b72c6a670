package main

import "reprise/internal/page"

// paravance replays the five published simulations of a second cluster: 32x32 ranks
// on 64 nodes with 10 Gb/s Ethernet, noise of dgemm, Dahu's minimal other kernels.
func paravance(l *lab) (section, error) {
	d, err := l.readDahu()
	if err != nil {
		return section{}, err
	}
	var n network
	if err := l.document("paravance/platform.json", &n); err != nil {
		return section{}, err
	}
	gemms, err := l.readGemms("paravance/dgemm_cpu_models.csv")
	if err != nil {
		return section{}, err
	}
	d.gemms = gemms
	kernels, err := d.kernels("", d.others.minimal())
	if err != nil {
		return section{}, err
	}
	kernels.gemm = kernels.processors[0].gemm // of a host without a model, which there is none of
	kernels.noisyGemm = true
	s, err := l.sheet("paravance/predictions.csv", "matrix_size", "smpi_gflops")
	if err != nil {
		return section{}, err
	}
	machine, models := n.xml(cluster{first: 1, last: 64, cores: 16}), kernels.yaml()
	var points []point
	for _, r := range s.rows {
		order := r.whole("matrix_size")
		points = append(points, point{labels: []string{page.Count(order)}, smpi: r.number("smpi_gflops"),
			run: run{hpl: dahuFlags(order, 128, 32, 32, "2rg", 1, "bin"), platform: machine, kernels: models}})
	}
	if s.err != nil {
		return section{}, s.err
	}
	if err := l.replayPoints(points); err != nil {
		return section{}, err
	}
	return section{text: agree(points, first).text() + "\n" + pointTable([]string{"N"}, points)}, nil
}
