package main

import (
	"fmt"
	"strings"
)

// links draws n explicit links named id0, id1 and so on.
func links(d dice, b *strings.Builder, id string, n int) []string {
	split := make([]string, n) // the attribute direction for a way up, if any
	for i := range n {
		policy := pick(d, "", "", "SHARED", "SPLITDUPLEX", "FATPIPE")
		fmt.Fprintf(b, "    <link id=\"%s%d\" bandwidth=%q latency=%q", id, i, bandwidth(d), latency(d))
		if policy != "" {
			fmt.Fprintf(b, " sharing_policy=%q", policy)
		}
		if policy == "SPLITDUPLEX" {
			split[i] = pick(d, "UP", "DOWN") // without one SimGrid finds no link
		}
		b.WriteString("/>\n")
	}
	return split
}

// element returns the link_ctn of a link.
func element(id string, link int, direction string) string {
	if direction != "" {
		return fmt.Sprintf("<link_ctn id=\"%s%d\" direction=%q/>", id, link, direction)
	}
	return fmt.Sprintf("<link_ctn id=\"%s%d\"/>", id, link)
}

func hosts(d dice, b *strings.Builder, id string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("%s%d", id, i))
		fmt.Fprintf(b, "    <host id=\"%s%d\" %s", id, i, speeds(d))
		if d.chance(0.3) {
			fmt.Fprintf(b, " core=\"%d\"", d.between(1, 3))
		}
		properties(d, b, "host")
	}
	return names
}

// drawFull draws a zone with a list of links for each pair of hosts, with one
// list for both directions or one for each.
func drawFull(d dice) *machine {
	n := d.between(2, 6)
	m := &machine{self: true}
	var b strings.Builder
	b.WriteString("  <zone id=\"w\" routing=\"Full\">\n")
	m.hosts = hosts(d, &b, "h", n)
	count := d.between(1, 7)
	split := links(d, &b, "l", count)
	path := func() string {
		var s strings.Builder
		for _, l := range d.shuffled(count)[:d.between(1, min(4, count))] {
			s.WriteString(element("l", l, split[l]))
			if d.chance(0.05) { // twice in one route
				s.WriteString(element("l", l, split[l]))
			}
		}
		return s.String()
	}
	for i := range n {
		for j := range i {
			if d.chance(0.6) {
				fmt.Fprintf(&b, "    <route src=\"h%d\" dst=\"h%d\">%s</route>\n", i, j, path())
				continue
			}
			fmt.Fprintf(&b, "    <route src=\"h%d\" dst=\"h%d\" symmetrical=\"NO\">%s</route>\n", i, j, path())
			fmt.Fprintf(&b, "    <route src=\"h%d\" dst=\"h%d\" symmetrical=\"NO\">%s</route>\n", j, i, path())
		}
	}
	b.WriteString("  </zone>\n")
	m.body = b.String()
	return m
}

// drawTree draws a zone of shortest paths whose links form a tree, so that there
// is one path between two hosts.
func drawTree(d dice) *machine {
	m := &machine{self: true}
	var b strings.Builder
	m.hosts = graph(d, &b, "w", "h", d.between(2, 9))
	m.body = b.String()
	return m
}

func graph(d dice, b *strings.Builder, zone, id string, n int) []string {
	routing := pick(d, "Floyd", "Dijkstra", "DijkstraCache")
	if n == 1 { // of one host without routes SimGrid's Dijkstra crashes
		routing = "Floyd"
	}
	fmt.Fprintf(b, "  <zone id=%q routing=%q>\n", zone, routing)
	names := hosts(d, b, id, n)
	split := links(d, b, id+"l", n-1)
	for i := 1; i < n; i++ {
		fmt.Fprintf(b, "    <route src=\"%s%d\" dst=\"%s%d\">%s</route>\n", id, i, id, d.IntN(i), element(id+"l", i-1, split[i-1]))
	}
	b.WriteString("  </zone>\n")
	return names
}

// drawZones draws several clusters and zones joined by links.
func drawZones(d dice) *machine {
	m := &machine{self: true, old: d.chance(0.2)}
	var b strings.Builder
	b.WriteString("  <zone id=\"world\" routing=\"Full\">\n")
	joined(d, m, &b, "z", d.between(2, 4), zone)
	b.WriteString("  </zone>\n")
	m.body = b.String()
	return m
}

