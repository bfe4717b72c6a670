package main

import "strings"

// collectiveNames lists by selector the operations that SimGrid 3.32 plays. The
// two-level algorithms of mpich's bcast, reduce and allreduce write to memory that is
// not theirs.
var collectiveNames = map[string][]string{
	"default": {"barrier", "bcast", "reduce", "allreduce", "alltoall", "alltoallv", "allgather", "allgatherv",
		"gather", "gatherv", "scatter", "scatterv", "reducescatter", "scan", "exscan"},
	"ompi": {"barrier", "bcast", "reduce", "allreduce", "alltoall", "alltoallv", "allgather", "allgatherv",
		"gather", "gatherv", "scatter", "scatterv", "reducescatter", "scan", "exscan"},
	"mpich": {"barrier", "alltoall", "alltoallv", "allgather", "allgatherv", "gather", "gatherv", "scatter", "scatterv",
		"reducescatter", "scan", "exscan"},
}

// collectives makes all ranks call collectives, of the given selector.
func (p *program) collectives(selector string) {
	if selector != "default" {
		p.settings.set("smpi/coll-selector", "%s", selector)
	}
	for range p.rounds {
		for r := range p.ranks {
			p.pause(r, 1e-3)
		}
		p.collective(p.group(), pick(p.dice, collectiveNames[selector]...), selector != "default")
	}
}

// collective draws one call of an operation. Empty ones end in a division by zero
// in some algorithms, or in what depends on the operations before, so there is a
// choice.
func (p *program) collective(g int, name string, nonempty bool) {
	n, root, flops := p.size().count, p.IntN(p.ranks), int(p.logarithmic(1, 1e6))
	if nonempty {
		n = max(4, n)
	}
	if p.chance(0.5) {
		flops = 0
	}
	switch name {
	case "barrier":
		p.all(g, "barrier")
	case "bcast":
		p.all(g, "bcast %d %d", n, root)
	case "reduce":
		p.all(g, "reduce %d %d %d", n, flops, root)
	case "allreduce", "scan", "exscan":
		p.all(g, "%s %d %d", name, n, flops)
	case "alltoall", "allgather":
		p.all(g, "%s %d %d", name, n/4, n/4)
	case "gather", "scatter":
		p.all(g, "%s %d %d %d", name, n, n, root)
	case "alltoallv":
		p.alltoallv(g)
	default:
		p.vector(g, name, root, flops, nonempty)
	}
}

// counts draws a count per rank.
func (p *program) counts() []int {
	list := make([]int, p.ranks)
	for i := range list {
		list[i] = p.size().count / 4
	}
	return list
}

func words(counts []int) string {
	var s []string
	for _, n := range counts {
		s = append(s, payload{n, byteType}.String())
	}
	return strings.Join(s, " ")
}

func sum(counts []int) int {
	total := 0
	for _, n := range counts {
		total += n
	}
	return total
}

func (p *program) alltoallv(g int) {
	matrix := make([][]int, p.ranks) // [from][to]
	for i := range matrix {
		matrix[i] = p.counts()
	}
	for r := range p.ranks {
		in := make([]int, p.ranks)
		for i := range in {
			in[i] = matrix[i][r]
		}
		p.add(g, r, "alltoallv %d %s %d %s", sum(matrix[r]), words(matrix[r]), sum(in), words(in))
	}
}

// vector draws a collective with a count per rank.
func (p *program) vector(g int, name string, root, flops int, nonempty bool) {
	n := p.counts()
	if nonempty {
		n[0] = max(1, n[0])
	}
	for r := range p.ranks {
		switch name {
		case "gatherv":
			p.add(g, r, "gatherv %d %s %d", n[r], words(n), root)
		case "allgatherv":
			p.add(g, r, "allgatherv %d %s", n[r], words(n))
		case "scatterv":
			p.add(g, r, "scatterv %s %d %d", words(n), n[r], root)
		case "reducescatter":
			for i := range n {
				n[i] = n[0] // the algorithm for unequal counts is not described
			}
			p.add(g, r, "reducescatter %s %d", words(n), flops)
		}
	}
}
