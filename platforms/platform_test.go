package platforms

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHostProps(t *testing.T) {
	p := parse(t, zoneXML("Full", `<prop id="smpi/os" value="zone"/>
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
	p := parse(t, `<platform version="4.1">
		<config id="General"><prop id="a" value="1"/><prop id="b" value="2"/></config>
		<config><prop id="a" value="3"/></config>
		<zone id="w" routing="Full"><config><prop id="c" value="4"/></config><host id="h" speed="1f"/></zone></platform>`)
	want := []Prop{{"a", "1", 2}, {"b", "2", 2}, {"c", "4", 4}}
	if diff := cmp.Diff(want, p.Config()); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

// TestByteOrderMark: a text may begin with one.
func TestByteOrderMark(t *testing.T) {
	p := parse(t, "\ufeff"+zoneXML("Full", points("a b", "")))
	if n := p.NumHosts(); n != 2 {
		t.Errorf("%d hosts, want 2", n)
	}
}

// TestEncoding: a text may say that it is not in UTF-8; \xfc is u with dots in
// ISO-8859-1.
func TestEncoding(t *testing.T) {
	text := zoneXML("Full", points("knoten\xfc b", ""))
	p := parse(t, `<?xml version="1.0" encoding="ISO-8859-1"?>`+text)
	if _, ok := p.HostIndex("knoten\u00fc"); !ok {
		t.Errorf("no host knoten\u00fc, but %q", p.Host(0).Name)
	}
	_, err := Parse(strings.NewReader(`<?xml version="1.0" encoding="EBCDIC"?>`+text), "x.xml")
	if want := `x.xml:1: xml: opening charset "EBCDIC": want UTF-8, US-ASCII or ISO-8859-1`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestGlobalLoopback(t *testing.T) {
	p := parse(t, zoneXML("Full", points("a", "")))
	route, err := p.AppendRoute(nil, 0, 0)
	if diff := cmp.Diff([]int32{LoopbackLink}, route); err != nil || diff != "" {
		t.Errorf("route %v, %v", route, err)
	}
}

// TestHash: machines are told apart by all of their text, routes included.
func TestHash(t *testing.T) {
	text := zoneXML("Full", points("a", "b"))
	p, other := parse(t, text), parse(t, strings.Replace(text, `id="b"`, `id="c"`, 1))
	if p.Hash() != sha256.Sum256([]byte(text)) || other.Hash() == p.Hash() {
		t.Errorf("%x and %x", p.Hash(), other.Hash())
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "one.xml")
	if err := os.WriteFile(path, []byte(zoneXML("Full", points("a", ""))), 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := Load(path)
	if err != nil || p.NumHosts() != 1 || p.Name() != path {
		t.Errorf("%v, %v", p, err)
	}
	if _, err := Load(path + ".none"); err == nil {
		t.Error("a file that is not there was read")
	}
}

// TestLargeFatTree: 65,536 hosts must fit in 100 MB; the routes are not stored.
func TestLargeFatTree(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p := parseCluster(t, "0-65535", `topology="FAT_TREE" topo_parameters="3;64,32,32;1,32,32;1,1,1"`)
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
		parseCluster(t, "0-23", `limiter_link="1GBps" bb_bw="1"`),
		parseCluster(t, "0-23", `topology="FAT_TREE" topo_parameters="2;6,4;2,2;1,2"`),
		parseCluster(t, "0-23", `topology="TORUS" topo_parameters="4,6" loopback_bw="1"`),
		parseCluster(t, "0-23", `topology="DRAGONFLY" topo_parameters="2,1;2,2;3,1;2"`),
	} {
		route := make([]int32, 0, 64)
		n := testing.AllocsPerRun(10, func() {
			for src := range p.NumHosts() {
				for dst := range p.NumHosts() {
					var err error
					if route, err = p.AppendRoute(route[:0], src, dst); err != nil {
						t.Fatal(err)
					}
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
	p := parse(t, zoneXML("Full", points("a b", "l")+`<route src="a" dst="b" symmetrical="NO"><link_ctn id="l"/></route>`))
	route, err := p.AppendRoute([]int32{7}, 0, 1)
	if diff := cmp.Diff([]int32{7, 1}, route); err != nil || diff != "" {
		t.Errorf("route %v, %v, want 7 and link 1", route, err)
	}
	route, err = p.AppendRoute([]int32{7}, 1, 0)
	if want := `test.xml: no route in zone "w" from "b" to "a": not listed in this direction`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if diff := cmp.Diff([]int32{7}, route); diff != "" {
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
		p, err := parseWithin(strings.NewReader(text), "f.xml", limits{text: maxText, hosts: 300, links: 3000, pathTable: 3000})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.xml:") {
				t.Fatalf("error %q without a position", err)
			}
			return
		}
		again, err := parseWithin(strings.NewReader(text), "f.xml", limits{text: maxText, hosts: 300, links: 3000, pathTable: 3000})
		if err != nil {
			t.Fatal(err)
		}
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
	want, got := parse(t, zoneXML("Full", plain)), parse(t, xml)
	if diff := cmp.Diff(want.Describe(), got.Describe()); diff != "" {
		t.Error(diff)
	}
	checkRoutes(t, got, []routeCase{{"a", "b", "l"}, {"b", "a", "l"}})
}

// TestSpeedZero: SimGrid loads a host that cannot compute, given by one speed or by one of
// several.
func TestSpeedZero(t *testing.T) {
	for _, attrs := range []string{`speed="0"`, `speed="0f"`, `speed="1Gf,0f" pstate="1"`, `speed="0f,1Gf" pstate="0.0"`} {
		p := parse(t, zoneXML("Full", `<host id="a" `+attrs+`/>`))
		if h := p.Host(0); h.Speed != 0 {
			t.Errorf("%s: speed %g", attrs, h.Speed)
		}
	}
	if p := parse(t, zoneXML("Full", `<host id="a" speed="0f,2Gf" pstate="1"/>`)); p.Host(0).Speed != 2e9 {
		t.Errorf("speed %g, want 2e9", p.Host(0).Speed)
	}
}
