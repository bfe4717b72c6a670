package profile

import (
	"fmt"

	"reprise/trace"
)

// MaxGroups is how many groups of ranks a profile tells apart.
const MaxGroups = 256

// Groups says which ranks are counted together.
type Groups struct {
	Names []string
	Of    []int // by rank: its group
}

// GroupsOf returns the hosts, whose names are given for each rank. Where these are more than
// MaxGroups it returns the rows or columns of the process grid, and where there is no such
// grid blocks of ranks of consecutive numbers.
func GroupsOf(h *trace.Header, hosts []string) Groups {
	if g := byHost(hosts); len(g.Names) <= MaxGroups {
		return g
	}
	for i := range h.CommFamilies {
		f := &h.CommFamilies[i]
		if n := len(f.Groups); f.Name != "" && f.Name != "-" && n > 1 && n <= MaxGroups {
			return byFamily(f, len(hosts))
		}
	}
	return byBlock(len(hosts))
}

func byHost(hosts []string) (g Groups) {
	numbers := map[string]int{}
	for _, host := range hosts {
		n, ok := numbers[host]
		if !ok {
			n = len(g.Names)
			numbers[host] = n
			g.Names = append(g.Names, host)
		}
		g.Of = append(g.Of, n)
	}
	return g
}

func byFamily(f *trace.CommFamily, ranks int) Groups {
	g := Groups{Of: make([]int, ranks)}
	for i := range f.Groups {
		g.Names = append(g.Names, fmt.Sprintf("%s %d", f.Name, i))
		for m := range f.Groups[i].Len() {
			g.Of[f.Groups[i].Member(m)] = i
		}
	}
	return g
}

func byBlock(ranks int) (g Groups) {
	per := (ranks + MaxGroups - 1) / MaxGroups
	for r := range ranks {
		if r%per == 0 {
			g.Names = append(g.Names, fmt.Sprintf("ranks %d to %d", r, min(r+per, ranks)-1))
		}
		g.Of = append(g.Of, r/per)
	}
	return g
}
