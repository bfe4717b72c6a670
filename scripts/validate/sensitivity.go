package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// The sensitivity studies are of synthetic machines of 256 nodes with a rank of 32 threads each.
// Their network is Dahu's of 2019, kernels other than dgemm are Dahu's minimal ones without noise.
// The public nodes follow the law of the study but are not its nodes, so that only means over
// machines compare.

var studyColumns = []string{"machine", "matrix_size", "varied", "solved"}

const allNodes = "4x64"

// setup is how HPL runs: on which nodes, in which grid, on one switch or a fat tree.
type setup struct {
	varied  string // "": not replayed
	nodes   []processor
	p, q    int
	fatTree string // parameters of its topology; "": one switch
}

// study lists the runs of a table on the first machines of each order that have the base. Some
// published simulations of orders up to 200,000 left out the back substitution: these
// runs are listed with and without it.
func (d *data) study(file, base string, machines int, kind func(row, []processor) setup) []point {
	net, others := d.dahuNetwork("dahu_synthetic_256"), d.dahuOthers().minimal()
	nodes := map[string][]processor{}
	for _, r := range d.rows("sensibility/synthetic_dgemm_platforms.csv", "platform_id", "node", "mnk", "intercept", "mnk_residual") {
		nodes[r.text("platform_id")] = append(nodes[r.text("platform_id")], processor{host: r.whole("node"),
			mean: polynomial{0: r.number("mnk"), 4: r.number("intercept")}, deviation: polynomial{r.number("mnk_residual")}})
	}
	table := d.rows(file, "platform_id", "matrix_size", "smpi_gflops")
	chosen := map[int][]string{}
	var points []point
	for _, choose := range []bool{true, false} {
		for _, r := range table {
			id, n := r.text("platform_id"), r.whole("matrix_size")
			s := kind(r, nodes[id])
			if choose && s.varied == base && len(chosen[n]) < machines && !slices.Contains(chosen[n], id) {
				chosen[n] = append(chosen[n], id)
			}
			if d.err != nil || choose || s.varied == "" || !slices.Contains(chosen[n], id) {
				continue
			}
			if s.p*s.q > len(s.nodes) {
				d.fail(fmt.Errorf("%s%d x %d ranks on %d nodes", r.where, s.p, s.q, len(s.nodes)))
				return nil
			}
			m := machineKernels{all: s.nodes[0], processors: s.nodes, cpusPerHost: 1, others: others, noisyGemm: true}
			x := point{labels: []string{id, fmt.Sprint(n), s.varied, "yes"}, smpi: r.number("smpi_gflops"), run: run{
				hpl:      dahuFlags(n, 512, s.p, s.q, "2rg", 1, "bin"),
				platform: net.xml(cluster{last: len(s.nodes) - 1, cores: 1, fatTree: s.fatTree}), kernels: m.yaml()}}
			points = append(points, x)
			if n <= 200000 {
				m.others = others.without("dgemv", "dtrsv")
				x.run.kernels = m.yaml()
				x.labels = []string{id, fmt.Sprint(n), s.varied, "no"}
				points = append(points, x)
			}
		}
	}
	return points
}

// topology replays 16 x 16 ranks on a switch, and on fat trees with fewer and fewer top switches.
func topology(d *data) []point {
	machines := 1
	if d.all {
		machines = 2
	}
	return d.study("sensibility/topology.csv", "4", machines, func(r row, nodes []processor) setup {
		s := setup{varied: r.text("top_switches"), nodes: nodes, p: 16, q: 16}
		if s.varied == "0" {
			s.varied = "one switch"
		} else {
			s.fatTree = fmt.Sprintf("2;32,8;1,%s;1,8", s.varied)
		}
		return s
	})
}

// temporal replays 8 x 32 ranks with more and more noise of dgemm.
func temporal(d *data) []point {
	return d.study("sensibility/temporal.csv", "0 %", 1, func(r row, nodes []processor) setup {
		c := r.number("coefficient_of_variation")
		nodes = slices.Clone(nodes)
		for i, n := range nodes {
			nodes[i].deviation = polynomial{0: c * n.mean[0], 4: c * n.mean[4]}
		}
		return setup{varied: fmt.Sprintf("%g %%", 100*c), nodes: nodes, p: 8, q: 32}
	})
}

