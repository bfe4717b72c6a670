package platforms

import (
	"strings"
	"testing"
)

func TestFlatRoutes(t *testing.T) {
	checkClusters(t, "", []clusterCase{
		{"split", "0-2", "", []routeCase{
			{"n0", "n2", "c_link_0_UP c_link_2_DOWN"},
			{"n2", "n0", "c_link_2_UP c_link_0_DOWN"},
			{"n1", "n1", "c_link_1_UP c_link_1_DOWN"},
		}},
		{"shared", "0-2", `sharing_policy="SHARED"`, []routeCase{
			{"n0", "n2", "c_link_0 c_link_2"},
			{"n1", "n1", "c_link_1"},
		}},
		{"fatpipe is shared", "0-2", `sharing_policy="FATPIPE"`, []routeCase{{"n0", "n2", "c_link_0 c_link_2"}}},
		{"loopback", "0-2", `loopback_bw="5GBps" loopback_lat="0"`, []routeCase{
			{"n1", "n1", "c_link_1_loopback"},
			{"n0", "n1", "c_link_0_UP c_link_1_DOWN"},
		}},
		{"backbone", "0-2", `bb_bw="2GBps" bb_lat="2ms"`, []routeCase{
			{"n0", "n2", "c_link_0_UP c_backbone c_link_2_DOWN"},
			{"n1", "n1", "c_link_1_UP c_backbone c_link_1_DOWN"},
		}},
		{"limiter", "0-2", `limiter_link="3GBps"`, []routeCase{
			{"n0", "n2", "c_link_0_limiter c_link_0_UP c_link_2_DOWN c_link_2_limiter"},
			{"n1", "n1", "c_link_1_limiter c_link_1_UP c_link_1_DOWN"},
		}},
		{"all, shared", "0-2", `sharing_policy="SHARED" limiter_link="3GBps" bb_bw="2GBps"`, []routeCase{
			{"n0", "n2", "c_link_0_limiter c_link_0 c_backbone c_link_2 c_link_2_limiter"},
			{"n1", "n1", "c_link_1_limiter c_link_1 c_backbone"},
		}},
	})
}

