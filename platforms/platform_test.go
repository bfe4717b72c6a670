package platforms

import (
	"crypto/sha256"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestHostProps(t *testing.T) {
	p := parse(zoneXML("Full", `<prop id="smpi/os" value="zone"/>
		<host id="a" speed="1Gf" core="4"><prop id="smpi/os" value="1"/><prop id="smpi/os" value="2"/></host>
		<host id="b" speed="1Gf,2Gf,3Gf" pstate="1"/>
		<cluster id="c" prefix="c" suffix="" radical="0-1" speed="1Gf" core="2" bw="1" lat="1"><prop id="smpi/or" value="3"/></cluster>`))
	for _, c := range []struct {
		host, prop, want string
		ok               bool
	}{
		{"a", "smpi/os", "1", true}, // of two the first: SimGrid 3.32 charges its overhead
		{"a", "smpi/or", "", false},
		{"b", "smpi/os", "", false}, // a zone's properties are not its hosts'
		{"c1", "smpi/or", "3", true},
	} {
		i, _ := p.HostIndex(c.host)
		if got, ok := p.HostProp(i, c.prop); got.Value != c.want || ok != c.ok {
			t.Errorf("property %s of %s: %q, %v", c.prop, c.host, got.Value, ok)
		}
	}
	var hosts []Host
	for i := range p.NumHosts() {
		hosts = append(hosts, p.Host(i))
	}
	want := []Host{{"a", 1e9, 4}, {"b", 2e9, 1}, {"c0", 1e9, 2}, {"c1", 1e9, 2}}
	if diff := cmp.Diff(want, hosts); diff != "" {
		t.Errorf("hosts (-want +got):\n%s", diff)
	}
	for _, name := range []string{"w", "c", "cc_router", "x"} {
		if i, ok := p.HostIndex(name); ok {
			t.Errorf("%q is host %d", name, i)
		}
	}
}

// TestConfig: of two options with one name SimGrid 3.32 takes the first, in one
// <config> or in two.
func TestConfig(t *testing.T) {
	p := parse(`<platform version="4.1">
		<config id="General"><prop id="a" value="1"/><prop id="b" value="2"/></config>
		<config><prop id="a" value="3"/></config>
		<zone id="w" routing="Full"><config><prop id="c" value="4"/></config><host id="h" speed="1f"/></zone></platform>`)
	want := []Prop{{"a", "1", 2}, {"b", "2", 2}, {"c", "4", 4}}
	if diff := cmp.Diff(want, p.Config()); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

// TestEncoding: a text may say that it is not in UTF-8, as \xfc is u with dots in
// ISO-8859-1, and begin with a byte order mark if it is.
func TestEncoding(t *testing.T) {
	text := zoneXML("Full", points("knoten\xfc b", ""))
	p := parse(`<?xml version="1.0" encoding="ISO-8859-1"?>` + text)
	if _, ok := p.HostIndex("knoten\u00fc"); !ok {
		t.Errorf("no host knoten\u00fc, but %q", p.Host(0).Name)
	}
	if n := parse("\ufeff" + zoneXML("Full", points("a b", ""))).NumHosts(); n != 2 {
		t.Errorf("behind a byte order mark %d hosts, want 2", n)
	}
	refuses(t, `<?xml version="1.0" encoding="EBCDIC"?>`+text,
		`x.xml:1: xml: opening charset "EBCDIC": want UTF-8, US-ASCII or ISO-8859-1`)
}

// TestHash: machines are told apart by all of their text, routes included.
func TestHash(t *testing.T) {
	text := zoneXML("Full", points("a", "b"))
	p, other := parse(text), parse(strings.Replace(text, `id="b"`, `id="c"`, 1))
	if p.Hash() != sha256.Sum256([]byte(text)) || other.Hash() == p.Hash() {
		t.Errorf("%x and %x", p.Hash(), other.Hash())
	}
}

// TestLargeFatTree: 65,536 hosts must fit in 100 MB; the routes are not stored.
func TestLargeFatTree(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p := parseCluster("0-65535", `topology="FAT_TREE" topo_parameters="3;64,32,32;1,32,32;1,1,1"`)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 100e6 {
		t.Errorf("reading allocates %d bytes", got)
	}
	// 65,536 cables at the hosts, 1,024 switches of 32 ports, 32*32 of 32 ports.
	if got, want := p.NumLinks(), 1+2*(65536+1024*32+1024*32); got != want {
		t.Errorf("%d links, want %d", got, want)
	}
}

// TestAppendRouteDoesNotAllocate holds for every topology.
func TestAppendRouteDoesNotAllocate(t *testing.T) {
	for _, p := range []*Platform{
		parseCluster("0-23", `limiter_link="1GBps" bb_bw="1"`),
		parseCluster("0-23", `topology="FAT_TREE" topo_parameters="2;6,4;2,2;1,2"`),
		parseCluster("0-23", `topology="TORUS" topo_parameters="4,6" loopback_bw="1"`),
		parseCluster("0-23", `topology="DRAGONFLY" topo_parameters="2,1;2,2;3,1;2"`),
	} {
		route := make([]int32, 0, 64)
		n := testing.AllocsPerRun(10, func() {
			for src := range p.NumHosts() {
				for dst := range p.NumHosts() {
					route = must(p.AppendRoute(route[:0], src, dst))
				}
			}
		})
		if n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

// TestAppendRouteKeepsPrefix: what was in the slice stays, also before an error.
func TestAppendRouteKeepsPrefix(t *testing.T) {
	p := parse(zoneXML("Full", points("a b", "l")+`<route src="a" dst="b" symmetrical="NO"><link_ctn id="l"/></route>`))
	route, err := p.AppendRoute([]int32{7}, 0, 1)
	if diff := cmp.Diff([]int32{7, 1}, route); err != nil || diff != "" {
		t.Errorf("route %v, %v, want 7 and link 1", route, err)
	}
	route, err = p.AppendRoute([]int32{7}, 1, 0)
	if want := `test.xml: no route in zone "w" from "b" to "a": not listed in this direction`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if len(route) != 1 || route[0] != 7 {
		t.Errorf("route %v, want 7 alone", route)
	}
}

// FuzzParse: whatever the input, Parse returns a platform whose links and routes
// can be asked for, or an error with a position; twice the same.
func FuzzParse(f *testing.F) {
	for _, seed := range fuzzSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		small := limits{text: maxText, hosts: 300, links: 3000, pathTable: 3000}
		p, err := parseWithin(strings.NewReader(text), "f.xml", small)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.xml:") {
				t.Fatalf("error %q without a position", err)
			}
			return
		}
		again := must(parseWithin(strings.NewReader(text), "f.xml", small))
		for i := range p.NumLinks() {
			l := p.Link(int32(i))
			if !(l.Bandwidth >= 0) || !(l.Latency >= 0) || l != again.Link(int32(i)) {
				t.Fatalf("link %d: %+v, then %+v", i, l, again.Link(int32(i)))
			}
		}
		for src := range min(p.NumHosts(), 20) {
			for dst := range min(p.NumHosts(), 20) {
				route, err := p.AppendRoute(nil, src, dst)
				other, _ := again.AppendRoute(nil, src, dst)
				if diff := cmp.Diff(route, other); diff != "" {
					t.Fatalf("route from %d to %d differs (-first +second):\n%s", src, dst, diff)
				}
				if distance := p.Distance(src, dst); !(distance >= 0 && distance <= 1e9) {
					t.Fatalf("from %d to %d: distance %g s", src, dst, distance)
				} else if err == nil && distance == 0 {
					checkRoute(t, p, route)
				}
			}
		}
	})
}

