package platforms

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"reprise/trace/warning"
)

// A star is a zone of routing Cluster or Vivaldi: points with links of their own, to and
// from a middle. In a Cluster these are hosts, listed one by one or in cabinets, around one
// switch, and routes are as in a flat cluster. In a Vivaldi zone they are peers, and
// their coordinates say how far two of them are apart.
type star struct {
	zone     int32
	up, down []int32           // of each point, -1 for none: a router, or a zone
	loopback map[int32][]int32 // of points that list a route to themselves
	backbone int32             // -1 for none
	at       []coordinates     // of each point, if the routing is Vivaldi
}

// appendLocal takes the links of both points and the backbone between them. SimGrid lists a link once however
// often the points name it; a loopback that is listed replaces all of these.
func (s *star) appendLocal(w walk, route []int32, src, dst int32) ([]int32, error) {
	if s.at != nil {
		if err := s.addDistance(w, src, dst); err != nil {
			return route, err
		}
	}
	few := [...]int32{s.up[src], s.backbone, s.down[dst]}
	links := few[:]
	if own := s.loopback[src]; src == dst && own != nil {
		links = own
	} else if s.up[src] < 0 && s.down[dst] < 0 {
		return route, nil // a router to itself, or to another
	}
	start := len(route)
	for _, l := range links {
		if l >= 0 && !slices.Contains(route[start:], l) {
			route = append(route, l)
		}
	}
	return route, nil
}

// declareStar declares the points and links of a zone of routing Cluster or Vivaldi.
func (b *builder) declareStar(e *element, number int32) error {
	s := &star{zone: number, backbone: -1}
	if e.value("routing") == "Vivaldi" {
		s.at, b.distances = []coordinates{}, true
	}
	b.zones[number].topology = s
	for _, c := range e.children {
		v := &values{file: b.name, e: c}
		b.declareInStar(v, s, number)
		if v.err != nil {
			return v.err
		}
	}
	b.later = append(b.later, func() error { return b.attachPoints(e, s, number) })
	return nil
}

// declareInStar declares one element of a star. Links of hosts and bypasses wait for the second pass, as they
// may name links and zones that follow.
func (b *builder) declareInStar(v *values, s *star, number int32) {
	at := position{number, int32(len(s.up))}
	switch name := v.e.name; {
	case name == "peer" && s.at == nil:
		v.fail(fmt.Errorf("only a zone of routing Vivaldi has any"))
	case s.at != nil && (name == "cabinet" || name == "backbone" || name == "host_link"):
		v.fail(fmt.Errorf("only a zone of routing Cluster has any"))
	}
	if v.err != nil {
		return
	}
	switch v.e.name {
	case "host":
		b.declareSingleHost(v, at)
		s.addPoint(v, -1, -1)
	case "router":
		b.declarePoint(v, v.text("id"), point{at, -1, -1})
		s.addPoint(v, -1, -1)
	case "zone", "cluster":
		s.addPoint(v, -1, -1)
		if v.err == nil {
			v.err = b.declareZone(v.e, at, b.zones[number].depth+1)
		}
	case "peer":
		b.declarePeer(v, s, at)
	case "cabinet":
		b.declareCabinet(v, s, at)
	case "backbone":
		if s.backbone >= 0 {
			v.fail(fmt.Errorf("a second backbone"))
		}
		s.backbone = b.addNamedLink(v, Link{v.text("id"), v.bandwidth("bandwidth"), v.latency("latency"), Shared},
			b.levelsIn(number, "backbone")).up
	case "link":
		b.declareLink(v, number)
	case "config":
		b.addConfig(v.e)
	case "trace", "trace_connect":
		v.err = b.declareProfile(v.e)
	}
}

// declarePeer adds a <peer>: a host with a link out and one in, without latency.
func (b *builder) declarePeer(v *values, s *star, at position) {
	b.declareSingleHost(v, at)
	if int64(b.numLinks)+2 > b.limits.links {
		v.fail(fmt.Errorf("more than %d links", b.limits.links))
	}
	up := Link{Name: "link_" + v.text("id") + "_UP", Bandwidth: v.bandwidth("bw_out")}
	down := Link{Name: "link_" + v.text("id") + "_DOWN", Bandwidth: v.bandwidth("bw_in")}
	if v.err != nil {
		return
	}
	if v.text("lat") != "" {
		b.warnings.Add(warning.At(b.name, v.e.line,
			"lat of a <peer> is not used, as in SimGrid: its latency is the third of its coordinates, in ms"))
	}
	levels := b.levelsIn(at.zone, "peer to network", "network to peer")
	s.addPoint(v, b.addNamedLink(v, up, levels).up, b.addNamedLink(v, down, levels).up)
}

// declareCabinet adds the hosts of a <cabinet>, each with a link of two directions.
func (b *builder) declareCabinet(v *values, s *star, at position) {
	spec := clusterSpec{prefix: v.text("prefix"), suffix: v.text("suffix")}
	cable := Link{Bandwidth: v.bandwidth("bw"), Latency: v.latency("lat")}
	ranges, hosts, err := parseRadical(v.text("radical"), b.limits.hosts-len(b.hostNames))
	v.fail(err)
	if int64(b.numLinks)+2*int64(hosts) > b.limits.links {
		v.fail(fmt.Errorf("more than %d links", b.limits.links))
	}
	spec.ranges, spec.hosts = ranges, int32(hosts)
	if b.addGroup(v); v.err != nil {
		return
	}
	b.declareNumbered(v, &spec, at)
	levels := b.levelsIn(at.zone, "host to switch", "switch to host")
	for i := range spec.hosts {
		cable.Name = "link_" + spec.nodeName(0, i)
		l := b.addDirections(v, cable, levels)
		s.addPoint(v, l.up, l.down)
	}
}

