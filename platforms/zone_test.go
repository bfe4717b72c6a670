package platforms

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// zoneXML is a zone of the routing with the elements given.
func zoneXML(routing, elements string) string {
	return `<platform version="4.1"><zone id="w" routing="` + routing + `">` + elements + `</zone></platform>`
}

// points declares hosts and links of 1 Gf, 1 GB/s and 1 ms.
func points(hosts, links string) string {
	var b strings.Builder
	for _, h := range strings.Fields(hosts) {
		fmt.Fprintf(&b, `<host id="%s" speed="1Gf"/>`, h)
	}
	for _, l := range strings.Fields(links) {
		fmt.Fprintf(&b, `<link id="%s" bandwidth="1GBps" latency="1ms"/>`, l)
	}
	return b.String()
}

func TestListedRoutes(t *testing.T) {
	p := parse(zoneXML("Full", points("a b c", "l m n")+`
		<link id="s" bandwidth="2GBps" latency="2ms" sharing_policy="SPLITDUPLEX"/>
		<route src="a" dst="b"><link_ctn id="l"/><link_ctn id="s" direction="UP"/><link_ctn id="m"/></route>
		<route src="a" dst="c" symmetrical="NO"><link_ctn id="s" direction="UP"/><link_ctn id="n"/><link_ctn id="n"/></route>
		<route src="c" dst="a" symmetrical="NO"><link_ctn id="s" direction="DOWN"/></route>
		<route src="c" dst="b" symmetrical="NO"><link_ctn id="s_UP"/></route>
		<route src="b" dst="b"><link_ctn id="l"/></route>`))
	checkRoutes(t, p, []routeCase{
		{"a", "b", "l s_UP m"},
		{"b", "a", "m s_DOWN l"},
		{"a", "c", "s_UP n n"},
		{"c", "a", "s_DOWN"},
		{"c", "b", "s_UP"},
		{"b", "c", ""},
		{"b", "b", "l"},
		{"a", "a", "loopback"},
	})
}

// TestShortestPaths: a ring of 5 with one long edge. Links are counted, whatever
// their latency, and an edge of three links counts three.
func TestShortestPaths(t *testing.T) {
	for _, routing := range []string{"Floyd", "Dijkstra", "DijkstraCache"} {
		p := parse(zoneXML(routing, points("a b c d e", "ab bc cd de x y z")+`
			<router id="r"/>
			<route src="a" dst="b"><link_ctn id="ab"/></route>
			<route src="b" dst="r"><link_ctn id="bc"/></route>
			<route src="r" dst="d"><link_ctn id="cd"/></route>
			<route src="d" dst="e"><link_ctn id="de"/></route>
			<route src="a" dst="e"><link_ctn id="x"/><link_ctn id="y"/><link_ctn id="z"/></route>`))
		checkRoutes(t, p, []routeCase{
			{"a", "d", "ab bc cd"},
			{"d", "a", "cd bc ab"},
			{"a", "e", "x y z"}, // 3 links, the other way has 4
			{"e", "a", "z y x"},
			{"b", "e", "bc cd de"}, // 3, the other way 4
			{"c", "a", ""},
			{"c", "c", "loopback"},
		})
	}
}

// TestSelfRoutes: the route to itself that is listed for a host is Floyd's only if no
// round trip has fewer links. (SimGrid 3.32 takes 2.95 ms for 100,000 bytes on the links
// of a; on three of 1 GB/s it would take 0.37 ms.)
func TestSelfRoutes(t *testing.T) {
	for routing, want := range map[string]string{"Floyd": "ab ab", "Dijkstra": "s s s", "Full": "s s s"} {
		p := parse(zoneXML(routing, points("a b", "ab s")+`
			<route src="a" dst="b"><link_ctn id="ab"/></route>
			<route src="a" dst="a" symmetrical="NO"><link_ctn id="s"/><link_ctn id="s"/><link_ctn id="s"/></route>
			<route src="b" dst="b" symmetrical="NO"><link_ctn id="s"/><link_ctn id="s"/></route>`))
		checkRoutes(t, p, []routeCase{{"a", "a", want}, {"b", "b", "s s"}})
	}
}

