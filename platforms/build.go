package platforms

import (
	"io"
	"slices"

	"reprise/internal/textutil"
	"reprise/trace/warning"
)

// This file turns the elements of a description into a Platform (build): its first pass is here, the second, which
// reads routes, in routes.go.

// limits bound what a file can ask for. Fuzz tests read with smaller ones.
type limits struct {
	text      int // bytes
	hosts     int
	links     int64
	pathTable int64 // entries of the tables of shortest paths, all zones together
	alone     bool  // no other file is read
}

var defaultLimits = limits{text: maxText, hosts: MaxHosts, links: MaxLinks, pathTable: 1 << 24}

// A builder is the state of build. The first pass declares hosts, routers, links and zones; the second reads routes,
// which may name any of these.
type builder struct {
	*Platform
	limits       limits
	linkNames    map[string]declaredLink
	levelRuns    map[level]levelRun // by the first of their levels
	configured   map[string]bool    // names of the options of <config> so far
	fatTreeHosts int32
	later        []func() // the second pass
	table        profileTable
	sum          io.Writer // of the files that it reads, for the hash
	warnings     warning.List
}

// A declaredLink has the constraints of a link that a file names: up and down, or one for both if it has no directions.
type declaredLink struct{ up, down int32 }

// split reports whether the link has two directions, of which one must be named.
func (l declaredLink) split() bool { return l.up != l.down }

// list returns the constraints of a link: each once.
func (l declaredLink) list() []int32 { return slices.Compact([]int32{l.up, l.down}) }

// build makes a platform of a checked tree, with the elements and attributes of the schema in the words of version 4.
// It writes the texts of all files that the description names to sum. The error is that of the first element at fault.
func build(root *element, file string, lim limits, sum io.Writer) (p *Platform, err error) {
	defer textutil.Stopped(&err)
	b := &builder{
		Platform:   &Platform{name: file, points: map[string]point{}, zonePoints: map[string]point{}},
		limits:     lim,
		linkNames:  map[string]declaredLink{},
		levelRuns:  map[level]levelRun{},
		configured: map[string]bool{},
		table: profileTable{
			files: map[string]*Profile{}, traces: map[string]*Profile{},
			used: map[usedProfile]bool{}, connects: map[connectedTrace]string{}, left: maxProfiles,
		},
		sum: sum,
	}
	// Link 0 of every platform is the global loopback, whose figures are those of SimGrid unless an option says others.
	b.addExplicitLink(Link{"loopback", defaultLoopbackBandwidth, defaultLoopbackLatency, Fatpipe},
		b.levelsIn(-1, "loopback"))
	b.at(root).choice("version", "4.1", "4", "4.0", "3", "3.0")

	// The first pass: hosts, links and zones.
	for _, e := range root.children {
		switch e.name {
		case "config":
			b.addConfig(e)
		case "random": // nothing that is supported refers to one
		case "trace", "trace_connect":
			b.declareProfile(b.at(e))
		default:
			if len(b.zones) > 0 {
				b.at(e).failf("a second zone at the top: nothing could route to it")
			}
			b.declareZone(e, position{-1, 0}, 0)
		}
	}
	if len(b.hostNames) == 0 {
		b.at(root).failf("a platform without hosts")
	}

	// The second pass: routes and connections of traces, which may name anything.
	for _, pass := range b.later {
		pass()
	}

	// Profiles that are one factor from the begin on make the speeds of their hosts.
	kept := b.profiles[:0]
	for _, use := range b.profiles {
		p := use.Profile
		if use.Kind != HostSpeed || len(p.points) != 1 || p.points[0].after != 0 || p.again >= 0 || !(use.Factor() > 0) {
			kept = append(kept, use)
			continue
		}
		own := b.groups[b.hostGroups[use.Host]]
		own.speed *= use.Factor()
		if own.watts != nil {
			slower := *own.watts
			slower.Part *= use.Factor()
			slower.Initial = slower.Idle // SimGrid looks at the host when the profile begins
			own.watts = &slower
		}
		b.groups = append(b.groups, own)
		b.hostGroups[use.Host] = int32(len(b.groups) - 1)
		b.constantSpeeds = append(b.constantSpeeds, use)
	}
	b.profiles = kept
	b.Platform.warnings = b.warnings.All()
	return b.Platform, nil
}

