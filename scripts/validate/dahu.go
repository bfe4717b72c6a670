package main

import (
	"fmt"
	"slices"
	"strings"
)

// dahuFlags are tracegen's of the runs on Dahu. HPL was built with
// -DHPL_NO_MPI_DATATYPE, which copies the panel as -DHPL_COPY_L does.
func dahuFlags(n, nb, p, q int, bcast string, depth int, swap string) string {
	return fmt.Sprintf("-N %d --NB %d -P %d -Q %d --PFACT crout --RFACT right --NBMIN 2 --NDIV 2 --BCAST %s --DEPTH %d --SWAP %s --swap-threshold %d --copy-l",
		n, nb, p, q, bcast, depth, swap, nb)
}

// dahuNetwork reads one of the calibrated networks.
func (d *data) dahuNetwork(name string) *network {
	var file struct{ Platforms map[string]*network }
	d.document("dahu/platforms.json", &file)
	n := file.Platforms[name]
	if n == nil {
		d.fail(fmt.Errorf("no network %q in the data", name))
		return &network{}
	}
	return n
}

// dahuByOrder replays the models A1 to D2_het and simple, which differ in how much they know of
// the machine's variability, by order of the matrix. Models with noise are replayed for a few
// orders, except D1_het, the best one. Runs without noise of kernels are estimates from N =
// 250,000 on; with noise, an estimate simulates half of the steps and pays little.
func dahuByOrder(d *data) []point {
	smpi := map[[2]string]float64{}
	for _, r := range d.rows("dahu/predictions.csv", "model", "matrix_size", "smpi_gflops") {
		smpi[[2]string{r.text("model"), r.text("matrix_size")}] = r.number("smpi_gflops")
	}
	real := map[string]float64{}
	for _, r := range d.rows("dahu/reality.csv", "campaign", "matrix_size", "gflops_mean") {
		if r.text("campaign") == "2019-03" {
			real[r.text("matrix_size")] = r.number("gflops_mean")
		}
	}
	others, noise := d.dahuOthers(), d.linkNoise()
	machine := d.dahuNetwork("dahu_2019").xml(cluster{last: 31, cores: 32})
	var points []point
	for _, r := range d.rows("dahu/model_ladder.csv", "model", "stochastic_cpu", "stochastic_network", "dgemm_model", "kernel_variant") {
		minimal, noisy, noisyLinks := r.text("kernel_variant") == "minimal", r.number("stochastic_cpu") != 0, r.number("stochastic_network") != 0
		m := d.gemms("dahu/dgemm_cpu_models.csv", r.text("dgemm_model"))
		m.others, m.noisyGemm, m.noisyOthers = others, noisy, noisy && !minimal
		if minimal {
			m.others = others.minimal()
		}
		orders := []int{50000, 75000, 100000, 125000, 150000, 175000, 200000, 250000, 300000, 350000, 400000, 450000, 500000}
		if noisyLinks || noisy && r.text("model") != "D1_het" {
			orders = []int{50000, 100000, 250000, 500000}
		}
		for _, n := range orders {
			x := run{hpl: dahuFlags(n, 128, 32, 32, "2rg", 1, "bin"), platform: machine, kernels: m.yaml()}
			if noisyLinks {
				x.links = noise
			}
			if !noisy && n >= 250000 {
				x.flags = d.within(1)
			}
			key := [2]string{r.text("model"), fmt.Sprint(n)}
			points = append(points, point{labels: key[:], run: x, smpi: smpi[key], real: real[key[1]]})
		}
	}
	return points
}

