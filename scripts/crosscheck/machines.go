package main

import (
	"fmt"
	"strconv"
	"strings"

	"reprise/platforms/compose"
)

// machine is a random platform.
type machine struct {
	source
	xml   strings.Builder // inside <platform>
	hosts []string        // names, in the order of the file
	self  bool            // a host has a route to itself
	old   bool            // to be spelled as version 4
	slow  bool            // some nodes are slow for good
}

// machineKinds are the kinds of platforms, by name.
var machineKinds = []struct {
	name string
	draw func(*machine)
}{
	{"star", func(m *machine) { m.hosts = m.star("n", m.between(2, 12), "") }},
	{"fattree", func(m *machine) { m.hosts = m.fatTree("n") }},
	{"torus", (*machine).torus},
	{"dragonfly", (*machine).dragonfly},
	{"full", (*machine).full},
	{"tree", func(m *machine) { m.hosts = m.tree("w", "h", m.between(2, 9)) }},
	{"mesh", func(m *machine) { m.hosts = m.mesh("w", "h", m.between(3, 9)) }},
	{"zones", func(m *machine) { m.world(m.between(2, 4), "z", (*machine).zone) }},
	{"nested", func(m *machine) { m.world(m.between(2, 3), "y", (*machine).zoneOfZones) }},
	{"zonemesh", (*machine).zoneMesh},
	{"cabinet", func(m *machine) { m.old = m.chance(0.2); m.hosts = m.cabinets("c") }},
	{"crowd", func(m *machine) { m.hosts = m.star("n", m.between(1, 3), "") }}, // more ranks than hosts
	{"composed", (*machine).composed},
}

// olden spells a document of version 4.1 as one of version 4.
var olden = strings.NewReplacer(`version="4.1"`, `version="4"`, "<zone ", "<AS ", "</zone>", "</AS>",
	"<zoneRoute ", "<ASroute ", "</zoneRoute>", "</ASroute>", "<bypassZoneRoute ", "<bypassASroute ", "</bypassZoneRoute>", "</bypassASroute>")

// document returns the platform file, with options in it.
func (m *machine) document(options []string) string {
	text := "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n"
	if len(options) > 0 {
		text += "  <config id=\"General\">\n"
		for _, o := range options {
			name, value, _ := strings.Cut(o, ":")
			text += fmt.Sprintf("    <prop id=%q value=%q/>\n", name, value)
		}
		text += "  </config>\n"
	}
	text += m.xml.String() + "</platform>\n"
	if m.old {
		return olden.Replace(text)
	}
	return text
}

func (m *machine) put(format string, args ...any) { fmt.Fprintf(&m.xml, format, args...) }

// bandwidth draws a bandwidth in some spelling.
func (d source) bandwidth() string {
	return pick(d, "125MBps", "1Gbps", "12.5GBps", "10Gbps", "250MBps", "40MBps", "56Gbps", "100MiBps", "1e8Bps", "7.5e7",
		fmt.Sprintf("%.4gMBps", d.logarithmic(20, 5000)))
}

// latency draws a latency in some spelling; zero is rare.
func (d source) latency() string {
	if d.chance(0.06) {
		return "0"
	}
	return pick(d, "50us", "0.10us", "1us", "20us", "0.05ms", "1e-4", "1ms", "300ns", fmt.Sprintf("%.4gus", d.logarithmic(0.1, 2000)))
}

func (d source) speed() string { return pick(d, "1Gf", "2.5Gf", "1000Mf", "0.7Gf", "3e9") }

// cluster draws a cluster of n hosts with further attributes, and with a limiter and a loopback of
// each host with some probabilities.
func (m *machine) cluster(id string, n int, attributes string, limiter, loopback float64) (hosts []string) {
	suffix := pick(m.source, "", ".site")
	numbers, radical := make([]int, n), ""
	if m.chance(0.7) || n < 3 {
		first := pick(m.source, 0, 0, 0, 1, 7)
		for i := range n {
			numbers[i] = first + i
		}
		radical = fmt.Sprintf("%d-%d", first, first+n-1)
	} else { // a gap
		cut, gap := m.between(1, n-1), m.between(1, 5)
		for i := range n {
			if numbers[i] = i; i >= cut {
				numbers[i] += gap
			}
		}
		if radical = "0"; cut > 1 {
			radical = fmt.Sprintf("0-%d", cut-1)
		}
		radical += fmt.Sprintf(",%d-%d", cut+gap, n-1+gap)
	}
	for _, k := range numbers {
		hosts = append(hosts, fmt.Sprintf("%s-%d%s", id, k, suffix))
	}
	m.put("  <cluster id=%q prefix=%q suffix=%q radical=%q speed=%q bw=%q lat=%q%s", id, id+"-", suffix, radical, m.speed(), m.bandwidth(), m.latency(), attributes)
	if m.chance(0.3) {
		m.put(" core=\"%d\"", m.between(1, 4))
	}
	if m.chance(0.3) {
		m.put(" sharing_policy=%q", pick(m.source, "SHARED", "SPLITDUPLEX", "FATPIPE"))
	}
	if m.chance(limiter) {
		m.put(" limiter_link=%q", m.bandwidth())
	}
	if m.chance(loopback) {
		m.put(" loopback_bw=%q loopback_lat=%q", m.bandwidth(), pick(m.source, "0.5us", "100ns", "0", "1us"))
		m.self = true
	}
	m.properties("cluster")
	return hosts
}

