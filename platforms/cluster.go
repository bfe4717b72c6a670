package platforms

import (
	"fmt"
	"strconv"
	"strings"
)

// A clusterSpec is what a <cluster> element says.
type clusterSpec struct {
	id, prefix, suffix string
	ranges             []idRange // numbers of the hosts
	hosts              int32
	split              bool // private links and cables have two directions; else one SHARED one
	cable              Link // of each private link or cable
	backbone           Link // bandwidth 0: none
	hasLoopback        bool
	loopback           Link
	limiter            float64 // byte/s, 0: none
}

// width returns how many constraints a cable is.
func (s *clusterSpec) width() int32 {
	if s.split {
		return 2
	}
	return 1
}

// direction names the i-th constraint of a run of cables: up first, then down.
func (s *clusterSpec) direction(i int32) string {
	switch {
	case !s.split:
		return ""
	case i%2 == 0:
		return "_UP"
	}
	return "_DOWN"
}

// hostID returns the number, in digits, of host i.
func (s *clusterSpec) hostID(i int32) string { return strconv.FormatInt(idOf(s.ranges, i), 10) }

// nodeName returns the name of node i of a level of a fat tree; level 0 is the
// hosts.
func (s *clusterSpec) nodeName(level int, i int32) string {
	if level == 0 {
		return s.prefix + s.hostID(i) + s.suffix
	}
	return fmt.Sprintf("%s_switch_%d_%d", s.id, level, i)
}

// backboneName returns the name of the backbone.
func (s *clusterSpec) backboneName() string { return s.id + "_backbone" }

// addLoopbacks lays out a loopback for each host, if the cluster has any, and
// returns the first or -1.
func (s *clusterSpec) addLoopbacks(t *linkTable) int32 {
	if !s.hasLoopback {
		return -1
	}
	return t.add(int64(s.hosts), s.loopback, []string{"loopback"}, func(i int32) string {
		return fmt.Sprintf("%s_link_%s_loopback", s.id, s.hostID(i))
	})
}

// addLimiters lays out a limiter for each of count nodes of a kind, if the cluster
// has any, and returns the first or -1.
func (s *clusterSpec) addLimiters(t *linkTable, count int64, of string, name func(i int32) string) int32 {
	if s.limiter == 0 {
		return -1
	}
	return t.add(count, Link{Bandwidth: s.limiter}, []string{"limiter of " + of},
		func(i int32) string { return name(i) + "_limiter" })
}

// readClusterSpec reads a <cluster>, leaving out speed, cores and properties.
// At most maxHosts hosts are allowed.
func readClusterSpec(v *values, maxHosts int) clusterSpec {
	s := clusterSpec{id: v.text("id"), prefix: v.text("prefix"), suffix: v.text("suffix")}
	var hosts int
	var err error
	if s.ranges, hosts, err = parseRadical(v.text("radical"), maxHosts); err != nil {
		v.fail(err)
	}
	s.hosts = int32(hosts)
	policy := v.choice("sharing_policy", "SPLITDUPLEX", "FULLDUPLEX", "SHARED", "FATPIPE")
	s.split = policy == "SPLITDUPLEX" || policy == "FULLDUPLEX"
	s.cable = Link{Bandwidth: v.bandwidth("bw"), Latency: v.latency("lat")}
	s.limiter = v.optionalBandwidth("limiter_link")
	s.readBackbone(v)
	s.readLoopback(v)
	return s
}

// readBackbone reads the link in the middle; there is one if bb_bw is.
func (s *clusterSpec) readBackbone(v *values) {
	s.backbone = Link{Bandwidth: v.optionalBandwidth("bb_bw"), Latency: v.latency("bb_lat")}
	if v.choice("bb_sharing_policy", "SHARED", "FATPIPE") == "FATPIPE" {
		s.backbone.Policy = Fatpipe
	}
	if s.backbone.Latency > 0 && s.backbone.Bandwidth == 0 {
		v.fail(fmt.Errorf("bb_lat without bb_bw"))
	}
}

// readLoopback reads the loopback of each host: there is one if either number
// is above 0.
func (s *clusterSpec) readLoopback(v *values) {
	s.loopback = Link{v.text("id"), v.optionalBandwidth("loopback_bw"), v.latency("loopback_lat"), Fatpipe}
	s.hasLoopback = s.loopback.Bandwidth > 0
	if s.loopback.Latency > 0 && !s.hasLoopback {
		v.fail(fmt.Errorf("loopback_lat without loopback_bw"))
	}
}

// newCluster makes the topology that the element names, laying out its links in
// t. fatTreeHosts is the number of hosts in the fat trees before it.
func newCluster(v *values, s *clusterSpec, fatTreeHosts int32, t *linkTable) (topology, error) {
	kind, shape := v.choice("topology", "FLAT", "FAT_TREE", "TORUS", "DRAGONFLY"), v.text("topo_parameters")
	if kind != "FLAT" && s.backbone.Bandwidth > 0 {
		return nil, fmt.Errorf("bb_bw: topology %s has no backbone", kind)
	}
	switch kind {
	case "FAT_TREE":
		tree, err := parseTreeShape(shape, int(s.hosts))
		if err != nil {
			return nil, err
		}
		return newFatTree(s, tree, fatTreeHosts, t), nil
	case "TORUS":
		dims, err := parseTorusShape(shape, int(s.hosts))
		if err != nil {
			return nil, err
		}
		return newTorus(s, dims, t), nil
	case "DRAGONFLY":
		fly, err := parseDragonflyShape(shape, int(s.hosts))
		if err != nil {
			return nil, err
		}
		return newDragonfly(s, fly, t), nil
	}
	if shape != "" {
		return nil, fmt.Errorf("topo_parameters %q without a topology", shape)
	}
	return newFlatCluster(s, t), nil
}

// parseGroups reads n groups of numbers >= 1, parted by semicolons, the numbers
// by commas. form shows what is wanted.
func parseGroups(text string, n int, form string) ([][]int, error) {
	parts := strings.Split(text, ";")
	if len(parts) != n {
		return nil, fmt.Errorf("topo_parameters %q: want %s", text, form)
	}
	groups := make([][]int, n)
	for i, part := range parts {
		for _, word := range strings.Split(part, ",") {
			k, err := strconv.Atoi(strings.TrimSpace(word))
			if err != nil || k < 1 || k > MaxLinks {
				return nil, fmt.Errorf("topo_parameters %q: %q is not a number of [1,%d]; want %s", text, word, MaxLinks, form)
			}
			groups[i] = append(groups[i], k)
		}
	}
	return groups, nil
}

// product multiplies numbers of [1, MaxLinks]; above MaxLinks it only says so,
// by MaxLinks+1.
func product(numbers []int) int64 {
	n := int64(1)
	for _, k := range numbers {
		n = min(n*int64(k), MaxLinks+1)
	}
	return n
}

// countText writes a product.
func countText(n int64) string {
	if n > MaxLinks {
		return "too many"
	}
	return strconv.FormatInt(n, 10)
}
