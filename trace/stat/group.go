package stat

import (
	"math/bits"
	"slices"

	"reprise/trace"
)

// grouping divides the ranks that take part in a call into groups that do the
// same: equal block, arguments and state.
type grouping struct {
	program *trace.Program
	members []membership // by axis
	classOf [][]int32    // by axis: class of each rank, nil where it is the rank's number
	all     []int32
	some    []int32
	ranks   []int32 // that may take part: all, some, or a class
	of      []int32 // by index into ranks: group, or -1
	first   []int32 // by group: its first rank
	size    []int64 // by group: ranks

	splits []split
	byHash map[uint64]int32 // hash of a class's columns: first class
	pairs  map[uint64]int32 // (group, part): finer group
	table  []int32          // the same where it is small: finer group + base
	base   int32
}

// membership lists the ranks of each class of an axis: ranks[start[k]:start[k+1]].
type membership struct{ start, ranks []int32 }

// split divides ranks into parts: part[class of the rank], -1 for those that take
// no part.
type split struct {
	class []int32 // by rank; nil: its number
	part  []int32 // by class; nil: the class
	n     int     // parts
}

// maxPairTable bounds the table of pairs; beyond, a map does.
const maxPairTable = 1 << 20

func newGrouping(p *trace.Program) *grouping {
	g := &grouping{program: p, byHash: map[uint64]int32{}, pairs: map[uint64]int32{}}
	for axis := range p.Header().Axes {
		g.members = append(g.members, membershipOf(p, axis))
		g.classOf = append(g.classOf, classesOf(p, axis))
	}
	for r := range p.Header().Ranks {
		g.all = append(g.all, int32(r))
	}
	return g
}

// classesOf returns the class of each rank, nil where each is its own.
func classesOf(p *trace.Program, axis int) []int32 {
	if p.Header().Axes[axis].Kind == trace.AxisRank {
		return nil
	}
	of := make([]int32, p.Header().Ranks)
	for r := range of {
		of[r] = p.Class(axis, int32(r))
	}
	return of
}

// chained returns a hash of h and what follows it.
func chained[T int32 | int64](h uint64, v T) uint64 {
	return (bits.RotateLeft64(h, 5) ^ uint64(v)) * 0x9E3779B97F4A7C15
}

func membershipOf(p *trace.Program, axis int) membership {
	m := membership{make([]int32, p.Header().Classes(axis)+1), make([]int32, p.Header().Ranks)}
	for r := range p.Header().Ranks {
		m.start[p.Class(axis, int32(r))+1]++
	}
	for k := 1; k < len(m.start); k++ {
		m.start[k] += m.start[k-1]
	}
	next := slices.Clone(m.start)
	for r := range m.ranks {
		k := p.Class(axis, int32(r))
		m.ranks[next[k]] = int32(r)
		next[k]++
	}
	return m
}

// axisColumns are the columns of a call that belong to one axis.
type axisColumns struct {
	masks  [][]int64
	blocks []int32
	args   [][]int64
	apart  bool // all classes count as different
}

// columnsOf collects the columns of an axis. Arguments beyond the parameters that
// the blocks take do not count.
func columnsOf(t *trace.CallSite, c *trace.CallColumns, axis, params int) (cols axisColumns, any bool) {
	for i, a := range t.Masks {
		if a == axis {
			cols.masks = append(cols.masks, c.Masks[i])
		}
	}
	if t.Block == axis {
		cols.blocks = c.Blocks
	}
	for i := range t.Params[:min(params, len(t.Params))] {
		if t.Params[i].Axis == axis {
			cols.args = append(cols.args, c.Args[i])
		}
	}
	cols.apart = t.Counts == axis
	return cols, cols.masks != nil || cols.blocks != nil || cols.args != nil || cols.apart
}

// closed reports that a class takes no part.
func (cols *axisColumns) closed(class int) bool {
	for _, g := range cols.masks {
		if g[class] == 0 {
			return true
		}
	}
	return cols.blocks != nil && cols.blocks[class] < 0
}

func (cols *axisColumns) hash(class int) uint64 {
	h := uint64(0)
	if cols.blocks != nil {
		h = chained(h, cols.blocks[class])
	}
	for _, a := range cols.args {
		h = chained(h, a[class])
	}
	return h
}

func (cols *axisColumns) equal(a, b int) bool {
	if cols.blocks != nil && cols.blocks[a] != cols.blocks[b] {
		return false
	}
	for _, arg := range cols.args {
		if arg[a] != arg[b] {
			return false
		}
	}
	return true
}