// properties closes the element, with overheads of its hosts now and then.
func (m *machine) properties(element string) {
	if m.chance(0.9) {
		m.put("/>\n")
		return
	}
	m.put(">\n")
	for _, name := range []string{"smpi/os", "smpi/ois", "smpi/or"} {
		if m.chance(0.7) {
			m.put("    <prop id=%q value=%q/>\n", name, m.overheads(m.thresholds(2)))
		}
	}
	m.put("  </%s>\n", element)
}

// star draws a flat cluster, with or without backbone.
func (m *machine) star(id string, n int, attributes string) []string {
	m.self = true
	if m.chance(0.3) {
		attributes += fmt.Sprintf(" bb_bw=%q bb_lat=%q", m.bandwidth(), m.latency())
		if m.chance(0.5) {
			attributes += fmt.Sprintf(" bb_sharing_policy=%q", pick(m.source, "SHARED", "FATPIPE"))
		}
	}
	return m.cluster(id, n, attributes, 0.2, 0.4)
}

// fatTree draws one of 1 to 4 levels and at most 64 hosts.
func (m *machine) fatTree(id string) []string {
	m.self = true
	hosts, switches, below := 1, 0, 1
	var children, parents, cables []string
	for l := range m.between(1, 4) {
		c, p := m.between(1, max(1, min(5, 64/hosts))), m.between(1, 3)
		if l == 0 {
			p = m.between(1, 2)
		}
		hosts, below = hosts*c, below*p
		switches = switches*c + below
		children, parents, cables = append(children, strconv.Itoa(c)), append(parents, strconv.Itoa(p)), append(cables, strconv.Itoa(m.between(1, 3)))
	}
	limiter := 0.0
	if switches < hosts { // SimGrid refuses others: the names of limiters clash
		limiter = 0.3
	}
	return m.cluster(id, hosts, fmt.Sprintf(" topology=\"FAT_TREE\" topo_parameters=\"%d;%s;%s;%s\"", len(children),
		strings.Join(children, ","), strings.Join(parents, ","), strings.Join(cables, ",")), limiter, 0.4)
}

// torus draws one of 1 to 4 dimensions and at most 64 hosts. Of a dimension of one host
// beside others SimGrid refuses: the names of links clash.
func (m *machine) torus() {
	hosts := 1
	var sizes []string
	for range m.between(1, 4) {
		n := m.between(1, max(1, min(7, 64/hosts)))
		if n == 1 && len(sizes) > 0 {
			continue
		}
		hosts *= n
		sizes = append(sizes, strconv.Itoa(n))
	}
	if hosts == 1 {
		hosts, sizes = 3, []string{"3"}
	}
	m.hosts = m.cluster("n", hosts, fmt.Sprintf(" topology=\"TORUS\" topo_parameters=%q", strings.Join(sizes, ",")), 0.25, 0.6)
}

// dragonfly draws one of at most 72 hosts. Groups do not outnumber blades.
func (m *machine) dragonfly() {
	blades := m.between(1, 4)
	groups, chassis, nodes := m.between(1, blades), m.between(1, 3), m.between(1, 2)
	if blades*chassis == 1 {
		nodes = 2
	}
	m.hosts = m.cluster("n", groups*chassis*blades*nodes, fmt.Sprintf(" topology=\"DRAGONFLY\" topo_parameters=\"%d,%d;%d,%d;%d,%d;%d\"",
		groups, m.between(1, 4), chassis, m.between(1, 3), blades, m.between(1, 3), nodes), 0.25, 0.6)
}

