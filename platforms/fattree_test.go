package platforms

import (
	"fmt"
	"strings"
	"testing"
)

// TestFatTreeRoutes has routes worked by hand from the rules of fattree.go: the
// port up is floor(pos(dst)/P_l) mod (p_l*k_l); the scan down starts at port
// (pos(src) mod k)*c, looks for the digit of dst, and goes on below where it
// ended above.
func TestFatTreeRoutes(t *testing.T) {
	checkClusters(t, `topology="FAT_TREE" `, []clusterCase{
		// 8 hosts under 2 leaves; 2 spines; 2 cables from each leaf to each spine.
		{"parallel cables above", "0-7", `topo_parameters="2;4,2;1,2;1,2"`, []routeCase{
			// In one leaf. A host and itself go up one level and down.
			{"n0", "n3", "n0_port_0_UP n3_port_0_DOWN"},
			{"n2", "n2", "n2_port_0_UP n2_port_0_DOWN"},
			// 5 mod 4 = port 1: spine 1, cable 0. Down: start (0 mod 2)*2 = 0, digit
			// 5/4 = 1, so port 1, cable 0, which is leaf 1's port 1 + 0*2.
			{"n0", "n5", "n0_port_0_UP c_switch_1_0_port_1_UP c_switch_1_1_port_1_DOWN n5_port_0_DOWN"},
			// The odd source starts at port 2: finds 3, cable 1, leaf 1's port 1 + 1*2.
			{"n1", "n5", "n1_port_0_UP c_switch_1_0_port_1_UP c_switch_1_1_port_3_DOWN n5_port_0_DOWN"},
			// 6 mod 4 = port 2: spine 0, cable 1. Down on cable 0: port 0 of leaf 1.
			{"n0", "n6", "n0_port_0_UP c_switch_1_0_port_2_UP c_switch_1_1_port_0_DOWN n6_port_0_DOWN"},
			// 2 mod 4 = port 2 up from leaf 1. Down: start 2*(7 mod 2), digit 0: port 2,
			// cable 1, leaf 0's port 0 + 1*2.
			{"n7", "n2", "n7_port_0_UP c_switch_1_1_port_2_UP c_switch_1_0_port_2_DOWN n2_port_0_DOWN"},
		}},
		// 4 hosts, 2 cables each, 2 leaves, 1 spine by 2 cables: here the scan that
		// is not reset matters.
		{"scan goes on", "0-3", `topo_parameters="2;2,2;1,1;2,2"`, []routeCase{
			// Up by 3 mod 2 = 1 twice. Spine: start 0, digit 1: port 1, cable 0. Leaf:
			// from port 2, digit 1: port 3, cable 1 (from port 0 it would be 1, cable 0).
			{"n0", "n3", "n0_port_1_UP c_switch_1_0_port_1_UP c_switch_1_1_port_0_DOWN n3_port_1_DOWN"},
			// Spine: start 2, port 3, cable 1. Leaf: from port 4 nothing; anew from
			// (1 mod 2)*2 = 2: port 3, cable 1.
			{"n1", "n3", "n1_port_1_UP c_switch_1_0_port_1_UP c_switch_1_1_port_1_DOWN n3_port_1_DOWN"},
			// Spine: port 1, cable 0. Leaf: from 2, digit 0: port 2, cable 1.
			{"n0", "n2", "n0_port_0_UP c_switch_1_0_port_0_UP c_switch_1_1_port_0_DOWN n2_port_1_DOWN"},
			// In one leaf the scan starts at (0 mod 2)*2 = 0: port 1, cable 0.
			{"n0", "n1", "n0_port_1_UP n1_port_0_DOWN"},
		}},
		{"shared cables, loopback", "0-3", `topo_parameters="2;2,2;1,1;1,1" sharing_policy="SHARED" loopback_bw="9GBps"`, []routeCase{
			{"n0", "n3", "n0_port_0 c_switch_1_0_port_0 c_switch_1_1_port_0 n3_port_0"},
			{"n1", "n1", "c_link_1_loopback"},
		}},
		// Limiters: of each node left upwards, of each switch left downwards, of dst.
		{"limiter", "0-3", `topo_parameters="2;2,2;1,1;1,1" limiter_link="5GBps"`, []routeCase{
			{"n0", "n3", "n0_limiter n0_port_0_UP c_switch_1_0_limiter c_switch_1_0_port_0_UP " +
				"c_switch_1_1_port_0_DOWN c_switch_2_0_limiter n3_port_0_DOWN c_switch_1_1_limiter n3_limiter"},
			{"n0", "n1", "n0_limiter n0_port_0_UP n1_port_0_DOWN c_switch_1_0_limiter n1_limiter"},
		}},
		{"numbers of the radical", "10-11,20-21", `topo_parameters="1;4;1;1"`, []routeCase{
			{"n10", "n21", "n10_port_0_UP n21_port_0_DOWN"},
		}},
	})
}

