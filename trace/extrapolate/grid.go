package extrapolate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"reprise/trace"
)

// This file has process grids: how their extents follow from the number of ranks (rules), and by which relations
// ranks find their partners in them (grid.relations).

// mostDims is the largest number of dimensions of a grid.
const mostDims = 4

// grid is a process grid. The last coordinate changes fastest from rank to rank, as in Cartesian communicators.
type grid []int

// place returns the coordinates of a rank.
func (g grid) place(rank int) (x [mostDims]int) {
	for k := len(g) - 1; k >= 0; k-- {
		x[k], rank = rank%g[k], rank/g[k]
	}
	return x
}

// rank returns the rank at a place.
func (g grid) rank(x [mostDims]int) (rank int) {
	for k, n := range g {
		rank = rank*n + x[k]
	}
	return rank
}

// ranks returns the number of ranks.
func (g grid) ranks() int {
	n := 1
	for _, extent := range g {
		n *= extent
	}
	return n
}

// String returns the extents as in 4x4x2.
func (g grid) String() string {
	text := ""
	for k, n := range g {
		if k > 0 {
			text += "x"
		}
		text += fmt.Sprint(n)
	}
	return text
}

// balanced returns the extents that MPI_Dims_create gives: as close to each other as possible, in descending order.
func balanced(ranks, dims int) grid {
	if dims == 1 {
		return grid{ranks}
	}
	var best grid
	// The first extent is the largest; the smaller it is, the closer are all.
	for first := 1; first <= ranks; first++ {
		if ranks%first != 0 {
			continue
		}
		rest := balanced(ranks/first, dims-1)
		if rest[0] <= first {
			best = append(grid{first}, rest...)
			break
		}
	}
	return best
}

// rule says how the extents of a grid follow from the number of ranks.
type rule struct {
	dims   int
	rising bool // extents in ascending order
	fixed  int  // an extent that is the same in all sizes; 0: none
	last   bool // it is the last one, else the first
}

// grid returns the grid of so many ranks, nil if there is none.
func (u rule) grid(ranks int) grid {
	dims := u.dims
	if u.fixed > 0 {
		if ranks%u.fixed != 0 {
			return nil
		}
		ranks, dims = ranks/u.fixed, dims-1
	}
	g := balanced(ranks, dims)
	if u.rising {
		slices.Reverse(g)
	}
	switch {
	case u.fixed > 0 && u.last:
		g = append(g, u.fixed)
	case u.fixed > 0:
		g = append(grid{u.fixed}, g...)
	}
	return g
}

// rules returns those that are tried, simple ones first: a line; what MPI_Dims_create gives; and the same beside an
// extent that all recordings have.
func rules(ranks []int) []rule {
	list := []rule{{dims: 1}}
	for dims := 2; dims <= mostDims; dims++ {
		list = append(list, rule{dims: dims}, rule{dims: dims, rising: true})
	}
	for dims := 2; dims < mostDims; dims++ {
		for fixed := 2; fixed <= ranks[0]; fixed++ {
			if slices.ContainsFunc(ranks, func(n int) bool { return n%fixed != 0 }) {
				continue
			}
			for _, last := range []bool{true, false} {
				list = append(list, rule{dims: dims, fixed: fixed, last: last})
				if dims > 2 {
					list = append(list, rule{dims: dims, fixed: fixed, last: last, rising: true})
				}
			}
		}
	}
	return list
}

// open reports whether all partners are next to each other in the grid, never around its end, and not all extents are so
// short that this says nothing.
func (u rule) open(list []*recording, pairs []map[partnersKey][]pair) bool {
	told := false
	for i, r := range list {
		g := u.grid(r.ranks)
		told = told || slices.Max(g) > 2
		for _, of := range pairs[i] {
			for _, p := range of {
				x, y := g.place(int(p.from)), g.place(int(p.to))
				for k := range g {
					if y[k]-x[k] < -1 || y[k]-x[k] > 1 {
						return false
					}
				}
			}
		}
	}
	return told
}

// relation is a way in which the place of a partner follows from that of a rank. It has parameters, one for each
// dimension of its grid.
type relation struct {
	kind relationKind
	line bool   // by ranks, not by places in the grid
	open bool   // of a shifted one: there is no way around the end
	mask uint8  // of a mixed one: the dimensions in which the partner's coordinate is given
	swap [2]int // dimensions that are exchanged
}

