package compose_test

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"reprise/platforms"
	"reprise/platforms/compose"
)

// read returns the platform that a description is.
func read(t *testing.T, s *compose.Spec) *platforms.Platform {
	t.Helper()
	p, err := platforms.Parse(strings.NewReader(written(t, s)), "new.xml")
	if err != nil {
		t.Fatal(err)
	}
	if p.NumHosts() != s.Nodes || len(p.Warnings()) > 0 {
		t.Errorf("%d hosts, want %d; warnings %v", p.NumHosts(), s.Nodes, p.Warnings())
	}
	return p
}

// TestRoutes: the links between two nodes, with cables of 1 us to the nodes and of 0.1 us
// between switches unless they say another latency, and what a message alone gets.
func TestRoutes(t *testing.T) {
	const gbps = 0.125e9
	for _, c := range []struct {
		nodes      int
		kind, text string
		from, to   string
		links      int
		latency    float64
		narrowest  float64
	}{
		{8, "flat", "", "node-0", "node-7", 2, 2e-6, 100 * gbps},
		{8, "flat", "", "node-3", "node-3", 1, 0.1e-6, 160 * gbps},
		{64, "fat-tree", "leaf=16 up=8x200Gbps", "node-0", "node-15", 2, 2e-6, 100 * gbps},
		{64, "fat-tree", "leaf=16 up=8x200Gbps", "node-0", "node-63", 4, 4e-6, 100 * gbps},
		// Two leaves of a group, and two groups.
		{64, "fat-tree", "leaf=4 up=2x200Gbps@2us group=4 up=2x400Gbps@3us", "node-0", "node-15", 4, 2*1e-6 + 2*2e-6, 100 * gbps},
		{64, "fat-tree", "leaf=4 up=2x200Gbps@2us group=4 up=2x400Gbps@3us", "node-0", "node-63", 6, 2*1e-6 + 2*2e-6 + 2*3e-6, 100 * gbps},
		// Two cables of 30 Gbps together: the packets of one flow take both.
		{8, "fat-tree", "leaf=4 up=2x30Gbps", "node-0", "node-7", 4, 4e-6, 60 * gbps},
		// All cables alike, with static routing SimGrid's own tree; a last switch that is partly filled.
		{64, "fat-tree", "leaf=16 up=8 routing=static", "node-0", "node-63", 4, 4e-6, 100 * gbps},
		{64, "fat-tree", "leaf=4 up=4 group=4 up=2x100Gbps routing=static", "node-0", "node-63", 6, 6e-6, 100 * gbps},
		{64, "fat-tree", "leaf=24 up=12", "node-0", "node-63", 4, 4e-6, 100 * gbps},
		{64, "fat-tree", "leaf=24 up=12 routing=static", "node-0", "node-63", 4, 4e-6, 100 * gbps},
		{61, "fat-tree", "leaf=8 up=4x50Gbps group=4 up=2 routing=static", "node-60", "node-59", 2, 2e-6, 100 * gbps},
		{61, "fat-tree", "leaf=8 up=4x50Gbps group=4 up=2 routing=static", "node-60", "node-0", 6, 6e-6, 50 * gbps},
		{61, "fat-tree", "leaf=8 up=4x50Gbps group=4 up=2 routing=static", "node-7", "node-7", 1, 0.1e-6, 160 * gbps},
		// 1 + 2 + 2 hops, each the shorter way round.
		{64, "torus", "4x4x4", "node-0", "node-63", 3, 3e-6, 100 * gbps},
		{64, "torus", "4x4x4", "node-0", "node-42", 6, 6e-6, 100 * gbps},
		// Within a switch, within a group, and to another group by the switch that has the
		// cable to it: node-0 is on switch 0, which has that to group 1, and arrives at its switch 0.
		{24, "dragonfly", "groups=4 switches=3 hosts=2 local=200Gbps@0.1us global=400Gbps@3us", "node-0", "node-1", 2, 2e-6, 100 * gbps},
		{24, "dragonfly", "groups=4 switches=3 hosts=2 local=200Gbps@0.1us global=400Gbps@3us", "node-0", "node-5", 3, 2e-6 + 0.1e-6, 100 * gbps},
		{24, "dragonfly", "groups=4 switches=3 hosts=2 local=200Gbps@0.1us global=400Gbps@3us", "node-0", "node-6", 3, 2e-6 + 3e-6, 100 * gbps},
		{24, "dragonfly", "groups=4 switches=3 hosts=2 local=200Gbps@0.1us global=400Gbps@3us", "node-2", "node-11", 5, 2e-6 + 2*0.1e-6 + 3e-6, 100 * gbps},
		// Adaptive: one local cable within a group, two and a global one between groups, each half way out and half way in.
		{24, "dragonfly", "groups=4 switches=3 hosts=2 local=200Gbps@0.1us global=400Gbps@3us routing=adaptive", "node-0", "node-5", 4, 2e-6 + 0.1e-6, 100 * gbps},
		{24, "dragonfly", "groups=4 switches=3 hosts=2 local=200Gbps@0.1us global=400Gbps@3us routing=adaptive", "node-0", "node-6", 6, 2e-6 + 2*0.1e-6 + 3e-6, 100 * gbps},
		{8, "dragonfly", "groups=4 switches=1 hosts=2 global=400Gbps@3us routing=adaptive", "node-0", "node-6", 4, 2e-6 + 3e-6, 100 * gbps},
	} {
		p := read(t, spec(t, c.nodes, c.kind, c.text))
		from, _ := p.HostIndex(c.from)
		to, _ := p.HostIndex(c.to)
		route, err := p.AppendRoute(nil, from, to)
		if err != nil {
			t.Errorf("%s %s: %v", c.kind, c.text, err)
			continue
		}
		latency, narrowest := 0.0, math.Inf(1)
		for _, l := range route {
			bandwidth, seconds, _ := p.LinkFigures(l)
			latency += seconds
			narrowest = min(narrowest, bandwidth)
		}
		if len(route) != c.links || math.Abs(latency-c.latency) > 1e-15 || narrowest != c.narrowest {
			t.Errorf("%s %s, %s to %s: %d links, %g s, %g byte/s, want %d, %g, %g", c.kind, c.text, c.from, c.to, len(route), latency, narrowest, c.links, c.latency, c.narrowest)
		}
	}
}

