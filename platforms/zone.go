package platforms

import "fmt"

// Zones, and how a route is put together from them (walk.appendRoute); each topology routes inside its own zone.

// A position is where a host, a router or a zone stands: the zone around it and its number among the points of that
// zone. Comments also call it a place.
type position struct{ zone, local int32 }

// A point is what a name stands for in routes.
type point struct {
	position
	host int32 // number of the host, or -1
	zone int32 // number of the zone that the point is, or -1
}

// A zone is a part of the platform with routes of its own. Zones form a tree.
type zone struct {
	name     string
	place    position // of the zone itself in its parent; zone -1 for the root
	depth    int32    // 0 for the root
	topology topology
}

// A topology makes routes between the points of one zone.
type topology interface {
	// appendLocal appends the route between two hosts or routers of the zone.
	appendLocal(w walk, route []int32, src, dst int32) ([]int32, error)
	// describe fills in all fields of z but the name.
	describe(p *Platform, z *ZoneDescription)
}

// An Order is an order of the links of a route. SimGrid adds up latencies in orders of its own, and the last bit of a
// sum depends on the order; if flows meet in FATPIPEs that bit can decide which of them get one rate.
type Order uint8

const (
	// AsMet is the order in which a message meets the links.
	AsMet Order = iota
	// AsSummed is that in which SimGrid adds up their latencies: the way across a zone before the ways to and from its
	// gateways, and a path of Dijkstra's from its end.
	AsSummed
	// AsListed is that in which SimGrid lists them: the links that Dijkstra finds inside one zone before all links
	// found so far, and each of its edges backwards.
	AsListed
)

// A walk puts routes together.
type walk struct {
	*Platform
	order    Order
	distance *float64 // seconds: to which zones of routing Vivaldi add how far points are apart; nil: nobody asks
}

// appendRoute appends the route between any two hosts or routers: over a bypass if there is one, else inside their
// common zone, else across the innermost zone around both, between the gateways that it names.
func (w walk) appendRoute(route []int32, src, dst position) ([]int32, error) {
	p := w.Platform
	if p.bypasses != nil {
		if b := p.findBypass(src, dst); b != nil {
			return w.appendBypass(route, b, src, dst)
		}
	}
	if src.zone == dst.zone {
		return p.zones[src.zone].topology.appendLocal(w, route, src.local, dst.local)
	}
	common, srcIn, dstIn := p.commonZone(src, dst)
	across, ok := p.zones[common].topology.(*graph) // all others have no zones for points, or no routes between them
	if !ok {
		return route, fmt.Errorf("%s: zone %q has no routes between zones", p.name, p.zones[common].name)
	}
	return across.appendCrossing(w, route, src, dst, srcIn, dstIn)
}

// commonZone returns the innermost zone around two places of different zones, and the points of it that they lie in.
func (p *Platform) commonZone(src, dst position) (zone, srcIn, dstIn int32) {
	for src.zone != dst.zone {
		if p.zones[src.zone].depth >= p.zones[dst.zone].depth {
			src = p.zones[src.zone].place
		} else {
			dst = p.zones[dst.zone].place
		}
	}
	return src.zone, src.local, dst.local
}
