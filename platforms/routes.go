package platforms

import (
	"fmt"
	"slices"
	"strings"
)

// buildRoutes reads the routes of a zone: the second pass, when all hosts and links of the first (build.go) are
// known. A star has routes of points to themselves only, and links that its hosts are given.
func (b *builder) buildRoutes(e *element, number int32) {
	routing := e.value("routing")
	g, _ := b.zones[number].topology.(*graph)
	s, _ := b.zones[number].topology.(*star)
	for i, c := range e.children {
		v := b.at(c)
		isRoute := c.name == "route" || c.name == "zoneRoute"
		switch {
		case isRoute && routing == "None", c.name == "zoneRoute" && s != nil:
			v.failf("a zone of routing %s has none", routing)
		case isRoute && s != nil:
			// A point of a star has a route to itself at most, whose links take the place of its own to and from the
			// middle.
			pt, ok := b.points[v.text("src")]
			switch {
			case v.text("src") != v.text("dst"):
				v.failf("a zone of routing %s has none but from a host to itself", routing)
			case !ok || pt.position.zone != number:
				v.failf("src: zone %q has no host or router %q", b.zones[number].name, v.text("src"))
			case s.loopback == nil:
				s.loopback = map[int32][]int32{}
			}
			s.loopback[pt.local], _ = b.readLinks(v)
		case isRoute:
			b.readRoute(v, g, int32(i))
		case c.name == "host_link":
			host, ok := b.points[v.text("id")]
			if !ok || host.position.zone != number {
				v.failf("no such host in zone %q", b.zones[number].name)
			}
			up, down := b.hostLink(v, "up"), b.hostLink(v, "down")
			s.up[host.local], s.down[host.local] = up, down
		case c.name == "bypassRoute", c.name == "bypassZoneRoute":
			b.readBypass(v, number)
		}
	}
	if s != nil {
		return
	}

	// Floyd and Dijkstra see the routes in the order of the file, which finish loses.
	numbers := g.appearances()
	if double := g.finish(); double != nil {
		b.at(e.children[double.child]).failf("a second route from %s to %s",
			b.pointName(position{number, double.from}), b.pointName(position{number, double.to}))
	}
	if g.full = routing == "Full"; g.full || routing == "None" {
		return
	}

	// The other routings take paths over the listed routes.
	b.limits.pathTable -= int64(g.size) * int64(g.size)
	if b.limits.pathTable < 0 {
		b.at(e).failf("too many points for routing %s: the squares of their numbers may add up to %d; use Full or a cluster",
			routing, defaultLimits.pathTable)
	}
	g.dijkstra = strings.HasPrefix(routing, "Dijkstra")
	g.findPaths(numbers)
}

// hostLink returns the link that an attribute of a <host_link> names.
// It is one constraint: an end of a split link has its own name.
func (b *builder) hostLink(v *values, attr string) int32 {
	name := v.text(attr)
	l, ok := b.linkNames[name]
	switch {
	case !ok:
		v.failf("%s: no link %q", attr, name)
	case l.split():
		v.failf("%s: link %q is split into two directions: name %s_UP or %s_DOWN", attr, name, name, name)
	}
	return l.up
}

// readRoute lists a <route> or <zoneRoute>, the child of that number in its zone, and its reverse unless it is not
// symmetrical.
func (b *builder) readRoute(v *values, g *graph, child int32) {
	symmetrical := v.choice("symmetrical", "YES", "NO", "yes", "no") // YES where it is not given
	src, dst := b.readEnd(v, g, "src"), b.readEnd(v, g, "dst")
	e := edge{from: src.local, to: dst.local, fromAt: src.position, toAt: dst.position, child: child}
	if v.e.name == "zoneRoute" {
		e.fromAt, e.toAt = b.readGateway(v, "gw_src", src), b.readGateway(v, "gw_dst", dst)
	}
	links, back := b.readLinks(v)
	g.add(e, links)
	if strings.EqualFold(symmetrical, "YES") && e.from != e.to {
		g.add(edge{from: e.to, to: e.from, fromAt: e.toAt, toAt: e.fromAt, child: child}, back)
	}
}

// readEnd returns an end of a route: a host or router of the zone itself, or for a zoneRoute a zone directly inside it.
func (b *builder) readEnd(v *values, g *graph, attr string) point {
	name, wanted, others, what := v.text(attr), b.points, b.zonePoints, "a host or router"
	if v.e.name == "zoneRoute" {
		wanted, others, what = others, wanted, "a zone"
	}
	pt, ok := wanted[name]
	if ok && pt.position.zone == g.zone {
		return pt
	}
	// A zone in a route, or a host in a route of zones, is most likely the wrong element: the error says so.
	if other, ok := others[name]; ok && other.position.zone == g.zone {
		v.failf("%s: %q is not %s", attr, name, what)
	}
	v.failf("%s: zone %q has no %q", attr, b.zones[g.zone].name, name)
	return point{}
}

// readGateway returns the host or router inside a zone where a zoneRoute begins or ends. It may lie in a zone deeper
// inside: the way to it is then routed as between any two places.
func (b *builder) readGateway(v *values, attr string, of point) position {
	pt, ok := b.points[v.text(attr)]
	if !ok || !b.isInside(pt.position, of.zone) {
		v.failf("%s: no host or router %q in zone %q", attr, v.text(attr), b.zones[max(of.zone, 0)].name)
	}
	return pt.position
}

// isInside tells whether a place is in a zone, at any depth.
// The cost goes with the depth of the place.
func (p *Platform) isInside(at position, zone int32) bool {
	for at.zone >= 0 && at.zone != zone {
		at = p.zones[at.zone].place
	}
	return at.zone == zone
}

// readLinks reads the links of a route, one at least, and those of the way back: in reverse order, and each in its
// other direction. As in SimGrid a route must name a direction of a split link, and none of other links.
func (b *builder) readLinks(v *values) (there, back []int32) {
	for _, c := range v.e.children {
		cv := b.at(c)
		name, direction := cv.text("id"), cv.choice("direction", "NONE", "UP", "DOWN")
		l, ok := b.linkNames[name]
		switch {
		case !ok:
			cv.failf("no such link")
		case direction == "NONE" && l.split():
			cv.failf("link %q is split into two directions: say direction=\"UP\" or \"DOWN\", or %s_UP or %s_DOWN for one both ways", name, name, name)
		case direction != "NONE" && !l.split():
			cv.failf("link %q has no directions: leave direction=%q out, or declare the link with sharing_policy=\"SPLITDUPLEX\"", name, direction)
		case direction == "DOWN":
			l.up, l.down = l.down, l.up
		}
		there, back = append(there, l.up), append(back, l.down)
	}
	if len(there) == 0 {
		v.failf("a route without links")
	}
	slices.Reverse(back)
	return there, back
}

// pointName returns the name of a host, router or zone; for messages only, as it searches.
func (p *Platform) pointName(at position) string {
	names := []string{}
	for _, points := range []map[string]point{p.points, p.zonePoints} {
		for name, pt := range points {
			if pt.position == at {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return fmt.Sprintf("%q", slices.Concat(names, []string{"?"})[0])
}
