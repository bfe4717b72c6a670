package compose

import (
	"fmt"
	"slices"
	"strings"

	"reprise/internal/textutil"
)

// FatTree is levels of switches, from the nodes up, below switches at the top. The cables that
// leave a switch go to as many switches, one to each. The last switches may have fewer below them than the others.
type FatTree struct {
	Levels []Level
	// Static says that the destination alone decides by which cables a message goes up (D-mod-K); otherwise routing is
	// adaptive and spreads the packets of a flow over all cables.
	Static bool
}

// Level is the switches of a level.
type Level struct {
	Children int // nodes of a leaf switch, or what a switch of a further level has below it
	Up       int // cables that leave a switch upwards
	Cable    Cable
}

// treeForm is what ParseFatTree reads.
const treeForm = "leaf=16 up=8x200Gbps, group=8 up=4x400Gbps for each further level, and routing=adaptive or static"

// ParseFatTree reads the levels of a tree, as "leaf=16 up=8x200Gbps" or "leaf=16 up=8x200Gbps
// group=8 up=4x400Gbps@1us". Cables of which no bandwidth or latency is said are like those
// of the nodes. Routing is a word of its own, routing=static or routing=adaptive, the default: it follows from nothing
// else, so that two trees that differ in a cable are routed alike.
func ParseFatTree(text string, nic Cable) (t FatTree, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("fat tree %s: %w; want %s", textutil.Quote(text), err, treeForm)
		}
	}()
	pairs, routing, err := parseWords(text)
	if err != nil {
		return t, err
	}
	t.Static = routing == "static"
	for i, p := range pairs { // in turn a number of nodes or switches, and the cables up
		want := [2]string{"leaf", "up"}
		if i >= 2 {
			want[0] = "group"
		}
		if p.key != want[i%2] {
			return t, fmt.Errorf("%s= where %s= is due", p.key, want[i%2])
		}
		if i%2 == 0 {
			t.Levels = append(t.Levels, Level{})
		}
		l := &t.Levels[len(t.Levels)-1]
		if i%2 == 0 {
			l.Children, err = parseCount(p.value)
		} else {
			l.Up, l.Cable, err = parseCables(p.value, nic)
		}
		if err != nil {
			return t, fmt.Errorf("%s=: %w", p.key, err)
		}
	}
	if len(pairs) == 0 || len(pairs)%2 == 1 {
		return t, fmt.Errorf("%s= is missing", [2]string{"leaf", "up"}[len(pairs)%2])
	}
	return t, nil
}

// below returns the number of nodes below a switch of a level.
func (t FatTree) below(level int) int {
	n := 1
	for _, l := range t.Levels[:level+1] {
		n = product(n, l.Children)
	}
	return n
}

// cables returns the number of cables that leave all switches above the same nodes.
func (t FatTree) cables(level int) int {
	n := 1
	for _, l := range t.Levels[:level+1] {
		n = product(n, l.Up)
	}
	return n
}

// switches returns the number of switches of a level that have nodes below them, so many above the same nodes counted
// once.
func (t FatTree) switches(s *Spec, level int) int { return (s.Nodes-1)/t.below(level) + 1 }

// whole reports whether all switches have as many below them as they can.
func (t FatTree) whole(s *Spec) bool { return s.Nodes%t.below(len(t.Levels)-1) == 0 }

// Most zones, cables and listed routes that a tree may have: SimGrid and platforms hold tables of the squares
// of the numbers of zones of one switch, and one link for each cable of a FAT_TREE.
const (
	maxChildren = 4000
	maxCables   = 1 << 22
	maxListed   = 1 << 17
)

// check refuses trees whose description would be too long for those who read it.
func (t FatTree) check(s *Spec) error {
	top := len(t.Levels) - 1
	if top < 0 {
		return fmt.Errorf("a fat tree without levels")
	}
	cables := s.Nodes
	for i, l := range t.Levels {
		if l.Children < 1 || l.Up < 1 {
			return fmt.Errorf("a fat tree with %d below a switch and %d cables up", l.Children, l.Up)
		}
		if err := l.Cable.check(); err != nil {
			return fmt.Errorf("fat tree: %w", err)
		}
		cables += product(t.switches(s, i), t.cables(i))
		if cables > maxCables {
			return fmt.Errorf("a fat tree of more than %d cables", maxCables)
		}
	}
	if t.Static {
		if t.isFatTree(s) {
			return nil
		}
		if n := product(t.switches(s, 0), s.Nodes); n > maxListed {
			return fmt.Errorf("static routing where cables differ or switches are not full takes a list of %d routes, of each "+
				"leaf switch to each node, want at most %d: say routing=adaptive, or have cables alike and a multiple of %d nodes",
				n, maxListed, t.below(top))
		}
		return nil
	}
	for i := range t.Levels {
		n := t.switches(s, top) // switches below the top, or below one of the next level
		if i > 0 {
			n = t.Levels[i].Children
		}
		if n > maxChildren {
			return fmt.Errorf("%d switches below one, want at most %d: add a level, group=N up=N", n, maxChildren)
		}
	}
	return nil
}