var fuzzSeeds = []string{
	`<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-2,5" speed="1Gf" bw="1GBps" lat="1us" ` +
		`bb_bw="1" bb_lat="1" limiter_link="1" loopback_bw="1" core="2"><prop id="a" value="b"/></cluster></platform>`,
	`<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-7" speed="1Gf" bw="1GBps" lat="1us" topology="FAT_TREE" topo_parameters="2;4,2;1,2;1,2"/></platform>`,
	`<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-7" speed="1Gf" bw="1GBps" lat="1us" topology="TORUS" topo_parameters="2,2,2" limiter_link="1"/></platform>`,
	`<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-11" speed="1Gf" bw="1GBps" lat="1us" topology="DRAGONFLY" topo_parameters="2,1;1,2;3,1;2"/></platform>`,
	`<platform version="3"><AS id="w" routing="Dijkstra"><host id="a" power="1Gf,2Gf" pstate="1"/><router id="r"/><link id="l" bandwidth="1" sharing_policy="SPLITDUPLEX"/>` +
		`<route src="a" dst="r" symmetrical="NO"><link_ctn id="l" direction="DOWN"/></route></AS></platform>`,
	`<platform version="4.1"><config><prop id="a" value="b"/></config><zone id="w" routing="Full"><zone id="s" routing="Cluster"><cabinet id="x" prefix="x" suffix="" radical="1-2" speed="1Gf" bw="1GBps" lat="1ms"/>` +
		`<backbone id="bb" bandwidth="1" latency="1"/><router id="r"/></zone><zone id="t" routing="Floyd"><host id="h" speed="1f"/></zone>` +
		`<link id="l" bandwidth="1"/><zoneRoute src="s" dst="t" gw_src="r" gw_dst="h"><link_ctn id="l"/></zoneRoute>` +
		`<bypassZoneRoute src="t" dst="s" gw_src="h" gw_dst="x1"><link_ctn id="l"/></bypassZoneRoute></zone></platform>`,
	`<platform version="4.1"><zone id="w" routing="Vivaldi"><peer id="p" coordinates="173.0 96.8 0.1" speed="1Gf" bw_in="2MBps" bw_out="1MBps" lat="1ms"/>` +
		`<host id="h" speed="1Gf" coordinates="-1 2 -3"/><host id="i" speed="1Gf"/><router id="r" coordinates="0 0 1e9"/><link id="l" bandwidth="0"/>` +
		`<cluster id="c" prefix="n" suffix="" radical="0-1" speed="1Gf" bw="1GBps" lat="1us"/><route src="h" dst="h"><link_ctn id="l"/></route>` +
		`<bypassRoute src="p" dst="h"><link_ctn id="l"/></bypassRoute></zone></platform>`,
	`<platform version="4.1"><zone id="w" routing="Cluster"><zone id="s" routing="Vivaldi"><peer id="p" coordinates="1 2 3" speed="1Gf" bw_in="1" bw_out="1e28Bps"/></zone>` +
		`<cluster id="c" prefix="n" suffix="" radical="0-1" speed="1Gf" bw="1GBps" lat="1us"/></zone></platform>`,
}

