package platforms

import "testing"

// TestDragonflyRoutes uses 2 groups of 2 chassis of 3 blades with 2 hosts each:
// router (g,c,b) is number (2g+c)*3+b and has hosts 2r and 2r+1. Green cables
// are numbered by chassis, 3 each (blades 01, 02, 12); black ones by group and
// blade, 1 each; the blue one joins blade 1 of group 0 and blade 0 of group 1,
// both in chassis 0.
func TestDragonflyRoutes(t *testing.T) {
	const shape = `topology="DRAGONFLY" topo_parameters="2,1;2,2;3,3;2" `
	for _, c := range []struct {
		name, attrs string
		cases       []routeCase
	}{
		{"split", "", []routeCase{
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
		{"shared, loopback", `sharing_policy="SHARED" loopback_bw="9GBps"`, []routeCase{
			{"n4", "n0", "c_local_4 c_green_1 c_local_0"},
			{"n3", "n3", "c_link_3_loopback"},
		}},
		// Limiters: of the source; of a router before the green or black hop that
		// leaves it, but after the blue one; of the last router; of the destination.
		{"limiter", `limiter_link="5GBps"`, []routeCase{
			{"n0", "n1", "n0_limiter c_local_0_UP c_router_0_limiter c_local_1_DOWN n1_limiter"},
			{"n6", "n22", "n6_limiter c_local_6_UP c_router_3_limiter c_green_3_UP c_router_4_limiter c_black_1_DOWN " +
				"c_blue_0_UP c_router_1_limiter c_router_6_limiter c_green_7_UP c_router_8_limiter c_black_5_UP " +
				"c_router_11_limiter c_local_22_DOWN n22_limiter"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) { checkRoutes(t, parseCluster(t, "0-23", shape+c.attrs), c.cases) })
	}
}

// TestDragonflyLinks: several cables multiply the bandwidth. 24 local cables, 4
// chassis of 3 green ones, 2 groups of 3 blades with 1 black one, 1 blue one,
// all of two directions, and the global loopback.
func TestDragonflyLinks(t *testing.T) {
	p := parseCluster(t, "0-23", `topology="DRAGONFLY" topo_parameters="2,4;2,2;3,3;2"`)
	if got, want := p.NumLinks(), 2*(24+4*3+2*3*1+1)+1; got != want {
		t.Errorf("%d links, want %d", got, want)
	}
	want := map[string]float64{"c_local_5_UP": 1e9, "c_green_11_DOWN": 3e9, "c_black_5_UP": 2e9, "c_blue_0_DOWN": 4e9}
	for i := range p.NumLinks() {
		l := p.Link(int32(i))
		if bw, ok := want[l.Name]; ok && (l.Bandwidth != bw || l.Latency != 1e-3) {
			t.Errorf("link %+v, want %g byte/s, 1e-3 s", l, bw)
		}
		delete(want, l.Name)
	}
	if len(want) > 0 {
		t.Errorf("no links %v", want)
	}
}
