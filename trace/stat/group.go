package stat

import (
	"cmp"
	"encoding/binary"
	"slices"

	"reprise/trace"
)

// This file divides the ranks of a call into groups that do the same (grouping.group), and numbers their states.

// grouping divides the ranks that take part in a call into groups that do the same: equal blocks, equal arguments of
// those that counts depend on, equal states. Columns belong to axes with few classes. So the classes of each axis are
// compared first, and numbered by equal columns: these are the parts of a split. Then each rank gets the number of its
// combination of parts. The cost is a few ns a rank, whatever the number of columns. The memory is used again for each
// call.
type grouping struct {
	program *trace.Program
	members []membership // by axis
	classOf [][]int32    // by axis: class of each rank, nil where it is the rank's number
	all     []int32
	some    []int32
	// The result of group: ranks, of, first and size.
	ranks []int32 // that may take part: all, some, or a class
	of    []int32 // by index into ranks: group, or -1
	first []int32 // by group: its first rank
	size  []int64 // by group: ranks

	// Memory of group, used again for each call.
	splits []split
	byKey  map[string]int32 // what counts of a class's columns: part
	key    []byte
	pairs  map[uint64]int32 // (group, part): finer group
	table  []int32          // the same where it is small: finer group + base
	base   int32            // entries of the table below it count for nothing
}

// membership lists the ranks of each class of an axis: ranks[start[k]:start[k+1]].
type membership struct{ start, ranks []int32 }

// split divides ranks into parts: part[class of the rank], -1 for those that take no part.
type split struct {
	class []int32 // by rank; nil: its number
	part  []int32 // by class; nil: the class
	n     int     // parts
}

// maxPairTable bounds the table of pairs; beyond, a map does.
const maxPairTable = 1 << 20

// newGrouping prepares the ranks of each class of each axis, sorted by class.
func newGrouping(p *trace.Program) *grouping {
	g := &grouping{program: p, byKey: map[string]int32{}, pairs: map[uint64]int32{}}
	for r := range p.Header().Ranks {
		g.all = append(g.all, int32(r))
	}
	for axis := range p.Header().Axes {
		of := make([]int32, len(g.all))
		m := membership{start: make([]int32, p.Header().Classes(axis)+1), ranks: slices.Clone(g.all)}
		for r := range of {
			of[r] = p.Class(axis, int32(r))
			m.start[of[r]+1]++
		}
		for k := 1; k < len(m.start); k++ {
			m.start[k] += m.start[k-1]
		}
		slices.SortStableFunc(m.ranks, func(x, y int32) int { return cmp.Compare(of[x], of[y]) })
		if p.Header().Axes[axis].Kind == trace.AxisRank {
			of = nil
		}
		g.members, g.classOf = append(g.members, m), append(g.classOf, of)
	}
	return g
}