// group divides the ranks by their columns in a call and by extra splits.
func (g *grouping) group(t *trace.CallSite, c *trace.CallColumns, params int, extra ...split) {
	g.splits = g.splits[:0]
	g.ranks = g.all
	for axis := range g.program.Header().Axes {
		cols, any := columnsOf(t, c, axis, params)
		if !any {
			continue
		}
		s, open := g.classes(axis, &cols)
		if open < len(g.ranks) {
			g.ranks = g.open(axis, s.part, open)
		}
		if s.n > 1 || open < len(g.all) {
			g.splits = append(g.splits, s)
		}
	}
	for _, s := range extra {
		if s.n > 1 {
			g.splits = append(g.splits, s)
		}
	}
	g.split()
}

// open returns the ranks of the classes that take part, n in all.
func (g *grouping) open(axis int, part []int32, n int) []int32 {
	m := &g.members[axis]
	g.some = g.some[:0]
	for class, p := range part {
		if p < 0 {
			continue
		}
		ranks := m.ranks[m.start[class]:m.start[class+1]]
		if len(ranks) == n {
			return ranks
		}
		g.some = append(g.some, ranks...)
	}
	return g.some
}

// classes numbers the sets of classes of an axis that have equal columns, and
// counts the ranks of those that take part.
func (g *grouping) classes(axis int, cols *axisColumns) (s split, open int) {
	m := &g.members[axis]
	s.part = make([]int32, len(m.start)-1)
	s.class = g.classOf[axis]
	clear(g.byHash)
	for class := range s.part {
		if cols.closed(class) {
			s.part[class] = -1
			continue
		}
		open += int(m.start[class+1] - m.start[class])
		s.part[class] = int32(s.n)
		if !cols.apart {
			s.part[class] = g.setOf(class, cols, s.part, int32(s.n))
		}
		s.n = max(s.n, int(s.part[class])+1)
	}
	return s, open
}

// setOf returns the part of a class: that of an equal one before, or next.
func (g *grouping) setOf(class int, cols *axisColumns, part []int32, next int32) int32 {
	for h := cols.hash(class); ; h++ {
		first, ok := g.byHash[h]
		if !ok {
			g.byHash[h] = int32(class)
			return next
		}
		if cols.equal(int(first), class) {
			return part[first]
		}
	}
}

// split numbers the groups: the combinations of parts that occur.
func (g *grouping) split() {
	n := len(g.ranks)
	g.of = slices.Grow(g.of[:0], n)[:n]
	clear(g.of)
	product := 1
	for _, s := range g.splits {
		if product *= s.n; product > maxPairTable {
			break
		}
	}
	if product <= maxPairTable {
		g.number(g.splits, product)
	} else {
		g.numberInTurn()
	}
	g.size = slices.Grow(g.size[:0], len(g.first))[:len(g.first)]
	clear(g.size)
	for _, group := range g.of {
		if group >= 0 {
			g.size[group]++
		}
	}
}

// partOf returns the part of a rank.
func (s *split) partOf(rank int32) int32 {
	if s.class != nil {
		rank = s.class[rank]
	}
	if s.part != nil {
		rank = s.part[rank]
	}
	return rank
}

// number combines all splits at once; product is that of their parts.
func (g *grouping) number(splits []split, product int) {
	g.reserve(product)
	g.first = g.first[:0]
	for i, rank := range g.ranks {
		key := int32(0)
		for j := range splits {
			k := splits[j].partOf(rank)
			if k < 0 {
				key = -1
				break
			}
			key = key*int32(splits[j].n) + k
		}
		if key < 0 {
			g.of[i] = -1
			continue
		}
		entry := &g.table[key]
		if *entry < g.base {
			*entry = g.base + int32(len(g.first))
			g.first = append(g.first, rank)
		}
		g.of[i] = *entry - g.base
	}
}

// reserve empties the first n entries of the table: entries below base count for
// nothing.
func (g *grouping) reserve(n int) {
	g.base += int32(len(g.all)) + 1 // beyond all entries so far
	if g.base > 1<<30 {
		clear(g.table)
		g.base = 1
	}
	if n > len(g.table) {
		g.table = append(g.table, make([]int32, n-len(g.table))...)
	}
}

// numberInTurn combines one split after the other, for more combinations than the
// table holds.
func (g *grouping) numberInTurn() {
	for j := range g.splits {
		clear(g.pairs)
		g.first = g.first[:0]
		for i, rank := range g.ranks {
			k := g.splits[j].partOf(rank)
			if g.of[i] < 0 || k < 0 {
				g.of[i] = -1
				continue
			}
			key := uint64(g.of[i])<<32 | uint64(k)
			group, ok := g.pairs[key]
			if !ok {
				group = int32(len(g.first))
				g.pairs[key] = group
				g.first = append(g.first, rank)
			}
			g.of[i] = group
		}
	}
}
