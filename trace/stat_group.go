package trace

import "slices"

// grouping divides the ranks that take part in a call into groups that do the
// same: equal block, arguments and state.
type grouping struct {
	program *Program
	of      []int32 // by rank: group, or -1
	rank    []int32 // by group: its first rank
	size    []int64 // by group: ranks

	cluster []int32          // by class of an axis: number of its set of equal classes, or -1
	byHash  map[uint64]int32 // hash of a class's columns: first class
	pairs   map[uint64]int32 // (group, cluster): finer group
	table   []int32          // the same where it is small: finer group + base
	base    int32
}

// maxPairTable bounds the table of pairs; beyond, a map does.
const maxPairTable = 1 << 20

func newGrouping(p *Program) *grouping {
	return &grouping{program: p, of: make([]int32, p.header.Ranks), byHash: map[uint64]int32{}, pairs: map[uint64]int32{}}
}

// axisColumns are the columns of a call that belong to one axis.
type axisColumns struct {
	gates  [][]int64
	blocks []int32
	args   [][]int64
	split  bool // all classes count as different
}

// columnsOf collects the columns of an axis. Arguments beyond the parameters that
// the blocks take do not count.
func columnsOf(t *Template, c *callColumns, axis, params int) (cols axisColumns, any bool) {
	for i, a := range t.Gates {
		if a == axis {
			cols.gates = append(cols.gates, c.gates[i])
		}
	}
	if t.Block == axis {
		cols.blocks = c.blocks
	}
	for i := range t.Params[:min(params, len(t.Params))] {
		if t.Params[i].Axis == axis {
			cols.args = append(cols.args, c.args[i])
		}
	}
	cols.split = t.List == axis
	return cols, cols.gates != nil || cols.blocks != nil || cols.args != nil || cols.split
}

// closed reports that a class takes no part.
func (cols *axisColumns) closed(class int) bool {
	for _, g := range cols.gates {
		if g[class] == 0 {
			return true
		}
	}
	return cols.blocks != nil && cols.blocks[class] < 0
}

func (cols *axisColumns) hash(class int) uint64 {
	h := uint64(0x9E3779B97F4A7C15)
	if cols.blocks != nil {
		h = mix64(h ^ uint64(cols.blocks[class]))
	}
	for _, a := range cols.args {
		h = mix64(h ^ uint64(a[class]))
	}
	return h
}

// mix64 is the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
func mix64(z uint64) uint64 {
	z += 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func (cols *axisColumns) equal(a, b int) bool {
	if cols.split && a != b || cols.blocks != nil && cols.blocks[a] != cols.blocks[b] {
		return false
	}
	for _, arg := range cols.args {
		if arg[a] != arg[b] {
			return false
		}
	}
	return true
}

// start puts all ranks into one group.
func (g *grouping) start() {
	clear(g.of)
	g.rank = append(g.rank[:0], 0)
}

// byAxis splits the groups by the columns of an axis, and leaves out the ranks of
// classes that take no part.
func (g *grouping) byAxis(axis int, cols *axisColumns) {
	n := g.program.header.Classes(axis)
	g.cluster = slices.Grow(g.cluster[:0], n)[:n]
	clear(g.byHash)
	clusters := int32(0)
	for class := range n {
		if cols.closed(class) {
			g.cluster[class] = -1
			continue
		}
		g.cluster[class] = clusters
		if cols.split {
			clusters++
			continue
		}
		for h := cols.hash(class); ; h++ {
			first, ok := g.byHash[h]
			if !ok {
				g.byHash[h] = int32(class)
				clusters++
				break
			}
			if cols.equal(int(first), class) {
				g.cluster[class] = g.cluster[first]
				break
			}
		}
	}
	switch of := g.program.classes[axis]; {
	case of != nil:
		g.split(clusters, func(rank int) int32 { return g.cluster[of[rank]] })
	case g.program.header.Axes[axis].Kind == AxisRank:
		g.split(clusters, func(rank int) int32 { return g.cluster[rank] })
	default:
		g.split(clusters, func(int) int32 { return g.cluster[0] })
	}
}

// split divides each group by a number from 0 to n-1 of each rank; ranks of number
// -1 leave.
func (g *grouping) split(n int32, number func(rank int) int32) {
	old := int64(len(g.rank))
	g.rank = g.rank[:0]
	if old*int64(n) > maxPairTable {
		g.splitByMap(number)
		return
	}
	g.reserve(int32(old) * n)
	for r, group := range g.of {
		if group < 0 {
			continue
		}
		k := number(r)
		if k < 0 {
			g.of[r] = -1
			continue
		}
		entry := &g.table[group*n+k]
		if *entry < g.base {
			*entry = g.base + int32(len(g.rank))
			g.rank = append(g.rank, int32(r))
		}
		g.of[r] = *entry - g.base
	}
}

// reserve empties the first n entries of the table: entries below base count for
// nothing.
func (g *grouping) reserve(n int32) {
	g.base += int32(len(g.of)) + 1 // beyond all entries so far
	if g.base > 1<<30 {
		clear(g.table)
		g.base = 1
	}
	if int(n) > len(g.table) {
		g.table = append(g.table, make([]int32, int(n)-len(g.table))...)
	}
}

func (g *grouping) splitByMap(number func(rank int) int32) {
	clear(g.pairs)
	for r, group := range g.of {
		if group < 0 {
			continue
		}
		k := number(r)
		if k < 0 {
			g.of[r] = -1
			continue
		}
		key := uint64(group)<<32 | uint64(k)
		finer, ok := g.pairs[key]
		if !ok {
			finer = int32(len(g.rank))
			g.pairs[key] = finer
			g.rank = append(g.rank, int32(r))
		}
		g.of[r] = finer
	}
}

// finish counts the ranks of each group.
func (g *grouping) finish() {
	g.size = slices.Grow(g.size[:0], len(g.rank))[:len(g.rank)]
	clear(g.size)
	for _, group := range g.of {
		if group >= 0 {
			g.size[group]++
		}
	}
}