// isFatTree reports whether SimGrid has a topology for the tree, which needs neither zones nor lists of routes: its
// routing is static, its cables are all like those of the nodes, and no switch is partly filled.
func (t FatTree) isFatTree(s *Spec) bool {
	return t.Static && t.whole(s) && !slices.ContainsFunc(t.Levels, func(l Level) bool { return !l.Cable.like(s.NIC) })
}

// words says for each level how many share its uplinks.
func (t FatTree) words(s *Spec) []string {
	leaves, top := t.switches(s, 0), len(t.Levels)-1
	list := []string{fmt.Sprintf("a fat tree of %s below %s at the top, cables of %.4g us to the nodes",
		count(leaves, "leaf switch"), count(t.cables(top), "switch"), s.NIC.Latency*1e6)}
	what, cable := "host", s.NIC
	for _, l := range t.Levels {
		list = append(list, sharing(l.Children, what, cable, l.Up, "uplink", l.Cable))
		what, cable = "downlink", l.Cable
	}
	if rest := s.Nodes % t.below(0); rest > 0 {
		list = append(list, fmt.Sprintf("the last leaf switch has %s", count(rest, "node")))
	}
	if t.Static {
		return append(list, "static routing: each destination has its uplinks (D-mod-K), and flows that meet on one share it")
	}
	return append(list, "uplinks above the same nodes are one link of their sum, as adaptive routing spreads the packets of a flow")
}

// body writes a zone for each switch, or of static routing one FAT_TREE, or a list of routes.
func (t FatTree) body(b *xmlBuilder, s *Spec) {
	switch {
	case !t.Static:
		var list pools
		for i, l := range t.Levels {
			list = append(list, pool{t.below(i), t.cables(i), l.Cable})
		}
		list.zone(b, s, len(list), 1, "tree", 0, s.Nodes)
		return
	case !t.isFatTree(s):
		t.listed(b, s)
		return
	}
	// topo_parameters: the levels, and for each, from the nodes up, the children of a switch, its parents, and the
	// cables to each parent. A node has one parent.
	var children, cables []string
	parents := []string{"1"}
	for _, l := range t.Levels {
		children, parents, cables = append(children, fmt.Sprint(l.Children)), append(parents, fmt.Sprint(l.Up)), append(cables, "1")
	}
	children, cables = append(children, fmt.Sprint(s.Nodes/t.below(len(t.Levels)-1))), append(cables, "1")
	b.cluster(1, "tree", s, 0, s.Nodes, fmt.Sprintf(` topology="FAT_TREE" topo_parameters="%d;%s;%s;%s"`, len(children),
		strings.Join(children, ","), strings.Join(parents, ","), strings.Join(cables, ",")))
}

// manyChildren is how many zones SimGrid finds all paths between at once in little time: that
// goes with the cube of their number.
const manyChildren = 1000

// pathRouting is the routing of a zone that joins so many zones with its router.
func pathRouting(children int) string {
	if children > manyChildren {
		return "DijkstraCache"
	}
	return "Floyd"
}

// pools are the levels of a network with adaptive routing, from the nodes up. All cables that leave the same nodes are
// one link of their sum, also to a flow by itself, whose packets go over all of them.
type pools []pool

type pool struct {
	nodes, cables int // below, and upwards
	Cable
}

// zone writes a switch of a level, 0 for a leaf, and all below it, which are so many nodes from the first on: a
// leaf is a cluster, another one a zone in which each of the zones below is joined to a router.
func (l pools) zone(b *xmlBuilder, s *Spec, level, depth int, id string, first, nodes int) {
	gateway := func(id string) string { return id + "-switch" } // the router by which a zone is left
	if level == 0 {
		b.cluster(depth, id, s, first, nodes, fmt.Sprintf(` router_id="%s"`, gateway(id)))
		return
	}
	up, name := l[level-1], "leaf"
	each := up.nodes
	if level > 1 {
		name = "group"
	}
	if level > 2 {
		name = fmt.Sprintf("group%d", level-1)
	}
	child := func(i int) string { return fmt.Sprintf("%s-%d", name, first/each+i) }

	children := (nodes-1)/each + 1
	b.line(depth, `<zone id="%s" routing="%s">`, id, pathRouting(children))
	for i := range children { // the last one may have fewer nodes
		l.zone(b, s, level-1, depth+1, child(i), first+i*each, min(each, nodes-i*each))
	}
	core := id + "-core"
	b.line(depth+1, `<zone id="%s" routing="None"><router id="%s"/></zone>`, core, gateway(id))
	b.line(depth+1, "<!-- The cables up of each: together %d of %s. -->", up.cables, rate(up.Bandwidth))

	var ups []bundle
	for i := range children {
		ups = append(ups, bundle{child(i) + "-up", up.cables, up.Cable, false, // the packets of a flow take all cables
			end{child(i), gateway(child(i))}, end{core, gateway(id)}})
	}
	b.joined(depth+1, ups)
	b.line(depth, `</zone>`)
}

