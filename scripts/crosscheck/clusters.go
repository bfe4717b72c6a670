package main

import (
	"fmt"
	"strconv"
	"strings"
)

// drawStar draws a flat cluster, with or without backbone, limiter and loopback.
func drawStar(d dice) *machine {
	m := &machine{self: true}
	m.body, m.hosts = star(d, m, "n", d.between(2, 12), "")
	return m
}

func star(d dice, m *machine, id string, n int, attributes string) (string, []string) {
	xml, hosts := cluster(d, id, n, attributes)
	var b strings.Builder
	b.WriteString(xml)
	if d.chance(0.3) {
		fmt.Fprintf(&b, " bb_bw=%q bb_lat=%q", bandwidth(d), latency(d))
		if d.chance(0.5) {
			fmt.Fprintf(&b, " bb_sharing_policy=%q", pick(d, "SHARED", "FATPIPE"))
		}
	}
	limiter(d, &b, 0.2)
	m.loopback(d, &b, 0.4)
	properties(d, &b, "cluster")
	return b.String(), hosts
}

// drawCrowd draws few hosts, so that several ranks share each.
func drawCrowd(d dice) *machine {
	m := &machine{self: true}
	m.body, m.hosts = star(d, m, "n", d.between(1, 3), "")
	return m
}

func drawFatTree(d dice) *machine {
	m := &machine{self: true}
	m.body, m.hosts = fatTree(d, m, "n")
	return m
}

// fatTree draws one of 1 to 4 levels and at most 64 hosts.
func fatTree(d dice, m *machine, id string) (string, []string) {
	levels := d.between(1, 4)
	hosts, below := 1, 1
	var children, parents, cables []string
	switches := 0
	var c, p []int
	for l := range levels {
		c = append(c, d.between(1, max(1, min(5, 64/hosts))))
		p = append(p, d.between(1, 3))
		if l == 0 {
			p[0] = 1 + d.IntN(2)
		}
		hosts *= c[l]
		children, parents = append(children, strconv.Itoa(c[l])), append(parents, strconv.Itoa(p[l]))
		cables = append(cables, strconv.Itoa(d.between(1, 3)))
	}
	for l := range levels {
		below *= p[l]
		above := 1
		for _, k := range c[l+1:] {
			above *= k
		}
		switches += below * above
	}
	topology := fmt.Sprintf(" topology=\"FAT_TREE\" topo_parameters=\"%d;%s;%s;%s\"", levels,
		strings.Join(children, ","), strings.Join(parents, ","), strings.Join(cables, ","))
	xml, names := cluster(d, id, hosts, topology)
	var b strings.Builder
	b.WriteString(xml)
	if switches < hosts { // others are refused: the names of limiters clash
		limiter(d, &b, 0.3)
	}
	m.loopback(d, &b, 0.4)
	properties(d, &b, "cluster")
	return b.String(), names
}

// drawTorus draws one of 1 to 4 dimensions and at most 64 hosts.
func drawTorus(d dice) *machine {
	m := &machine{}
	hosts := 1
	var sizes []string
	for range d.between(1, 4) {
		n := d.between(1, max(1, min(7, 64/hosts)))
		if n == 1 && len(sizes) > 0 { // refused where two dimensions are: the names of links clash
			continue
		}
		hosts *= n
		sizes = append(sizes, strconv.Itoa(n))
	}
	if hosts == 1 {
		hosts, sizes = 3, []string{"3"}
	}
	xml, names := cluster(d, "n", hosts, fmt.Sprintf(" topology=\"TORUS\" topo_parameters=%q", strings.Join(sizes, ",")))
	var b strings.Builder
	b.WriteString(xml)
	limiter(d, &b, 0.25)
	m.loopback(d, &b, 0.6)
	properties(d, &b, "cluster")
	m.body, m.hosts = b.String(), names
	return m
}

// drawDragonfly draws one of at most 72 hosts. Groups do not outnumber blades.
func drawDragonfly(d dice) *machine {
	m := &machine{}
	blades := d.between(1, 4)
	groups, chassis, nodes := d.between(1, blades), d.between(1, 3), d.between(1, 2)
	if blades*chassis == 1 {
		nodes = 2
	}
	topology := fmt.Sprintf(" topology=\"DRAGONFLY\" topo_parameters=\"%d,%d;%d,%d;%d,%d;%d\"",
		groups, d.between(1, 4), chassis, d.between(1, 3), blades, d.between(1, 3), nodes)
	xml, names := cluster(d, "n", groups*chassis*blades*nodes, topology)
	var b strings.Builder
	b.WriteString(xml)
	limiter(d, &b, 0.25)
	m.loopback(d, &b, 0.6)
	properties(d, &b, "cluster")
	m.body, m.hosts = b.String(), names
	return m
}