// spatial replays grids of fewer and fewer nodes, without the slowest.
func spatial(d *data) []point {
	grids := strings.Fields(allNodes + " 4x63 4x62 4x61 4x60 5x51 5x50 5x49 5x48 2x128 8x32 16x16 32x8 16x15 17x15 1x256")
	return d.study("sensibility/spatial.csv", allNodes, 1, func(r row, nodes []processor) setup {
		grid := r.text("p") + "x" + r.text("q")
		if !slices.Contains(grids, grid) {
			return setup{}
		}
		nodes = slices.Clone(nodes)
		order := slices.Clone(nodes)
		slices.SortStableFunc(order, func(a, b processor) int { return cmp.Compare(b.mean[0], a.mean[0]) })
		for _, slow := range order[:min(r.whole("removed_nodes"), len(order))] {
			nodes = slices.DeleteFunc(nodes, func(p processor) bool { return p.host == slow.host })
		}
		for i := range nodes {
			nodes[i].host = i
		}
		return setup{varied: grid, nodes: nodes, p: r.whole("p"), q: r.whole("q")}
	})
}

// capacity replays 512 ranks on fat trees of 1 to 16 top switches, with ranks in order or at
// random, and with other links and processors. Only the random placements are unknown; ours
// are drawn from a seed. Of these only 1 and 16 switches are replayed: congestion takes minutes.
func capacity(d *data) []point {
	var in struct {
		Links struct {
			LoopbackBandwidth float64 `json:"loopback_bandwidth_bytes_per_s"`
			LoopbackLatency   float64 `json:"loopback_latency_s"`
		} `json:"links"`
	}
	d.document("scalability/platform_2017.json", &in)
	var points []point
	count := map[string]float64{}
	for _, r := range d.rows("scalability/capacity_2017.csv", "matrix_size", "top_switches", "link_bandwidth_bytes_per_s", "link_latency_s", "speed_factor", "mapping", "smpi_time_s") {
		n, random, switches := r.whole("matrix_size"), r.text("mapping") == "random", r.text("top_switches")
		replayed := []string{"1", "2", "4", "8", "16"}
		if random {
			replayed = []string{"1", "16"}
		}
		if !slices.Contains(replayed, switches) {
			continue
		}
		labels := []string{fmt.Sprint(n), switches, fmt.Sprintf("%g", r.number("link_bandwidth_bytes_per_s")/1e6),
			fmt.Sprintf("%g", 1e6*r.number("link_latency_s")), r.text("speed_factor"), r.text("mapping")}
		i := slices.IndexFunc(points, func(p point) bool { return slices.Equal(p.labels, labels) })
		if i < 0 {
			// Seconds per unit of the size: the nominal coefficient times running power by host speed.
			const scale, nb, p = 6.217956542969, 120, 16
			w := network{
				Bandwidth: r.number("link_bandwidth_bytes_per_s"), Latency: r.number("link_latency_s"),
				LoopbackBandwidth: in.Links.LoopbackBandwidth, LoopbackLatency: in.Links.LoopbackLatency,
			}
			var b strings.Builder
			fmt.Fprintf(&b, "version: 1\nunit: s\nkernels:\n  dgemm: {terms: {M*N*K: %s}}\n  dtrsm: {terms: {M*N^2: %s}}\n",
				exact(1.742435e-10*scale/r.number("speed_factor")), exact(8.897459e-11*scale/r.number("speed_factor")))
			otherKernels(nil).write(&b, false)
			x := run{
				hpl:      fmt.Sprintf("-N %d --NB %d -P %d -Q 32 --PFACT left --NBMIN 2 --NDIV 2 --RFACT left --BCAST 1rg --DEPTH 0 --SWAP mix --swap-threshold 64 --copy-l", n, nb, p),
				pivots:   fourthRows(n, nb, p),
				platform: w.xml(cluster{last: 511, cores: 1, fatTree: "2;16,32;1," + switches + ";1,1"}), kernels: b.String(),
			}
			if random {
				for _, host := range rand.New(rand.NewPCG(1, 2)).Perm(512) {
					x.hosts += fmt.Sprintf("node-%d\n", host)
				}
			}
			i = len(points)
			points = append(points, point{labels: labels, run: x})
		}
		key := strings.Join(labels, " ")
		count[key]++
		points[i].smpi += (hplGflops(n, r.number("smpi_time_s")) - points[i].smpi) / count[key] // a running mean
	}
	return points
}

// fourthRows returns the pivots of the simulations of 2017, from 0. Their search for the
// largest element of a column answers with the fourth of the rows that remain to a
// process, and as the processes have the same matrix in memory, the first process row
// wins. At the end, when it has no four rows, each column is its own pivot: ours, since
// theirs is outside of the matrix. nb is 3 or more.
func fourthRows(n, nb, processRows int) string {
	var b strings.Builder
	for c := range n {
		block := (c/nb + processRows - 1) / processRows * processRows // the first process row's next
		row := max(c, block*nb) + 3
		if row/nb > block {
			row += (processRows - 1) * nb
		}
		if row >= n {
			row = c
		}
		fmt.Fprintln(&b, row)
	}
	return b.String()
}