// listed writes the routes of D-mod-K of a tree for which SimGrid has no topology. By which cables a message goes up
// and down depends on the two leaf switches and on the destination. So each node is a zone of its own, and from each
// other leaf switch there is a route to it: a bypass, which is the route of SimGrid whose ends may lie at different
// depths.
func (t FatTree) listed(b *xmlBuilder, s *Spec) {
	b.line(1, `<zone id="tree" routing="Full">`)
	leaf, leaves := t.below(0), t.switches(s, 0)
	for i := range leaves {
		t.leafOfZones(b, s, i, i*leaf, min(leaf, s.Nodes-i*leaf))
	}
	// A cable has the number of the switches below it, which have the same nodes, and that of the destinations for
	// which messages use it: what is left of their number divided by the number of cables above the same nodes.
	for level, l := range t.Levels {
		for i := range product(t.switches(s, level), t.cables(level)) {
			b.line(2, `<link id="up%d-%d-%d" bandwidth="%s" latency="%s" sharing_policy="SPLITDUPLEX"/>`, level+1,
				i/t.cables(level), i%t.cables(level), bandwidthText(l.Cable.Bandwidth), latencyText(l.Cable.Latency))
		}
	}
	for from := range leaves {
		for node := range s.Nodes {
			up, down := "", ""
			for i := 0; i < len(t.Levels) && from*leaf/t.below(i) != node/t.below(i); i++ {
				link := func(at int, direction string) string {
					return fmt.Sprintf(`<link_ctn id="up%d-%d-%d" direction="%s"/>`, i+1, at/t.below(i), node%t.cables(i), direction)
				}
				up, down = up+link(from*leaf, "UP"), link(node, "DOWN")+down
			}
			if up != "" {
				b.line(2, `<bypassZoneRoute src="leaf-%d" dst="place-%d" gw_src="leaf-%d-switch" gw_dst="port-%d">%s%s</bypassZoneRoute>`,
					from, node, from, node, up, down)
			}
		}
	}
	b.line(1, `</zone>`)
}

// leafOfZones writes a leaf switch with nodes from the first on, each in a zone, in which its cable leads to a router:
// the gateway of a bypass, which may not be the node, as a node's way to itself is its loopback.
func (t FatTree) leafOfZones(b *xmlBuilder, s *Spec, number, first, nodes int) {
	id := fmt.Sprintf("leaf-%d", number)
	b.line(2, `<zone id="%s" routing="%s">`, id, pathRouting(nodes))
	for i := first; i < first+nodes; i++ {
		b.line(3, `<zone id="place-%d" routing="Full">`, i)
		b.line(4, `<host id="node-%d" speed="%s" core="%d"/><router id="port-%d"/>`, i, speedText(s.Speed), s.Cores, i)
		b.line(4, `<link id="cable-%d" bandwidth="%s" latency="%s" sharing_policy="SPLITDUPLEX"/>`, i,
			bandwidthText(s.NIC.Bandwidth), latencyText(s.NIC.Latency))
		b.line(4, `<link id="within-%d" bandwidth="%s" latency="%s" sharing_policy="FATPIPE"/>`, i,
			bandwidthText(s.Loopback.Bandwidth), latencyText(s.Loopback.Latency))
		b.line(4, `<route src="node-%d" dst="node-%d" symmetrical="NO"><link_ctn id="within-%d"/></route>`, i, i, i)
		b.line(4, `<route src="node-%d" dst="port-%d"><link_ctn id="cable-%d" direction="UP"/></route>`, i, i, i)
		b.line(3, `</zone>`)
	}
	b.line(3, `<zone id="%s-core" routing="None"><router id="%s-switch"/></zone>`, id, id)
	for i := first; i < first+nodes; i++ {
		b.line(3, `<zoneRoute src="place-%d" dst="%s-core" gw_src="node-%d" gw_dst="%s-switch"><link_ctn id="cable-%d" direction="UP"/></zoneRoute>`,
			i, id, i, id, i)
	}
	b.line(2, `</zone>`)
}
