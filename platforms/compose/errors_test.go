package compose_test

import (
	"math"
	"strings"
	"testing"

	"reprise/platforms/compose"
)

func TestParseErrors(t *testing.T) {
	nic := compose.DefaultSpec(1).NIC
	for _, c := range []struct{ kind, text, want string }{
		{"fat-tree", "", `fat tree "": leaf= is missing; want leaf=16 up=8x200Gbps`},
		{"fat-tree", "leaf=16", "up= is missing"},
		{"fat-tree", "leaf=16 up=8 group=4", "up= is missing"},
		{"fat-tree", "up=8", "up= where leaf= is due"},
		{"fat-tree", "leaf=16 up=8 leaf=4 up=2", "leaf= where group= is due"},
		{"fat-tree", "leaf=16,up=8", `leaf=: "16,up=8" is no number of 1 to 1048576`},
		{"fat-tree", "leaf=0 up=8", `leaf=: "0" is no number`},
		{"fat-tree", "leaf=16 up=8x", `up=: "" is not a number with a unit`},
		{"fat-tree", "leaf=16 up=8x200", ""}, // byte/s, as platforms have it
		{"fat-tree", "leaf=16 up=8x200Gb", `up=: unit "Gb" of "200Gb" is not a bandwidth`},
		{"fat-tree", "leaf=16 up=0x200Gbps", `up=: "0" is no number`},
		{"fat-tree", "leaf=16 up=8x200Gbps@1", ""},
		{"fat-tree", "leaf=16 up=8x200Gbps@1m/s", `up=: unit "m/s" of "1m/s" is not a time`},
		{"fat-tree", "leaf 16", `"leaf" is no KEY=VALUE`},
		{"torus", "4x4x", `torus "4x4x": "" is not a whole number of at least 2, want sizes such as 4x4x8`},
		{"torus", "1x4", `"1" is not a whole number of at least 2`},
		{"dragonfly", "groups=4 switches=3", `dragonfly "groups=4 switches=3": hosts= is missing; want groups=9 switches=8`},
		{"dragonfly", "groups=4 groups=3", "groups= twice"},
		{"dragonfly", "groups=4 routers=3", "routers= is not known"},
		{"dragonfly", "groups=4 switches=3 hosts=-1", `hosts=: "-1" is no number`},
	} {
		var err error
		switch c.kind {
		case "fat-tree":
			_, err = compose.ParseFatTree(c.text, nic)
		case "torus":
			_, err = compose.ParseTorus(c.text)
		case "dragonfly":
			_, err = compose.ParseDragonfly(c.text, nic)
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %s", c.kind, c.text, err, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		want string
		spec func(s *compose.Spec)
	}{
		{"0 nodes, want 1 to 1048576", func(s *compose.Spec) { s.Nodes = 0 }},
		{"1048577 nodes, want", func(s *compose.Spec) { s.Nodes = 1<<20 + 1 }},
		{"0 cores, want 1 to", func(s *compose.Spec) { s.Cores = 0 }},
		{"speed 0 flop/s, want", func(s *compose.Spec) { s.Speed = 0 }},
		{"NIC: bandwidth 0 byte/s, want", func(s *compose.Spec) { s.NIC.Bandwidth = 0 }},
		{"NIC: latency is not a number", func(s *compose.Spec) { s.NIC.Latency = math.NaN() }},
		{"loopback: latency -1 s, want", func(s *compose.Spec) { s.Loopback.Latency = -1 }},
		{"64 nodes are no whole number of switches with 24 nodes below: say 48 or 72", func(s *compose.Spec) { s.Topology = tree(24, 8) }},
		{"64 nodes are no whole number of switches with 128 nodes below: say 128", func(s *compose.Spec) { s.Topology = tree(128, 8) }},
		{"a fat tree without levels", func(s *compose.Spec) { s.Topology = compose.FatTree{} }},
		{"a fat tree of more than 4194304 cables", func(s *compose.Spec) { s.Topology = tree(1, 1<<20) }},
		{"5000 switches below one, want at most 4000: add a level", func(s *compose.Spec) { s.Nodes, s.Topology = 5000, tree(1, 1) }},
		{"a torus of 4x5 has 20 nodes, not 64", func(s *compose.Spec) { s.Topology = compose.Torus{Sizes: []int{4, 5}} }},
		{"sizes are at least 2", func(s *compose.Spec) { s.Topology = compose.Torus{Sizes: []int{64, 1}} }},
		{"a dragonfly of 4 groups of 4 switches of 5 hosts has 80 nodes, not 64", func(s *compose.Spec) { s.Topology = fly(4, 4, 5) }},
		{"a dragonfly with 524800 pairs of switches or groups that are joined, want at most 262144", func(s *compose.Spec) { s.Nodes, s.Topology = 1024, fly(1024, 1, 1) }},
		{`slow nodes: no node matches "host-*": they are node-0 to node-63`, func(s *compose.Spec) { s.Slow = []compose.Slow{{Pattern: "host-*", Factor: 0.5}} }},
		{`slow nodes: pattern "node-[": [ without ]`, func(s *compose.Spec) { s.Slow = []compose.Slow{{Pattern: "node-[", Factor: 0.5}} }},
		{"slow nodes: factor 0, want", func(s *compose.Spec) { s.Slow = []compose.Slow{{Pattern: "*", Factor: 0}} }},
	} {
		s := compose.DefaultSpec(64)
		c.spec(s)
		if err := s.Write(&strings.Builder{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// tree is a tree of one level, with cables of 1 Gbps.
func tree(leaf, up int) compose.FatTree {
	return compose.FatTree{Levels: []compose.Level{{Children: leaf, Up: up, Cable: compose.Cable{Bandwidth: 0.125e9}}}}
}

func fly(groups, switches, hosts int) compose.Dragonfly {
	c := compose.Cable{Bandwidth: 0.125e9}
	return compose.Dragonfly{Groups: groups, Switches: switches, Hosts: hosts, LocalCables: 1, Local: c, GlobalCables: 1, Global: c}
}
