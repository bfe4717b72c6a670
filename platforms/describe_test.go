package platforms

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
			p, err := Parse(strings.NewReader(test.xml), test.name)
			if err != nil {
				t.Fatal(err)
			}
			d := p.Describe()
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
