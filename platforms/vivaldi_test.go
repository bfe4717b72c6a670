package platforms

import (
	"strings"
	"testing"
)

// TestDistance: the distance of two points in the plane and their heights, in ms, of which
// the sign is lost: for (0,0,1) and (3,4,-2) these are 5 + 1 + 2, whatever the links.
func TestDistance(t *testing.T) {
	p := parse(t, `<platform version="4.1"><zone id="w" routing="Vivaldi">
		<peer id="a" speed="1Gf" bw_in="2MBps" bw_out="1MBps" coordinates="0 0 1"/>
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
		if got := orderedNames(t, p, AsMet, p.Host(c.src).Name, p.Host(c.dst).Name); got != c.links {
			t.Errorf("from %d to %d: links %s, want %s", c.src, c.dst, got, c.links)
		}
	}
	for link, want := range map[string]float64{"link_a_UP": 1e6, "link_a_DOWN": 2e6} { // bw_out, bw_in
		found := false
		for i := range p.NumLinks() {
			if l := p.Link(int32(i)); l.Name == link {
				found = true
				if l.Bandwidth != want || l.Latency != 0 || l.Policy != Shared {
					t.Errorf("%+v, want %g byte/s, no latency, SHARED", l, want)
				}
			}
		}
		if !found {
			t.Errorf("no link %s", link)
		}
	}
	const want = `no route in zone "w" from "a" to "c": not both have coordinates`
	if _, err := p.AppendRoute(nil, 0, 2); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestPeerLatency: SimGrid does not use it, and says so.
func TestPeerLatency(t *testing.T) {
	p := parse(t, "<platform version='4.1'><zone id='w' routing='Vivaldi'>\n"+`<peer id="a" speed="1Gf" bw_in="2MBps" bw_out="1MBps" coordinates="0 0 1" lat="1ms"/></zone></platform>`)
	if got := p.Distance(0, 0); got != 0.002 {
		t.Errorf("%g s, want 0.002", got)
	}
	const want = ":2: lat of a <peer> is not used, as in SimGrid: its latency is the third of its coordinates, in ms"
	if w := p.Warnings(); len(w) != 1 || !strings.HasSuffix(w[0].String(), want) {
		t.Errorf("warnings %v, want %s", w, want)
	}
}

// TestWithoutWay: zones in a star have no gateway, and hosts that no host_link names no link:
// SimGrid loads such a file and aborts where a message needs the way.
func TestWithoutWay(t *testing.T) {
	for _, routing := range []string{"Cluster", "Vivaldi"} {
		p := parse(t, `<platform version="4.1"><zone id="w" routing="`+routing+`">
			<cluster id="c" prefix="c" suffix="" radical="0-1" speed="1Gf" bw="1GBps" lat="1us"/>
			<cluster id="d" prefix="d" suffix="" radical="0" speed="1Gf" bw="1GBps" lat="1us"/></zone></platform>`)
		if got := orderedNames(t, p, AsMet, "c0", "c1"); got != "c_link_0_UP c_link_1_DOWN" {
			t.Errorf("%s: links %s", routing, got)
		}
		const want = `zone "w" has no routes between zones`
		if _, err := p.AppendRoute(nil, 0, 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", routing, err, want)
		}
	}
	p := parse(t, `<platform version="4.1"><zone id="w" routing="Cluster"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/></zone></platform>`)
	const want = `no route in zone "w" from "a" to "b"`
	if _, err := p.AppendRoute(nil, 0, 1); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestNoBandwidth: a link without bandwidth is loaded, as in SimGrid, and warned of.
func TestNoBandwidth(t *testing.T) {
	p := parse(t, zoneXML("Full", points("a b", "")+`<link id="l" bandwidth="0Bps"/><route src="a" dst="b"><link_ctn id="l"/></route>`))
	route, err := p.AppendRoute(nil, 0, 1)
	if err != nil || len(route) != 1 || p.Link(route[0]).Bandwidth != 0 {
		t.Errorf("route %v, error %v", route, err)
	}
	const want = `link "l" has no bandwidth: a message over it never ends`
	if w := p.Warnings(); len(w) != 1 || !strings.HasSuffix(w[0].String(), want) {
		t.Errorf("warnings %v, want %s", w, want)
	}
}
