package platforms

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// A graph is a zone whose routes the file lists: between hosts and routers, or between the zones inside it. With
// routing Full a route is the one listed. With Floyd and Dijkstra it is a path of fewest links over the listed ones;
// findPaths (paths.go) finds all paths when the file is read, and this file only follows them.
//
// walk.appendRoute (zone.go) calls appendLocal if both ends are points of this zone itself, and appendCrossing if they
// are in different zones inside it.
type graph struct {
	zone     int32
	size     int32   // points
	edges    []edge  // sorted by from, then to
	first    []int32 // edges of point i are first[i] to first[i+1]
	links    []int32 // of all edges
	last     []int32 // size*size: last edge of the path from i to j, -1 for none; nil if Full or None
	full     bool    // routing Full
	dijkstra bool    // routing Dijkstra or DijkstraCache, which has orders of its own
}

// An edge is a listed route, in one direction, between the points from and to of the zone. If a point is a zone, the
// route begins or ends at a place in it, the gateway: fromAt or toAt.
type edge struct {
	from, to     int32
	fromAt, toAt position
	first, end   int32 // its links in graph.links
	child        int32 // number of the element that lists it, in the zone's
}

// count returns the number of links.
func (e *edge) count() int64 { return int64(e.end - e.first) }

// add lists a route. It is for the time before finish.
func (g *graph) add(e edge, links []int32) {
	e.first = int32(len(g.links))
	g.links = append(g.links, links...)
	e.end = int32(len(g.links))
	g.edges = append(g.edges, e)
}

// finish sorts the edges. If two have the same ends it returns one, for the error of the caller, who knows their names.
func (g *graph) finish() (double *edge) {
	slices.SortStableFunc(g.edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	g.first = make([]int32, g.size+1)
	for i := range g.edges {
		if i > 0 && g.edges[i].from == g.edges[i-1].from && g.edges[i].to == g.edges[i-1].to {
			return &g.edges[i]
		}
		g.first[g.edges[i].from+1]++
	}
	for i := range g.size {
		g.first[i+1] += g.first[i]
	}
	return nil
}

// edge returns the number of the edge from one point to another, or -1.
func (g *graph) edge(from, to int32) int32 {
	lo, hi := g.first[from], g.first[from+1]
	i, ok := slices.BinarySearchFunc(g.edges[lo:hi], to, func(e edge, to int32) int { return cmp.Compare(e.to, to) })
	if !ok {
		return -1
	}
	return lo + int32(i)
}

// arrival returns the last edge of the way from one point to another, or -1. With routing Full it is the only edge.
func (g *graph) arrival(from, to int32) int32 {
	if g.last == nil {
		return g.edge(from, to)
	}
	return g.last[from*g.size+to]
}

// ErrNotListed is wrapped by the error for two hosts between which there is no link in that
// direction, as where a zone of routing Full lists no route. SimGrid takes it for a way without
// links where it only asks for the way back, or for a part of a longer way.
var ErrNotListed = errors.New("not listed in this direction")

// appendLocal appends the route between two points of the zone, by appendCrossing. If a host has no listed route to
// itself, that is the global loopback; with routing Full any other route that is not listed has no links. With
// AsListed, Dijkstra puts its links before those that the walk has found so far: the three reversals rotate route in
// place.
func (g *graph) appendLocal(w walk, route []int32, src, dst int32) (_ []int32, err error) {
	start := len(route)
	switch listed := g.edge(src, dst) >= 0; {
	case !listed && src == dst:
		route = append(route, LoopbackLink)
	case !listed && g.full: // a part without links of a longer route; see AppendLinks
	default:
		route, err = g.appendCrossing(w, route, position{g.zone, src}, position{g.zone, dst}, src, dst)
	}
	if w.order == AsListed && g.dijkstra {
		slices.Reverse(route[:start])
		slices.Reverse(route)
		slices.Reverse(route[:len(route)-start])
	}
	return route, err
}

// appendCrossing appends the route from src to dst, which are the points srcIn and dstIn of this zone or lie inside
// these: the way from src to the gateway of its zone, the listed routes across this zone, and the way from the other
// gateway to dst. Their order is w.order, as in SimGrid: it decides the last bits of sums.
func (g *graph) appendCrossing(w walk, route []int32, src, dst position, srcIn, dstIn int32) ([]int32, error) {
	// The edges to take, one at least, are found from the destination back.
	var few [8]int32
	path := few[:0]
	for at := dstIn; len(path) == 0 || at != srcIn; {
		i := g.arrival(srcIn, at)
		if i < 0 {
			return route, fmt.Errorf("%s: no route in zone %q from %s to %s", w.Name(), w.zones[g.zone].name, w.pointName(src),
				w.pointName(dst))
		}
		path = append(path, i)
		at = g.edges[i].from
	}
	slices.Reverse(path)
	enter, leave := g.edges[path[0]].fromAt, g.edges[path[len(path)-1]].toAt
	var err error
	if w.order != AsSummed {
		route, err = w.appendHop(route, src, enter)
	}
	if err == nil && w.order == AsListed {
		// What Dijkstra finds on the way across this zone comes before that way only.
		var across []int32
		across, err = g.appendEdges(w, nil, path)
		route = append(route, across...)
	} else if err == nil {
		route, err = g.appendEdges(w, route, path)
	}
	if err == nil && w.order == AsSummed {
		route, err = w.appendHop(route, src, enter)
	}
	if err == nil {
		route, err = w.appendHop(route, leave, dst)
	}
	return route, err
}

// appendEdges appends the links of edges, and the ways inside the zones between them.
func (g *graph) appendEdges(w walk, route []int32, path []int32) ([]int32, error) {
	if w.order == AsSummed && g.dijkstra {
		slices.Reverse(path)
	}
	var err error
	for k, i := range path {
		e := &g.edges[i]
		if k > 0 {
			from, to := g.edges[path[k-1]].toAt, e.fromAt
			if w.order == AsSummed && g.dijkstra {
				from, to = e.toAt, g.edges[path[k-1]].fromAt
			}
			if route, err = w.appendHop(route, from, to); err != nil {
				return route, err
			}
		}
		route = append(route, g.links[e.first:e.end]...)
		if w.order == AsListed && g.dijkstra {
			slices.Reverse(route[len(route)-int(e.end-e.first):])
		}
	}
	return route, nil
}

// appendHop appends the route between two places, nothing if they are one.
func (w walk) appendHop(route []int32, src, dst position) ([]int32, error) {
	if src == dst {
		return route, nil
	}
	return w.appendRoute(route, src, dst)
}