// TestUniformTree: where routing is static and all cables are alike it is SimGrid's fat tree, levels; children;
// parents; cables.
func TestUniformTree(t *testing.T) {
	for text, want := range map[string]string{
		"leaf=16 up=8": `topo_parameters="2;16,4;1,8;1,1"`, "leaf=16 up=8x100Gbps@1000ns": `topo_parameters="2;16,4;1,8;1,1"`, "leaf=4 up=2x100Gbps group=4 up=3x12.5GBps@1us": `topo_parameters="3;4,4,4;1,2,3;1,1,1"`,
	} {
		if got := written(t, spec(t, 64, "fat-tree", text+" routing=static")); !strings.Contains(got, want) {
			t.Errorf("%s: no %s in\n%s", text, want, got)
		}
	}
}

// TestListedRoutes: routes of a tree whose last switches are not full are those of the FAT_TREE that is full, between
// the nodes that both have: each link of the one stands for a link of the other. SimGrid 3.32 gives both the same
// makespan for messages of 1 MB from each of 64 nodes to 8 others and a broadcast, 0.00145171 s with leaf=24 up=12.
func TestListedRoutes(t *testing.T) {
	for _, c := range []struct {
		nodes, full int
		text        string
	}{{64, 72, "leaf=24 up=12"}, {45, 64, "leaf=4 up=2 group=4 up=3"}, {5, 8, "leaf=8 up=3"}} {
		part := read(t, spec(t, c.nodes, "fat-tree", c.text+" routing=static"))
		full := read(t, spec(t, c.full, "fat-tree", c.text+" routing=static"))
		stands, back := map[int32]int32{}, map[int32]int32{}
		for i := range c.nodes * c.nodes {
			from, to := i/c.nodes, i%c.nodes
			got, err := part.AppendRoute(nil, from, to)
			if err != nil {
				t.Fatal(err)
			}
			want, err := full.AppendRoute(nil, from, to)
			if err != nil {
				t.Fatal(err)
			}
			same := len(got) == len(want) && part.Host(from).Name == full.Host(from).Name
			for n := 0; same && n < len(got); n++ {
				if _, ok := stands[got[n]]; !ok {
					stands[got[n]] = want[n]
				}
				if _, ok := back[want[n]]; !ok {
					back[want[n]] = got[n]
				}
				same = stands[got[n]] == want[n] && back[want[n]] == got[n]
			}
			if !same {
				t.Fatalf("%s, node %d to %d: links %v, of the full tree %v", c.text, from, to, got, want)
			}
		}
	}
}