// cooling replays model D1_het for the two states of Dahu's cooling. With the cooling broken
// the input is that of D1_het. Of the repaired state (September 2020) the dgemm models are not
// public; those of July 2020 are the closest, with 7 processors published and the others
// reconstructed, on hosts 1 to 32.
func cooling(d *data) []point {
	real, runs := map[[2]string]float64{}, map[[2]string]float64{}
	for _, r := range d.rows("dahu/reality_runs.csv", "cooling", "matrix_size", "gflops") {
		key := [2]string{r.text("cooling"), r.text("matrix_size")}
		runs[key]++
		real[key] += (r.number("gflops") - real[key]) / runs[key] // a running mean
	}
	net, others := d.dahuNetwork("dahu_2019"), d.dahuOthers()
	var points []point
	for _, r := range d.rows("dahu/predictions_cooling.csv", "cooling", "matrix_size", "smpi_gflops") {
		first, set := 0, "het_poly_2019-04-05"
		if r.text("cooling") == "good" {
			first, set = 1, "het_poly_2020-07-08_reconstructed"
		}
		m := d.gemms("dahu/dgemm_cpu_models.csv", set)
		m.others, m.noisyGemm, m.noisyOthers = others, true, true
		key := [2]string{r.text("cooling"), r.text("matrix_size")}
		points = append(points, point{labels: key[:], smpi: r.number("smpi_gflops"), real: real[key], run: run{
			hpl:      dahuFlags(r.whole("matrix_size"), 128, 32, 32, "2rg", 1, "bin"),
			platform: net.xml(cluster{first: first, last: first + 31, cores: 32}), kernels: m.yaml(),
		}})
	}
	return points
}

// hplGflops returns HPL's Gflops of a run of some seconds.
func hplGflops(n int, seconds float64) float64 {
	x := float64(n)
	return (2.0/3*x*x*x + 1.5*x*x) / seconds / 1e9
}

var factors = []string{"nb", "depth", "bcast", "swap"}

// january2020 returns the file of the kernel models of January 2020. Of its dgemm 7 of 64
// processors are published; docs/validation.md says where the others are from.
func january2020(nb string) string {
	return "studies/models/dahu-january-2020-k" + nb + ".yaml"
}

// factorial replays the combinations of NB, DEPTH, BCAST and SWAP with N = 250,000.
func factorial(d *data) []point {
	machine := d.dahuNetwork("dahu_2019").xml(cluster{last: 31, cores: 32})
	var points []point
	for _, r := range d.rows("factorial/factorial.csv", "nb", "depth", "bcast", "swap", "real_time_mean_s", "smpi_gflops") {
		points = append(points, point{
			labels: []string{r.text("nb"), r.text("depth"), r.text("bcast_name"), r.text("swap_name")},
			run: run{hpl: dahuFlags(250000, r.whole("nb"), 32, 32, r.text("bcast"), r.whole("depth"), r.text("swap")),
				platform: machine, kernels: january2020(r.text("nb"))},
			smpi: r.number("smpi_gflops"), real: hplGflops(250000, r.number("real_time_mean_s")),
		})
	}
	return points
}

// mostRows: grids of more process rows take up to 20 times as long as others, since a pivot
// is exchanged among all rows.
const mostRows = 100

// geometry2020 replays all grids of 960 ranks on 30 nodes with N = 250,000 and the network of
// September 2020. Without -all, grids of many rows are estimates.
func geometry2020(d *data) []point {
	m := d.gemms("dahu/dgemm_cpu_models.csv", "het_poly_2020-07-08_reconstructed")
	m.others, m.noisyGemm, m.noisyOthers = d.dahuOthers(), true, true
	machine := d.dahuNetwork("dahu_ringrong_2020").xml(cluster{first: 1, last: 30, cores: 32})
	points := grids(d, "smpi_gflops", machine, m.yaml())
	for i, p := range points {
		if rows(p) > mostRows {
			points[i].run.flags = d.within(2)
		}
	}
	return points
}

// geometry2019 replays the published grids with the network of 2019, which was wrong for few
// rows. Without -all, grids of many rows are left out.
func geometry2019(d *data) []point {
	machine := d.dahuNetwork("dahu_2019").xml(cluster{last: 29, cores: 32})
	return slices.DeleteFunc(grids(d, "smpi_old_gflops", machine, january2020("128")), func(p point) bool {
		return p.real == 0 || !d.all && rows(p) > mostRows
	})
}

