package platforms

import "testing"

// TestTorusRoutes: coordinates of host r are r mod d_0, r/d_0 mod d_1, ...; a hop
// in + direction takes the UP constraint of the host it leaves, one in -
// direction the DOWN constraint of the host it comes to.
func TestTorusRoutes(t *testing.T) {
	for _, c := range []struct {
		name, radical, attrs string
		cases                []routeCase
	}{
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
	} {
		t.Run(c.name, func(t *testing.T) {
			checkRoutes(t, parseCluster(t, c.radical, `topology="TORUS" `+c.attrs), c.cases)
		})
	}
}