// TestPassedOver: disks, the storages of older files, and elements that never meant
// anything change nothing.
func TestPassedOver(t *testing.T) {
	plain := points("a b", "l") + `<route src="a" dst="b"><link_ctn id="l"/></route>`
	with := strings.Replace(plain, `<host id="a" speed="1Gf"/>`, `<storage_type id="s" size="1GiB" model="linear" content="c.txt" content_type="txt_unix"><model_prop id="Bread" value="1"/><prop id="x" value="y"/></storage_type>
		<storage_type id="t" model="linear"/><storage id="d" typeId="s" content="" attach="a"/>
		<host id="a" speed="1Gf"><disk read_bw="1MBps" write_bw="1MBps"><prop id="size" value="1GiB"/></disk><mount storageId="d" name="/"/><mount id="d" name="/"/><gpu name="g"/></host>`, 1)
	xml := strings.Replace(zoneXML("Full", with), `<zone`, `<random id="r" min="0" max="1" mean="0.5" std_deviation="1"/><zone`, 1)
	want, got := parse(zoneXML("Full", plain)), parse(xml)
	if diff := cmp.Diff(want.Describe(), got.Describe()); diff != "" {
		t.Error(diff)
	}
	checkRoutes(t, got, []routeCase{{"a", "b", "l"}, {"b", "a", "l"}})
}

// TestSpeedZero: SimGrid loads a host that cannot compute, given by one speed or by one of
// several.
func TestSpeedZero(t *testing.T) {
	for _, attrs := range []string{`speed="0"`, `speed="0f"`, `speed="1Gf,0f" pstate="1"`, `speed="0f,1Gf" pstate="0.0"`} {
		p := parse(zoneXML("Full", `<host id="a" `+attrs+`/>`))
		if h := p.Host(0); h.Speed != 0 {
			t.Errorf("%s: speed %g", attrs, h.Speed)
		}
	}
	if p := parse(zoneXML("Full", `<host id="a" speed="0f,2Gf" pstate="1"/>`)); p.Host(0).Speed != 2e9 {
		t.Errorf("speed %g, want 2e9", p.Host(0).Speed)
	}
}

