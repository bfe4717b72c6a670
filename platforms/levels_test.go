package platforms

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLevels counts the links of each level of small platforms by hand. Each has the global
// loopback as well.
func TestLevels(t *testing.T) {
	cluster := func(radical, attributes string) string {
		return `<cluster id="c" prefix="n" suffix="" radical="` + radical + `" speed="1Gf" bw="1GBps" lat="1us" ` + attributes + `/>`
	}
	const shared = ` sharing_policy="SHARED"`
	for _, test := range []struct {
		name, xml string
		want      map[string]int
	}{
		{"flat", cluster("0-7", ""), map[string]int{"c: host to switch": 8, "c: switch to host": 8}},
		{"all of a flat one", cluster("0-7", `bb_bw="1GBps" loopback_bw="1GBps" limiter_link="1GBps"`+shared),
			map[string]int{"c: host to switch and back": 8, "c: loopback": 8, "c: limiter of host": 8, "c: backbone": 1}},
		// 16 hosts with a cable to a leaf each; 4 leaves with 2 parallel cables to each of 2 tops.
		{"fat tree", cluster("0-15", `topology="FAT_TREE" topo_parameters="2;4,4;1,2;1,2" loopback_bw="1GBps" limiter_link="1GBps"`),
			map[string]int{"c: host to level 1": 16, "c: level 1 to host": 16, "c: level 1 to level 2": 16, "c: level 2 to level 1": 16,
				"c: loopback": 16, "c: limiter of host": 16, "c: limiter of level 1": 4, "c: limiter of level 2": 2}},
		{"shared fat tree", cluster("0-3", `topology="FAT_TREE" topo_parameters="1;4;1;1"`+shared),
			map[string]int{"c: host to level 1 and back": 4}},
		{"torus", cluster("0-11", `topology="TORUS" topo_parameters="4,3" limiter_link="1GBps"`),
			map[string]int{"c: dimension 0, +": 12, "c: dimension 0, -": 12, "c: dimension 1, +": 12, "c: dimension 1, -": 12, "c: limiter of host": 12}},
		{"shared torus", cluster("0-11", `topology="TORUS" topo_parameters="4,3"`+shared),
			map[string]int{"c: dimension 0": 12, "c: dimension 1": 12}},
		// 3 groups of 2 chassis of 4 blades with a host: 6 chassis of 6 pairs of blades, 12
		// columns of a pair of chassis, 3 pairs of groups; twice, for the directions.
		{"dragonfly", cluster("0-23", `topology="DRAGONFLY" topo_parameters="3,4;2,3;4,2;1" limiter_link="1GBps"`),
			map[string]int{"c: host to router": 24, "c: router to host": 24, "c: green, between blades of a chassis": 72,
				"c: black, between chassis of a group": 24, "c: blue, between groups": 6, "c: limiter of host": 24, "c: limiter of router": 24}},
		{"dragonfly of a blade", cluster("0-1", `topology="DRAGONFLY" topo_parameters="1,1;1,1;1,1;2"`),
			map[string]int{"c: host to router": 2, "c: router to host": 2}},
		// Links of both policies take turns, between clusters that have links, too.
		{"listed", `<zone id="top" routing="Full">` + cluster("0-1", "") +
			`<link id="a" bandwidth="1GBps"/><link id="b" bandwidth="1GBps" sharing_policy="SPLITDUPLEX"/>` +
			`<link id="d" bandwidth="1GBps" sharing_policy="FATPIPE"/><link id="e" bandwidth="1GBps" sharing_policy="SPLITDUPLEX"/>` +
			`<zone id="in" routing="Full"><host id="h" speed="1Gf"/><link id="f" bandwidth="1GBps"/></zone>` +
			`<link id="g" bandwidth="1GBps"/></zone>`,
			map[string]int{"c: host to switch": 2, "c: switch to host": 2, "top: listed links": 3, "in: listed links": 1,
				"top: listed links, up": 2, "top: listed links, down": 2}},
		{"star", `<zone id="s" routing="Cluster"><link id="a" bandwidth="1GBps" sharing_policy="SPLITDUPLEX"/>` +
			`<cabinet id="1" prefix="m" suffix="" radical="0-2" speed="1Gf" bw="1GBps" lat="1us"/><backbone id="b" bandwidth="1GBps" latency="0s"/>` +
			`<cabinet id="2" prefix="m" suffix="" radical="5-6" speed="1Gf" bw="1GBps" lat="1us"/></zone>`,
			map[string]int{"s: host to switch": 5, "s: switch to host": 5, "s: backbone": 1, "s: listed links, up": 1, "s: listed links, down": 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := parse(`<platform version="4.1">` + test.xml + `</platform>`)
			levels, got := p.Levels(), map[string]int{}
			for i := range int32(p.NumLinks()) {
				level := levels[p.LevelOf(i)]
				got[level]++
				checkDirection(t, p.Link(i).Name, level)
			}
			test.want["loopback"] = 1
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("links of each level (-want +got):\n%s", diff)
			}
			if len(levels) != len(got) {
				t.Errorf("levels %q, of which %d have links", levels, len(got))
			}
		})
	}
}

// checkDirection compares what name and level of a link say of its direction, if both do.
func checkDirection(t *testing.T, link, level string) {
	t.Helper()
	up := strings.Contains(level, "host to ") || strings.Contains(level, "level 1 to level 2") ||
		strings.HasSuffix(level, ", up") || strings.HasSuffix(level, ", +")
	both := strings.Contains(level, "between") || strings.HasSuffix(level, "back")
	if strings.HasSuffix(link, "_UP") && !up && !both || strings.HasSuffix(link, "_DOWN") && up {
		t.Errorf("link %s is of level %q", link, level)
	}
}

// TestLongZoneName: names of levels stay short whatever a file says.
func TestLongZoneName(t *testing.T) {
	p := parse(`<platform version="4.1"><cluster id="` + strings.Repeat("x", 1000) +
		`" prefix="n" suffix="" radical="0" speed="1Gf" bw="1GBps" lat="1us"/></platform>`)
	for _, name := range p.Levels() {
		if len(name) > maxLevelZone+80 {
			t.Errorf("a name of %d bytes", len(name))
		}
	}
}

// TestCables: the two directions of a cable are of the same cables, and nothing else is.
func TestCables(t *testing.T) {
	for _, c := range []struct {
		attributes string
		want       []int // of the global loopback, then of the cluster
	}{
		{`bb_bw="1GBps" loopback_bw="1GBps"`, []int{0, 1, 1, 3, 4}},
		{`topology="FAT_TREE" topo_parameters="2;4,4;1,2;1,2"`, []int{0, 1, 1, 3, 3}},
		{`topology="TORUS" topo_parameters="4,4"`, []int{0, 1, 1, 3, 3}},
	} {
		p := parseCluster("0-15", c.attributes)
		got, levels := p.Cables(), p.Levels()
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: cables of %q (-want +got):\n%s", c.attributes, levels, diff)
		}
	}
}
