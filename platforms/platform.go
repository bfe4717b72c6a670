// Package platforms is the machine: hosts, links with their capacities, and which links a message takes from one host
// to another.
//
// A Platform comes from a SimGrid description (Parse, Load; XML, versions 3 to 4.1) or is built in (Builtin). Its hosts
// and links are numbered densely from 0, so that a simulator can keep flat arrays; AppendRoute gives the links between
// two hosts. Each direction of a split-duplex cable is a link of its own, so a link is one capacity constraint.
//
// Routes inside clusters (flat, fat tree, torus, dragonfly) are arithmetic on host numbers: nothing is stored per pair
// of hosts or per link, and a fat tree of 65,536 hosts is read in milliseconds. Zones with listed routes keep the
// lists, sorted.
//
// If a description asks for something that this package does not do, that is an error with file and line, never
// ignored. docs/platforms.md says what is understood.
//
// The package knows nothing of messages or ranks, and nothing happens in it: it only holds the dated values of profiles
// (profile.go), which the replay plays. How links are shared is for the network model, what a simulator option means is
// for its reader.
//
//	p, err := platforms.Find("cluster.xml", ranks) // or what is built in: "dahu"
//	src, ok := p.HostIndex("node-0")
//	links, err := p.AppendRoute(nil, src, dst)
//
// # Units
//
// Bandwidths are in byte/s, latencies in seconds, speeds of a core in flop/s, times of
// profiles in seconds. Hosts and links are numbers from 0.
//
// # Errors
//
// Errors have the file and the line. [ErrNotListed] is that of a route which a file lists in the other direction only.
//
// # Source
//
// The XML is SimGrid's, docs/platforms.md; fat tree, torus and dragonfly number their
// links and choose their ways as SimGrid 3.32 does.
package platforms

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sort"

	"reprise/trace/warning"
)

// Limits of a description. Parse refuses files that exceed them, so a hostile file of a few bytes costs some 100 MB at
// most.
const (
	MaxHosts = 1 << 20
	MaxLinks = 1 << 24
)

// LoopbackLink is the index of the global loopback: the one link, common to all hosts, that a message of a host to
// itself takes where neither a route nor a cluster says otherwise. It is the first link of every platform, and it
// exists even where no host uses it.
const LoopbackLink int32 = 0

// Defaults of the global loopback, SimGrid's network/loopback-bw and network/loopback-lat.
const (
	defaultLoopbackBandwidth = 10e9 // byte/s
	defaultLoopbackLatency   = 0    // s
)

// Policy says how the flows on a link share its bandwidth.
type Policy uint8

const (
	// Shared: the rates of the flows add up to the bandwidth at most.
	Shared Policy = iota
	// Fatpipe: each flow by itself may have the bandwidth.
	Fatpipe
)

// String returns SimGrid's name of the policy.
func (p Policy) String() string { return [...]string{Shared: "SHARED", Fatpipe: "FATPIPE"}[p] }

// A Host computes. n computations at once each get min(Speed, Cores*Speed/n).
type Host struct {
	Name  string
	Speed float64 // flop/s of one core; 0: it cannot compute
	Cores int     // >= 1
}

// A Link is one capacity constraint: each direction of a split-duplex cable is a link of its own.
type Link struct {
	Name      string
	Bandwidth float64 // byte/s, >= 0
	Latency   float64 // s, >= 0
	Policy    Policy
}

// A Prop is a named value, as the file has it.
type Prop struct {
	Name, Value string
	Line        int // of the file
}

// A Platform is a machine: hosts, links and the routes between hosts. Hosts are numbered from 0 in file order, a
// cluster's in the order of its radical; links from 0, LoopbackLink first. It does not change, and may be used by
// several goroutines.
type Platform struct {
	name    string
	hash    [sha256.Size]byte // of the text
	config  []Prop
	nominal bool // speeds of the hosts, see NominalSpeed

	hostNames  []string
	hostPlaces []position // of each host
	hostGroups []int32    // index into groups, of each host
	groups     []hostGroup
	points     map[string]point      // hosts and routers by name
	zonePoints map[string]point      // zones by name: a host may have the name of one
	zones      []zone                // the root first
	bypasses   map[bypassKey]*bypass // nil if there are none

	links    []Link     // explicit links, the loopback first
	spans    []linkSpan // who owns which link numbers, ascending
	numLinks int32
	levels   []level // kinds of links

	linkWatts []LinkWatts // by number of the link

	distances bool // some zone is of routing Vivaldi

	scale func(link int32) (bandwidth, latency float64) // factors; nil: as the file says

	profiles       []ProfileUse // what changes with time
	constantSpeeds []ProfileUse // what a profile of one factor has made of the speed of its host
	warnings       []warning.Warning
}

// Name returns the name of the file or of the built-in machine.
func (p *Platform) Name() string { return p.name }

// Hash returns the SHA-256 of the text that describes the machine.
func (p *Platform) Hash() [sha256.Size]byte { return p.hash }

// NominalSpeed reports whether the speeds of the hosts are not those of their cores: so
// it is with the built-in machines whose kernel models are in seconds.
func (p *Platform) NominalSpeed() bool { return p.nominal }