// TestStampede checks the machine against its published description: 6,400
// nodes, 320 leaf switches of 20 nodes, 8 core switches, two cables between each
// leaf and each core switch; 56 Gb/s, 5.2 us a link.
func TestStampede(t *testing.T) {
	p := must(Builtin("stampede", 1))
	if got, want := p.NumHosts(), 6400; got != want {
		t.Errorf("%d hosts, want %d", got, want)
	}
	const cables = 6400 + 320*8*2
	if got, want := p.NumLinks(), 1+2*cables; got != want { // and the global loopback
		t.Errorf("%d links, want %d", got, want)
	}
	for i := int32(1); int(i) < p.NumLinks(); i++ {
		if bw, lat, policy := p.LinkFigures(i); bw != 7e9 || lat != 5.2*1e-6 || policy != Shared {
			t.Fatalf("link %d: %v byte/s, %v s, %v", i, bw, lat, policy)
		}
	}
	// 20 hosts a leaf: 0 and 19 share one, 0 and 20 do not.
	checkRoutes(t, p, []routeCase{
		{"stampede-0", "stampede-19", "stampede-0_port_0_UP stampede-19_port_0_DOWN"},
		// 20 mod 16 = port 4 up; down: start 0, digit 1, cable 0: port 4 mod 8 of leaf 1.
		{"stampede-0", "stampede-20", "stampede-0_port_0_UP stampede_switch_1_0_port_4_UP " +
			"stampede_switch_1_1_port_4_DOWN stampede-20_port_0_DOWN"},
		// 6399 mod 16 = 15 up: core switch 7 by cable 1. Down from an odd host: cable 1.
		{"stampede-1", "stampede-6399", "stampede-1_port_0_UP stampede_switch_1_0_port_15_UP " +
			"stampede_switch_1_319_port_15_DOWN stampede-6399_port_0_DOWN"},
	})
	want := []Prop{{Name: "smpi/bw-factor", Value: "0:0.795"}, {Name: "smpi/lat-factor", Value: "0:1"}, {Name: "network/crosstraffic", Value: "no"}}
	if diff := cmp.Diff(want, p.Config(), cmpopts.IgnoreFields(Prop{}, "Line")); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

// TestDahu checks the machine against its published description.
func TestDahu(t *testing.T) {
	p := must(Builtin("dahu", 1))
	if got, want := p.NumHosts(), 32; got != want {
		t.Errorf("%d hosts, want %d", got, want)
	}
	for i := range p.NumHosts() {
		if got := p.Host(i); got.Cores != 32 {
			t.Errorf("host %+v, want 32 cores", got)
		}
	}
	checkRoutes(t, p, []routeCase{
		{"dahu-0", "dahu-31", "dahu_link_0_UP dahu_link_31_DOWN"},
		{"dahu-7", "dahu-7", "dahu_link_7_loopback"},
	})
	if got := latency(p, 0, 31); got != 1e-7 {
		t.Errorf("latency %v, want 2 links of 5e-8", got)
	}
	route := must(p.AppendRoute(nil, 3, 3))
	want := Link{"dahu_link_3_loopback", 18348422228.142746, 0, Fatpipe}
	if got := p.Link(route[0]); got != want {
		t.Errorf("loopback %+v, want %+v", got, want)
	}
	var names []string
	for _, o := range p.Config() {
		names = append(names, strings.TrimPrefix(o.Name, "smpi/"))
	}
	wantNames := []string{"os", "or", "ois", "bw-factor", "lat-factor", "async-small-thresh", "send-is-detached-thresh", "iprobe", "test"}
	if diff := cmp.Diff(wantNames, names); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

// TestDefault: as many hosts as ranks under one switch up to 24; above, whole
// leaves of 24 under 12 switches, whose 12 cables per leaf give 24 + 12 cables a
// leaf of two directions.
func TestDefault(t *testing.T) {
	for _, c := range []struct{ ranks, hosts, links, hops int }{
		{1, 1, 1 + 1 + 2, 1},
		{2, 2, 1 + 2 + 4, 2},
		{24, 24, 1 + 24 + 48, 2},
		{25, 48, 1 + 48 + 2*(2*24+2*12), 4},
		{1024, 43 * 24, 1 + 43*24 + 2*43*(24+12), 4},
		{6006, 251 * 24, 1 + 251*24 + 2*251*(24+12), 4},
	} {
		p := must(Builtin("default", c.ranks))
		if p.NumHosts() != c.hosts || p.NumLinks() != c.links {
			t.Errorf("%d ranks: %d hosts, %d links, want %d, %d", c.ranks, p.NumHosts(), p.NumLinks(), c.hosts, c.links)
		}
		if route := must(p.AppendRoute(nil, 0, c.hosts-1)); len(route) != c.hops {
			t.Errorf("%d ranks: a route of %d links, want %d", c.ranks, len(route), c.hops)
		}
	}
}

func TestBadBuiltin(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks int
		want  string
	}{
		{"roadrunner", 1, `no built-in platform "roadrunner": want dahu, default, stampede, or a file`},
		{"default", 0, "0 ranks, want [1,1048552]"},
		{"default", MaxHosts, "1048576 ranks, want [1,1048552]"},
	} {
		if _, err := Builtin(c.name, c.ranks); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %d ranks: %v, want %s", c.name, c.ranks, err, c.want)
		}
	}
}