// addPoint adds a point, whose coordinates are read if the routing is Vivaldi.
func (s *star) addPoint(v *values, up, down int32) {
	s.up, s.down = append(s.up, up), append(s.down, down)
	if s.at != nil {
		at, err := parseCoordinates(v.text("coordinates"))
		if err != nil {
			v.fail(fmt.Errorf("coordinates: %w", err))
		}
		s.at = append(s.at, at)
	}
}

// hostLink returns the link that an attribute of a <host_link> names.
func (b *builder) hostLink(v *values, attr string) int32 {
	name := v.text(attr)
	l, ok := b.linkNames[name]
	switch {
	case !ok:
		v.fail(fmt.Errorf("%s: no link %q", attr, name))
	case l.split():
		v.fail(fmt.Errorf("%s: link %q is split into two directions: name %s_UP or %s_DOWN", attr, name, name, name))
	}
	return l.up
}

// attachPoints gives the hosts of <host_link> elements their links, and points the routes
// to themselves that are listed.
func (b *builder) attachPoints(e *element, s *star, number int32) error {
	for _, c := range e.children {
		v := &values{file: b.name, e: c}
		switch c.name {
		case "host_link":
			host, ok := b.points[v.text("id")]
			if !ok || host.position.zone != number {
				v.fail(fmt.Errorf("no such host in zone %q", b.zones[number].name))
			}
			up, down := b.hostLink(v, "up"), b.hostLink(v, "down")
			if v.err == nil {
				s.up[host.local], s.down[host.local] = up, down
			}
		case "route":
			b.readLoopback(v, s, number, e.value("routing"))
		case "zoneRoute":
			v.fail(fmt.Errorf("a zone of routing %s has none", e.value("routing")))
		case "bypassRoute", "bypassZoneRoute":
			b.readBypass(v, number)
		}
		if v.err != nil {
			return v.err
		}
	}
	return nil
}

// readLoopback reads the <route> of a point of a star to itself: it has no others.
func (b *builder) readLoopback(v *values, s *star, number int32, routing string) {
	pt, ok := b.points[v.text("src")]
	switch {
	case v.text("src") != v.text("dst"):
		v.fail(fmt.Errorf("a zone of routing %s has none but from a host to itself", routing))
	case !ok || pt.position.zone != number:
		v.fail(fmt.Errorf("src: zone %q has no host or router %q", b.zones[number].name, v.text("src")))
	}
	links, _ := b.readLinks(v)
	if len(links) == 0 {
		v.fail(fmt.Errorf("a route without links"))
	}
	if v.err != nil {
		return
	}
	if s.loopback == nil {
		s.loopback = map[int32][]int32{}
	}
	s.loopback[pt.local] = links
}

// The distances between the points of zones of routing Vivaldi, which embeds hosts of the
// Internet in a plane with a height for the line to each (F. Dabek, R. Cox, F. Kaashoek,
// R. Morris, "Vivaldi: a decentralized network coordinate system", 2004).

// coordinates are two in the plane and the height, all in ms; NaN where there are none.
type coordinates [3]float64

// maxCoordinate bounds coordinates, in ms, so that the distances of a route are a possible
// latency.
const maxCoordinate = 1e9

// parseCoordinates reads three numbers. An empty text says that there are none.
func parseCoordinates(text string) (c coordinates, err error) {
	if text == "" {
		return coordinates{math.NaN(), math.NaN(), math.NaN()}, nil
	}
	words := strings.Fields(text)
	if len(words) != len(c) {
		return c, fmt.Errorf("%q: want 3 numbers, two in the plane and the height, in ms", text)
	}
	for i, word := range words {
		c[i], err = strconv.ParseFloat(word, 64)
		if err != nil || !(math.Abs(c[i]) <= maxCoordinate) {
			return c, fmt.Errorf("%q: %q is not a number of ms of [%g,%g]", text, word, -maxCoordinate, maxCoordinate)
		}
	}
	return c, nil
}

// addDistance adds how far two points are apart to the distance of the walk.
func (s *star) addDistance(w walk, src, dst int32) error {
	a, b := s.at[src], s.at[dst]
	seconds := (math.Sqrt(float64((a[0]-b[0])*(a[0]-b[0]))+float64((a[1]-b[1])*(a[1]-b[1]))) + math.Abs(a[2]) +
		math.Abs(b[2])) / 1000
	if math.IsNaN(seconds) {
		return fmt.Errorf("%s: no route in zone %q from %s to %s: not both have coordinates",
			w.Name(), w.zones[s.zone].name, w.pointName(position{s.zone, src}), w.pointName(position{s.zone, dst}))
	}
	if w.distance != nil {
		*w.distance += seconds
	}
	return nil
}

// HasDistances tells whether there may be routes whose Distance is not 0.
func (p *Platform) HasDistances() bool { return p.distances }

// Distance returns the seconds that a message from host src to host dst takes besides the
// latencies of the links of its route: what the coordinates of points in zones of routing
// Vivaldi say. It is 0 where there is no route.
func (p *Platform) Distance(src, dst int) (seconds float64) {
	if !p.distances {
		return 0
	}
	if _, err := (walk{p, AsMet, &seconds}).appendRoute(nil, p.hostPlaces[src], p.hostPlaces[dst]); err != nil {
		return 0
	}
	return seconds
}
