package platforms

import "fmt"

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