type relationKind uint8

const (
	shifted relationKind = iota // by an offset in each dimension, around the end
	xored                       // rank xor parameter
	swapped                     // two coordinates are exchanged, then shifted
	mixed                       // some coordinates are given, the others shifted
	mirror                      // the sum of both ranks, modulo the number of ranks
)

// params are those of a relation.
type params [mostDims]int32

// relations returns those of a grid, simple ones first.
func (g grid) relations(open bool) []relation {
	list := []relation{{kind: shifted, open: open}}
	if open {
		return list
	}
	if len(g) > 1 {
		list = append(list, relation{kind: shifted, line: true})
	}
	list = append(list, relation{kind: xored, line: true})
	for j := range g {
		for k := j + 1; k < len(g); k++ {
			if g[j] == g[k] && g[j] > 1 {
				list = append(list, relation{kind: swapped, swap: [2]int{j, k}})
			}
		}
	}
	list = append(list, relation{kind: mixed, mask: 1, line: true})
	if len(g) > 1 {
		for mask := 1; mask < 1<<len(g); mask++ {
			list = append(list, relation{kind: mixed, mask: uint8(mask)})
		}
	}
	return append(list, relation{kind: mirror, line: true})
}

// view returns the grid in which a relation counts.
func (r *relation) view(g grid) grid {
	if r.line {
		return grid{g.ranks()}
	}
	return g
}

// cyclic reports whether a parameter of the relation counts modulo the extent.
func (r *relation) cyclic(dim int) bool {
	return r.kind == shifted && !r.open || r.kind == swapped || r.kind == mirror || r.kind == mixed && r.mask>>dim&1 == 0
}

// between returns the parameters by which a relation leads from a rank to its partner. Offsets are the shorter way
// around.
func (r *relation) between(g grid, from, to int) (p params) {
	g = r.view(g)
	switch r.kind {
	case xored:
		p[0] = int32(from ^ to)
		return p
	case mirror:
		p[0] = int32((from + to) % g[0])
		return p
	}
	x, y := g.place(from), g.place(to)
	if r.kind == swapped {
		x[r.swap[0]], x[r.swap[1]] = x[r.swap[1]], x[r.swap[0]]
	}
	for k, n := range g {
		if !r.cyclic(k) {
			if p[k] = int32(y[k]); r.kind == shifted {
				p[k] -= int32(x[k])
			}
			continue
		}
		offset := (y[k] - x[k] + n) % n
		if 2*offset > n {
			offset -= n
		}
		p[k] = int32(offset)
	}
	return p
}

// partner returns the partner of a rank; ok is false if there is no such rank.
func (r *relation) partner(g grid, from int, p params) (to int, ok bool) {
	g = r.view(g)
	switch r.kind {
	case xored:
		to = from ^ int(p[0])
		return to, p[0] >= 0 && to < g[0]
	case mirror:
		return modulo(int(p[0])-from, g[0]), true
	}
	x := g.place(from)
	if r.kind == swapped {
		x[r.swap[0]], x[r.swap[1]] = x[r.swap[1]], x[r.swap[0]]
	}
	for k, n := range g {
		if r.kind == mixed && !r.cyclic(k) {
			x[k] = 0
		}
		if x[k] += int(p[k]); r.cyclic(k) {
			x[k] = modulo(x[k], n)
		} else if x[k] < 0 || x[k] >= n {
			return 0, false
		}
	}
	return g.rank(x), true
}

// modulo returns the remainder that is not negative.
func modulo(v, n int) int { return ((v % n) + n) % n }

// equal reports whether parameters mean the same.
func (r *relation) equal(g grid, p, q params) bool {
	for k, n := range r.view(g) {
		if p[k] != q[k] && (!r.cyclic(k) || modulo(int(p[k]-q[k]), n) != 0) {
			return false
		}
	}
	return true
}

// formula is a relation, by its number among those of a grid, with its parameters.
type formula struct {
	relation int
	params   params
}

// pair is a rank with a partner.
type pair struct{ from, to int32 }