// TestRoutingIsAWord: cables that are a hundredth faster change no topology.
func TestRoutingIsAWord(t *testing.T) {
	for _, routing := range []string{"", " routing=adaptive", " routing=static"} {
		alike, faster := read(t, spec(t, 60, "fat-tree", "leaf=24 up=4x100Gbps"+routing)), read(t, spec(t, 60, "fat-tree", "leaf=24 up=4x101Gbps"+routing))
		for to := range 60 {
			got, err := alike.AppendRoute(nil, 3, to)
			if err != nil {
				t.Fatal(err)
			}
			want, err := faster.AppendRoute(nil, 3, to)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s, to node %d: links %v and %v; %v", routing, to, got, want, err)
			}
		}
	}
}

// TestSlow: the speeds of slow nodes; the last pattern counts.
func TestSlow(t *testing.T) {
	s := spec(t, 8, "torus", "2x4")
	s.Slow = []compose.Slow{{Pattern: "node-[2-4]", Factor: 0.9}, {Pattern: "node-3", Factor: 0.5}, {Pattern: "node-4", Factor: 1}}
	p := read(t, s)
	for i := range 8 {
		want := map[int]float64{2: 0.9 * 32e9, 3: 0.5 * 32e9}[i]
		if want == 0 {
			want = 32e9
		}
		if got := p.Host(i).Speed; got != want {
			t.Errorf("node %d: %g flop/s, want %g", i, got, want)
		}
	}
	if len(p.Profiles()) > 0 {
		t.Errorf("%d quantities change with time", len(p.Profiles()))
	}
}

// TestWatts: the powers of all nodes.
func TestWatts(t *testing.T) {
	s := spec(t, 8, "fat-tree", "leaf=4 up=2x200Gbps")
	s.Watts = []float64{220, 0.5, 780}
	p := read(t, s)
	for i := range 8 {
		if w := p.HostWatts(i); w == nil || w.Idle != 220 || w.Epsilon != 0.5 || w.Full != 780 {
			t.Errorf("node %d: %+v", i, w)
		}
	}
}

// TestNumbers: every number is the same double when it is read.
func TestNumbers(t *testing.T) {
	for _, v := range []float64{1, 1.0 / 3, 12.5, 7e9 / 3, 123456789, 0.1} {
		s := compose.DefaultSpec(2)
		s.Speed, s.NIC, s.Loopback = v*1e9, compose.Cable{Bandwidth: v * 1e9, Latency: v * 1e-6}, compose.Cable{Bandwidth: v, Latency: v * 1e-9}
		p := read(t, s)
		nic, loopback := p.Link(1), p.Link(int32(p.NumLinks()-1))
		if p.Host(1).Speed != s.Speed || nic.Bandwidth != s.NIC.Bandwidth || nic.Latency != s.NIC.Latency || loopback.Bandwidth != s.Loopback.Bandwidth || loopback.Latency != s.Loopback.Latency {
			t.Errorf("%g: host %v, cable %v, loopback %v", v, p.Host(1), nic, loopback)
		}
	}
}

