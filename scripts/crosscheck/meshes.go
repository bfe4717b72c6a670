package main

import (
	"fmt"
	"strings"
)

// Zones of shortest paths that have many equally short ones, so that routes depend on which
// of them SimGrid takes.

// An arc is a listed route of a mesh between two of its points.
type arc struct {
	from, to int
	one      bool // in this direction only
	links    int
}

// arcs draws routes between n points: a tree in some order, so that all can be reached,
// and as many more.
func arcs(d dice, n int) (list []arc) {
	known := map[[2]int]bool{}
	add := func(a arc) {
		if a.from == a.to || known[[2]int{a.from, a.to}] || !a.one && known[[2]int{a.to, a.from}] {
			return
		}
		known[[2]int{a.from, a.to}] = true
		if !a.one {
			known[[2]int{a.to, a.from}] = true
		}
		list = append(list, a)
	}
	order := d.shuffled(n)
	for i := 1; i < n; i++ {
		add(arc{order[i], order[d.IntN(i)], false, pick(d, 1, 1, 1, 2)})
	}
	for range d.between(n/2, 2*n) {
		add(arc{d.IntN(n), d.IntN(n), d.chance(0.2), pick(d, 1, 1, 1, 2, 3)})
	}
	mixed := make([]arc, len(list))
	for i, at := range d.shuffled(len(list)) {
		mixed[i] = list[at]
		if a := &mixed[i]; d.chance(0.5) && !a.one {
			a.from, a.to = a.to, a.from
		}
	}
	return mixed
}

// arcRoutes writes arcs as elements, each over links of its own, given what the element
// says of its ends.
func arcRoutes(d dice, b *strings.Builder, id string, list []arc, verb string, ends func(a arc) string) {
	count := 0
	for _, a := range list {
		count += a.links
	}
	split := links(d, b, id, count)
	next := 0
	for _, a := range list {
		fmt.Fprintf(b, "    <%s %s", verb, ends(a))
		if a.one {
			b.WriteString(` symmetrical="NO"`)
		}
		b.WriteString(">")
		for range a.links {
			b.WriteString(element(id, next, split[next]))
			next++
		}
		fmt.Fprintf(b, "</%s>\n", verb)
	}
}

// drawMesh draws a zone of shortest paths of hosts and routers.
func drawMesh(d dice) *machine {
	m := &machine{self: true}
	var b strings.Builder
	m.hosts = mesh(d, &b, "w", "h", d.between(3, 9))
	m.body = b.String()
	return m
}

// mesh draws a zone with so many hosts, more than one, and some routers among them.
func mesh(d dice, b *strings.Builder, zone, id string, n int) (names []string) {
	fmt.Fprintf(b, "  <zone id=%q routing=%q>\n", zone, pick(d, "Floyd", "Dijkstra", "DijkstraCache"))
	var points []string
	router := func() {
		for d.chance(0.4) {
			points = append(points, fmt.Sprintf("%s-r%d", id, len(points)))
			fmt.Fprintf(b, "    <router id=%q/>\n", points[len(points)-1])
		}
	}
	for i := range n {
		router()
		one := hosts(d, b, fmt.Sprintf("%s-%d-", id, i), 1)
		names, points = append(names, one...), append(points, one...)
	}
	router()
	arcRoutes(d, b, id+"l", arcs(d, len(points)), "route", func(a arc) string {
		return fmt.Sprintf("src=%q dst=%q", points[a.from], points[a.to])
	})
	b.WriteString("  </zone>\n")
	return names
}

// drawZoneMesh draws a zone of shortest paths whose points are zones. A path of SimGrid's
// Dijkstra passes each zone at one gateway: between two it crashes.
func drawZoneMesh(d dice) *machine {
	m := &machine{self: true, old: d.chance(0.2)}
	routing := pick(d, "Floyd", "Floyd", "Dijkstra", "DijkstraCache")
	var b strings.Builder
	fmt.Fprintf(&b, "  <zone id=\"world\" routing=%q>\n", routing)
	n := d.between(3, 7)
	gateways := make([][]string, n)
	for z := range n {
		xml, names, gateway := zone(d, m, fmt.Sprintf("z%d", z))
		b.WriteString(xml)
		m.hosts = append(m.hosts, names...)
		if gateways[z] = []string{gateway}; routing == "Floyd" {
			gateways[z] = append(names[:len(names):len(names)], gateway)
		}
	}
	arcRoutes(d, &b, "w", arcs(d, n), "zoneRoute", func(a arc) string {
		return fmt.Sprintf("src=\"z%d\" dst=\"z%d\" gw_src=%q gw_dst=%q", a.from, a.to, pick(d, gateways[a.from]...), pick(d, gateways[a.to]...))
	})
	b.WriteString("  </zone>\n")
	m.body = b.String()
	return m
}