// declareZone declares a zone or cluster that stands at a place of its parent, and all that is in it. The points of a
// zone are numbered in the order of the file. Elements that may name later hosts, links and zones (routes, links of
// hosts, connections of traces) wait for the second pass.
func (b *builder) declareZone(e *element, at position, depth int32) {
	v := b.at(e)
	number := int32(len(b.zones))
	b.zones = append(b.zones, zone{name: v.text("id"), place: at, depth: depth})
	b.declarePoint(v, v.text("id"), point{at, -1, number})
	if e.name == "cluster" {
		b.declareCluster(v, number)
		return
	}
	routing := v.choice("routing", routings...)

	// Zones of routing Cluster and Vivaldi are stars, whose points have links or coordinates; in all others
	// points are only counted.
	g, s, size := &graph{zone: number}, &star{zone: number, backbone: -1}, int32(0)
	cluster, vivaldi := routing == "Cluster", routing == "Vivaldi"
	b.zones[number].topology = g
	if cluster || vivaldi {
		b.zones[number].topology = s
	}
	if vivaldi {
		s.at, b.distances = []coordinates{}, true
	}
	addPoint := func(v *values, up, down int32) {
		size++
		if cluster || vivaldi {
			s.up, s.down = append(s.up, up), append(s.down, down)
		}
		if vivaldi {
			s.at = append(s.at, v.coordinates())
		}
	}
	b.later = append(b.later, func() { b.buildRoutes(e, number) })

	for _, c := range e.children {
		v := b.at(c)
		at := position{number, size}
		switch name := c.name; {
		case name == "peer" && !vivaldi:
			v.failf("only a zone of routing Vivaldi has any")
		case !cluster && (name == "cabinet" || name == "backbone" || name == "host_link"):
			v.failf("only a zone of routing Cluster has any")
		case name == "host":
			b.declareSingleHost(v, at)
			addPoint(v, -1, -1)
		case name == "router":
			b.declarePoint(v, v.text("id"), point{at, -1, -1})
			addPoint(v, -1, -1)
		case name == "zone", name == "cluster":
			addPoint(v, -1, -1)
			b.declareZone(c, at, depth+1)
		case name == "peer": // a host with a link out and one in, without latency
			b.declareSingleHost(v, at)
			b.roomFor(v, 2)
			up := Link{Name: "link_" + v.text("id") + "_UP", Bandwidth: v.bandwidth("bw_out")}
			down := Link{Name: "link_" + v.text("id") + "_DOWN", Bandwidth: v.bandwidth("bw_in")}
			if v.text("lat") != "" {
				b.warnings.Add(warning.At(b.name, c.line,
					"lat of a <peer> is not used, as in SimGrid: its latency is the third of its coordinates, in ms"))
			}
			levels := b.levelsIn(number, "peer to network", "network to peer")
			addPoint(v, b.addNamedLink(v, up, levels), b.addNamedLink(v, down, levels))
		case name == "cabinet": // hosts with a link of two directions each
			hosts := clusterSpec{prefix: v.text("prefix"), suffix: v.text("suffix")}
			cable := Link{Bandwidth: v.bandwidth("bw"), Latency: v.latency("lat")}
			var err error
			hosts.ranges, hosts.hosts, err = parseRadical(v.text("radical"), b.limits.hosts-len(b.hostNames))
			v.fail(err)
			b.roomFor(v, 2*int64(hosts.hosts))
			b.addGroup(v)
			b.declareNumbered(v, &hosts, at)
			levels := b.levelsIn(number, "host to switch", "switch to host")
			for i := range hosts.hosts {
				cable.Name = "link_" + hosts.nodeName(0, i)
				l := b.addDirections(v, cable, levels)
				addPoint(v, l.up, l.down)
			}
		case name == "backbone":
			if s.backbone >= 0 {
				v.failf("a second backbone")
			}
			s.backbone = b.addNamedLink(v, Link{v.text("id"), v.bandwidth("bandwidth"), v.latency("latency"), Shared},
				b.levelsIn(number, "backbone"))
		case name == "link":
			b.declareLink(v, number)
		case name == "config":
			b.addConfig(c)
		case name == "trace", name == "trace_connect":
			b.declareProfile(v)
		}
	}
	g.size = size
}