// drawNested draws zones of zones.
func drawNested(d dice) *machine {
	m := &machine{self: true, old: d.chance(0.2)}
	var b strings.Builder
	b.WriteString("  <zone id=\"world\" routing=\"Full\">\n")
	joined(d, m, &b, "y", d.between(2, 3), func(d dice, m *machine, id string) (string, []string, string) {
		if d.chance(0.3) {
			return zone(d, m, id)
		}
		var inner strings.Builder
		fmt.Fprintf(&inner, "  <zone id=%q routing=\"Full\">\n", id)
		names, gateways := joined(d, m, &inner, id+"-z", d.between(2, 3), zone)
		inner.WriteString("  </zone>\n")
		return inner.String(), names, pick(d, gateways...)
	})
	b.WriteString("  </zone>\n")
	m.body = b.String()
	return m
}

// joined draws zones and a list of links for each pair of them, with a bypass now
// and then. It returns their hosts, which it adds to the machine, and gateways.
func joined(d dice, m *machine, b *strings.Builder, id string, count int,
	draw func(dice, *machine, string) (string, []string, string)) (names, gateways []string) {
	for z := range count {
		xml, inside, gateway := draw(d, m, fmt.Sprintf("%s%d", id, z))
		b.WriteString(xml)
		names, gateways = append(names, inside...), append(gateways, gateway)
	}
	split := links(d, b, id+"-w", count*(count-1))
	next := 0
	route := func(verb string, i, j int) {
		fmt.Fprintf(b, "    <%s src=\"%s%d\" dst=\"%s%d\" gw_src=%q gw_dst=%q>%s</%s>\n",
			verb, id, i, id, j, gateways[i], gateways[j], element(id+"-w", next, split[next]), verb)
		next++
	}
	for i := range count {
		for j := range i {
			route("zoneRoute", i, j)
			if d.chance(0.1) {
				route("bypassZoneRoute", j, i)
			}
		}
	}
	m.hosts = names
	return names, gateways
}

// zone draws one of several kinds and returns its XML, its hosts and its gateway.
func zone(d dice, m *machine, id string) (xml string, names []string, gateway string) {
	switch d.IntN(5) {
	case 0:
		xml, names = fatTree(d, m, id)
		return xml, names, pick(d, names...)
	case 1:
		var b strings.Builder
		if d.chance(0.5) {
			names = mesh(d, &b, id, id+"-h", d.between(2, 5))
		} else {
			names = graph(d, &b, id, id+"-h", d.between(1, 4))
		}
		return b.String(), names, pick(d, names...)
	case 2:
		xml, names = cabinets(d, id)
		return xml, names, pick(d, names...)
	}
	gateway = id + "-router"
	xml, names = star(d, m, id, d.between(1, 5), fmt.Sprintf(" router_id=%q", gateway))
	return xml, names, gateway
}

// drawCabinets draws a zone of cabinets.
func drawCabinets(d dice) *machine {
	m := &machine{self: true, old: d.chance(0.2)}
	m.body, m.hosts = cabinets(d, "c")
	return m
}

// cabinets draws a zone of routing Cluster: cabinets, hosts with links of their own,
// and a backbone or none.
func cabinets(d dice, id string) (xml string, names []string) {
	var b strings.Builder
	fmt.Fprintf(&b, "  <zone id=%q routing=\"Cluster\">\n", id)
	for k := range d.between(1, 3) {
		prefix, n := fmt.Sprintf("%s-k%d-", id, k), d.between(1, 3)
		fmt.Fprintf(&b, "    <cabinet id=\"%s-k%d\" prefix=%q suffix=\"\" radical=\"0-%d\" speed=%q bw=%q lat=%q/>\n",
			id, k, prefix, n-1, speed(d), bandwidth(d), latency(d))
		for i := range n {
			names = append(names, fmt.Sprintf("%s%d", prefix, i))
		}
	}
	for i := range d.IntN(3) {
		fmt.Fprintf(&b, "    <host id=\"%s-h%d\" %s/>\n", id, i, speeds(d))
		fmt.Fprintf(&b, "    <link id=\"%s-p%d\" bandwidth=%q latency=%q sharing_policy=\"SPLITDUPLEX\"/>\n", id, i, bandwidth(d), latency(d))
		fmt.Fprintf(&b, "    <host_link id=\"%s-h%d\" up=\"%s-p%d_UP\" down=\"%s-p%d_DOWN\"/>\n", id, i, id, i, id, i)
		names = append(names, fmt.Sprintf("%s-h%d", id, i))
	}
	if d.chance(0.7) {
		fmt.Fprintf(&b, "    <backbone id=\"%s-bb\" bandwidth=%q latency=%q/>\n", id, bandwidth(d), latency(d))
	}
	b.WriteString("  </zone>\n")
	return b.String(), names
}
