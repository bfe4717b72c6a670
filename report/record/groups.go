package record

import (
	"cmp"
	"slices"

	"reprise/replay"
	"reprise/report/packed"
	"reprise/trace"
)

// groups are which ranks belong together: by rows and columns of the process grid, if the
// trace has communicators of that name, and by hosts, if one has several ranks.
type groups struct {
	ranks int
	list  []group
}

// group divides the ranks.
type group struct {
	by   string
	of   []int32 // by rank, consecutive from 0 on
	size int
	name func(i int) string // nil: numbers
}

// gridNames are what reports call communicators.
var gridNames = map[string]string{"row": "grid row", "col": "grid column"}

func newGroups(h *trace.Header, m *replay.Machine) groups {
	g := groups{ranks: h.Ranks}
	for _, f := range h.CommFamilies {
		if name, ok := gridNames[f.Name]; ok && len(f.Groups) > 1 {
			g.list = append(g.list, familyGroup(&f, name, h.Ranks))
		}
	}
	if hosts := hostGroup(m); hosts.size < h.Ranks {
		g.list = append(g.list, hosts)
	}
	return g
}

func familyGroup(f *trace.CommFamily, by string, ranks int) group {
	g := group{by: by, of: make([]int32, ranks), size: len(f.Groups)}
	for i := range f.Groups {
		for k := range f.Groups[i].Len() {
			g.of[f.Groups[i].Member(k)] = int32(i)
		}
	}
	return g
}

// hostGroup divides the ranks by their hosts, in the platform's order.
func hostGroup(m *replay.Machine) group {
	used := slices.Compact(slices.Sorted(slices.Values(m.Hosts)))
	g := group{by: "host", of: make([]int32, len(m.Hosts)), size: len(used)}
	for r, h := range m.Hosts {
		i, _ := slices.BinarySearch(used, h)
		g.of[r] = int32(i)
	}
	g.name = func(i int) string { return m.Platform.Host(int(used[i])).Name }
	return g
}

// orders returns the ways to sort the rows of a matrix, of which each is so many ranks: the
// first of them decides.
func (g *groups) orders(perRow int, ranks []rank) []Order {
	list := []Order{{Name: "rank"}}
	rows := (len(ranks) + perRow - 1) / perRow
	add := func(name string, compare func(a, b int) int) {
		order := make([]uint32, rows)
		for i := range order {
			order[i] = uint32(i)
		}
		slices.SortStableFunc(order, func(a, b uint32) int { return compare(int(a)*perRow, int(b)*perRow) })
		o := Order{Name: name}
		if !slices.IsSorted(order) {
			o.Rows = packed.Uint32s(order)
		}
		list = append(list, o)
	}
	for _, by := range g.list {
		add(by.by, func(a, b int) int { return cmp.Compare(by.of[a], by.of[b]) })
	}
	add("end", func(a, b int) int { return cmp.Compare(ranks[a].clock, ranks[b].clock) })
	return list
}