// TestSecondFatTree: positions count the hosts of the fat trees before, so b5 is
// at position 8, and both its ports upwards are 8 mod 2 = 0 and 8/2 mod 2 = 0,
// where b5 of a single tree would have 5 mod 2 = 1 and 5/2 mod 2 = 0. The flat
// cluster between does not count.
func TestSecondFatTree(t *testing.T) {
	p := parse(`<platform version="4.1"><zone id="w" routing="Full">
	<cluster id="a" prefix="a" suffix="" radical="0-2" speed="1f" bw="1" lat="1" topology="FAT_TREE" topo_parameters="1;3;1;1"/>
	<cluster id="f" prefix="f" suffix="" radical="0-4" speed="1f" bw="1" lat="1"/>
	<cluster id="b" prefix="b" suffix="" radical="0-7" speed="1f" bw="1" lat="1" topology="FAT_TREE" topo_parameters="2;4,2;2,2;1,1"/>
	</zone></platform>`)
	checkRoutes(t, p, []routeCase{
		{"b0", "b5", "b0_port_0_UP b_switch_1_0_port_0_UP b_switch_1_2_port_0_DOWN b5_port_0_DOWN"},
		{"a0", "a2", "a0_port_0_UP a2_port_0_DOWN"},
	})
}

// A refNode is a node of a fat tree spelled out, to walk the rules literally.
type refNode struct {
	level    int
	digits   []int
	name     string
	up, down []refPort
}

type refPort struct {
	node  *refNode
	cable string // name of its constraints but for the direction
}

// A treeShape is the numbers of topo_parameters by level, that of the hosts first.
type treeShape struct{ children, parents, cables []int }

// referenceTree builds the nodes and cables of a tree one by one.
func referenceTree(shape treeShape) (hosts []*refNode) {
	levels := len(shape.children)
	var below []*refNode
	for l := 0; l <= levels; l++ {
		radix := append(append([]int{}, shape.parents[:l]...), shape.children[l:]...)
		nodes := make([]*refNode, product(radix))
		for q := range nodes {
			n := &refNode{level: l, name: fmt.Sprintf("c_switch_%d_%d", l, q)}
			if l == 0 {
				n.name = fmt.Sprintf("n%d", q)
			}
			rest := q
			for _, r := range radix {
				n.digits = append(n.digits, rest%r)
				rest /= r
			}
			nodes[q] = n
			if l < levels {
				n.up = make([]refPort, shape.parents[l]*shape.cables[l])
			}
			if l > 0 {
				n.down = make([]refPort, shape.children[l-1]*shape.cables[l-1])
				joinBelow(n, below, shape)
			}
		}
		if l == 0 {
			hosts = nodes
		}
		below = nodes
	}
	return hosts
}

// joinBelow joins a switch to the nodes whose digits agree but for one.
func joinBelow(s *refNode, below []*refNode, shape treeShape) {
	l := s.level - 1
	for _, n := range below {
		agree := true
		for i := range n.digits {
			agree = agree && (i == l || n.digits[i] == s.digits[i])
		}
		for j := 0; agree && j < shape.cables[l]; j++ {
			port := s.digits[l] + j*shape.parents[l]
			cable := fmt.Sprintf("%s_port_%d", n.name, port)
			n.up[port] = refPort{s, cable}
			s.down[n.digits[l]+j*shape.children[l]] = refPort{n, cable}
		}
	}
}