// TestSizes: descriptions grow with the number of switches and of the cables between them.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		nodes      int
		kind, text string
		most       int // bytes
	}{
		{10000, "flat", "", 3000},
		{10000, "fat-tree", "leaf=20 up=10 routing=static", 3000},
		{1000, "fat-tree", "leaf=24 up=12 routing=static", 800*1000 + 200*1000*42},       // nodes, and leaves times nodes
		{10000, "fat-tree", "leaf=16 up=8x200Gbps", 700 * 625},                           // leaves
		{10240, "fat-tree", "leaf=32 up=16x200Gbps group=16 up=8x400Gbps", 700 * 340},    // leaves and groups
		{10240, "dragonfly", "groups=40 switches=16 hosts=16 local=200Gbps", 500 * 6300}, // pairs of switches, and of groups
		{10000, "torus", "10x10x100", 3000},
	} {
		if n := len(written(t, spec(t, c.nodes, c.kind, c.text))); n > c.most {
			t.Errorf("%s %s: %d bytes, want at most %d", c.kind, c.text, n, c.most)
		}
	}
}

// recorded are the machines whose routes SimGrid was asked for; package platforms compares
// them.
var recorded = map[string]func(t *testing.T) *compose.Spec{
	"composed-tree": func(t *testing.T) *compose.Spec {
		return spec(t, 24, "fat-tree", "leaf=4 up=2x200Gbps group=3 up=2x50Gbps@2us")
	},
	"composed-dragonfly": func(t *testing.T) *compose.Spec {
		s := spec(t, 24, "dragonfly", "groups=4 switches=3 hosts=2 local=200Gbps@0.7us global=2x40Gbps@3us")
		s.Slow = []compose.Slow{{Pattern: "node-[3,17]", Factor: 0.9}}
		return s
	},
}

// TestRecorded: what is written today is what SimGrid was asked of.
func TestRecorded(t *testing.T) {
	for name, make := range recorded {
		want, err := os.ReadFile("../../testdata/oracle/routes/" + name + ".xml")
		if err != nil {
			t.Fatal(err)
		}
		if got := written(t, make(t)); got != string(want) {
			t.Errorf("%s is written otherwise: record its routes anew\n%s", name, got)
		}
	}
}

// spec returns a machine with cables of 1 us, and a network by its words.
func spec(t *testing.T, nodes int, kind, text string) *compose.Spec {
	t.Helper()
	s := compose.DefaultSpec(nodes)
	s.NIC.Latency = 1e-6
	if err := parse(s, kind, text); err != nil {
		t.Fatal(err)
	}
	return s
}

// parse gives a machine the network of a kind, by its words.
func parse(s *compose.Spec, kind, text string) (err error) {
	switch kind {
	case "fat-tree":
		s.Topology, err = compose.ParseFatTree(text, s.NIC)
	case "torus":
		s.Topology, err = compose.ParseTorus(text)
	case "dragonfly":
		s.Topology, err = compose.ParseDragonfly(text, s.NIC)
	}
	return err
}