// declareCluster declares the hosts and links of a <cluster>.
// Its topology lays out the links in a table, a few runs of alike ones, and computes routes from the numbers of
// hosts: a cluster of any size takes memory for the names of its hosts only.
func (b *builder) declareCluster(v *values, number int32) {
	spec := readClusterSpec(v, b.limits.hosts-len(b.hostNames))
	b.addGroup(v)
	b.declareNumbered(v, &spec, position{number, 0})
	table := &linkTable{first: b.numLinks}
	kind, shape := v.choice("topology", "FLAT", "FAT_TREE", "TORUS", "DRAGONFLY"), v.text("topo_parameters")
	var topology topology
	switch {
	case kind != "FLAT" && spec.backbone.Bandwidth > 0:
		v.failf("bb_bw: topology %s has no backbone", kind)
	case kind == "FAT_TREE":
		topology = newFatTree(v, &spec, shape, b.fatTreeHosts, table)
	case kind == "TORUS":
		topology = newTorus(v, &spec, shape, table)
	case kind == "DRAGONFLY":
		topology = newDragonfly(v, &spec, shape, table)
	case shape != "":
		v.failf("topo_parameters %q without a topology", shape)
	default:
		topology = newFlatCluster(&spec, table)
	}

	// The links of the cluster join those of the platform as one span.
	b.roomFor(v, table.count)
	if table.count > 0 {
		b.spans = append(b.spans, linkSpan{b.numLinks, table, 0, b.levelsIn(number, table.levels...)})
		b.numLinks += int32(table.count)
	}

	// Fat trees count the hosts of those before them; a flat cluster has names that routes may use.
	switch topology := topology.(type) {
	case *fatTree:
		b.fatTreeHosts += spec.hosts
	case *flatCluster:
		if topology.backbone >= 0 { // other zones may have it in their routes
			b.nameLink(v, spec.backboneName(), declaredLink{topology.backbone, topology.backbone})
		}
		name := v.text("router_id")
		if name == "" {
			name = spec.prefix + spec.id + "_router" + spec.suffix
		}
		b.declarePoint(v, name, point{position{number, spec.hosts}, -1, -1})
	}
	b.zones[number].topology = topology
}

// roomFor refuses so many more links if a platform cannot have them.
func (b *builder) roomFor(v *values, links int64) {
	if int64(b.numLinks)+links > b.limits.links {
		v.failf("more than %d links", b.limits.links)
	}
}

// declareNumbered declares the hosts of a radical, the first at a place and the
// others behind it, all of the group added last.
func (b *builder) declareNumbered(v *values, s *clusterSpec, at position) {
	for i := range s.hosts {
		b.declareHost(v, s.nodeName(0, i), position{at.zone, at.local + i})
	}
}

// declareSingleHost adds a <host>.
// A <peer> is one as well. It is alone in its group, which holds its properties.
func (b *builder) declareSingleHost(v *values, at position) {
	b.addGroup(v)
	b.declareHost(v, v.text("id"), at)
	b.addProfileFiles(v, int32(len(b.hostNames)-1), nil)
}

// maxCores bounds the cores of a host.
// No host has that many: a larger number is a mistake in the file.
const maxCores = 1 << 20

// addGroup adds the speed, cores and properties that a <host> or <cluster> gives its hosts. Hosts that are declared
// next belong to it.
func (b *builder) addGroup(v *values) {
	props := readProps(v.e)
	b.groups = append(b.groups, hostGroup{v.speed("speed"), v.count("core", 1, 1, maxCores), props, b.hostWatts(v, props)})
}

// declareHost adds a host of the group added last.
func (b *builder) declareHost(v *values, name string, at position) {
	if len(b.hostNames) >= b.limits.hosts {
		v.failf("more than %d hosts", b.limits.hosts)
	}
	b.declarePoint(v, name, point{at, int32(len(b.hostNames)), -1})
	b.hostNames = append(b.hostNames, name)
	b.hostPlaces = append(b.hostPlaces, at)
	b.hostGroups = append(b.hostGroups, int32(len(b.groups)-1))
}

