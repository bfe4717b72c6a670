package platforms

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"reprise/internal/textutil"
)

// A Description sums up a machine for people (Platform.Describe).
type Description struct {
	Name  string  `json:"name"`
	Hosts int     `json:"hosts"`
	Cores int64   `json:"cores"`
	Flops float64 `json:"flop_per_s"` // of all cores
	// Nominal: Flops is not what the cores can do, see Platform.NominalSpeed.
	Nominal bool              `json:"flop_per_s_nominal"`
	Links   int               `json:"links"` // capacity constraints
	Zones   []ZoneDescription `json:"zones"`
}

// A ZoneDescription is a zone or cluster. Bisection is the bandwidth in byte/s, one way, between two halves of a
// cluster's hosts where the cut is narrowest; 0 where it has no formula, and of a single host.
type ZoneDescription struct {
	Name      string             `json:"name"`
	Topology  string             `json:"topology"`
	Points    int64              `json:"points"` // hosts, or members of a zone
	Levels    []LevelDescription `json:"levels,omitempty"`
	Bisection float64            `json:"bisection_bytes_per_s,omitempty"`
}

// A LevelDescription is the cables of one kind: Cables leave each of Nodes nodes. Bandwidth is that of one cable, one
// way.
type LevelDescription struct {
	Name      string  `json:"name"`
	Nodes     int64   `json:"nodes"`
	Cables    int64   `json:"cables_per_node"`
	Bandwidth float64 `json:"bandwidth_bytes_per_s"`
	Latency   float64 `json:"latency_s"`
}

// total returns the bandwidth of all cables of the level, one way.
func (l *LevelDescription) total() float64 { return float64(l.Nodes) * float64(l.Cables) * l.Bandwidth }

// Describe sums up the platform.
// The cost goes with the number of hosts and zones.
func (p *Platform) Describe() *Description {
	d := &Description{Name: p.name, Hosts: p.NumHosts(), Nominal: p.nominal, Links: p.NumLinks()}
	for i := range p.NumHosts() {
		h := p.Host(i)
		d.Cores += int64(h.Cores)
		d.Flops += float64(float64(h.Cores) * h.Speed)
	}
	for i := range p.zones {
		z := ZoneDescription{Name: p.zones[i].name}
		p.zones[i].topology.describe(p, &z)
		if z.Points < 2 {
			z.Bisection = 0 // nothing to cut
		}
		d.Zones = append(d.Zones, z)
	}
	return d
}

// level describes cables that are all like the given link.
func (p *Platform) level(name string, nodes, cables int64, link int32) LevelDescription {
	bandwidth, latency, _ := p.LinkFigures(link)
	return LevelDescription{name, nodes, cables, bandwidth, latency}
}

// describe gives as the bisection the cables of half of the hosts, or the backbone if that is shared and narrower.
func (c *flatCluster) describe(p *Platform, z *ZoneDescription) {
	z.Topology, z.Points = "flat cluster", int64(c.hosts)
	hosts := p.level("host to switch", int64(c.hosts), 1, c.private)
	z.Levels = append(z.Levels, hosts)
	z.Bisection = float64(c.hosts/2) * hosts.Bandwidth
	if c.backbone < 0 {
		return
	}
	backbone := p.level("backbone", 1, 1, c.backbone)
	z.Levels = append(z.Levels, backbone)
	if _, _, policy := p.LinkFigures(c.backbone); policy == Shared {
		z.Bisection = min(z.Bisection, backbone.Bandwidth)
	}
}

// describe gives half of the narrowest level as the bisection: two halves of the top's subtrees have half of the cables
// of each level, and what goes from one to the other passes every level.
func (f *fatTree) describe(p *Platform, z *ZoneDescription) {
	top := len(f.levels) - 1
	z.Points = int64(f.levels[top].below.by)
	z.Topology = "fat tree of " + textutil.Count(top, "level")
	for l := range top {
		level := &f.levels[l]
		name := fmt.Sprintf("level %d to %d", l, l+1)
		if l == 0 {
			name = "host to level 1"
		}
		nodes := int64(level.spread.by) * (z.Points / int64(level.below.by))
		z.Levels = append(z.Levels, p.level(name, nodes, int64(level.ports.by), int32(level.link)))
	}
	narrowest := slices.MinFunc(z.Levels, func(a, b LevelDescription) int { return cmp.Compare(a.total(), b.total()) })
	z.Bisection = narrowest.total() / 2
}

// describe gives as the bisection the narrowest cut across a dimension: two cables in each of
// its rings, or one where it has two hosts, as routes then use one of the two that join them.
func (c *torus) describe(p *Platform, z *ZoneDescription) {
	sizes := textutil.Texts(c.dims, func(d int32) string { return fmt.Sprint(d) })
	hosts := int64(1)
	for _, d := range c.dims {
		hosts *= int64(d)
	}
	z.Topology, z.Points = "torus "+strings.Join(sizes, "x"), hosts
	cable := p.level("host to next in each dimension", hosts, int64(len(c.dims)), c.cables)
	z.Levels = []LevelDescription{cable}
	narrowest := int64(0)
	for _, d := range c.dims {
		if d > 1 && (narrowest == 0 || ringCables(d)*hosts/int64(d) < narrowest) {
			narrowest = ringCables(d) * hosts / int64(d)
		}
	}
	z.Bisection = float64(narrowest) * cable.Bandwidth
}

// ringCables returns the cables that join two halves of a ring of hosts.
func ringCables(hosts int32) int64 { return min(int64(hosts)-1, 2) }

// describe gives as the bisection the blue cables between two halves of the groups.
func (d *dragonfly) describe(p *Platform, z *ZoneDescription) {
	groups, chassis, blades := int64(d.groups), int64(d.chassis), int64(d.blades)
	routers := groups * chassis * blades
	z.Points = routers * int64(d.nodes)
	z.Topology = fmt.Sprintf("dragonfly of %s of %d chassis of %s of %s",
		textutil.Count(groups, "group"), chassis, textutil.Count(blades, "blade"), textutil.Count(d.nodes, "host"))
	z.Levels = append(z.Levels, p.level("host to router", z.Points, 1, d.local))
	add := func(name string, nodes, cables int64, link int32) {
		if cables > 0 {
			z.Levels = append(z.Levels, p.level(name, nodes, cables, link))
		}
	}
	add("green, router to blades of its chassis", routers, blades-1, d.green)
	add("black, router to chassis of its group", routers, chassis-1, d.black)
	add("blue, group to groups", groups, groups-1, d.blue)
	if groups > 1 {
		blue := &z.Levels[len(z.Levels)-1]
		z.Bisection = float64((groups/2)*((groups+1)/2)) * blue.Bandwidth
	}
}

// describe names no levels but the backbone: the links of a star may all differ, and so there is no bisection.
func (s *star) describe(p *Platform, z *ZoneDescription) {
	z.Topology, z.Points = "star", int64(len(s.up))
	if s.at != nil {
		z.Topology = "Vivaldi coordinates"
	}
	if s.backbone >= 0 {
		z.Levels = append(z.Levels, p.level("backbone", 1, 1, s.backbone))
	}
}

// describe counts the listed routes, of which each direction is one.
func (g *graph) describe(_ *Platform, z *ZoneDescription) {
	z.Points = int64(g.size)
	z.Topology = textutil.Count(len(g.edges), "listed route")
	if g.last != nil {
		z.Topology = "shortest paths over " + z.Topology
	}
}
