package platforms

import (
	"fmt"
	"slices"
	"strings"
)

// buildRoutes reads the routes of a zone: the second pass, when all hosts and links of the
// first (build.go) are known.
func (b *builder) buildRoutes(e *element, g *graph) error {
	routing := e.value("routing")
	for _, c := range e.children {
		v := &values{file: b.name, e: c}
		switch c.name {
		case "route", "zoneRoute":
			if routing == "None" {
				v.fail(fmt.Errorf("a zone of routing None has none"))
			}
			b.readRoute(v, g)
		case "bypassRoute", "bypassZoneRoute":
			b.readBypass(v, g.zone)
		}
		if v.err != nil {
			return v.err
		}
	}
	numbers := g.appearances()
	if double := g.finish(); double != nil {
		return b.errorf(b.secondRoute(e, g.zone, double), "a second route from %s to %s",
			b.pointName(position{g.zone, double.from}), b.pointName(position{g.zone, double.to}))
	}
	if g.full = routing == "Full"; g.full || routing == "None" {
		return nil
	}
	b.limits.pathTable -= int64(g.size) * int64(g.size)
	if b.limits.pathTable < 0 {
		return b.errorf(e, "too many points for routing %s: the squares of their numbers may add up to %d; use Full or a cluster",
			routing, defaultLimits.pathTable)
	}
	g.dijkstra = strings.HasPrefix(routing, "Dijkstra")
	g.findPaths(numbers)
	return nil
}

// secondRoute returns the second of the routes of a zone that lead from one point to
// another, for the line of an error: it reads them again.
func (b *builder) secondRoute(e *element, zone int32, ends *edge) *element {
	found := 0
	for _, c := range e.children {
		if c.name != "route" && c.name != "zoneRoute" {
			continue
		}
		alone := graph{zone: zone}
		b.readRoute(&values{file: b.name, e: c}, &alone)
		for _, r := range alone.edges {
			if r.from != ends.from || r.to != ends.to {
				continue
			}
			if found++; found == 2 {
				return c
			}
		}
	}
	return e
}

// readRoute lists a <route> or <zoneRoute>, and its reverse unless it is not
// symmetrical.
func (b *builder) readRoute(v *values, g *graph) {
	symmetrical := v.choice("symmetrical", "YES", "NO", "yes", "no") // YES where it is not given
	src, dst := b.readEnd(v, g, "src"), b.readEnd(v, g, "dst")
	e := edge{from: src.local, to: dst.local, fromAt: src.position, toAt: dst.position}
	if v.e.name == "zoneRoute" {
		e.fromAt, e.toAt = b.readGateway(v, "gw_src", src), b.readGateway(v, "gw_dst", dst)
	}
	links, back := b.readLinks(v)
	if v.err != nil {
		return
	}
	if len(links) == 0 {
		v.fail(fmt.Errorf("a route without links"))
		return
	}
	g.add(e, links)
	if strings.EqualFold(symmetrical, "YES") && e.from != e.to {
		g.add(edge{from: e.to, to: e.from, fromAt: e.toAt, toAt: e.fromAt}, back)
	}
}

// readEnd looks an end of a route up: a host or router of the zone itself, for a
// zoneRoute a zone directly inside it.
func (b *builder) readEnd(v *values, g *graph, attr string) point {
	name, wanted, others, what := v.text(attr), b.points, b.zonePoints, "a host or router"
	if v.e.name == "zoneRoute" {
		wanted, others, what = others, wanted, "a zone"
	}
	pt, ok := wanted[name]
	if ok && pt.position.zone == g.zone {
		return pt
	}
	if other, ok := others[name]; ok && other.position.zone == g.zone {
		v.fail(fmt.Errorf("%s: %q is not %s", attr, name, what))
	}
	v.fail(fmt.Errorf("%s: zone %q has no %q", attr, b.zones[g.zone].name, name))
	return point{}
}

// readGateway looks up the host or router inside a zone where its route begins.
func (b *builder) readGateway(v *values, attr string, of point) position {
	pt, ok := b.points[v.text(attr)]
	if !ok || !b.isInside(pt.position, of.zone) {
		v.fail(fmt.Errorf("%s: no host or router %q in zone %q", attr, v.text(attr), b.zones[max(of.zone, 0)].name))
	}
	return pt.position
}

// isInside tells whether a place is in a zone, at any depth.
func (p *Platform) isInside(at position, zone int32) bool {
	for at.zone >= 0 && at.zone != zone {
		at = p.zones[at.zone].place
	}
	return at.zone == zone
}

// readLinks reads the links of a route, and those of the way back: reversed,
// and the other direction of each.
func (b *builder) readLinks(v *values) (there, back []int32) {
	for _, c := range v.e.children {
		cv := &values{file: b.name, e: c}
		l := b.linkTowards(cv, cv.text("id"), cv.choice("direction", "NONE", "UP", "DOWN"))
		if cv.err != nil {
			v.err = cv.err
			return nil, nil
		}
		there, back = append(there, l.up), append(back, l.down)
	}
	slices.Reverse(back)
	return there, back
}

// linkTowards returns the link of a name in a direction: UP there and DOWN back, or the
// other way round. As in SimGrid those who name a split link say which direction, and of
// others there is none to name.
func (b *builder) linkTowards(v *values, name, direction string) declaredLink {
	l, ok := b.linkNames[name]
	switch {
	case !ok:
		v.fail(fmt.Errorf("no such link"))
	case direction == "NONE" && l.split():
		v.fail(fmt.Errorf("link %q is split into two directions: say direction=\"UP\" or \"DOWN\", or %s_UP or %s_DOWN for one both ways", name, name, name))
	case direction != "NONE" && !l.split():
		v.fail(fmt.Errorf("link %q has no directions: leave direction=%q out, or declare the link with sharing_policy=\"SPLITDUPLEX\"", name, direction))
	case direction == "DOWN":
		l.up, l.down = l.down, l.up
	}
	return l
}

// pointName returns the name of a host, router or zone; for messages only, as
// it searches.
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
