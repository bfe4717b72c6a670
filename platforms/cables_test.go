package platforms

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCables: the two directions of a cable are of the same cables, and nothing else is.
func TestCables(t *testing.T) {
	for _, c := range []struct {
		attributes string
		want       []int // of the global loopback, then of the cluster
	}{
		{`bb_bw="1GBps" loopback_bw="1GBps"`, nil},
		{`topology="FAT_TREE" topo_parameters="2;4,4;1,2;1,2"`, []int{0, 1, 1, 3, 3}},
		{`topology="TORUS" topo_parameters="4,4"`, []int{0, 1, 1, 3, 3}},
	} {
		p := parseCluster(t, "0-15", c.attributes)
		got, levels := p.Cables(), p.Levels()
		if c.want == nil { // as they are named
			for i, name := range levels {
				want := i
				if name == "c: switch to host" {
					want = i - 1
				}
				c.want = append(c.want, want)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: cables of %q (-want +got):\n%s", c.attributes, levels, diff)
		}
	}
}