// group divides the ranks by their columns in a call, as far as its parameters are used, and by extra splits. It
// sets g.ranks, g.of, g.first and g.size.
func (g *grouping) group(t *trace.CallSite, c *trace.CallColumns, used []bool, extra ...split) {
	g.splits, g.ranks = g.splits[:0], g.all
	for axis := range g.members {
		// The columns of the axis: masks and blocks say which classes take part, blocks and args which of
		// them do the same. Lists of items differ in length and values from class to class, so that all
		// their classes count as different: apart.
		var masks, args [][]int64
		var blocks []int32
		apart := t.Counts == axis
		for i, a := range t.Masks {
			if a == axis {
				masks = append(masks, c.Masks[i])
			}
		}
		if t.Block == axis {
			blocks = c.Blocks
		}
		for i := range t.Params {
			if used[i] && t.Params[i].Axis == axis {
				args = append(args, c.Args[i])
			}
		}
		if masks == nil && blocks == nil && args == nil && !apart {
			continue
		}

		// The sets of classes that have equal columns are numbered, and the ranks of those that take part counted.
		m, open := &g.members[axis], 0
		s := split{class: g.classOf[axis], part: make([]int32, len(m.start)-1)}
		clear(g.byKey)
		for class := range s.part {
			// A class takes no part if a mask, or its block, says so.
			closed := func(mask []int64) bool { return mask[class] == 0 }
			if slices.ContainsFunc(masks, closed) || blocks != nil && blocks[class] < 0 {
				s.part[class] = -1
				continue
			}
			open += int(m.start[class+1] - m.start[class])
			if !apart {
				g.key = g.key[:0]
				if blocks != nil {
					g.key = binary.AppendVarint(g.key, int64(blocks[class]))
				}
				for _, arg := range args {
					g.key = binary.AppendVarint(g.key, arg[class])
				}
				if part, known := g.byKey[string(g.key)]; known {
					s.part[class] = part
					continue
				}
				g.byKey[string(g.key)] = int32(s.n)
			}
			s.part[class] = int32(s.n)
			s.n++
		}
		// Of several axes that exclude ranks the one that leaves the fewest gives the list; the
		// others exclude by part -1 when the groups are numbered.
		if open < len(g.ranks) { // the ranks of the classes that take part are left
			g.some = g.some[:0]
			for class, p := range s.part {
				if p >= 0 {
					g.some = append(g.some, m.ranks[m.start[class]:m.start[class+1]]...)
				}
			}
			g.ranks = g.some
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
	g.of = slices.Grow(g.of[:0], len(g.ranks))[:len(g.ranks)]
	clear(g.of)
	g.number()
	g.size = slices.Grow(g.size[:0], len(g.first))[:len(g.first)]
	clear(g.size)
	for _, group := range g.of {
		if group >= 0 {
			g.size[group]++
		}
	}
}

// partOf returns the part of a rank. A split by axis goes from the rank to its class and on to the part; one by
// state or by rank has no table for one of these steps.
func (s *split) partOf(rank int32) int32 {
	if s.class != nil {
		rank = s.class[rank]
	}
	if s.part != nil {
		rank = s.part[rank]
	}
	return rank
}

// number numbers the groups, which are the combinations of parts that occur. A table finds the group of all
// splits at once; if it would be too large, numberInTurn takes one split after the other.
func (g *grouping) number() {
	product := 1
	for _, s := range g.splits {
		if product *= s.n; product > maxPairTable {
			g.numberInTurn()
			return
		}
	}
	// Entries of earlier calls are below the base, and so count as empty: clearing the table for
	// each call would cost more than the ranks.
	g.base += int32(len(g.all)) + 1 // beyond all entries so far
	if g.base > 1<<30 {
		clear(g.table)
		g.base = 1
	}
	if product > len(g.table) {
		g.table = append(g.table, make([]int32, product-len(g.table))...)
	}
	g.first = g.first[:0]
ranks:
	for i, rank := range g.ranks {
		// The key is a number whose digits are the parts, in base of their number for each split.
		key := int32(0)
		for j := range g.splits {
			k := g.splits[j].partOf(rank)
			if k < 0 {
				g.of[i] = -1
				continue ranks
			}
			key = key*int32(g.splits[j].n) + k
		}
		entry := &g.table[key]
		if *entry < g.base {
			*entry = g.base + int32(len(g.first))
			g.first = append(g.first, rank)
		}
		g.of[i] = *entry - g.base
	}
}

// numberInTurn divides by one split after the other: each makes the groups before finer.
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

// state is what the calls so far have left in some ranks: the open phases, the innermost last, and the operations
// that wait in slots.
type state struct {
	phases []int32
	slots  []operation
	key    string
	ranks  int64 // that are in it
}

// states has the states that ranks are in, and which of them each rank is in. There are few states, as ranks of a
// process row or column mostly do the same. The number of a state without ranks is used again.
type states struct {
	of     []int32 // by rank
	list   []state
	byKey  map[string]int32
	unused []int32
	key    []byte
}

// add returns the number of a state that some more ranks are in.
// The key has every field of the state, with lengths, so that different states have different keys.
func (s *states) add(phases []int32, slots []operation, ranks int64) int32 {
	key := binary.AppendUvarint(s.key[:0], uint64(len(phases)))
	for _, p := range phases {
		key = binary.AppendVarint(key, int64(p))
	}
	for _, o := range slots {
		kind := 0
		if o.guarded {
			kind = 2
		} else if o.pending {
			kind = 1
		}
		key = binary.AppendUvarint(append(key, byte(kind)), uint64(o.block))
		for _, v := range o.args {
			key = binary.AppendVarint(key, v)
		}
	}
	s.key = key
	n, ok := s.byKey[string(key)]
	if !ok {
		if last := len(s.unused) - 1; last >= 0 {
			n, s.unused = s.unused[last], s.unused[:last]
		} else {
			n = int32(len(s.list))
			s.list = append(s.list, state{})
		}
		s.list[n] = state{phases: slices.Clone(phases), slots: slices.Clone(slots), key: string(key)}
		s.byKey[s.list[n].key] = n
	}
	s.list[n].ranks += ranks
	return n
}