// TestZoneRoutes: routes go to the gateway inside each zone, over the links of
// the zoneRoute, and on from the other gateway.
func TestZoneRoutes(t *testing.T) {
	p := parse(zoneXML("Full", `
		<cluster id="f" prefix="f" suffix="" radical="0-2" speed="1f" bw="1" lat="1" router_id="sw" bb_bw="1" bb_lat="1"/>
		<cluster id="g" prefix="g" suffix="" radical="0-2" speed="1f" bw="1" lat="1"/>
		<zone id="in" routing="Floyd">`+points("x y", "xy yr")+`<router id="r"/>
			<route src="x" dst="y"><link_ctn id="xy"/></route><route src="y" dst="r"><link_ctn id="yr"/></route></zone>
		<link id="fg" bandwidth="1" sharing_policy="SPLITDUPLEX"/><link id="fin" bandwidth="1"/>
		<zoneRoute src="f" dst="g" gw_src="sw" gw_dst="gg_router"><link_ctn id="fg" direction="UP"/></zoneRoute>
		<zoneRoute src="f" dst="in" gw_src="f1" gw_dst="r"><link_ctn id="fin"/></zoneRoute>`))
	checkRoutes(t, p, []routeCase{
		{"f0", "g2", "f_link_0_UP f_backbone fg_UP g_link_2_DOWN"},
		{"g2", "f0", "g_link_2_UP fg_DOWN f_backbone f_link_0_DOWN"},
		{"f0", "x", "f_link_0_UP f_backbone f_link_1_DOWN fin yr xy"},
		{"f1", "x", "fin yr xy"},
		{"x", "f1", "xy yr fin"},
		{"x", "y", "xy"},
		{"x", "g0", ""},
	})
}

// TestNestedZones: the common zone is found whatever the depths, and a gateway
// may lie deeper than the zone it is named for.
func TestNestedZones(t *testing.T) {
	p := parse(zoneXML("Full", `
		<zone id="p" routing="Full">
			<zone id="p1" routing="Full">`+points("a b", "ab")+`<route src="a" dst="b"><link_ctn id="ab"/></route></zone>
			<zone id="p2" routing="Full">`+points("c", "")+`</zone>
			<link id="p12" bandwidth="1"/><zoneRoute src="p1" dst="p2" gw_src="b" gw_dst="c"><link_ctn id="p12"/></zoneRoute></zone>
		<zone id="q" routing="Full">`+points("d", "")+`</zone>
		<link id="pq" bandwidth="1"/><zoneRoute src="p" dst="q" gw_src="c" gw_dst="d"><link_ctn id="pq"/></zoneRoute>`))
	checkRoutes(t, p, []routeCase{
		{"a", "c", "ab p12"},
		{"a", "d", "ab p12 pq"},
		{"d", "a", "pq p12 ab"},
		{"b", "d", "p12 pq"},
	})
}

// TestJoinedFatTrees: two fat trees have no router, hosts 0 are their gateways.
// From host 7 to host 7: 4 links of 50e-6 s up and down, the link of 1e-3 s, 4
// links again.
func TestJoinedFatTrees(t *testing.T) {
	tree := func(id string) string {
		return `<cluster id="` + id + `" prefix="` + id + `" suffix="" radical="0-7" speed="1Gf" bw="1GBps" lat="50us" ` +
			`topology="FAT_TREE" topo_parameters="2;4,2;1,2;1,2" router_id="none"/>`
	}
	p := parse(zoneXML("Full", tree("a")+tree("b")+`<link id="l" bandwidth="1MBps" latency="1ms"/>
		<zoneRoute src="a" dst="b" gw_src="a0" gw_dst="b0"><link_ctn id="l"/></zoneRoute>`))
	src, _ := p.HostIndex("a7")
	dst, _ := p.HostIndex("b7")
	if got, want := latency(p, src, dst), 1e-3+8*50e-6; math.Abs(got-want) > 1e-15 {
		t.Errorf("latency %g, want %g", got, want)
	}
}

// TestPartsNotListed: what a zone of routing Full does not list is a part without links of a
// route between zones, and no route between two of its hosts.
func TestPartsNotListed(t *testing.T) {
	p := parse(zoneXML("Full", `
		<zone id="A" routing="Full"><host id="a" speed="1Gf"/><host id="c" speed="1Gf"/><router id="ra"/>
			<link id="la" bandwidth="125MBps" latency="50us"/>
			<route src="a" dst="ra" symmetrical="NO"><link_ctn id="la"/></route></zone>
		<zone id="B" routing="Full"><host id="b" speed="1Gf"/></zone>
		<link id="bb" bandwidth="125MBps" latency="50us"/>
		<zoneRoute src="A" dst="B" gw_src="ra" gw_dst="b"><link_ctn id="bb"/></zoneRoute>`))
	checkRoutes(t, p, []routeCase{{"a", "b", "la bb"}, {"b", "a", "bb"}, {"c", "b", "bb"}, {"b", "c", "bb"}})
	a, _ := p.HostIndex("a")
	c, _ := p.HostIndex("c")
	if _, err := p.AppendRoute(nil, a, c); !errors.Is(err, ErrNotListed) {
		t.Errorf("from a to c: error %v", err)
	}
}

