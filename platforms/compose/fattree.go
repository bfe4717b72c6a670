package compose

import (
	"fmt"
	"slices"
	"strings"

	"reprise/internal/textutil"
)

// FatTree is levels of switches, from the nodes up, below switches at the top. The cables that
// leave a switch go to as many switches, one to each.
type FatTree struct{ Levels []Level }

// Level is the switches of a level.
type Level struct {
	Children int // nodes of a leaf switch, or what a switch of a further level has below it
	Up       int // cables that leave a switch upwards
	Cable    Cable
}

// treeForm is what ParseFatTree reads.
const treeForm = "leaf=16 up=8x200Gbps, and group=8 up=4x400Gbps for each further level"

// ParseFatTree reads the levels of a tree, as "leaf=16 up=8x200Gbps" or "leaf=16 up=8x200Gbps
// group=8 up=4x400Gbps@1us". Cables of which no bandwidth or latency is said are like those
// of the nodes.
func ParseFatTree(text string, nic Cable) (t FatTree, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("fat tree %s: %w; want %s", textutil.Quote(text), err, treeForm)
		}
	}()
	pairs, err := parsePairs(text)
	if err != nil {
		return t, err
	}
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

// Most zones and cables that a tree may have: SimGrid and platforms hold tables of the squares
// of the numbers of zones of one switch, and one link for each cable of a FAT_TREE.
const (
	maxChildren = 4000
	maxCables   = 1 << 22
)

// check refuses numbers of nodes that fill no whole switches, and trees whose description would be too long for those
// who read it.
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
		if n := t.below(i); s.Nodes%n != 0 {
			say := fmt.Sprint(n) // the nearest numbers of nodes that are possible
			if s.Nodes > n {
				say = fmt.Sprintf("%d or %d", s.Nodes/n*n, (s.Nodes/n+1)*n)
			}
			return fmt.Errorf("%s are no whole number of switches with %d nodes below: say %s", count(s.Nodes, "node"), n, say)
		}
		cables += product(s.Nodes/t.below(i), t.cables(i))
		if cables > maxCables {
			return fmt.Errorf("a fat tree of more than %d cables", maxCables)
		}
	}
	if t.uniform(s) {
		return nil
	}
	for i := range t.Levels {
		n := s.Nodes / t.below(top) // switches below the top, or below one of the next level
		if i > 0 {
			n = t.Levels[i].Children
		}
		if n > maxChildren {
			return fmt.Errorf("%d switches below one, want at most %d: add a level, group=N up=N", n, maxChildren)
		}
	}
	return nil
}

// uniform reports whether all cables are like those of the nodes.
// Then SimGrid has a topology for the tree, which needs neither zones nor bundles.
func (t FatTree) uniform(s *Spec) bool {
	return !slices.ContainsFunc(t.Levels, func(l Level) bool { return !l.Cable.like(s.NIC) })
}

// words says for each level how many share its uplinks.
func (t FatTree) words(s *Spec) []string {
	leaves, top := s.Nodes/t.below(0), len(t.Levels)-1
	list := []string{fmt.Sprintf("a fat tree of %s below %s at the top, cables of %.4g us to the nodes",
		count(leaves, "leaf switch"), count(t.cables(top), "switch"), s.NIC.Latency*1e6)}
	what, cable := "host", s.NIC
	for _, l := range t.Levels {
		list = append(list, sharing(l.Children, what, cable, l.Up, "uplink", l.Cable))
		what, cable = "downlink", l.Cable
	}
	if t.uniform(s) {
		return append(list, "each destination has its uplinks (FAT_TREE, D-mod-K): flows that meet on one share it")
	}
	return append(list, "uplinks above the same nodes are one link of their sum, as adaptive routing spreads flows")
}

// body writes one FAT_TREE, or where cables differ a zone for each switch.
func (t FatTree) body(b *xmlBuilder, s *Spec) {
	if !t.uniform(s) {
		t.zone(b, s, len(t.Levels), 1, "tree", 0, s.Nodes)
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

// zone writes a switch of a level, 0 for a leaf, and all below it, which are so many nodes from the first on: a
// leaf is a cluster, another one a zone in which each of the zones below is joined to a router.
func (t FatTree) zone(b *xmlBuilder, s *Spec, level, depth int, id string, first, nodes int) {
	gateway := func(id string) string { return id + "-switch" } // the router by which a zone is left
	if level == 0 {
		b.cluster(depth, id, s, first, nodes, fmt.Sprintf(` router_id="%s"`, gateway(id)))
		return
	}
	each, name := t.below(level-1), "leaf"
	if level > 1 {
		name = "group"
	}
	if level > 2 {
		name = fmt.Sprintf("group%d", level-1)
	}
	child := func(i int) string { return fmt.Sprintf("%s-%d", name, first/each+i) }

	routing := "Floyd"
	if nodes/each > manyChildren {
		routing = "DijkstraCache"
	}
	b.line(depth, `<zone id="%s" routing="%s">`, id, routing)
	for i := range nodes / each {
		t.zone(b, s, level-1, depth+1, child(i), first+i*each, each)
	}
	core, cable, cables := id+"-core", t.Levels[level-1].Cable, t.cables(level-1)
	b.line(depth+1, `<zone id="%s" routing="None"><router id="%s"/></zone>`, core, gateway(id))
	b.line(depth+1, "<!-- The cables up of each: together %d of %s. -->", cables, rate(cable.Bandwidth))

	// A cable that is slower than all below it limits each flow.
	slowest := s.NIC.Bandwidth
	for _, l := range t.Levels[:level-1] {
		slowest = min(slowest, l.Cable.Bandwidth)
	}
	var ups []bundle
	for i := range nodes / each {
		ups = append(ups, bundle{child(i) + "-up", cables, cable, cable.Bandwidth < slowest,
			end{child(i), gateway(child(i))}, end{core, gateway(id)}})
	}
	b.joined(depth+1, ups)
	b.line(depth, `</zone>`)
}
