package main

import (
	"cmp"
	"slices"
)

// synthetic are the inputs of the sensitivity studies: machines of 256 nodes, one
// rank of 32 threads on each. The network is that of Dahu of 2019, other kernels
// than dgemm are Dahu's minimal ones without noise. The public draws of the nodes
// follow the law of the study but are not its draws, so that only means over
// machines can be compared.
type synthetic struct {
	network *network
	others  otherKernels
	nodes   map[string][]processor // by machine
}

func (l *runner) readSynthetic() (*synthetic, error) {
	d, err := l.readDahu()
	if err != nil {
		return nil, err
	}
	s, err := l.csvTable("sensibility/synthetic_dgemm_platforms.csv", "platform_id", "node", "mnk", "intercept", "mnk_residual")
	if err != nil {
		return nil, err
	}
	y := &synthetic{others: d.others.minimal(), nodes: map[string][]processor{}}
	if y.network, err = d.network("dahu_synthetic_256"); err != nil {
		return nil, err
	}
	for _, r := range s.rows {
		id := r.text("platform_id")
		y.nodes[id] = append(y.nodes[id], processor{host: r.whole("node"), gemm: gemm{
			mean:      polynomial{mnk: r.number("mnk"), intercept: r.number("intercept")},
			deviation: polynomial{mnk: r.number("mnk_residual")},
		}})
	}
	return y, s.err
}

// without returns nodes of a machine but the slowest ones, numbered anew in their order.
func without(nodes []processor, slowest int) []processor {
	nodes = slices.Clone(nodes)
	bySpeed := slices.Clone(nodes)
	slices.SortStableFunc(bySpeed, func(a, b processor) int { return cmp.Compare(b.mean.mnk, a.mean.mnk) })
	for _, slow := range bySpeed[:min(slowest, len(bySpeed))] {
		nodes = slices.DeleteFunc(nodes, func(p processor) bool { return p.host == slow.host })
	}
	for i := range nodes {
		nodes[i].host = i
	}
	return nodes
}

// varied returns the nodes with noise of a given coefficient of variation.
func varied(nodes []processor, variation float64) []processor {
	nodes = slices.Clone(nodes)
	for i, n := range nodes {
		nodes[i].deviation = polynomial{mnk: variation * n.mean.mnk, intercept: variation * n.mean.intercept}
	}
	return nodes
}

// run is HPL of an order.
func (y *synthetic) run(n int, u setup) run {
	m := machineKernels{gemm: u.nodes[0].gemm, processors: u.nodes, cpusPerHost: 1, others: y.others, noisyGemm: true}
	return run{
		hpl:      dahuFlags(n, 512, u.p, u.q, "2rg", 1, "bin"),
		platform: y.network.xml(cluster{last: len(u.nodes) - 1, cores: 1, fatTree: u.fatTree}),
		kernels:  m.yaml(),
	}
}

// unsolved returns the inputs without what the back substitution computes.
func (y *synthetic) unsolved() *synthetic {
	u := *y
	u.others = y.others.without("dgemv", "dtrsv")
	return &u
}
