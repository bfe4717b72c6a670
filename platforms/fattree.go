package platforms

import (
	"fmt"
	"math/bits"
)

// A fatTree is a k-ary n-tree with parallel cables, routed by D-mod-K: going up, the destination alone chooses the
// port. With c, p, k the children, parents and parallel cables between levels l and l+1, and C_l, P_l the products of c
// and of p below level l, the nodes of level l are numbered
//
//	low + P_l*(h / C_l)    low in [0, P_l), h any host below the node
//
// and a route to the destination d stays in the nodes of low = pos(d) mod P_l.
// Hosts are level 0. Source: SimGrid's fat trees, as of version 3.32.
type fatTree struct {
	levels   []treeLevel // of 0 to the top; that of the top has no cables
	position uint32      // pos of host 0: hosts of the platform's earlier fat trees
	width    uint32      // constraints of a cable: 2 (up, down) or 1 (both)
	loopback int32       // first of each kind, -1 for none
	limited  bool
}

// A treeLevel is the nodes of a level and their cables upwards.
type treeLevel struct {
	children divisor // c
	parents  divisor // p
	cables   divisor // k
	ports    divisor // p*k
	below    divisor // C_l, hosts below a node
	spread   divisor // P_l, nodes above the same hosts
	link     uint32  // number of the first cable's first constraint
	limiter  uint32  // number of the first node's limiter
}

// newFatTree lays out the links of s in t. shape is "LEVELS;CHILDREN,..;PARENTS,..;CABLES,..", the numbers
// of the level nearest to the hosts first; position is the number of hosts in earlier fat trees.
func newFatTree(v *values, s *clusterSpec, shape string, position int32, t *linkTable) *fatTree {
	groups, err := parseGroups(shape, 4, "LEVELS;CHILDREN,..;PARENTS,..;CABLES,..")
	v.fail(err)
	if len(groups[0]) != 1 {
		v.failf("topo_parameters %q: want one number of levels", shape)
	}
	top := groups[0][0]
	for _, g := range groups[1:] {
		if len(g) != top {
			v.failf("topo_parameters %q: %d levels need %d numbers in each group, found %d", shape, top, top,
				len(g))
		}
	}
	children, parents, cables := groups[1], groups[2], groups[3]
	if n := product(children); n != int64(s.hosts) {
		v.failf("topo_parameters %q: a tree of %s hosts, but the radical has %d", shape, countText(n), s.hosts)
	}

	f := &fatTree{position: uint32(position), width: uint32(s.width()), loopback: -1, limited: s.limiter > 0}
	below, spread := int64(1), int64(1) // C_l and P_l
	for l := 0; l <= top; l++ {
		level := treeLevel{below: divideBy(below), spread: divideBy(spread)}
		nodes := spread * (int64(s.hosts) / below)
		if f.limited {
			level.limiter = uint32(s.addLimiters(t, nodes, treeNodes(l), func(i int32) string { return s.nodeName(l, i) }))
		}
		if l < top { // cables leave the nodes upwards; products stay within bounds that tables of links refuse
			ports := min(int64(parents[l])*int64(cables[l]), MaxLinks)
			level.children, level.parents = divideBy(int64(children[l])), divideBy(int64(parents[l]))
			level.cables, level.ports = divideBy(int64(cables[l])), divideBy(ports)
			constraints := min(nodes, MaxLinks) * ports * int64(f.width)
			level.link = uint32(t.add(constraints, s.cable, s.cableLevels(treeNodes(l), treeNodes(l+1)), func(i int32) string {
				cable := int64(i) / int64(f.width)
				return fmt.Sprintf("%s_port_%d%s", s.nodeName(l, int32(cable/ports)), cable%ports, s.direction(i))
			}))
			below *= int64(children[l])
			spread = min(spread*int64(parents[l]), MaxLinks)
		}
		f.levels = append(f.levels, level)
	}
	f.loopback = s.addLoopbacks(t)
	return f
}

// appendLocal climbs to the first switch above both hosts and descends from there; the cost goes with the levels,
// not with the hosts. Nothing is allocated if route has the room.
func (f *fatTree) appendLocal(_ walk, route []int32, src, dst int32) ([]int32, error) {
	if src == dst && f.loopback >= 0 {
		return append(route, f.loopback+src), nil
	}
	from, to := uint32(src), uint32(dst)
	pos, node := f.position+to, from
	// The first switch above both hosts is of level 1 at least, even for a host and itself.
	top := 0
	for {
		level := &f.levels[top]
		if f.limited {
			route = append(route, int32(level.limiter+node))
		}
		_, port := level.ports.split(level.spread.quotient(pos))
		route = append(route, int32(level.link+f.width*(node*level.ports.by+port)))

		top++
		above := &f.levels[top]
		group := above.below.quotient(from)
		if group == above.below.quotient(to) {
			break
		}
		_, low := above.spread.split(pos)
		node = low + above.spread.by*group
	}

	// Down again. At each switch the ports are scanned upwards for the first that leads to dst, from a start that src
	// chooses; below the top the scan goes on from the port after the last one taken (a quirk of the original, kept
	// because it decides which of parallel cables carries the flow), and begins anew only when it runs out of ports.
	for l, next := top-1, uint32(0); l >= 0; l-- {
		level := &f.levels[l]
		under := level.below.quotient(to)
		_, digit := level.children.split(under)
		_, turn := level.cables.split(f.position + from)
		cable := turn // that of the scan's start
		if l < top-1 {
			if cable = level.children.quotient(next + level.children.by - 1 - digit); cable >= level.cables.by {
				cable = turn
			}
		}
		next = cable*level.children.by + digit + 1

		turn, low := level.spread.split(pos)
		_, parent := level.parents.split(turn)
		node := low + level.spread.by*under
		route = append(route, int32(level.link+f.width*(node*level.ports.by+parent+cable*level.parents.by)+f.width-1))
		if f.limited {
			above := &f.levels[l+1]
			_, low := above.spread.split(pos)
			route = append(route, int32(above.limiter+low+above.spread.by*above.below.quotient(to)))
		}
	}
	if f.limited {
		route = append(route, int32(f.levels[0].limiter+to))
	}
	return route, nil
}

// A divisor divides by a number that is fixed when the platform is read, by
// multiplying: a route is a dozen divisions, asked for twice per message.
type divisor struct {
	by         uint32
	reciprocal uint64 // floor((2^64-1) / by)
}

// divideBy returns a divisor of d, of [1, 2^32).
func divideBy(d int64) divisor { return divisor{uint32(d), ^uint64(0) / uint64(d)} }

// quotient returns floor(x/d) as floor((x+1)*m / 2^64), m the reciprocal. With m = (2^64-r)/d, r in [1, d], the product
// is (x+1)/d less (x+1)*r/(d*2^64). That is above 0, so where d divides x+1 the floor is (x+1)/d - 1; and it is at most
// 1/d, so elsewhere it does not reach down to the whole number below (x+1)/d.
func (d *divisor) quotient(x uint32) uint32 {
	high, _ := bits.Mul64(d.reciprocal, uint64(x)+1)
	return uint32(high)
}

// split returns x/d and x mod d.
func (d *divisor) split(x uint32) (quotient, rest uint32) {
	quotient = d.quotient(x)
	return quotient, x - quotient*d.by
}
