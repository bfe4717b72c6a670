package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
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

func (l *lab) readSynthetic() (*synthetic, error) {
	d, err := l.readDahu()
	if err != nil {
		return nil, err
	}
	s, err := l.sheet("sensibility/synthetic_dgemm_platforms.csv", "platform_id", "node", "mnk", "intercept", "mnk_residual")
	if err != nil {
		return nil, err
	}
	y := &synthetic{network: d.networks["dahu_synthetic_256"], others: d.others.minimal(), nodes: map[string][]processor{}}
	for _, r := range s.rows {
		id := r.text("platform_id")
		y.nodes[id] = append(y.nodes[id], processor{host: r.whole("node"), gemm: gemm{
			mean:      polynomial{mnk: r.number("mnk"), intercept: r.number("intercept")},
			deviation: polynomial{mnk: r.number("mnk_residual")},
		}})
	}
	return y, s.err
}

// without returns the nodes of a machine but the slowest ones, numbered anew in
// their order.
func (y *synthetic) without(id string, slowest int) []processor {
	nodes := slices.Clone(y.nodes[id])
	bySpeed := slices.Clone(nodes)
	slices.SortStableFunc(bySpeed, func(a, b processor) int { return cmp.Compare(b.mean.mnk, a.mean.mnk) })
	for _, slow := range bySpeed[:slowest] {
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

// run is HPL on nodes of a machine, on one switch or a fat tree.
func (y *synthetic) run(nodes []processor, n, p, q int, fatTree string) run {
	m := machineKernels{gemm: nodes[0].gemm, processors: nodes, cpusPerHost: 1, others: y.others, noisyGemm: true}
	return run{
		hpl:      dahuFlags(n, 512, p, q, "2rg", 1, "bin"),
		platform: y.network.xml(cluster{last: len(nodes) - 1, cores: 1, fatTree: fatTree}),
		kernels:  m.yaml(),
	}
}

// unsolved returns the inputs without what the back substitution computes.
func (y *synthetic) unsolved() *synthetic {
	u := *y
	u.others = y.others.without("dgemv", "dtrsv")
	return &u
}

// unsolvedUpTo is the largest order for which some published simulations of these
// studies left out the back substitution (docs/validation.md).
const unsolvedUpTo = 200000

// sample is a row of a sensitivity study: a run of one machine and what varies. Gflops
// are SMPI's, ours, and up to N = unsolvedUpTo ours without the back substitution.
type sample struct {
	machine              string
	n                    int
	what                 string // that varies
	smpi, ours, unsolved float64
	run, runUnsolved     run
}

// sample returns the sample of a run of HPL on nodes of a machine.
func (y *synthetic) sample(machine string, n int, what string, smpi float64, nodes []processor, p, q int, fatTree string) sample {
	return sample{machine: machine, n: n, what: what, smpi: smpi, run: y.run(nodes, n, p, q, fatTree), runUnsolved: y.unsolved().run(nodes, n, p, q, fatTree)}
}

// overheadsOver returns by order of the matrix and by what varies the mean over machines
// of the time above that of the base on the same machine, in percent.
func overheadsOver(base string, samples []sample, gflops func(sample) float64) map[string]float64 {
	bases := map[string]float64{}
	for _, s := range samples {
		if s.what == base {
			bases[s.machine+" "+strconv.Itoa(s.n)] = gflops(s)
		}
	}
	sums, counts := map[string]float64{}, map[string]float64{}
	for _, s := range samples {
		if b := bases[s.machine+" "+strconv.Itoa(s.n)]; b > 0 {
			key := cell(s.n, s.what)
			sums[key] += relative(b, gflops(s))
			counts[key]++
		}
	}
	for key, count := range counts {
		sums[key] /= count
	}
	return sums
}

// cell names what varies for an order of the matrix.
func cell(n int, what string) string { return fmt.Sprint(n, " ", what) }

// fill replays samples.
func (l *lab) fill(samples []sample) error {
	var runs []run
	var gflops []*float64
	for i := range samples {
		s := &samples[i]
		runs, gflops = append(runs, s.run), append(gflops, &s.ours)
		if s.n <= unsolvedUpTo {
			runs, gflops = append(runs, s.runUnsolved), append(gflops, &s.unsolved)
		}
	}
	results, err := l.replayAll(runs)
	if err != nil {
		return err
	}
	for i, r := range results {
		*gflops[i] = r.Gflops
	}
	return nil
}
