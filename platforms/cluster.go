package platforms

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// This file reads <cluster> elements (readClusterSpec) and has clusters around one switch (flatCluster); the other
// topologies are in fattree.go, torus.go and dragonfly.go.

// A clusterSpec holds the attributes of a <cluster>. For a cabinet only the names and numbers of the hosts are set.
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

// hostID returns the number, in digits, of host i, which lies in the last range that begins at or below it.
func (s *clusterSpec) hostID(i int32) string {
	k, ok := slices.BinarySearchFunc(s.ranges, i, func(r idRange, host int32) int { return cmp.Compare(r.host, host) })
	if !ok {
		k--
	}
	return strconv.FormatInt(s.ranges[k].first+int64(i-s.ranges[k].host), 10)
}

// nodeName returns the name of node i of a level of a fat tree; level 0 is the hosts.
func (s *clusterSpec) nodeName(level int, i int32) string {
	if level == 0 {
		return s.prefix + s.hostID(i) + s.suffix
	}
	return fmt.Sprintf("%s_switch_%d_%d", s.id, level, i)
}

// backboneName returns the name of the backbone.
func (s *clusterSpec) backboneName() string { return s.id + "_backbone" }

// addLoopbacks lays out a loopback for each host, if the cluster has any, and returns the first or -1.
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

// readClusterSpec reads a <cluster>, leaving out speed, cores and properties. At most maxHosts hosts are allowed.
func readClusterSpec(v *values, maxHosts int) clusterSpec {
	s := clusterSpec{id: v.text("id"), prefix: v.text("prefix"), suffix: v.text("suffix")}
	var err error
	s.ranges, s.hosts, err = parseRadical(v.text("radical"), maxHosts)
	v.fail(err)
	policy := v.choice("sharing_policy", "SPLITDUPLEX", "FULLDUPLEX", "SHARED", "FATPIPE")
	s.split = policy == "SPLITDUPLEX" || policy == "FULLDUPLEX"
	s.cable = Link{Bandwidth: v.bandwidth("bw"), Latency: v.latency("lat")}
	s.limiter = v.optionalBandwidth("limiter_link")

	// The backbone is there if it has a bandwidth.
	s.backbone = Link{Bandwidth: v.optionalBandwidth("bb_bw"), Latency: v.latency("bb_lat")}
	if v.choice("bb_sharing_policy", "SHARED", "FATPIPE") == "FATPIPE" {
		s.backbone.Policy = Fatpipe
	}
	if s.backbone.Latency > 0 && s.backbone.Bandwidth == 0 {
		v.failf("bb_lat without bb_bw")
	}

	// So is a loopback of each host, which its messages to itself do not share.
	s.loopback = Link{v.text("id"), v.optionalBandwidth("loopback_bw"), v.latency("loopback_lat"), Fatpipe}
	s.hasLoopback = s.loopback.Bandwidth > 0
	if s.loopback.Latency > 0 && !s.hasLoopback {
		v.failf("loopback_lat without loopback_bw")
	}
	return s
}

// parseGroups reads n groups of numbers >= 1, parted by semicolons, the numbers by commas. form shows what is wanted.
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

// product multiplies numbers of [1, MaxLinks]; above MaxLinks it only says so, by MaxLinks+1.
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

// An idRange is the numbers from first to last, of hosts from one on.
type idRange struct {
	first, last int64
	host        int32
}

// parseRadical reads the numbers of a cluster's hosts, as "0-3,7,9-10", and
// counts them; more than max are refused. Their order is that of the text.
func parseRadical(text string, max int) (ranges []idRange, count int32, err error) {
	// Word processors and web pages make other dashes of a hyphen, and look the same: the error names the character.
	for _, c := range text {
		if c > unicode.MaxASCII {
			return nil, 0, fmt.Errorf("radical %.60q: the character %#U is none of a radical: want digits, commas and ASCII hyphens (-)", text, c)
		}
	}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		r := idRange{host: count}
		if r.first, err = parseID(low); err == nil {
			r.last, err = parseID(high)
		}
		if err == nil && r.last < r.first {
			err = fmt.Errorf("range %q runs backwards", part)
		}
		switch {
		case err != nil:
			return nil, 0, fmt.Errorf("radical %q: %w", text, err)
		case r.last-r.first >= int64(max)-int64(count):
			return nil, 0, fmt.Errorf("radical %q: more than %d hosts", text, MaxHosts)
		}
		ranges = append(ranges, r)
		count += int32(r.last - r.first + 1)
	}
	return ranges, count, nil
}

// parseID reads the number of a host, which has 31 bits at most.
func parseID(text string) (int64, error) {
	id, err := strconv.ParseUint(strings.TrimSpace(text), 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%q is not a host number: want a number below 2^31, or FIRST-LAST", text)
	}
	return int64(id), nil
}

// A flatCluster is hosts with a private link each around one switch. Its points
// are the hosts and, behind them, the router. The route is the up part of the
// source, [limiter] up [backbone], and the down part of the destination,
// [backbone] down [limiter]; no link comes twice. The router has no links at all,
// so that its way to itself, which a bypass may ask for, is empty.
type flatCluster struct {
	hosts    int32
	width    int32 // links of a host: 2 (up, down) or 1 (both)
	private  int32 // first link number of each kind, -1 for none
	loopback int32
	limiter  int32
	backbone int32
}

// newFlatCluster lays out the links of s in t.
func newFlatCluster(s *clusterSpec, t *linkTable) *flatCluster {
	c := &flatCluster{hosts: s.hosts, width: s.width(), loopback: -1, limiter: -1, backbone: -1}
	link := func(i int32) string { return fmt.Sprintf("%s_link_%s", s.id, s.hostID(i)) }
	c.private = t.add(int64(c.width)*int64(c.hosts), s.cable, s.cableLevels("host", "switch"), func(i int32) string {
		return link(i/c.width) + s.direction(i)
	})
	c.loopback = s.addLoopbacks(t)
	c.limiter = s.addLimiters(t, int64(c.hosts), "host", link)
	if s.backbone.Bandwidth > 0 {
		c.backbone = t.add(1, s.backbone, []string{"backbone"}, func(int32) string { return s.backboneName() })
	}
	return c
}

// appendLocal gives the links in the order of the type's comment. A host to itself goes up and down its own link and
// over the backbone, as in SimGrid, unless it has a loopback; of a shared link, and of a limiter, that is one use.
func (c *flatCluster) appendLocal(_ walk, route []int32, src, dst int32) ([]int32, error) {
	if src == dst && c.loopback >= 0 && src < c.hosts {
		return append(route, c.loopback+src), nil
	}
	self := src == dst
	if src < c.hosts {
		if c.limiter >= 0 {
			route = append(route, c.limiter+src)
		}
		route = append(route, c.private+src*c.width)
	}
	if c.backbone >= 0 && (src < c.hosts || dst < c.hosts) {
		route = append(route, c.backbone)
	}
	if dst < c.hosts {
		if !self || c.width == 2 {
			route = append(route, c.private+dst*c.width+c.width-1)
		}
		if c.limiter >= 0 && !self {
			route = append(route, c.limiter+dst)
		}
	}
	return route, nil
}