// isAbove tells whether a switch is an ancestor of a host.
func (n *refNode) isAbove(host *refNode) bool {
	for i := n.level; i < len(n.digits); i++ {
		if n.digits[i] != host.digits[i] {
			return false
		}
	}
	return n.level > 0
}

// referenceRoute walks the tree by the letter of the rules.
func referenceRoute(shape treeShape, hosts []*refNode, position, src, dst int, limited bool) string {
	var route []string
	limit := func(n *refNode) {
		if limited {
			route = append(route, n.name+"_limiter")
		}
	}
	at := hosts[src]
	for !at.isAbove(hosts[dst]) {
		port := position + dst
		for _, p := range shape.parents[:at.level] {
			port /= p
		}
		port %= shape.parents[at.level] * shape.cables[at.level]
		limit(at)
		route = append(route, at.up[port].cable+"_UP")
		at = at.up[port].node
	}
	for at.level > 0 {
		c, k := shape.children[at.level-1], shape.cables[at.level-1]
		for i := (position + src) % k * c; i < len(at.down); i++ {
			if i%shape.children[at.level-1] != hosts[dst].digits[at.level-1] {
				continue
			}
			route = append(route, at.down[i].cable+"_DOWN")
			limit(at)
			if at = at.down[i].node; at.level == 0 {
				break
			}
		}
	}
	limit(at)
	return strings.Join(route, " ")
}

// TestFatTreeAgainstReference compares all routes of many shapes with a walk
// over a tree that is spelled out node by node.
func TestFatTreeAgainstReference(t *testing.T) {
	for _, params := range []string{
		"1;4;1;1", "1;4;2;3", "1;1;1;1", "2;4,2;1,2;1,2", "2;2,2;1,1;2,2", "2;4,4;2,2;2,1", "2;3,4;2,3;3,2",
		"3;2,3,2;1,2,2;1,1,2", "3;2,2,2;2,2,2;2,2,2", "3;3,2,4;1,3,2;2,1,3", "4;2,2,2,2;1,2,2,3;1,2,3,2", "2;5,3;3,2;4,3",
	} {
		for _, attrs := range []string{"", `limiter_link="1GBps"`} {
			groups := must(parseGroups(params, 4, ""))
			shape := treeShape{groups[1], groups[2], groups[3]}
			hosts := referenceTree(shape)
			p := parseCluster(fmt.Sprintf("0-%d", len(hosts)-1),
				fmt.Sprintf(`topology="FAT_TREE" topo_parameters="%s" %s`, params, attrs))
			for src := range hosts {
				for dst := range hosts {
					want := referenceRoute(shape, hosts, 0, src, dst, attrs != "")
					if got := routeNames(t, p, AsMet, hosts[src].name, hosts[dst].name); got != want {
						t.Fatalf("tree %s: route from %d to %d:\n got %s\nwant %s", params, src, dst, got, want)
					}
				}
			}
		}
	}
}

// TestDivisor holds the multiplication against the processor's division.
func TestDivisor(t *testing.T) {
	numbers := []uint32{1, 2, 3, 5, 7, 10, 20, 37, 1 << 10, 1<<20 - 1, 1 << 20, 1<<24 - 3, 1 << 24, 1<<31 - 1, 1<<32 - 1}
	for _, d := range numbers {
		v := divideBy(int64(d))
		for _, m := range append(numbers, 0) {
			for _, x := range []uint32{m, m - 1, m + 1, m * d, m*d - 1} {
				if q, r := v.split(x); q != x/d || r != x%d {
					t.Fatalf("%d / %d = %d rest %d, want %d rest %d", x, d, q, r, x/d, x%d)
				}
			}
		}
	}
}