// TestFlatLinks looks at what each kind of link is, and at their number: 3 split
// private ones, 3 loopbacks, 3 limiters, 1 backbone, and the global loopback.
func TestFlatLinks(t *testing.T) {
	p := parseCluster("0-2", `loopback_bw="5GBps" loopback_lat="1us" limiter_link="3GBps" `+
		`bb_bw="16Gbps" bb_lat="2ms" bb_sharing_policy="FATPIPE"`)
	if got, want := p.NumLinks(), 3*2+3+3+1+1; got != want {
		t.Errorf("%d links, want %d", got, want)
	}
	byName := map[string]Link{}
	for i := range p.NumLinks() {
		l := p.Link(int32(i))
		byName[l.Name] = l
		if bw, lat, policy := p.LinkFigures(int32(i)); bw != l.Bandwidth || lat != l.Latency || policy != l.Policy {
			t.Errorf("LinkFigures(%d) = %v, %v, %v, want those of %+v", i, bw, lat, policy, l)
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
	p := parse(text)
	checkRoutes(t, p, []routeCase{{"h", "n1", "l c_backbone c_backbone c_link_1_DOWN"}, {"n0", "h", "c_link_0_UP c_backbone l"}})
	if list := p.AmpleLinks(); len(list) > 0 {
		t.Errorf("ample: %s", p.Link(list[0]).Name)
	}
	refuses(t, strings.Replace(text, `id="l" bandwidth`, `id="c_backbone" bandwidth`, 1),
		`x.xml:4: <link "c_backbone">: there is a link "c_backbone" already`)
}

// TestTorusRoutes: coordinates of host r are r mod d_0, r/d_0 mod d_1, ...; a hop
// in + direction takes the UP constraint of the host it leaves, one in -
// direction the DOWN constraint of the host it comes to.
func TestTorusRoutes(t *testing.T) {
	checkClusters(t, `topology="TORUS" `, []clusterCase{
		{"ring of 5", "0-4", `topo_parameters="5" loopback_bw="9GBps"`, []routeCase{
			{"n0", "n2", "n0_dim_0_UP n1_dim_0_UP"},
			{"n0", "n3", "n4_dim_0_DOWN n3_dim_0_DOWN"},
			{"n3", "n0", "n3_dim_0_UP n4_dim_0_UP"}, // wraps: (3+2) mod 5 = 0 >= 0
			{"n4", "n1", "n4_dim_0_UP n0_dim_0_UP"},
			{"n2", "n2", "c_link_2_loopback"},
		}},
		// Half way round an even ring the + direction wins, except that 2 is not
		// above half of 4, so 2 to 0 goes down.
		{"ring of 4", "0-3", `topo_parameters="4"`, []routeCase{
			{"n0", "n2", "n0_dim_0_UP n1_dim_0_UP"},
			{"n1", "n3", "n1_dim_0_UP n2_dim_0_UP"},
			{"n2", "n0", "n1_dim_0_DOWN n0_dim_0_DOWN"},
			{"n3", "n1", "n3_dim_0_UP n0_dim_0_UP"},
			{"n2", "n2", ""}, // no loopback, no route
		}},
		{"shared", "0-2", `topo_parameters="3" sharing_policy="SHARED"`, []routeCase{
			{"n0", "n1", "n0_dim_0"},
			{"n1", "n0", "n0_dim_0"},
			{"n0", "n2", "n2_dim_0"},
		}},
		// 1 = (1,0,0) to 22 = (0,1,2) with sizes 2, 3, 4... 22 = 0 + 2*2 + 6*3: (0,2,3).
		// Dimension 0: 1 to 0 down, over host 0's cable. Dimension 1: 0 to 2 is
		// farther than 3/2 = 1, so down over host 0+2*2 = 4's. Dimension 2: 0 to 3 is
		// farther than 2, so down over host 4+6*3 = 22's.
		{"three dimensions", "0-23", `topo_parameters="2,3,4"`, []routeCase{
			{"n1", "n22", "n0_dim_0_DOWN n4_dim_1_DOWN n22_dim_2_DOWN"},
			{"n0", "n15", "n0_dim_0_UP n1_dim_1_UP n3_dim_2_UP n9_dim_2_UP"}, // 15 = (1,1,2)
		}},
		{"limiter", "0-8", `topo_parameters="3,3" limiter_link="5GBps"`, []routeCase{
			{"n0", "n4", "n0_limiter n0_dim_0_UP n1_limiter n1_dim_1_UP n4_limiter"},
			{"n4", "n0", "n4_limiter n3_dim_0_DOWN n3_limiter n0_dim_1_DOWN n0_limiter"},
			{"n3", "n3", "n3_limiter"}, // no loopback: SimGrid 3.32 moves 100,000 bytes by the limiter
		}},
	})
}

// TestDragonflyRoutes uses 2 groups of 2 chassis of 3 blades with 2 hosts each:
// router (g,c,b) is number (2g+c)*3+b and has hosts 2r and 2r+1. Green cables
// are numbered by chassis, 3 each (blades 01, 02, 12); black ones by group and
// blade, 1 each; the blue one joins blade 1 of group 0 and blade 0 of group 1,
// both in chassis 0.
func TestDragonflyRoutes(t *testing.T) {
	checkClusters(t, `topology="DRAGONFLY" topo_parameters="2,1;2,2;3,3;2" `, []clusterCase{
		{"split", "0-23", "", []routeCase{
			{"n0", "n1", "c_local_0_UP c_local_1_DOWN"},
			{"n3", "n3", "c_local_3_UP c_local_3_DOWN"},
			// Blade 0 to 2 of chassis (0,0), then back.
			{"n0", "n4", "c_local_0_UP c_green_1_UP c_local_4_DOWN"},
			{"n4", "n0", "c_local_4_UP c_green_1_DOWN c_local_0_DOWN"},
			// Chassis 0 to 1 of group 0 at blade 0.
			{"n0", "n6", "c_local_0_UP c_black_0_UP c_local_6_DOWN"},
			// Within chassis 1: green there, then a black hop as if from chassis 0.
			{"n6", "n10", "c_local_6_UP c_green_4_UP c_black_2_UP c_local_10_DOWN"},
			// (0,0,1) to (1,0,0): the blue cable alone, and back.
			{"n2", "n12", "c_local_2_UP c_blue_0_UP c_local_12_DOWN"},
			{"n12", "n2", "c_local_12_UP c_blue_0_DOWN c_local_2_DOWN"},
			// (0,1,0) to (1,1,2): green to blade 1 in chassis 1, black to chassis 0,
			// blue, at (1,0,0): green to blade 2 of chassis number 2, black to chassis 1.
			{"n6", "n22", "c_local_6_UP c_green_3_UP c_black_1_DOWN c_blue_0_UP c_green_7_UP c_black_5_UP c_local_22_DOWN"},
		}},
		{"shared, loopback", "0-23", `sharing_policy="SHARED" loopback_bw="9GBps"`, []routeCase{
			{"n4", "n0", "c_local_4 c_green_1 c_local_0"},
			{"n3", "n3", "c_link_3_loopback"},
		}},
		// Limiters: of the source; of a router before the green or black hop that
		// leaves it, but after the blue one; of the last router; of the destination.
		{"limiter", "0-23", `limiter_link="5GBps"`, []routeCase{
			{"n0", "n1", "n0_limiter c_local_0_UP c_router_0_limiter c_local_1_DOWN n1_limiter"},
			{"n6", "n22", "n6_limiter c_local_6_UP c_router_3_limiter c_green_3_UP c_router_4_limiter c_black_1_DOWN " +
				"c_blue_0_UP c_router_1_limiter c_router_6_limiter c_green_7_UP c_router_8_limiter c_black_5_UP " +
				"c_router_11_limiter c_local_22_DOWN n22_limiter"},
		}},
	})
}