// links draws n explicit links and returns their elements in routes. A split one needs a direction:
// without one SimGrid finds no link.
func (m *machine) links(id string, n int) (elements []string) {
	for i := range n {
		policy, direction := pick(m.source, "", "", "SHARED", "SPLITDUPLEX", "FATPIPE"), ""
		m.put("    <link id=\"%s%d\" bandwidth=%q latency=%q", id, i, m.bandwidth(), m.latency())
		if policy != "" {
			m.put(" sharing_policy=%q", policy)
		}
		if policy == "SPLITDUPLEX" {
			direction = fmt.Sprintf(" direction=%q", pick(m.source, "UP", "DOWN"))
		}
		m.put("/>\n")
		elements = append(elements, fmt.Sprintf("<link_ctn id=\"%s%d\"%s/>", id, i, direction))
	}
	return elements
}

// speeds draws the attributes of a host's speed: one, or several to pick from.
func (d source) speeds() string {
	if d.chance(0.85) {
		return fmt.Sprintf("speed=%q", d.speed())
	}
	return fmt.Sprintf("speed=\"%s,%s,%s\" pstate=\"%d\"", d.speed(), d.speed(), d.speed(), d.IntN(3))
}

// hostElements draws n explicit hosts.
func (m *machine) hostElements(id string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("%s%d", id, i))
		m.put("    <host id=\"%s%d\" %s", id, i, m.speeds())
		if m.chance(0.3) {
			m.put(" core=\"%d\"", m.between(1, 3))
		}
		m.properties("host")
	}
	return names
}

// full draws a zone with a list of links for each pair of hosts, for both directions or for each.
func (m *machine) full() {
	m.self = true
	m.put("  <zone id=\"w\" routing=\"Full\">\n")
	m.hosts = m.hostElements("h", m.between(2, 6))
	links := m.links("l", m.between(1, 7))
	path := func() (text string) {
		for _, l := range m.Perm(len(links))[:m.between(1, min(4, len(links)))] {
			text += links[l]
			if m.chance(0.05) { // twice in one route
				text += links[l]
			}
		}
		return text
	}
	for i := range m.hosts {
		for j := range i {
			if m.chance(0.6) {
				m.put("    <route src=\"h%d\" dst=\"h%d\">%s</route>\n", i, j, path())
				continue
			}
			m.put("    <route src=\"h%d\" dst=\"h%d\" symmetrical=\"NO\">%s</route>\n", i, j, path())
			m.put("    <route src=\"h%d\" dst=\"h%d\" symmetrical=\"NO\">%s</route>\n", j, i, path())
		}
	}
	m.put("  </zone>\n")
}

// tree draws a zone of shortest paths whose links form a tree, so that there is one path between two
// hosts. With one host SimGrid's Dijkstra crashes.
func (m *machine) tree(zone, id string, n int) []string {
	m.self = true
	routing := pick(m.source, "Floyd", "Dijkstra", "DijkstraCache")
	if n == 1 {
		routing = "Floyd"
	}
	m.put("  <zone id=%q routing=%q>\n", zone, routing)
	names := m.hostElements(id, n)
	for i, link := range m.links(id+"l", n-1) {
		m.put("    <route src=%q dst=%q>%s</route>\n", names[i+1], names[m.IntN(i+1)], link)
	}
	m.put("  </zone>\n")
	return names
}

// mesh draws a zone of n hosts and some routers with many equally short paths, so that routes
// depend on which of them SimGrid takes.
func (m *machine) mesh(zone, id string, n int) (names []string) {
	m.self = true
	m.put("  <zone id=%q routing=%q>\n", zone, pick(m.source, "Floyd", "Dijkstra", "DijkstraCache"))
	var points []string
	for i := range n + 1 {
		for m.chance(0.4) {
			points = append(points, fmt.Sprintf("%s-r%d", id, len(points)))
			m.put("    <router id=%q/>\n", points[len(points)-1])
		}
		if i < n {
			one := m.hostElements(fmt.Sprintf("%s-%d-", id, i), 1)
			names, points = append(names, one...), append(points, one...)
		}
	}
	m.arcs(len(points), id+"l", "route", func(from, to int) string { return fmt.Sprintf("src=%q dst=%q", points[from], points[to]) })
	m.put("  </zone>\n")
	return names
}