// rows returns the number of process rows of a grid.
func rows(p point) (n int) {
	_, _ = fmt.Sscan(p.labels[0], &n)
	return n
}

// grids lists all grids of 960 ranks by their rows, also those that the data have no figures of.
func grids(d *data, smpi, machine, kernels string) []point {
	const ranks = 960
	table := d.rows("geometry/geometry.csv", "p", "q", "real_gflops_mean", smpi)
	var points []point
	for p := 1; p <= ranks; p++ {
		if ranks%p != 0 {
			continue
		}
		x := point{
			labels: []string{fmt.Sprint(p), fmt.Sprint(ranks / p)},
			run:    run{hpl: dahuFlags(250000, 128, p, ranks/p, "2rg", 1, "bin"), platform: machine, kernels: kernels},
		}
		for _, r := range table {
			if r.whole("p") == p && r.whole("q") == ranks/p {
				x.smpi, x.real = r.number(smpi), r.number("real_gflops_mean")
			}
		}
		points = append(points, x)
	}
	return points
}

// paravance replays simulations of a second cluster: 32 x 32 ranks on 64 nodes with 10 Gb/s
// Ethernet, noise of dgemm, Dahu's minimal other kernels.
func paravance(d *data, noisy bool) []point {
	var n network
	d.document("paravance/platform.json", &n)
	m := d.gemms("paravance/dgemm_cpu_models.csv", "")
	if len(m.processors) == 0 {
		return nil
	}
	m.all, m.others, m.noisyGemm = m.processors[0], d.dahuOthers().minimal(), noisy
	machine, kernels := n.xml(cluster{first: 1, last: 64, cores: 16}), m.yaml()
	var points []point
	for _, r := range d.rows("paravance/predictions.csv", "matrix_size", "smpi_gflops") {
		points = append(points, point{labels: []string{r.text("matrix_size")}, smpi: r.number("smpi_gflops"),
			run: run{hpl: dahuFlags(r.whole("matrix_size"), 128, 32, 32, "2rg", 1, "bin"), platform: machine, kernels: kernels}})
	}
	return points
}

// causes shows the effect of single inputs that are easily mistaken, in two runs without noise: on
// Dahu, where processors dominate, and on paravance, where the network does.
func causes(d *data) []point {
	bases := slices.DeleteFunc(dahuByOrder(d), func(p point) bool { return !slices.Equal(p.labels, []string{"C1", "100000"}) })
	if quiet := paravance(d, false); len(quiet) > 0 {
		bases = append(bases, quiet[0])
	}
	flags := func(text string) func(*run) { return func(r *run) { r.flags += " " + text } }
	seed := func(n int) func(*run) { return func(r *run) { r.hpl += fmt.Sprintf(" --seed %d", n) } }
	var points []point
	for i, base := range bases {
		for _, v := range []struct {
			name   string
			change func(*run)
		}{
			{"nothing", func(*run) {}},
			{"bandwidth factors scale progress, not the bound", flags("--cfg reprise/bw-factor:progress")},
			{"links carry all of their bandwidth", flags("--cfg network/bandwidth-factor:1")},
			{"HPL does not copy the panel", func(r *run) { r.hpl = strings.Replace(r.hpl, " --copy-l", "", 1) }},
			{"probes keep their cost", flags("--cfg smpi/grow-injected-times:no")},
			{"empty calls are free", func(r *run) { r.kernels = strings.ReplaceAll(r.kernels, "empty: charged, ", "") }},
			{"no cross traffic", flags("--cfg network/crosstraffic:no")},
			{"random pivots, seed 2", seed(2)}, {"random pivots, seed 3", seed(3)}, {"random pivots, seed 4", seed(4)},
		} {
			p := base
			p.labels = []string{[]string{"Dahu C1 N=100000", "paravance N=" + base.labels[0]}[i], v.name}
			p.run.flags = strings.TrimSpace(p.run.flags)
			v.change(&p.run)
			points = append(points, p)
		}
	}
	return points
}