// TestVersion3 reads the older words.
func TestVersion3(t *testing.T) {
	p := parse(`<platform version="3"><AS id="w" routing="Full">
		<AS id="s" routing="Full"><host id="a" power="1Gf"/><host id="b" power="2e9"/>
		<link id="l" bandwidth="1E9" latency="1E-3" sharing_policy="FULLDUPLEX"/>
		<route src="a" dst="b"><link_ctn id="l" direction="UP"/></route></AS>
		<cluster id="c" prefix="c" suffix="" radical="0-1" power="1000000000" bw="1" lat="1" router_id="rt"/>
		<ASroute src="s" dst="c" gw_src="b" gw_dst="rt"><link_ctn id="l" direction="DOWN"/></ASroute></AS></platform>`)
	checkRoutes(t, p, []routeCase{
		{"a", "c1", "l_UP l_DOWN c_link_1_DOWN"},
		{"c1", "a", "c_link_1_UP l_UP l_DOWN"},
	})
	if got := p.Host(1); got != (Host{"b", 2e9, 1}) {
		t.Errorf("host %+v", got)
	}
}

// TestStar: cabinets and hosts with links of their own around a backbone.
func TestStar(t *testing.T) {
	p := parse(zoneXML("Cluster", points("h k", "u d s")+`<router id="r"/>
		<cabinet id="x" prefix="x" suffix="" radical="1-2" speed="1Gf" bw="1GBps" lat="1ms"/>
		<backbone id="bb" bandwidth="1GBps" latency="1ms"/>
		<host_link id="h" up="u" down="d"/><host_link id="k" up="s" down="s"/>`))
	checkRoutes(t, p, []routeCase{
		{"x1", "x2", "link_x1_UP bb link_x2_DOWN"},
		{"h", "x1", "u bb link_x1_DOWN"},
		{"x1", "h", "link_x1_UP bb d"},
		{"k", "h", "s bb d"},
		{"k", "k", "s bb"},
		{"h", "h", "u bb d"},
	})
}

// TestBypass: a bypass goes before the listed route, one way; between zones that
// of the innermost zones wins over that of outer ones, and leads through the
// loopback of a source or destination that is the gateway. (SimGrid 3.32: 100,000
// bytes over such a bypass between a star and a fat tree take 8.523704 ms, which
// is what the gateway's own links cost; without them 1.537544 ms.)
func TestBypass(t *testing.T) {
	leaf := func(id, hosts string) string {
		return `<zone id="` + id + `" routing="Full">` + points(hosts, "") + `</zone>`
	}
	p := parse(zoneXML("Full", points("", "l m n o q")+
		`<zone id="p" routing="Full">`+leaf("p1", "a")+leaf("p2", "b")+`
			<zoneRoute src="p1" dst="p2" gw_src="a" gw_dst="b"><link_ctn id="l"/></zoneRoute></zone>
		<zone id="q" routing="Full">`+points("c d", "")+`
			<route src="c" dst="d"><link_ctn id="l"/></route>
			<bypassRoute src="d" dst="c"><link_ctn id="m"/><link_ctn id="m"/></bypassRoute></zone>
		<zoneRoute src="p" dst="q" gw_src="a" gw_dst="c"><link_ctn id="n"/></zoneRoute>
		<bypassZoneRoute src="p2" dst="q" gw_src="b" gw_dst="d"><link_ctn id="o"/></bypassZoneRoute>
		<bypassZoneRoute src="p" dst="q" gw_src="a" gw_dst="d"><link_ctn id="q"/></bypassZoneRoute>`))
	checkRoutes(t, p, []routeCase{
		{"c", "d", "l"},
		{"d", "c", "m m"},
		{"a", "c", "loopback q m m"},
		{"a", "d", "loopback q loopback"},
		{"b", "d", "loopback o loopback"},
		{"b", "c", "loopback o m m"},
		{"c", "b", "n l"},
		{"d", "b", "m m n l"},
	})
}