// arcs draws routes between n points, each over links of its own: a tree in some order, so that
// all can be reached, and as many more, in some of one direction only.
func (m *machine) arcs(n int, id, verb string, ends func(from, to int) string) {
	type arc struct {
		from, to, links int
		one             bool
	}
	var list []arc
	known := map[[2]int]bool{}
	add := func(a arc) {
		if a.from == a.to || known[[2]int{a.from, a.to}] || !a.one && known[[2]int{a.to, a.from}] {
			return
		}
		known[[2]int{a.from, a.to}] = true
		known[[2]int{a.to, a.from}] = known[[2]int{a.to, a.from}] || !a.one
		if !a.one && m.chance(0.5) {
			a.from, a.to = a.to, a.from
		}
		list = append(list, a)
	}
	order := m.Perm(n)
	for i := 1; i < n; i++ {
		add(arc{order[i], order[m.IntN(i)], pick(m.source, 1, 1, 1, 2), false})
	}
	for range m.between(n/2, 2*n) {
		add(arc{m.IntN(n), m.IntN(n), pick(m.source, 1, 1, 1, 2, 3), m.chance(0.2)})
	}
	count := 0
	for _, a := range list {
		count += a.links
	}
	links := m.links(id, count)
	for _, k := range m.Perm(len(list)) {
		a, attribute := list[k], ""
		if a.one {
			attribute = ` symmetrical="NO"`
		}
		m.put("    <%s %s%s>%s</%s>\n", verb, ends(a.from, a.to), attribute, strings.Join(links[:a.links], ""), verb)
		links = links[a.links:]
	}
}

// zone draws one of several kinds and returns its hosts and its gateway.
func (m *machine) zone(id string) (names []string, gateway string) {
	switch m.IntN(7) {
	case 0, 1:
		names = m.fatTree(id)
	case 2:
		names = m.mesh(id, id+"-h", m.between(2, 5))
	case 3:
		names = m.tree(id, id+"-h", m.between(1, 4))
	case 4:
		names = m.cabinets(id)
	default:
		gateway = id + "-router"
		return m.star(id, m.between(1, 5), fmt.Sprintf(" router_id=%q", gateway)), gateway
	}
	return names, pick(m.source, names...)
}

// zoneOfZones is zone, of zones mostly.
func (m *machine) zoneOfZones(id string) ([]string, string) {
	if m.chance(0.3) {
		return m.zone(id)
	}
	m.put("  <zone id=%q routing=\"Full\">\n", id)
	names, gateways := m.joined(m.between(2, 3), id+"-z", (*machine).zone)
	m.put("  </zone>\n")
	return names, pick(m.source, gateways...)
}

// world draws several zones joined by links.
func (m *machine) world(count int, id string, zone func(*machine, string) ([]string, string)) {
	m.self, m.old = true, m.chance(0.2)
	m.put("  <zone id=\"world\" routing=\"Full\">\n")
	m.hosts, _ = m.joined(count, id, zone)
	m.put("  </zone>\n")
}

// joined draws zones and a link for each pair of them, with a bypass now and then.
func (m *machine) joined(count int, id string, zone func(*machine, string) ([]string, string)) (names, gateways []string) {
	for z := range count {
		inside, gateway := zone(m, fmt.Sprintf("%s%d", id, z))
		names, gateways = append(names, inside...), append(gateways, gateway)
	}
	links := m.links(id+"-w", count*(count-1))
	route := func(verb string, i, j int) {
		m.put("    <%s src=\"%s%d\" dst=\"%s%d\" gw_src=%q gw_dst=%q>%s</%s>\n", verb, id, i, id, j, gateways[i], gateways[j], links[0], verb)
		links = links[1:]
	}
	for i := range count {
		for j := range i {
			route("zoneRoute", i, j)
			if m.chance(0.1) {
				route("bypassZoneRoute", j, i)
			}
		}
	}
	return names, gateways
}

// zoneMesh draws a zone of shortest paths whose points are zones. A path of SimGrid's
// Dijkstra passes each zone at one gateway: between two it crashes.
func (m *machine) zoneMesh() {
	m.self, m.old = true, m.chance(0.2)
	routing := pick(m.source, "Floyd", "Floyd", "Dijkstra", "DijkstraCache")
	m.put("  <zone id=\"world\" routing=%q>\n", routing)
	gateways := make([][]string, m.between(3, 7))
	for z := range gateways {
		names, gateway := m.zone(fmt.Sprintf("z%d", z))
		m.hosts = append(m.hosts, names...)
		if gateways[z] = []string{gateway}; routing == "Floyd" {
			gateways[z] = append(names[:len(names):len(names)], gateway)
		}
	}
	m.arcs(len(gateways), "w", "zoneRoute", func(from, to int) string {
		return fmt.Sprintf("src=\"z%d\" dst=\"z%d\" gw_src=%q gw_dst=%q", from, to, pick(m.source, gateways[from]...), pick(m.source, gateways[to]...))
	})
	m.put("  </zone>\n")
}

