package platforms

import "fmt"

// A place is where a host, a router or a zone stands: the zone around it and
// its number among the points of that zone.
type place struct{ zone, local int32 }

// A point is what a name stands for in routes.
type point struct {
	place
	host int32 // number of the host, or -1
	zone int32 // number of the zone that the point is, or -1
}

// A zone is a part of the platform with routes of its own. Zones form a tree.
type zone struct {
	name     string
	place    place // of the zone itself in its parent; zone -1 for the root
	depth    int32 // 0 for the root
	topology topology
}

// A topology makes routes between the points of one zone.
type topology interface {
	// appendLocal appends the route between two hosts or routers of the zone.
	appendLocal(p *Platform, route []int32, src, dst int32) ([]int32, error)
}

// A crossing is a topology whose points may be zones.
type crossing interface {
	topology
	// appendCrossing appends the route from src, which is the point srcIn of
	// this zone or lies inside it, to dst, likewise.
	appendCrossing(p *Platform, route []int32, src, dst place, srcIn, dstIn int32) ([]int32, error)
}

// appendRoute appends the route between any two hosts or routers: inside their
// common zone, or across the innermost zone around both, to and from the
// gateways that it names.
func (p *Platform) appendRoute(route []int32, src, dst place) ([]int32, error) {
	if src.zone == dst.zone {
		return p.zones[src.zone].topology.appendLocal(p, route, src.local, dst.local)
	}
	from, to := src, dst
	for from.zone != to.zone {
		if p.zones[from.zone].depth >= p.zones[to.zone].depth {
			from = p.zones[from.zone].place
		} else {
			to = p.zones[to.zone].place
		}
	}
	across, ok := p.zones[from.zone].topology.(crossing)
	if !ok {
		return route, fmt.Errorf("%s: zone %q has no routes between zones", p.name, p.zones[from.zone].name)
	}
	return across.appendCrossing(p, route, src, dst, from.local, to.local)
}