// NumHosts returns the number of hosts, at most MaxHosts.
func (p *Platform) NumHosts() int { return len(p.hostNames) }

// Host returns host i of [0, NumHosts).
func (p *Platform) Host(i int) Host {
	g := &p.groups[p.hostGroups[i]]
	return Host{Name: p.hostNames[i], Speed: g.speed, Cores: g.cores}
}

// HostIndex returns the number of the host with that name.
func (p *Platform) HostIndex(name string) (int, bool) {
	pt, ok := p.points[name]
	return int(pt.host), ok && pt.host >= 0
}

// HostProp returns a property of host i: its own, or else that of the cluster it belongs to; of several with that name
// the first. A property of a zone does not reach the hosts in it.
func (p *Platform) HostProp(i int, name string) (Prop, bool) {
	if prop := first(p.groups[p.hostGroups[i]].props, name); prop != nil {
		return *prop, true
	}
	return Prop{}, false
}

// first returns the first property of a name, nil if there is none.
func first(props []Prop, name string) *Prop {
	if i := slices.IndexFunc(props, func(p Prop) bool { return p.Name == name }); i >= 0 {
		return &props[i]
	}
	return nil
}

// Config returns the simulator options that the file sets, in file order. Of several
// with one name it has the first, as SimGrid. The caller must not change it.
func (p *Platform) Config() []Prop { return p.config }

// NumLinks returns the number of links, LoopbackLink included, at most MaxLinks.
func (p *Platform) NumLinks() int { return int(p.numLinks) }

// Link returns link i of [0, NumLinks). Names of links inside clusters are made at each call; LinkFigures spares that.
func (p *Platform) Link(i int32) Link {
	declared, run, in := p.declared(i)
	l := *declared
	if run != nil {
		l.Name = run.name(in)
	}
	l.Bandwidth, l.Latency, _ = p.LinkFigures(i)
	return l
}

// declared returns link i as the file says it. The name of a cluster's link is run.name(in).
func (p *Platform) declared(i int32) (l *Link, run *linkRun, in int32) {
	s := p.spanOf(i)
	if s.table == nil {
		return &p.links[s.explicit+i-s.first], nil, 0
	}
	run, in = s.table.run(i - s.first)
	return &run.like, run, in
}

// LinkFigures returns the bandwidth in byte/s, the latency in seconds and the
// sharing policy of link i of [0, NumLinks).
func (p *Platform) LinkFigures(i int32) (bandwidth, latency float64, policy Policy) {
	l, _, _ := p.declared(i)
	bandwidth, latency = p.LinkFactors(i)
	return l.Bandwidth * bandwidth, l.Latency * latency, l.Policy
}

// AppendRoute appends to route the links from host src to host dst, in the order a message meets them; a link that is
// met twice is there twice. Routes of clusters are computed, none is stored, and nothing is allocated if route has the
// capacity. Both hosts must be in [0, NumHosts). The error says that the platform has no route between the two.
func (p *Platform) AppendRoute(route []int32, src, dst int) ([]int32, error) {
	return p.AppendLinks(AsMet, route, src, dst)
}

// AppendLinks is AppendRoute with a choice of the order. Only the links of this
// route may be in the slice with AsListed.
func (p *Platform) AppendLinks(order Order, links []int32, src, dst int) ([]int32, error) {
	before := len(links)
	links, err := walk{p, order, nil}.appendRoute(links, p.hostPlaces[src], p.hostPlaces[dst])
	if err != nil {
		return links[:before], err
	}
	if len(links) == before && p.Distance(src, dst) == 0 {
		from, to := p.hostPlaces[src], p.hostPlaces[dst]
		err = fmt.Errorf("%s: no route in zone %q from %s to %s: %w", p.name, p.zones[from.zone].name, p.pointName(from),
			p.pointName(to), ErrNotListed)
	}
	return links, err
}

// OrdersDiffer tells whether there are routes whose orders are not all the same.
func (p *Platform) OrdersDiffer() bool {
	if len(p.zones) > 1 {
		return true
	}
	g, ok := p.zones[0].topology.(*graph)
	return ok && g.dijkstra
}

// A hostGroup is what hosts of one declaration have in common: those of a cluster, or a single one.
type hostGroup struct {
	speed float64 // flop/s of a core
	cores int
	props []Prop
	watts *HostWatts // nil: the file does not say
}

// A linkSpan says where the links from number first up to the next span are: in a cluster's table from its link 0, or
// with no table in Platform.links from index explicit, of the levels in turn.
type linkSpan struct {
	first    int32
	table    *linkTable
	explicit int32
	levels   levelRun
}

// spanOf returns the last span that starts at or below link i.
func (p *Platform) spanOf(i int32) *linkSpan {
	if i < 0 || i >= p.numLinks {
		panic(fmt.Sprintf("platforms: link %d out of range [0,%d)", i, p.numLinks))
	}
	return &p.spans[sort.Search(len(p.spans)-1, func(k int) bool { return p.spans[k+1].first > i })]
}
