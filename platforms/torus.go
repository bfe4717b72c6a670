package platforms

import "fmt"

// A torus is hosts on a grid that closes in each dimension; the coordinate of host r in dimension j is r /
// (d_0*..*d_{j-1}) mod d_j. Each host owns one cable per dimension, to its neighbour in the + direction. Source:
// SimGrid's torus, as of version 3.32.
type torus struct {
	dims     []int32
	width    int32 // constraints of a cable: 2 (+, -) or 1 (both)
	cables   int32 // first of each kind, -1 for none
	loopback int32
	limiter  int32
	name     string
}

// newTorus lays out the links of s in t, for sizes "d0,d1,..".
func newTorus(v *values, s *clusterSpec, shape string, t *linkTable) *torus {
	groups, err := parseGroups(shape, 1, "SIZE,SIZE,..")
	v.fail(err)
	if n := product(groups[0]); n != int64(s.hosts) {
		v.failf("topo_parameters %q: a torus of %s hosts, but the radical has %d", shape, countText(n), s.hosts)
	}
	c := &torus{width: s.width(), name: s.id}
	var levels []string // of each dimension and direction
	for j, d := range groups[0] {
		c.dims = append(c.dims, int32(d))
		name := fmt.Sprintf("dimension %d", j)
		if s.split {
			levels = append(levels, name+", +", name+", -")
		} else {
			levels = append(levels, name)
		}
	}
	perHost := int32(len(c.dims)) * c.width
	c.cables = t.add(int64(s.hosts)*int64(perHost), s.cable, levels, func(i int32) string {
		return fmt.Sprintf("%s_dim_%d%s", s.nodeName(0, i/perHost), i%perHost/c.width, s.direction(i))
	})
	c.loopback = s.addLoopbacks(t)
	c.limiter = s.addLimiters(t, int64(s.hosts), "host", func(i int32) string { return s.nodeName(0, i) })
	return c
}

// appendLocal routes dimension by dimension. From a host to itself it is by the
// loopback, or if there is none by the limiter.
func (c *torus) appendLocal(w walk, route []int32, src, dst int32) ([]int32, error) {
	switch {
	case src == dst && c.loopback >= 0:
		return append(route, c.loopback+src), nil
	case src == dst && c.limiter < 0:
		return route, fmt.Errorf("%s: torus %q has no loopback for messages of a host to itself", w.Name(), c.name)
	}
	at, stride := src, int32(1)
	for j, size := range c.dims {
		from, to := src/stride%size, dst/stride%size
		// The shorter way round, and + where both are equally long, with SimGrid's rounding of odd halves.
		half := size / 2
		plus := to > from && to <= from+half || from > half && (from+half)%size >= to
		for x := from; x != to; {
			if c.limiter >= 0 {
				route = append(route, c.limiter+at)
			}
			// A cable belongs to the host at its - end: the host that a hop in + direction leaves, or that one in -
			// direction comes to.
			owner := at
			if plus {
				at = step(at, stride, x, size)
				x = (x + 1) % size
			} else {
				at = step(at, -stride, size-1-x, size)
				x = (x + size - 1) % size
				owner = at
			}
			link := c.cables + (owner*int32(len(c.dims))+int32(j))*c.width
			if !plus {
				link += c.width - 1
			}
			route = append(route, link)
		}
		stride *= size
	}
	if c.limiter >= 0 {
		route = append(route, c.limiter+dst)
	}
	return route, nil
}

// step moves host at by stride, and round the ring if it is the last of size in that direction (x == size-1).
func step(at, stride, x, size int32) int32 {
	if x == size-1 {
		return at - stride*(size-1)
	}
	return at + stride
}