// TestListedOrder: what a zone of routing Dijkstra finds inside it comes before all that leads
// there, a path as well as the loopback of a gateway behind a bypass; Floyd's comes last. (What
// depends on it is in TestOrderOfPenalty of package replay, with SimGrid's times.)
func TestListedOrder(t *testing.T) {
	for routing, want := range map[string][2]string{
		"Dijkstra": {"loopback loopback m", "y x loopback m"},
		"Floyd":    {"loopback m loopback", "loopback m x y"},
	} {
		p := parse(zoneXML("Full", points("", "l m")+`
			<zone id="p" routing="Full"><host id="a" speed="1Gf"/></zone>
			<zone id="q" routing="`+routing+`">`+points("c d", "x y")+`
				<route src="c" dst="d"><link_ctn id="x"/><link_ctn id="y"/></route></zone>
			<zoneRoute src="p" dst="q" gw_src="a" gw_dst="c"><link_ctn id="l"/></zoneRoute>
			<bypassZoneRoute src="p" dst="q" gw_src="a" gw_dst="c"><link_ctn id="m"/></bypassZoneRoute>`))
		for i, dst := range []string{"c", "d"} {
			if got := routeNames(t, p, AsListed, "a", dst); got != want[i] {
				t.Errorf("%s: links from a to %s: %s, want %s", routing, dst, got, want[i])
			}
		}
	}
}

// TestRouterBypass: a bypass from a gateway without links adds none there. (SimGrid
// 3.32 gives a router's route to itself neither loopback nor backbone.)
func TestRouterBypass(t *testing.T) {
	p := parse(zoneXML("Full", points("", "l m")+`
		<cluster id="c" prefix="c" suffix="" radical="0-1" speed="1Gf" bw="1GBps" lat="1ms" router_id="rc"/>
		<zone id="z" routing="Full">
			<cluster id="d" prefix="d" suffix="" radical="0-1" speed="1Gf" bw="1GBps" lat="1ms" router_id="rd"
				bb_bw="1GBps" bb_lat="1ms" loopback_bw="1GBps" loopback_lat="0"/>
			<cluster id="e" prefix="e" suffix="" radical="0-1" speed="1Gf" bw="1GBps" lat="1ms" router_id="re"/>
			<zoneRoute src="d" dst="e" gw_src="rd" gw_dst="re"><link_ctn id="l"/></zoneRoute>
			<bypassZoneRoute src="d" dst="e" gw_src="rd" gw_dst="re"><link_ctn id="m"/></bypassZoneRoute></zone>
		<zoneRoute src="c" dst="z" gw_src="rc" gw_dst="rd"><link_ctn id="l"/></zoneRoute>`))
	checkRoutes(t, p, []routeCase{
		{"d0", "e1", "d_link_0_UP d_backbone m e_link_1_DOWN"},
		{"c0", "e1", "c_link_0_UP l m e_link_1_DOWN"},
		{"e0", "c1", "e_link_0_UP l l c_link_1_DOWN"},
	})
}

// TestNamesOfZones: a host may have the name of a zone, also of its own; a router may not.
func TestNamesOfZones(t *testing.T) {
	p := parse(zoneXML("Full", `
		<zone id="z" routing="Full"><host id="z" speed="1Gf"/></zone>
		<cluster id="a0" prefix="a" suffix="" radical="0-1" speed="1Gf" bw="1GBps" lat="1us" router_id="r"/>
		<link id="l" bandwidth="1GBps" latency="1us"/>
		<zoneRoute src="z" dst="a0" gw_src="z" gw_dst="r"><link_ctn id="l"/></zoneRoute>`))
	checkRoutes(t, p, []routeCase{{"z", "a0", "l a0_link_0_DOWN"}, {"a1", "z", "a0_link_1_UP l"}})
	for _, twice := range []string{`<host id="x" speed="1Gf"/><router id="x"/>`, `<zone id="x" routing="Full"/><router id="x"/>`, `<zone id="x" routing="Full"/><zone id="x" routing="Full"/>`} {
		refuses(t, zoneXML("Full", twice), `there is a host, router or zone "x" already`)
	}
}

