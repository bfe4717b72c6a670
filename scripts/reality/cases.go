package main

import (
	"fmt"
	"strings"
)

// grid is the process grid of a run: a rank per core.
type grid struct{ p, q int }

func (g grid) ranks() int     { return g.p * g.q }
func (g grid) String() string { return fmt.Sprintf("%dx%d", g.p, g.q) }

// point is a run of HPL that is predicted and measured.
type point struct {
	n, nb int
	grid
}

func (c point) String() string { return fmt.Sprintf("n%d-nb%d-%v", c.n, c.nb, c.grid) }

// plan is what is predicted and measured.
type plan struct {
	sizes, blocks []int
	grids         []grid
	repeats       int // of each size within one start of hpcc
	starts        int // of hpcc, for each number of ranks
}

var (
	fullPlan  = plan{[]int{2000, 4000, 6000, 10000}, []int{64, 128, 192}, []grid{{1, 1}, {1, 2}, {2, 1}}, 4, 2}
	shortPlan = plan{[]int{1000, 2000}, []int{64}, []grid{{1, 2}}, 2, 1}
)

// points returns the runs by grid, block size and size.
func (p *plan) points() (list []point) {
	for _, g := range p.grids {
		for _, nb := range p.blocks {
			for _, n := range p.sizes {
				list = append(list, point{n, nb, g})
			}
		}
	}
	return list
}

// rankCounts returns the numbers of ranks of the grids, each once, ascending as the plan is.
func (p *plan) rankCounts() (counts []int) {
	for _, g := range p.grids {
		if len(counts) == 0 || counts[len(counts)-1] != g.ranks() {
			counts = append(counts, g.ranks())
		}
	}
	return counts
}

// gridsOf returns the grids of a number of ranks.
func (p *plan) gridsOf(ranks int) (list []grid) {
	for _, g := range p.grids {
		if g.ranks() == ranks {
			list = append(list, g)
		}
	}
	return list
}

// dat returns an HPL.dat of the given sizes, block sizes and grids, with the parameters that
// all runs share: modified ring, depth 1, a mix of both row swaps, transposed L1 and U.
func dat(sizes, blocks []int, grids []grid) string {
	var ps, qs []int
	for _, g := range grids {
		ps, qs = append(ps, g.p), append(qs, g.q)
	}
	lines := []string{
		"HPLinpack benchmark input file", "runs of scripts/reality", "HPL.out", "8",
		fmt.Sprint(len(sizes)), numbers(sizes), fmt.Sprint(len(blocks)), numbers(blocks), "0",
		fmt.Sprint(len(grids)), numbers(ps), numbers(qs), "16.0",
		"1", "2", "1", "4", "1", "2", "1", "1", "1", "1", "1", "1", "2", "64", "0", "0", "1", "8",
	}
	return strings.Join(lines, "\n") + "\n"
}

// hpccinf returns the input of hpcc: an HPL.dat, and what its PTRANS takes beside.
func hpccinf(dat string) string {
	return dat + "#\n0\n1000\n0\n64\n"
}

func numbers(list []int) string {
	var b strings.Builder
	for i, n := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprint(&b, n)
	}
	return b.String()
}

// repeated returns the sizes so many times in turn: a drift of the machine then meets all.
func repeated(sizes []int, times int) (list []int) {
	for range times {
		list = append(list, sizes...)
	}
	return list
}