func written(t *testing.T, s *compose.Spec) string {
	t.Helper()
	var b strings.Builder
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestParseErrors(t *testing.T) {
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
		{"fat-tree", "routing=static leaf=16 up=8", ""},
		{"fat-tree", "leaf=16 up=8 routing=dmodk", `routing="dmodk", known are static and adaptive`},
		{"fat-tree", "leaf=16 up=8 routing=static routing=static", "routing= where group= is due"},
		{"torus", "4x4x", `torus "4x4x": "" is not a whole number of at least 2, want sizes such as 4x4x8`},
		{"torus", "1x4", `"1" is not a whole number of at least 2`},
		{"dragonfly", "groups=4 switches=3", `dragonfly "groups=4 switches=3": hosts= is missing; want groups=9 switches=8`},
		{"dragonfly", "groups=4 groups=3", "groups= twice"},
		{"dragonfly", "groups=4 routers=3", "routers= is not known"},
		{"dragonfly", "groups=4 routing=valiant", `routing="valiant", known are static and adaptive`},
		{"dragonfly", "groups=4 switches=3 hosts=-1", `hosts=: "-1" is no number`},
	} {
		err := parse(compose.DefaultSpec(1), c.kind, c.text)
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
		{"takes a list of 4032064 routes, of each leaf switch to each node, want at most 131072: say routing=adaptive, or have cables alike and a multiple of 4 nodes", func(s *compose.Spec) {
			s.Nodes, s.Topology = 4016, compose.FatTree{Levels: tree(4, 2).Levels, Static: true}
		}},
		{"a fat tree without levels", func(s *compose.Spec) { s.Topology = compose.FatTree{} }},
		{"a fat tree of more than 4194304 cables", func(s *compose.Spec) { s.Topology = tree(1, 1<<20) }},
		{"5000 switches below one, want at most 4000: add a level", func(s *compose.Spec) { s.Nodes, s.Topology = 5000, tree(1, 1) }},
		{"a torus of 4x5 has 20 nodes, not 64", func(s *compose.Spec) { s.Topology = compose.Torus{Sizes: []int{4, 5}} }},
		{"sizes are at least 2", func(s *compose.Spec) { s.Topology = compose.Torus{Sizes: []int{64, 1}} }},
		{"a dragonfly of 4 groups of 4 switches of 5 hosts has 80 nodes, not 64", func(s *compose.Spec) { s.Topology = fly(4, 4, 5) }},
		{"a dragonfly with 524800 pairs of switches or groups that are joined, want at most 262144", func(s *compose.Spec) { s.Nodes, s.Topology = 1024, fly(1024, 1, 1) }},
		{`slow nodes: no node matches "host-*": they are node-0 to node-63`, func(s *compose.Spec) { s.Slow = []compose.Slow{{Pattern: "host-*", Factor: 0.5}} }},
		{`slow nodes: pattern "node-[": [ without ]`, func(s *compose.Spec) { s.Slow = []compose.Slow{{Pattern: "node-[", Factor: 0.5}} }},
		{"watts: 1 power, want Idle:AllCores", func(s *compose.Spec) { s.Watts = []float64{5} }},
		{"watts: power -5 W, want", func(s *compose.Spec) { s.Watts = []float64{-5, 7} }},
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

// FuzzSpec: no words make a description that cannot be read.
func FuzzSpec(f *testing.F) {
	f.Add(64, "leaf=16 up=8x200Gbps", "", "", "node-[3,17]=0.9")
	f.Add(64, "leaf=4 up=2x50Gbps@2us group=4 up=3", "", "", "")
	f.Add(61, "leaf=4 up=2x50Gbps@2us group=4 up=3 routing=static", "", "", "node-60=0.5")
	f.Add(24, "", "groups=4 switches=3 hosts=2 local=200Gbps@0.7us global=2x40Gbps", "", "*")
	f.Add(24, "", "", "2x3x4", "node-1")
	f.Fuzz(func(t *testing.T, nodes int, tree, fly, torus, slow string) {
		const most = 512 // of nodes, so that a case takes little time
		s := compose.DefaultSpec(nodes)
		kind, text := "", ""
		for _, network := range [][2]string{{"torus", torus}, {"dragonfly", fly}, {"fat-tree", tree}} {
			if network[1] != "" {
				kind, text = network[0], network[1]
			}
		}
		if nodes > most || parse(s, kind, text) != nil {
			return
		}
		if slow != "" {
			s.Slow = []compose.Slow{{Pattern: slow, Factor: 0.9}}
		}
		var b strings.Builder
		if err := s.Write(&b); err != nil {
			return
		}
		p, err := platforms.Parse(strings.NewReader(b.String()), "new.xml")
		if err != nil || p.NumHosts() != nodes {
			t.Fatalf("%v: %v", strings.Join(s.Words(), "; "), err)
		}
	})
}