// kinds are the sets of relations by which partners are explained, simple ones first.
var kinds = [][]relationKind{{shifted}, {xored}, {swapped}, {xored, swapped}, {shifted, xored}, {shifted, swapped},
	{mirror}, {mixed}, {shifted, xored, swapped, mixed, mirror}}

// explain returns few formulas that lead from ranks to their partners, and how bad they are: their number, and again
// that of those whose ranks are no box of the grid.
func (g grid) explain(relations []relation, pairs []pair) (list []formula, cost int) {
	for _, set := range kinds {
		users := map[formula][]pair{}
		for _, p := range pairs {
			for i := range relations {
				if slices.Contains(set, relations[i].kind) {
					f := formula{i, relations[i].between(g, int(p.from), int(p.to))}
					users[f] = append(users[f], p)
				}
			}
		}
		order := slices.SortedFunc(maps.Keys(users), func(a, b formula) int {
			return cmp.Or(len(users[b])-len(users[a]), a.relation-b.relation, slices.Compare(a.params[:], b.params[:]))
		})
		// The formula that explains most of what is left comes next.
		left, found, price := map[pair]bool{}, []formula(nil), 0
		for _, p := range pairs {
			left[p] = true
		}
		for len(left) > 0 && (list == nil || price < cost) {
			best, most := 0, 0
			for i, f := range order {
				if len(users[f]) <= most {
					break // no later one explains more
				}
				n := 0
				for _, p := range users[f] {
					if left[p] {
						n++
					}
				}
				if n > most {
					best, most = i, n
				}
			}
			if most == 0 {
				break
			}
			var ranks []int
			for _, p := range users[order[best]] {
				ranks = append(ranks, int(p.from))
				delete(left, p)
			}
			found = append(found, order[best])
			if price++; newGuard(g, ranks, nil) == nil {
				price++
			}
		}
		if len(left) == 0 && (list == nil || price < cost) {
			list, cost = found, price
		}
	}
	return list, cost
}

// division says which ranks of a grid form a communicator: those that agree in some coordinates, in the order of
// their ranks, or with the first coordinate changing fastest.
type division struct {
	agree   uint8
	reverse bool
}

// groups returns the groups of a division.
func (v division) groups(g grid) [][]int32 {
	members := map[int][]int32{}
	var keys []int
	order := make([]int, g.ranks())
	for i := range order {
		order[i] = i
		if v.reverse {
			back := slices.Clone(g)
			slices.Reverse(back)
			x := back.place(i)
			slices.Reverse(x[:len(g)])
			order[i] = g.rank(x)
		}
	}
	for _, rank := range order {
		x, key := g.place(rank), 0
		for k, n := range g {
			key *= n
			if v.agree>>k&1 != 0 {
				key += x[k]
			}
		}
		if members[key] == nil {
			keys = append(keys, key)
		}
		members[key] = append(members[key], int32(rank))
	}
	list := make([][]int32, len(keys))
	for i, key := range keys {
		list[i] = members[key]
	}
	return list
}

// divide returns the division that a family of communicators is in all recordings.
func divide(list []*recording, family int) (division, error) {
	for _, reverse := range []bool{false, true} {
		for agree := range 1 << len(list[0].grid) {
			v := division{uint8(agree), reverse}
			if !slices.ContainsFunc(list, func(r *recording) bool { return !v.is(r.grid, &r.header.CommFamilies[family]) }) {
				return v, nil
			}
		}
	}
	largest := list[len(list)-1]
	return division{}, fmt.Errorf("communicator %q: its ranks are no rows, columns or planes of a grid of %v ranks",
		largest.header.CommFamilies[family].Name, largest.grid)
}

// is reports whether a family is that division, in any order of the groups.
func (v division) is(g grid, f *trace.CommFamily) bool {
	groups := v.groups(g)
	if len(groups) != len(f.Groups) {
		return false
	}
	first := map[int32]*trace.Group{}
	for i := range f.Groups {
		first[f.Groups[i].Member(0)] = &f.Groups[i]
	}
	for _, members := range groups {
		of := first[members[0]]
		if of == nil || of.Len() != len(members) {
			return false
		}
		for i, rank := range members {
			if of.Member(i) != rank {
				return false
			}
		}
	}
	return true
}
