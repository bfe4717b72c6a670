package main

import (
	"fmt"
	"strings"

	"reprise/internal/wording"
)

// stampedeModels are the inputs of the simulations of Stampede.
type stampedeModels struct {
	Platform struct {
		Topology  string  `json:"topo_parameters"`
		Hosts     int     `json:"hosts"`
		Bandwidth float64 `json:"link_bandwidth_bytes_per_s"`
		Latency   float64 `json:"link_latency_s"`
		BwFactor  float64 `json:"bandwidth_factor"`
		LatFactor float64 `json:"latency_factor"`
	} `json:"platform"`
	Kernels struct{ Dgemm, Dtrsm offloaded } `json:"kernels"`
}

// offloaded is a kernel that the processor or the accelerator carries out.
type offloaded struct{ CPU, Phi line }

// line is seconds of a call: intercept plus coefficient times size.
type line struct {
	Coefficient float64 `json:"coef"`
	Intercept   float64 `json:"intercept"`
}

// stampedeFlags are tracegen's for the configuration of the TOP500 run, beside -N. The
// one that the simulations had some days before is much too fast (docs/validation.md).
const stampedeFlags = "--NB 1024 -P 77 -Q 78 --PMAP col --PFACT right --NBMIN 4 --NDIV 2 --RFACT crout --BCAST LnM --DEPTH 0 --SWAP bin --L1 no --U no --EQUIL no --copy-l"

// largestStampede is the order of the matrix of the TOP500 run. Of full duplex links,
// which the simulations most likely did not have, no other is replayed without -all.
const largestStampede = 3875000

// stampede replays the three sizes of the run on 6,006 nodes, sampled, on the fat
// tree and without contention. Links carry both directions in turn or at once: the
// platform file of the simulations does not say which.
func stampede(l *runner) (section, error) {
	var m stampedeModels
	if err := l.document("stampede/stampede.json", &m); err != nil {
		return section{}, err
	}
	s, err := l.csvTable("stampede/predictions_digitised.csv", "network", "matrix_size", "smpi_gflops")
	if err != nil {
		return section{}, err
	}
	flags := tolerance(2.5)
	if l.all {
		flags = tolerance(2)
	}
	var points []point
	for _, halfDuplex := range []bool{true, false} {
		for _, r := range s.rows {
			if p, ok := m.point(r, halfDuplex, flags); ok && (l.all || halfDuplex || p.order() == largestStampede) {
				points = append(points, p)
			}
		}
	}
	if s.err != nil {
		return section{}, s.err
	}
	if err := l.replayPoints(points); err != nil {
		return section{}, err
	}
	first, err := l.replayAll([]run{m.firstSteps()})
	if err != nil {
		return section{}, err
	}
	return section{text: pointTable([]string{"network", "N"}, points), claims: append(stampedeClaims(points), first[0].communication())}, nil
}

// firstSteps is the beginning of the TOP500 run.
func (m *stampedeModels) firstSteps() run {
	return run{hpl: fmt.Sprintf("-N %d %s", largestStampede, stampedeFlags), platform: m.xml(true), kernels: m.yaml(), flags: "--steps 0:5"}
}

// communication checks which part of the first steps the ranks do not compute.
func (r result) communication() verdict {
	share := 1.0
	for _, k := range r.Kinds {
		if k.Name == "compute" {
			share -= k.Mean / r.Makespan
		}
	}
	return verdict{Claim: 30, Ours: fmt.Sprintf("%.0f %% of the first five steps", 100*share), Reproduced: share > 0.2}
}

// point is a row of the published predictions. Without contention it does not matter
// whether directions share a link: then only one variant is.
func (m *stampedeModels) point(r row, halfDuplex bool, flags string) (point, bool) {
	free := r.text("network") == "no_contention"
	network := "fat tree, full duplex"
	switch {
	case free:
		flags, network = flags+" --network contention-free", "no contention"
	case halfDuplex:
		network = "fat tree, half duplex"
	}
	n := r.whole("matrix_size")
	return point{
		labels: []string{network, wording.Thousands(n)},
		run:    run{hpl: fmt.Sprintf("-N %d %s", n, stampedeFlags), platform: m.xml(halfDuplex), kernels: m.yaml(), flags: flags},
		smpi:   r.number("smpi_gflops"),
	}, !free || halfDuplex
}

func (m *stampedeModels) xml(halfDuplex bool) string {
	n := network{
		Bandwidth: m.Platform.Bandwidth, Latency: m.Platform.Latency,
		BandwidthFactor: []segment{{Factor: m.Platform.BwFactor}}, LatencyFactor: []segment{{Factor: m.Platform.LatFactor}},
		Options: map[string]string{"network/crosstraffic": "no"},
	}
	return n.xml(cluster{last: m.Platform.Hosts - 1, cores: 16, fatTree: m.Platform.Topology, halfDuplex: halfDuplex})
}

// yaml describes dgemm and dtrsm by the published slopes and thresholds, without the
// constants (docs/deviations.md); everything else is free.
func (m *stampedeModels) yaml() string {
	var b strings.Builder
	b.WriteString("version: 1\nunit: s\nkernels:\n  dgemm:\n")
	piece := func(when, condition, product string, l line) {
		fmt.Fprintf(&b, "    - {%s%sterms: {%s: %s}}\n", when, condition, product, exact(l.Coefficient))
	}
	piece("", "if: M > 1280 and N > 1280 and K > 256, ", "M*N*K", m.Kernels.Dgemm.Phi)
	piece("", "", "M*N*K", m.Kernels.Dgemm.CPU)
	b.WriteString("  dtrsm:\n")
	for _, side := range []struct{ when, product string }{{"when: {side: L}, ", "M^2*N"}, {"when: {side: R}, ", "M*N^2"}} {
		piece(side.when, "if: M > 512 and N > 512, ", side.product, m.Kernels.Dtrsm.Phi)
		piece(side.when, "", side.product, m.Kernels.Dtrsm.CPU)
	}
	otherKernels(nil).write(&b, false)
	return b.String()
}

// stampedeClaims checks the largest size against the TOP500 run.
func stampedeClaims(points []point) []verdict {
	const measured = 5.168e6 // Gflops
	at := map[string]float64{}
	for _, p := range points {
		if p.order() == largestStampede {
			at[p.labels[0]] = p.ours
		}
	}
	const onTree, alone = "fat tree, half duplex", "no contention"
	return []verdict{decide(29, at, []string{onTree, alone}, func() (string, bool) {
		tree, free := at[onTree], at[alone]
		return fmt.Sprintf("%.2f Pflops on the fat tree, %.2f without contention (%s %%)", tree/1e6, free/1e6, tenth(relative(free, tree))),
			tree < 0.85*measured && free < 0.85*measured && free > tree
	})}
}
