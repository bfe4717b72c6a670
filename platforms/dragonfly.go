package platforms

import "fmt"

// A dragonfly consists of groups of chassis of blades; each blade is a router with hosts. Green cables join the blades
// of a chassis, black cables the blades of one number in the chassis of a group, and one blue cable joins each two
// groups. A host has the number ((group*chassis + c)*blades + b)*nodes + n, a router the same without n. Source:
// SimGrid's dragonfly, as of version 3.32.
type dragonfly struct {
	groups, chassis, blades, nodes int32 // of the whole, of a group, of a chassis, of a blade; all >= 1

	width    int32 // constraints of a cable: 2 or 1
	local    int32 // first of each kind, -1 for none
	green    int32
	black    int32
	blue     int32
	loopback int32
	hostCap  int32 // limiters
	routeCap int32
}

// newDragonfly lays out the links of s in t, for a shape whose numbers of cables only multiply bandwidths.
func newDragonfly(v *values, s *clusterSpec, shape string, t *linkTable) *dragonfly {
	const form = "GROUPS,CABLES;CHASSIS,CABLES;BLADES,CABLES;NODES"
	g, err := parseGroups(shape, 4, form)
	v.fail(err)
	if len(g[0]) != 2 || len(g[1]) != 2 || len(g[2]) != 2 || len(g[3]) != 1 {
		v.failf("topo_parameters %q: want %s", shape, form)
	}
	groups, chassis, blades, nodes := g[0][0], g[1][0], g[2][0], g[3][0]
	if n := product([]int{groups, chassis, blades, nodes}); n != int64(s.hosts) {
		v.failf("topo_parameters %q: a dragonfly of %s hosts, but the radical has %d", shape, countText(n),
			s.hosts)
	}
	if groups > blades {
		v.failf("topo_parameters %q: %d groups need as many blades in a chassis to be joined, found %d", shape,
			groups, blades)
	}

	d := &dragonfly{groups: int32(groups), chassis: int32(chassis), blades: int32(blades), nodes: int32(nodes),
		width: s.width()}
	routers := int64(groups) * int64(chassis) * int64(blades)
	add := func(count int64, cables int, kind string, levels ...string) int32 {
		like := s.cable
		like.Bandwidth *= float64(cables)
		return t.add(count*int64(d.width), like, levels, func(i int32) string {
			return fmt.Sprintf("%s_%s_%d%s", s.id, kind, i/d.width, s.direction(i))
		})
	}
	d.local = add(int64(s.hosts), 1, "local", s.cableLevels("host", "router")...)
	d.green = add(int64(groups)*int64(chassis)*pairs(d.blades), g[2][1], "green", "green, between blades of a chassis")
	d.black = add(int64(groups)*int64(blades)*pairs(d.chassis), g[1][1], "black", "black, between chassis of a group")
	d.blue = add(pairs(d.groups), g[0][1], "blue", "blue, between groups")
	d.loopback = s.addLoopbacks(t)
	d.hostCap = s.addLimiters(t, int64(s.hosts), "host", func(i int32) string { return s.nodeName(0, i) })
	d.routeCap = s.addLimiters(t, routers, "router", func(i int32) string { return fmt.Sprintf("%s_router_%d", s.id, i) })
	return d
}

// A seat is where a router stands.
type seat struct{ group, chassis, blade int32 }

// seatOf returns the router of a host.
func (d *dragonfly) seatOf(host int32) seat {
	r := host / d.nodes
	return seat{r / d.blades / d.chassis, r / d.blades % d.chassis, r % d.blades}
}

// router returns the number of the router at s.
func (d *dragonfly) router(s seat) int32 { return (s.group*d.chassis+s.chassis)*d.blades + s.blade }

// appendLocal routes minimally: SimGrid, src/kernel/routing/DragonflyZone.cpp, get_local_route. The cost is at most
// three cables between routers besides those of the two hosts.
func (d *dragonfly) appendLocal(_ walk, route []int32, src, dst int32) ([]int32, error) {
	if src == dst && d.loopback >= 0 {
		return append(route, d.loopback+src), nil
	}
	route = d.appendLimiter(route, d.hostCap, src)
	route = append(route, d.local+src*d.width)
	from, to := d.seatOf(src), d.seatOf(dst)
	at := from
	if at.group != to.group {
		// To another group by way of chassis 0 and of the router of this group that has the cable to it.
		if at.blade != to.group {
			route = d.appendGreen(route, at, to.group)
			at.blade = to.group
		}
		if at.chassis != 0 {
			route = d.appendBlack(route, at, 0)
			at.chassis = 0
		}
		route = append(route, d.blue+d.cable(from.group, to.group, d.groups))
		route = d.appendLimiter(route, d.routeCap, d.router(at))
		at = seat{to.group, 0, from.group}
	}
	if at.blade != to.blade {
		// SimGrid takes itself to be in chassis 0 after this hop, wherever it is; the black hop that may
		// follow is kept as it is there.
		route = d.appendGreen(route, at, to.blade)
		at = seat{to.group, 0, to.blade}
	}
	if at.chassis != to.chassis {
		route = d.appendBlack(route, at, to.chassis)
	}
	route = d.appendLimiter(route, d.routeCap, d.router(to))
	route = append(route, d.local+dst*d.width+d.width-1)
	return d.appendLimiter(route, d.hostCap, dst), nil
}

// appendGreen goes to another blade of the chassis.
func (d *dragonfly) appendGreen(route []int32, at seat, blade int32) []int32 {
	route = d.appendLimiter(route, d.routeCap, d.router(at))
	chassis := at.group*d.chassis + at.chassis
	return append(route, d.green+chassis*d.width*int32(pairs(d.blades))+d.cable(at.blade, blade, d.blades))
}

// appendBlack goes to the same blade of another chassis of the group.
func (d *dragonfly) appendBlack(route []int32, at seat, chassis int32) []int32 {
	route = d.appendLimiter(route, d.routeCap, d.router(at))
	column := at.group*d.blades + at.blade
	return append(route, d.black+column*d.width*int32(pairs(d.chassis))+d.cable(at.chassis, chassis, d.chassis))
}

// cable returns the constraint from i to j among the cables between each two of
// n: the up one from the smaller to the larger.
func (d *dragonfly) cable(i, j, n int32) int32 {
	low, high := min(i, j), max(i, j)
	pair := low*(2*n-low-1)/2 + high - low - 1
	if i > j {
		return pair*d.width + d.width - 1
	}
	return pair * d.width
}

// appendLimiter appends limiter i of a kind whose first is given, -1 for none.
func (d *dragonfly) appendLimiter(route []int32, first, i int32) []int32 {
	if first >= 0 {
		route = append(route, first+i)
	}
	return route
}

// pairs returns how many pairs n things have.
func pairs(n int32) int64 { return int64(n) * int64(n-1) / 2 }