// TestManyStars: the time that zones of cabinets take goes with their hosts: if each looked at the
// hosts of all, these would take more than a minute.
func TestManyStars(t *testing.T) {
	if testing.Short() {
		t.Skip("half a million hosts")
	}
	const zones, each = 1 << 17, 4
	var text strings.Builder
	text.WriteString(`<platform version="4.1"><zone id="w" routing="None">`)
	for i := range zones {
		fmt.Fprintf(&text, `<zone id="z%d" routing="Cluster"><cabinet id="k" prefix="h%d-" suffix="" radical="0-%d" speed="1Gf" bw="1GBps" lat="1us"/></zone>`, i, i, each-1)
	}
	text.WriteString(`</zone></platform>`)
	p := parse(text.String())
	checkRoutes(t, p, []routeCase{{fmt.Sprintf("h%d-0", zones-1), fmt.Sprintf("h%d-1", zones-1), fmt.Sprintf("link_h%d-0_UP link_h%d-1_DOWN", zones-1, zones-1)}})
}

// TestDistance: the distance of two points in the plane and their heights, in ms, of which
// the sign is lost: for (0,0,1) and (3,4,-2) these are 5 + 1 + 2, whatever the links.
func TestDistance(t *testing.T) {
	p := parse(`<platform version="4.1"><zone id="w" routing="Vivaldi">
		<peer id="a" speed="1Gf" bw_in="2MBps" bw_out="1MBps" coordinates="0 0 1" lat="1ms"/>
		<host id="b" speed="1Gf" coordinates=" 3  4 -2 "/>
		<host id="c" speed="1Gf"/>
		<link id="l" bandwidth="1" latency="7s"/>
		<route src="b" dst="b"><link_ctn id="l"/><link_ctn id="l"/></route>
		<bypassRoute src="b" dst="a"><link_ctn id="l"/></bypassRoute></zone></platform>`)
	for _, c := range []struct {
		src, dst int
		want     float64
		links    string
	}{
		{0, 1, 0.008, "link_a_UP"},
		{0, 0, 0.002, "link_a_UP link_a_DOWN"},
		{1, 1, 0.004, "l"}, // no link is there twice
		{1, 0, 0, "l"},     // a bypass knows no distance
	} {
		if got := p.Distance(c.src, c.dst); got != c.want {
			t.Errorf("from %d to %d: %g s, want %g", c.src, c.dst, got, c.want)
		}
		if got := routeNames(t, p, AsMet, p.Host(c.src).Name, p.Host(c.dst).Name); got != c.links {
			t.Errorf("from %d to %d: links %s, want %s", c.src, c.dst, got, c.links)
		}
	}
	for i, want := range []Link{{"link_a_UP", 1e6, 0, Shared}, {"link_a_DOWN", 2e6, 0, Shared}} { // bw_out, bw_in
		if got := p.Link(int32(1 + i)); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	noRoute(t, p, 0, 2, `no route in zone "w" from "a" to "c": not both have coordinates`)
	warns(t, p, ":2: lat of a <peer> is not used, as in SimGrid: its latency is the third of its coordinates, in ms")
}

// TestWithoutWay: zones in a star have no gateway, and hosts that no host_link names no link:
// SimGrid loads such a file and aborts where a message needs the way.
func TestWithoutWay(t *testing.T) {
	for _, routing := range []string{"Cluster", "Vivaldi"} {
		p := parse(`<platform version="4.1"><zone id="w" routing="` + routing + `">
			<cluster id="c" prefix="c" suffix="" radical="0-1" speed="1Gf" bw="1GBps" lat="1us"/>
			<cluster id="d" prefix="d" suffix="" radical="0" speed="1Gf" bw="1GBps" lat="1us"/></zone></platform>`)
		checkRoutes(t, p, []routeCase{{"c0", "c1", "c_link_0_UP c_link_1_DOWN"}})
		noRoute(t, p, 0, 2, `zone "w" has no routes between zones`)
	}
	p := parse(`<platform version="4.1"><zone id="w" routing="Cluster"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/></zone></platform>`)
	noRoute(t, p, 0, 1, `no route in zone "w" from "a" to "b"`)
}

// TestNoBandwidth: a link without bandwidth is loaded, as in SimGrid, and warned of.
func TestNoBandwidth(t *testing.T) {
	p := parse(zoneXML("Full", points("a b", "")+`<link id="l" bandwidth="0Bps"/><route src="a" dst="b"><link_ctn id="l"/></route>`))
	route, err := p.AppendRoute(nil, 0, 1)
	if err != nil || len(route) != 1 || p.Link(route[0]).Bandwidth != 0 {
		t.Errorf("route %v, error %v", route, err)
	}
	warns(t, p, `link "l" has no bandwidth: a message over it never ends`)
}
