package main

import (
	"fmt"
	"slices"
	"strconv"

	"reprise/calibrate/hosts"
	"reprise/internal/wording"
)

// cooledNodes is the law of nodes of which some are slow: the classes of Dahu's
// processors when the cooling of four nodes was broken, in proportion to the normal
// one, transposed to nodes with one dgemm of 32 threads. That the study did so is
// published, not how.
func cooledNodes() (*hosts.Model, error) {
	cpus, err := hosts.Builtin("dahu-cooling")
	if err != nil {
		return nil, err
	}
	nodes, err := hosts.Builtin("dahu-node")
	if err != nil {
		return nil, err
	}
	ratio := slices.Clone(nodes.Classes[0].Mean)
	for i := range ratio {
		ratio[i] /= cpus.Classes[0].Mean[i]
	}
	nodes.Description = "nodes of Dahu, as its processors were when the cooling of four nodes was broken"
	nodes.Classes = cpus.Classes
	for i := range nodes.Classes {
		transpose(&nodes.Classes[i], ratio)
	}
	return nodes, nodes.Validate()
}

// transpose multiplies the variables of a class.
func transpose(c *hosts.Class, ratio []float64) {
	for i, r := range ratio {
		c.Mean[i] *= r
		for j, q := range ratio {
			c.Spatial[i][j] *= r * q
			c.Temporal[i][j] *= r * q
		}
	}
}

// drawCooled returns 256 nodes of a machine that is drawn from the law; each seed has
// another.
func drawCooled(law *hosts.Model, seed uint64) ([]processor, error) {
	machine, err := law.Draw(hosts.DrawOptions{Hosts: 256, Seed: seed, Day: 1})
	if err != nil {
		return nil, err
	}
	nodes := make([]processor, len(machine.Processors))
	for i, u := range machine.Processors {
		nodes[i] = processor{host: i, gemm: gemm{
			mean:      polynomial{mnk: u.Values[0], intercept: u.Values[1]},
			deviation: polynomial{mnk: u.Values[2]},
		}}
	}
	return nodes, nil
}

// cooledShapes are the grids of the study of machines with slow nodes.
var cooledShapes = []string{allNodes, "4x63", "4x62", "4x61", "4x60", "5x51", "5x50", "5x49"}

// twoClasses replays grids of fewer and fewer nodes, the slowest left out, of machines
// some of whose nodes are slow. The published machines are not known; ours are drawn
// from the law that they were drawn from, so that only means over machines compare.
func twoClasses(l *runner) (section, error) {
	y, err := l.readSynthetic()
	if err != nil {
		return section{}, err
	}
	law, err := cooledNodes()
	if err != nil {
		return section{}, err
	}
	y.nodes = map[string][]processor{}
	for id := range 10 { // as many as the study had
		if y.nodes[strconv.Itoa(id)], err = drawCooled(law, uint64(id+1)); err != nil {
			return section{}, err
		}
	}
	limit := 3
	if l.all {
		limit = len(y.nodes)
	}
	samples, err := y.removals(l, "sensibility/spatial_heterogeneous.csv", limit, cooledShapes)
	if err != nil {
		return section{}, err
	}
	text := excessTable("grid", allNodes, "of "+allNodes, cooledShapes, samples) + "\nAll runs:\n\n" + absolute(samples)
	return section{text, []verdict{removalPays(samples)}}, nil
}

// removalPays checks the claim that a machine with slow nodes is quicker without 6 to
// 12 of them.
func removalPays(samples []sample) verdict {
	const large = 500000
	grids := []string{"5x50", "5x49", "4x62", "4x61"}
	o := excessesOver(allNodes, samples, oursOf)
	return decide(23, o, cells(large, grids...), func() (string, bool) {
		pays := true
		for _, g := range grids {
			pays = pays && o.at(large, g) < -0.5
		}
		return fmt.Sprintf("%s at %s, mean of machines drawn from the law", o.list(large, grids...), wording.Thousands(large)), pays
	})
}
