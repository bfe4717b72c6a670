package main

import (
	"fmt"
	"strings"

	"reprise/internal/page"
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

// stampedeConfigs are tracegen's flags for the two configurations that the published
// simulations may have had, beside -N.
var stampedeConfigs = []struct{ name, flags string }{
	{"of the TOP500 run", "--NB 1024 -P 77 -Q 78 --PMAP col --PFACT right --NBMIN 4 --NDIV 2 --RFACT crout --BCAST LnM --DEPTH 0 --SWAP bin --L1 no --U no --EQUIL no --copy-l"},
	{"before 2017-10-02", "--NB 1024 -P 77 -Q 78 --PMAP row --PFACT left --NBMIN 2 --NDIV 2 --RFACT left --BCAST LnM --DEPTH 0 --SWAP mix --swap-threshold 64 --L1 transposed --U transposed --EQUIL yes --copy-l"},
}

// stampedeVariants are what is replayed: a configuration with links that carry both
// directions at once, or in turn. The platform file of the simulations does not say
// which, and the default of its time is not known to us.
var stampedeVariants = []struct {
	config     int // of stampedeConfigs
	halfDuplex bool
}{{0, true}, {0, false}, {1, true}}

// stampede replays the three sizes of the run on 6,006 nodes, sampled, on the fat
// tree and without contention.
func stampede(l *lab) (section, error) {
	var m stampedeModels
	if err := l.document("stampede/stampede.json", &m); err != nil {
		return section{}, err
	}
	s, err := l.sheet("stampede/predictions_digitised.csv", "network", "matrix_size", "smpi_gflops")
	if err != nil {
		return section{}, err
	}
	var points []point
	for _, v := range stampedeVariants {
		for _, r := range s.rows {
			if p, ok := m.point(r, v.config, v.halfDuplex); ok {
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
	return section{text: pointTable([]string{"configuration", "network", "N"}, points), claims: stampedeClaims(points)}, nil
}

// point is a row of the published predictions in a configuration. Without contention
// it does not matter whether directions share a link: then only one variant is.
func (m *stampedeModels) point(r row, config int, halfDuplex bool) (point, bool) {
	free := r.text("network") == "no_contention"
	flags, network := "--tolerance 1%", "fat tree, full duplex"
	switch {
	case free:
		flags, network = flags+" --network contention-free", "no contention"
	case halfDuplex:
		network = "fat tree, half duplex"
	}
	n, c := r.whole("matrix_size"), stampedeConfigs[config]
	return point{
		labels: []string{c.name, network, page.Count(n)},
		run:    run{hpl: fmt.Sprintf("-N %d %s", n, c.flags), platform: m.xml(halfDuplex), kernels: m.yaml(), flags: flags},
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
		if p.labels[2] == "3,875,000" && p.labels[0] == stampedeConfigs[0].name {
			at[p.labels[1]] = p.ours
		}
	}
	tree, free := at["fat tree, half duplex"], at["no contention"]
	return []verdict{{29, fmt.Sprintf("%.2f Pflops on the fat tree, %.2f without contention (%s %%)", tree/1e6, free/1e6, tenth(relative(free, tree))),
		tree < 0.85*measured && free < 0.85*measured && free > tree}}
}