// cabinets draws a zone of routing Cluster: cabinets, hosts with links of their own,
// and a backbone or none.
func (m *machine) cabinets(id string) (names []string) {
	m.self = true
	m.put("  <zone id=%q routing=\"Cluster\">\n", id)
	for k := range m.between(1, 3) {
		prefix, n := fmt.Sprintf("%s-k%d-", id, k), m.between(1, 3)
		m.put("    <cabinet id=\"%s-k%d\" prefix=%q suffix=\"\" radical=\"0-%d\" speed=%q bw=%q lat=%q/>\n", id, k, prefix, n-1, m.speed(), m.bandwidth(), m.latency())
		for i := range n {
			names = append(names, fmt.Sprintf("%s%d", prefix, i))
		}
	}
	for i := range m.IntN(3) {
		m.put("    <host id=\"%s-h%d\" %s/>\n", id, i, m.speeds())
		m.put("    <link id=\"%s-p%d\" bandwidth=%q latency=%q sharing_policy=\"SPLITDUPLEX\"/>\n", id, i, m.bandwidth(), m.latency())
		m.put("    <host_link id=\"%s-h%d\" up=\"%s-p%d_UP\" down=\"%s-p%d_DOWN\"/>\n", id, i, id, i, id, i)
		names = append(names, fmt.Sprintf("%s-h%d", id, i))
	}
	if m.chance(0.7) {
		m.put("    <backbone id=\"%s-bb\" bandwidth=%q latency=%q/>\n", id, m.bandwidth(), m.latency())
	}
	m.put("  </zone>\n")
	return names
}

// composed draws a machine as replay platform new writes it, of at most 72 nodes.
func (m *machine) composed() {
	m.self = true
	cable := func() compose.Cable {
		return compose.Cable{Bandwidth: m.logarithmic(2e7, 5e9), Latency: m.logarithmic(1e-7, 1e-4)}
	}
	s := compose.DefaultSpec(1)
	s.NIC, s.Loopback, s.Cores, s.Speed = cable(), cable(), m.between(1, 3), m.logarithmic(1e8, 1e10)
	switch m.IntN(6) {
	case 0:
		s.Nodes = m.between(2, 24)
	case 1:
		t := compose.Torus{}
		for range m.between(1, 3) {
			t.Sizes = append(t.Sizes, m.between(2, 4))
			s.Nodes *= t.Sizes[len(t.Sizes)-1]
		}
		s.Topology = t
	case 2, 3:
		f := compose.Dragonfly{
			Groups: m.between(1, 4), Switches: m.between(1, 4), Hosts: m.between(1, 4),
			LocalCables: m.between(1, 3), Local: cable(), GlobalCables: m.between(1, 3), Global: cable(), Adaptive: m.chance(0.5),
		}
		s.Topology, s.Nodes = f, f.Groups*f.Switches*f.Hosts
	default:
		t := compose.FatTree{Static: m.chance(0.5)}
		s.Nodes = m.between(1, 4)
		for range m.between(1, 2) {
			l := compose.Level{Children: m.between(1, 4), Up: m.between(1, 3), Cable: cable()}
			if m.chance(0.3) {
				l.Cable = s.NIC
			}
			t.Levels = append(t.Levels, l)
			s.Nodes *= l.Children
		}
		if m.chance(0.4) { // the last switches are partly filled
			s.Nodes = m.between(1, s.Nodes)
		}
		s.Topology = t
	}
	if s.Nodes > 2 && m.chance(0.3) {
		m.slow = true
		s.Slow = []compose.Slow{{Pattern: fmt.Sprintf("node-[0-%d]", m.IntN(s.Nodes-1)), Factor: m.logarithmic(0.3, 2)}}
	}
	var b strings.Builder
	if err := s.Write(&b); err != nil {
		panic("crosscheck: " + err.Error())
	}
	_, body, _ := strings.Cut(b.String(), "<platform version=\"4.1\">\n")
	m.put("%s", strings.TrimSuffix(body, "</platform>\n"))
	for i := range s.Nodes {
		m.hosts = append(m.hosts, fmt.Sprintf("node-%d", i))
	}
}