// stampede replays HPL of the TOP500 run on 6,006 nodes with three orders, on the fat tree and
// without contention, as estimates. The platform file of the simulations does not say whether the
// directions of a link share it; with full duplex links only the largest order is replayed
// without -all.
func stampede(d *data) []point {
	type line struct {
		Coefficient float64 `json:"coef"`
	}
	var in struct {
		Platform struct {
			Topology  string  `json:"topo_parameters"`
			Hosts     int     `json:"hosts"`
			Bandwidth float64 `json:"link_bandwidth_bytes_per_s"`
			Latency   float64 `json:"link_latency_s"`
			BwFactor  float64 `json:"bandwidth_factor"`
			LatFactor float64 `json:"latency_factor"`
		} `json:"platform"`
		Kernels struct{ Dgemm, Dtrsm struct{ CPU, Phi line } } `json:"kernels"`
	}
	d.document("stampede/stampede.json", &in)
	n := network{
		Bandwidth: in.Platform.Bandwidth, Latency: in.Platform.Latency,
		BandwidthFactor: []segment{{Factor: in.Platform.BwFactor}}, LatencyFactor: []segment{{Factor: in.Platform.LatFactor}},
		Options: map[string]string{"network/crosstraffic": "no"},
	}
	// dgemm and dtrsm run on the accelerator from some sizes on. The published constants of a call
	// are left out (docs/deviations.md, 5).
	var b strings.Builder
	fmt.Fprintf(&b, "version: 1\nunit: s\nkernels:\n  dgemm:\n    - {if: M > 1280 and N > 1280 and K > 256, terms: {M*N*K: %s}}\n    - {terms: {M*N*K: %s}}\n  dtrsm:\n",
		exact(in.Kernels.Dgemm.Phi.Coefficient), exact(in.Kernels.Dgemm.CPU.Coefficient))
	for _, side := range [][2]string{{"L", "M^2*N"}, {"R", "M*N^2"}} {
		fmt.Fprintf(&b, "    - {when: {side: %s}, if: M > 512 and N > 512, terms: {%s: %s}}\n    - {when: {side: %s}, terms: {%s: %s}}\n",
			side[0], side[1], exact(in.Kernels.Dtrsm.Phi.Coefficient), side[0], side[1], exact(in.Kernels.Dtrsm.CPU.Coefficient))
	}
	otherKernels(nil).write(&b, false)
	flags := tolerance(2.5)
	if d.all {
		flags = tolerance(2)
	}
	var points []point
	for _, halfDuplex := range []bool{true, false} {
		machine := n.xml(cluster{last: in.Platform.Hosts - 1, cores: 16, fatTree: in.Platform.Topology, halfDuplex: halfDuplex})
		for _, r := range d.rows("stampede/predictions_digitised.csv", "network", "matrix_size", "smpi_gflops") {
			order, free := r.whole("matrix_size"), r.text("network") == "no_contention"
			if !halfDuplex && (free || !d.all && order != 3875000) {
				continue // without contention directions never share a link
			}
			p := point{
				labels: []string{map[bool]string{true: "half duplex", false: "full duplex"}[halfDuplex], fmt.Sprint(order)},
				smpi:   r.number("smpi_gflops"),
				run: run{platform: machine, kernels: b.String(), flags: flags, hpl: fmt.Sprintf("-N %d --NB 1024 -P 77 -Q 78 --PMAP col --PFACT right --NBMIN 4 --NDIV 2 "+
					"--RFACT crout --BCAST LnM --DEPTH 0 --SWAP bin --L1 no --U no --EQUIL no --copy-l", order)},
			}
			if free {
				p.labels[0], p.run.flags = "no contention", flags+" --network contention-free"
			}
			points = append(points, p)
		}
	}
	return points
}
