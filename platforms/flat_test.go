package platforms

import (
	"strings"
	"testing"
)

func TestFlatRoutes(t *testing.T) {
	for _, c := range []struct {
		name, attrs string
		cases       []routeCase
	}{
		{"split", "", []routeCase{
			{"n0", "n2", "c_link_0_UP c_link_2_DOWN"},
			{"n2", "n0", "c_link_2_UP c_link_0_DOWN"},
			{"n1", "n1", "c_link_1_UP c_link_1_DOWN"},
		}},
		{"shared", `sharing_policy="SHARED"`, []routeCase{
			{"n0", "n2", "c_link_0 c_link_2"},
			{"n1", "n1", "c_link_1"},
		}},
		{"fatpipe is shared", `sharing_policy="FATPIPE"`, []routeCase{{"n0", "n2", "c_link_0 c_link_2"}}},
		{"loopback", `loopback_bw="5GBps" loopback_lat="0"`, []routeCase{
			{"n1", "n1", "c_link_1_loopback"},
			{"n0", "n1", "c_link_0_UP c_link_1_DOWN"},
		}},
		{"backbone", `bb_bw="2GBps" bb_lat="2ms"`, []routeCase{
			{"n0", "n2", "c_link_0_UP c_backbone c_link_2_DOWN"},
			{"n1", "n1", "c_link_1_UP c_backbone c_link_1_DOWN"},
		}},
		{"limiter", `limiter_link="3GBps"`, []routeCase{
			{"n0", "n2", "c_link_0_limiter c_link_0_UP c_link_2_DOWN c_link_2_limiter"},
			{"n1", "n1", "c_link_1_limiter c_link_1_UP c_link_1_DOWN"},
		}},
		{"all, shared", `sharing_policy="SHARED" limiter_link="3GBps" bb_bw="2GBps"`, []routeCase{
			{"n0", "n2", "c_link_0_limiter c_link_0 c_backbone c_link_2 c_link_2_limiter"},
			{"n1", "n1", "c_link_1_limiter c_link_1 c_backbone"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) { checkRoutes(t, parseCluster(t, "0-2", c.attrs), c.cases) })
	}
}

// TestFlatLinks looks at what each kind of link is, and at their number: 3 split
// private ones, 3 loopbacks, 3 limiters, 1 backbone, and the global loopback.
func TestFlatLinks(t *testing.T) {
	p := parseCluster(t, "0-2", `loopback_bw="5GBps" loopback_lat="1us" limiter_link="3GBps" `+
		`bb_bw="16Gbps" bb_lat="2ms" bb_sharing_policy="FATPIPE"`)
	if got, want := p.NumLinks(), 3*2+3+3+1+1; got != want {
		t.Errorf("%d links, want %d", got, want)
	}
	byName := map[string]Link{}
	for i := range p.NumLinks() {
		l := p.Link(int32(i))
		byName[l.Name] = l
		if bw, lat, policy := p.LinkCapacity(int32(i)); bw != l.Bandwidth || lat != l.Latency || policy != l.Policy {
			t.Errorf("LinkCapacity(%d) = %v, %v, %v, want those of %+v", i, bw, lat, policy, l)
		}
	}
	for _, want := range []Link{
		{"loopback", 10e9, 0, Fatpipe},
		{"c_link_0_UP", 1e9, 1e-3, Shared},
		{"c_link_2_DOWN", 1e9, 1e-3, Shared},
		{"c_link_1_loopback", 5e9, 1e-6, Fatpipe},
		{"c_link_1_limiter", 3e9, 0, Shared},
		{"c_backbone", 2e9, 2e-3, Fatpipe},
	} {
		if got := byName[want.Name]; got != want {
			t.Errorf("link %+v, want %+v", got, want)
		}
	}
	if len(byName) != p.NumLinks() {
		t.Errorf("%d different names of %d links", len(byName), p.NumLinks())
	}
}

// TestBackboneInRoutes: other zones may name a cluster's backbone, as in SimGrid; it is not ample
// for that, as messages within the cluster load it, too.
func TestBackboneInRoutes(t *testing.T) {
	const text = `<platform version="4.1"><zone id="z" routing="Full">
<zone id="y" routing="Full"><host id="h" speed="1Gf"/></zone>
<cluster id="c" prefix="n" suffix="" radical="0-1" speed="1Gf" bw="1GBps" lat="1ms" bb_bw="2GBps" bb_lat="2ms" router_id="r"/>
<link id="l" bandwidth="5GBps" latency="1ms"/>
<zoneRoute src="y" dst="c" gw_src="h" gw_dst="r" symmetrical="NO"><link_ctn id="l"/><link_ctn id="c_backbone"/></zoneRoute>
<zoneRoute src="c" dst="y" gw_src="r" gw_dst="h" symmetrical="NO"><link_ctn id="l"/></zoneRoute></zone></platform>`
	p := parse(t, text)
	checkRoutes(t, p, []routeCase{{"h", "n1", "l c_backbone c_backbone c_link_1_DOWN"}, {"n0", "h", "c_link_0_UP c_backbone l"}})
	if list := p.AmpleLinks(); len(list) > 0 {
		t.Errorf("ample: %s", p.Link(list[0]).Name)
	}
	twice := strings.Replace(text, `id="l" bandwidth`, `id="c_backbone" bandwidth`, 1)
	if _, err := Parse(strings.NewReader(twice), "test.xml"); err == nil || !strings.Contains(err.Error(), `test.xml:4: <link "c_backbone">: there is a link "c_backbone" already`) {
		t.Error(err)
	}
}