// declarePoint names a host, router or zone. As in SimGrid a host may have the name of a zone, but a router may not.
func (b *builder) declarePoint(v *values, name string, pt point) {
	at, other := b.points, b.zonePoints
	if pt.zone >= 0 {
		at, other = other, at
	}
	_, twice := at[name]
	if same, ok := other[name]; twice || ok && pt.host < 0 && same.host < 0 {
		v.failf("there is a host, router or zone %q already", name)
	}
	at[name] = pt
}

// declareLink adds a <link> of a zone.
// A SPLITDUPLEX link is two constraints, NAME_UP and NAME_DOWN, and NAME stands for both: routes say which way they
// take it. FULLDUPLEX is its older name.
func (b *builder) declareLink(v *values, zone int32) {
	policy := v.choice("sharing_policy", "SHARED", "FATPIPE", "SPLITDUPLEX", "FULLDUPLEX")
	l := Link{v.text("id"), v.optionalBandwidth("bandwidth"), v.latency("latency"), Shared}
	if v.text("bandwidth") == "" {
		v.failf("bandwidth: want a bandwidth")
	} else if l.Bandwidth == 0 {
		b.warnings.Add(warning.At(b.name, v.e.line, "link %q has no bandwidth: a message over it never ends", l.Name))
	}
	b.roomFor(v, 2)
	var declared declaredLink
	switch policy {
	case "SHARED", "FATPIPE":
		if policy == "FATPIPE" {
			l.Policy = Fatpipe
		}
		number := b.addNamedLink(v, l, b.levelsIn(zone, "listed links"))
		declared = declaredLink{number, number}
	default: // its two constraints have names of their own
		declared = b.addDirections(v, l, b.levelsIn(zone, "listed links, up", "listed links, down"))
		b.nameLink(v, l.Name, declared)
	}
	b.addProfileFiles(v, -1, declared.list())
	b.addLinkWatts(v, declared)
}

// addDirections adds the two constraints of a split-duplex link by names of their own.
// Both have the whole bandwidth: messages there and back do not share any.
func (b *builder) addDirections(v *values, l Link, levels levelRun) declaredLink {
	up, down := l, l
	up.Name, down.Name = l.Name+"_UP", l.Name+"_DOWN"
	return declaredLink{b.addNamedLink(v, up, levels), b.addNamedLink(v, down, levels)}
}

// addNamedLink adds a link of one constraint, and returns its number.
func (b *builder) addNamedLink(v *values, l Link, levels levelRun) int32 {
	number := b.addExplicitLink(l, levels)
	b.nameLink(v, l.Name, declaredLink{number, number})
	return number
}

// nameLink makes a link known to routes.
// Names of links are known in all zones of a description, as in SimGrid.
func (b *builder) nameLink(v *values, name string, l declaredLink) {
	if _, ok := b.linkNames[name]; ok {
		v.failf("there is a link %q already", name)
	}
	b.linkNames[name] = l
}

// addExplicitLink adds one constraint, the next of the levels, and returns its number. It lengthens the last span
// unless a cluster or other levels come between: a file of thousands of listed links has a few spans, which spanOf
// searches.
func (b *builder) addExplicitLink(l Link, levels levelRun) int32 {
	if n := len(b.spans); n == 0 || b.spans[n-1].table != nil || b.spans[n-1].levels != levels {
		b.spans = append(b.spans, linkSpan{b.numLinks, nil, int32(len(b.links)), levels})
	}
	b.links = append(b.links, l)
	b.numLinks++
	return b.numLinks - 1
}

// addConfig adds the options of a <config>. Of several with one name the first counts.
// Package smpi gives them their meaning (ApplyConfig): here they are names and values with their lines.
func (b *builder) addConfig(e *element) {
	for _, p := range readProps(e) {
		if !b.configured[p.Name] {
			b.configured[p.Name] = true
			b.config = append(b.config, p)
		}
	}
}

// readProps returns the properties in an element.
func readProps(e *element) []Prop {
	var props []Prop
	for _, c := range e.children {
		if c.name == "prop" {
			props = append(props, Prop{c.value("id"), c.value("value"), c.line})
		}
	}
	return slices.Clip(props)
}

// at returns the values of an element, whose errors have its place.
func (b *builder) at(e *element) *values { return &values{b.name, e} }