func TestDescribe(t *testing.T) {
	cluster := func(attributes string) string {
		return `<platform version="4.1"><cluster id="c" prefix="n" suffix="" speed="2Gf" core="4" bw="1GBps" lat="1us" ` + attributes + `/></platform>`
	}
	for _, test := range []struct {
		name, xml string
		topology  string
		levels    []LevelDescription
		bisection float64
	}{
		{"flat", cluster(`radical="0-7"`), "flat cluster",
			[]LevelDescription{{"host to switch", 8, 1, 1e9, 1e-6}}, 4e9},
		{"backbone", cluster(`radical="0-7" bb_bw="3GBps" bb_lat="2us"`), "flat cluster",
			[]LevelDescription{{"host to switch", 8, 1, 1e9, 1e-6}, {"backbone", 1, 1, 3e9, 2e-6}}, 3e9},
		// 4 leaves of 4 hosts, 2 tops, 2 cables to each: 16 cables up from the leaves,
		// as many as from the hosts; half of either carries what crosses the middle.
		{"fat tree", cluster(`radical="0-15" topology="FAT_TREE" topo_parameters="2;4,4;1,2;1,2"`), "fat tree of 2 levels",
			[]LevelDescription{{"host to level 1", 16, 1, 1e9, 1e-6}, {"level 1 to 2", 4, 4, 1e9, 1e-6}}, 8e9},
		// One cable up from each of 4 leaves: 4, of which half.
		{"thin tree", cluster(`radical="0-15" topology="FAT_TREE" topo_parameters="2;4,4;1,1;1,1"`), "fat tree of 2 levels",
			[]LevelDescription{{"host to level 1", 16, 1, 1e9, 1e-6}, {"level 1 to 2", 4, 1, 1e9, 1e-6}}, 2e9},
		{"one level", cluster(`radical="0-3" topology="FAT_TREE" topo_parameters="1;4;1;1"`), "fat tree of 1 level",
			[]LevelDescription{{"host to level 1", 4, 1, 1e9, 1e-6}}, 2e9},
		// Nothing lies between the halves of one host.
		{"one host", cluster(`radical="0" topology="FAT_TREE" topo_parameters="1;1;1;1"`), "fat tree of 1 level",
			[]LevelDescription{{"host to level 1", 1, 1, 1e9, 1e-6}}, 0},
		// Cut twice across the dimension of 4: 3 cables each time.
		{"torus", cluster(`radical="0-11" topology="TORUS" topo_parameters="4,3"`), "torus 4x3",
			[]LevelDescription{{"host to next in each dimension", 12, 2, 1e9, 1e-6}}, 6e9},
		// Routes between two hosts of a dimension use one of their two cables: 2 in a square, and
		// in 3x2 the 3 across the dimension of 2 are fewer than twice 2 across that of 3.
		{"square torus", cluster(`radical="0-3" topology="TORUS" topo_parameters="2,2"`), "torus 2x2",
			[]LevelDescription{{"host to next in each dimension", 4, 2, 1e9, 1e-6}}, 2e9},
		{"torus with a dimension of 2", cluster(`radical="0-5" topology="TORUS" topo_parameters="3,2,1"`), "torus 3x2x1",
			[]LevelDescription{{"host to next in each dimension", 6, 3, 1e9, 1e-6}}, 3e9},
		// 3 groups, halves of 1 and 2: 2 blue cables of 4 GB/s.
		{"dragonfly", cluster(`radical="0-23" topology="DRAGONFLY" topo_parameters="3,4;2,3;4,2;1"`),
			"dragonfly of 3 groups of 2 chassis of 4 blades of 1 host",
			[]LevelDescription{{"host to router", 24, 1, 1e9, 1e-6}, {"green, router to blades of its chassis", 24, 3, 2e9, 1e-6},
				{"black, router to chassis of its group", 24, 1, 3e9, 1e-6}, {"blue, group to groups", 3, 2, 4e9, 1e-6}}, 8e9},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := parse(test.xml).Describe()
			if d.Cores != int64(4*d.Hosts) || d.Flops != float64(d.Hosts)*8e9 {
				t.Errorf("%d hosts with %d cores of %g flop/s in all", d.Hosts, d.Cores, d.Flops)
			}
			z := d.Zones[len(d.Zones)-1]
			if z.Topology != test.topology || z.Points != int64(d.Hosts) || z.Bisection != test.bisection {
				t.Errorf("%q of %d, bisection %g; want %q, %g", z.Topology, z.Points, z.Bisection, test.topology, test.bisection)
			}
			if diff := cmp.Diff(test.levels, z.Levels); diff != "" {
				t.Error(diff)
			}
		})
	}
}
