package platforms

import "fmt"

// A star is a zone of routing Cluster: hosts with private links, listed one by
// one or in cabinets, around one switch. Routes are as in a flat cluster.
type star struct {
	up, down []int32 // of each point, -1 for none (a router)
	backbone int32   // -1 for none
}

func (s *star) appendLocal(_ walk, route []int32, src, dst int32) ([]int32, error) {
	start := len(route)
	if s.up[src] < 0 && s.down[dst] < 0 {
		return route, nil // a router to itself, or to another
	}
	for _, l := range [...]int32{s.up[src], s.backbone, s.down[dst]} {
		if l >= 0 && (l != s.up[src] || len(route) == start) {
			route = append(route, l)
		}
	}
	return route, nil
}

// declareStar declares the points and links of a zone of routing Cluster.
func (b *builder) declareStar(e *element, number int32) error {
	s, first := &star{backbone: -1}, len(b.hostNames)
	b.zones[number].topology = s
	for _, c := range e.children {
		v := &values{file: b.name, e: c}
		b.declareInStar(v, s, number)
		if v.err != nil {
			return v.err
		}
	}
	end := len(b.hostNames)
	b.later = append(b.later, func() error { return b.attachHosts(e, s, number, first, end) })
	return nil
}

func (b *builder) declareInStar(v *values, s *star, number int32) {
	at := position{number, int32(len(s.up))}
	switch v.e.name {
	case "host":
		b.declareSingleHost(v, at)
		s.addPoint(-1, -1)
	case "router":
		b.declarePoint(v, v.text("id"), point{at, -1, -1})
		s.addPoint(-1, -1)
	case "cabinet":
		b.declareCabinet(v, s, at)
	case "backbone":
		if s.backbone >= 0 {
			v.fail(fmt.Errorf("a second backbone"))
		}
		s.backbone = b.addNamedLink(v, Link{v.text("id"), v.bandwidth("bandwidth"), v.latency("latency"), Shared}, b.levelsIn(number, "backbone")).up
	case "link":
		b.declareLink(v, number)
	case "config":
		b.addConfig(v.e)
	case "trace", "trace_connect":
		v.err = b.declareProfile(v.e)
	case "prop", "host_link", "storage", "storage_type":
	default:
		v.fail(fmt.Errorf("a zone of routing Cluster has none"))
	}
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
		s.addPoint(l.up, l.down)
	}
}

func (s *star) addPoint(up, down int32) {
	s.up, s.down = append(s.up, up), append(s.down, down)
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

// attachHosts gives the hosts of <host_link> elements their links. The zone has the hosts from
// first up to end.
func (b *builder) attachHosts(e *element, s *star, number int32, first, end int) error {
	for _, c := range e.children {
		if c.name != "host_link" {
			continue
		}
		v := &values{file: b.name, e: c}
		host, ok := b.points[v.text("id")]
		if !ok || host.position.zone != number {
			v.fail(fmt.Errorf("no such host in zone %q", b.zones[number].name))
		}
		up, down := b.hostLink(v, "up"), b.hostLink(v, "down")
		if v.err != nil {
			return v.err
		}
		s.up[host.local], s.down[host.local] = up, down
	}
	for i := first; i < end; i++ {
		if s.up[b.hostPlaces[i].local] < 0 {
			return b.errorf(e, "host %q has no host_link", b.hostNames[i])
		}
	}
	return nil
}
