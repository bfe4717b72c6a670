package platforms

// A bypass is a route that replaces the usual one, in one direction: between two hosts of a zone, or from the hosts of
// one zone to those of another, at any depth in the zone that lists it. readBypass reads it, walk.appendRoute (zone.go)
// asks for it.
type bypass struct {
	betweenZones bool
	fromAt, toAt position // gateways, if it is between zones
	links        []int32
}

// A bypassKey is the zone that lists a bypass and the two points that it joins.
type bypassKey struct {
	zone     int32
	src, dst position
}

// findBypass returns the bypass for two places, or nil. Between zones the bypass of the innermost zones around the
// places counts: depths are tried from the inside out, in SimGrid's order.
func (p *Platform) findBypass(src, dst position) *bypass {
	if src.zone == dst.zone {
		return p.bypasses[bypassKey{src.zone, src, dst}]
	}
	common, _, _ := p.commonZone(src, dst)
	srcDepth := p.zones[src.zone].depth - p.zones[common].depth
	dstDepth := p.zones[dst.zone].depth - p.zones[common].depth
	for outer := range max(srcDepth, dstDepth) {
		for inner := range outer + 1 {
			for _, d := range [...][2]int32{{inner, outer}, {outer, inner}} {
				if d[0] >= srcDepth || d[1] >= dstDepth {
					continue
				}
				if b := p.bypasses[bypassKey{common, p.zoneAround(src, d[0]), p.zoneAround(dst, d[1])}]; b != nil {
					return b
				}
			}
		}
	}
	return nil
}

// zoneAround returns the place of the n-th zone around a place, the innermost being the 0th.
func (p *Platform) zoneAround(at position, n int32) position {
	for range n {
		at = p.zones[at.zone].place
	}
	return p.zones[at.zone].place
}

// appendBypass appends the route over a bypass. If the source or the destination is the gateway itself, the route
// contains its loopback, as in SimGrid. Each gateway is inside the zone that
// its end is in, so this ends.
func (w walk) appendBypass(route []int32, b *bypass, src, dst position) ([]int32, error) {
	if !b.betweenZones {
		return append(route, b.links...), nil
	}
	route, err := w.appendRoute(route, src, b.fromAt)
	if err == nil {
		route, err = w.appendRoute(append(route, b.links...), b.toAt, dst)
	}
	return route, err
}

// readBypass lists a <bypassRoute> or <bypassZoneRoute>.
func (b *builder) readBypass(v *values, zone int32) {
	src, dst := b.readBypassEnd(v, "src", zone), b.readBypassEnd(v, "dst", zone)
	if src == dst && v.e.name == "bypassZoneRoute" {
		v.failf("from a zone to itself")
	}
	way := &bypass{betweenZones: v.e.name == "bypassZoneRoute"}
	if way.betweenZones {
		way.fromAt, way.toAt = b.readGateway(v, "gw_src", src), b.readGateway(v, "gw_dst", dst)
	}
	way.links, _ = b.readLinks(v)
	key := bypassKey{zone, src.position, dst.position}
	if _, ok := b.bypasses[key]; ok {
		v.failf("a second bypass from %q to %q", v.text("src"), v.text("dst"))
	}
	if b.bypasses == nil {
		b.bypasses = map[bypassKey]*bypass{}
	}
	b.bypasses[key] = way
}

// readBypassEnd returns an end of a bypass: a host or router of the zone, or a zone at any depth inside it.
func (b *builder) readBypassEnd(v *values, attr string, zone int32) point {
	pt, ok := b.points[v.text(attr)]
	if v.e.name == "bypassZoneRoute" {
		pt, ok = b.zonePoints[v.text(attr)]
	}
	switch {
	case v.e.name == "bypassRoute" && (!ok || pt.position.zone != zone):
		v.failf("%s: zone %q has no host or router %q", attr, b.zones[zone].name, v.text(attr))
	case v.e.name == "bypassZoneRoute" && (!ok || !b.isInside(pt.position, zone)):
		v.failf("%s: no zone %q in zone %q", attr, v.text(attr), b.zones[zone].name)
	}
	return pt
}
