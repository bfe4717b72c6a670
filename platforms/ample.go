package platforms

import "math"

// AmpleLinks returns the links that cannot be full before others are: links between a zone and its only neighbour that
// carry at least as much as all links of the hosts inside the zone together. Such are the cables up from the switches
// of a tree that is not oversubscribed. Fair shares are the same without these links. No FATPIPE is among them, as it
// bounds each message by itself.
func (p *Platform) AmpleLinks() []int32 {
	if p.bypasses != nil {
		return nil
	}
	a := newAmpleness(p)
	var list []int32
	for z := range p.zones {
		g, ok := p.zones[z].topology.(*graph)
		if !ok {
			continue
		}
		for i := range g.edges {
			e := &g.edges[i]
			most := min(a.most(g.zone, e.from, e.fromAt, out), a.most(g.zone, e.to, e.toAt, in))
			for _, l := range g.links[e.first:e.end] {
				if width := a.width(l); a.uses[l] == 1 && !math.IsInf(width, 1) && most <= width*(1+roundingOfSums) {
					list = append(list, l)
				}
			}
		}
	}
	return list
}

// roundingOfSums is what rounding may make of a sum of bandwidths.
// It is relative: a sum of a thousand terms is off by less.
const roundingOfSums = 1e-12

// ampleness is the data of a platform by which AmpleLinks decides. The time to collect it is proportional to the number
// of listed routes and of hosts in zones that list routes.
type ampleness struct {
	*Platform
	uses   []int32            // by link: how often routes are listed with it
	inside map[position]int32 // by place of a zone: its number
	hosts  map[position]bool  // places of hosts in zones with listed routes
	joints [][]joint          // by zone with listed routes: by point
}

// joint is how a point is joined to the others of its zone.
type joint struct {
	bandwidth [2]float64 // byte/s, out and in: of all listed routes that begin or end there
	neighbour int32      // noNeighbour, the only one, or manyNeighbours
}

const (
	out, in        = 0, 1
	noNeighbour    = -1
	manyNeighbours = -2
)

// newAmpleness counts the uses of all links and notes the joints of zones with listed routes.
func newAmpleness(p *Platform) *ampleness {
	a := &ampleness{p, make([]int32, p.numLinks), map[position]int32{}, map[position]bool{}, make([][]joint, len(p.zones))}
	for z := range p.zones {
		a.inside[p.zones[z].place] = int32(z)
		switch t := p.zones[z].topology.(type) {
		case *graph:
			joints := make([]joint, t.size)
			for i := range joints {
				joints[i].neighbour = noNeighbour
			}
			for i := range t.edges {
				e := &t.edges[i]
				links := t.links[e.first:e.end]
				a.use(links...)
				narrowest := math.Inf(1)
				for _, l := range links {
					narrowest = min(narrowest, a.width(l))
				}
				joints[e.from].meets(e.to, narrowest, out)
				joints[e.to].meets(e.from, narrowest, in)
			}
			a.joints[t.zone] = joints
		case *star:
			// A point's own links are used by its messages alone, but routes may list them once more.
			for i := range t.up {
				a.use(t.up[i], t.down[i])
			}
			a.use(t.backbone)
			for _, own := range t.loopback {
				a.use(own...)
			}
		case *flatCluster:
			// Other zones may list the backbone, which the cluster's own messages use as well.
			a.use(t.backbone)
		}
	}
	for _, at := range p.hostPlaces {
		if a.joints[at.zone] != nil {
			a.hosts[at] = true
		}
	}
	return a
}

// use counts one more use of links; -1 stands for none.
func (a *ampleness) use(links ...int32) {
	for _, l := range links {
		if l >= 0 {
			a.uses[l]++
		}
	}
}

// meets adds a listed route to another point, whose narrowest link has a bandwidth in byte/s.
func (j *joint) meets(other int32, bandwidth float64, way int) {
	j.bandwidth[way] += bandwidth
	if j.neighbour != other && j.neighbour != noNeighbour {
		other = manyNeighbours
	}
	j.neighbour = other
}

// width returns the byte/s that messages on a link have together at most: +Inf on a FATPIPE.
func (a *ampleness) width(l int32) float64 {
	bandwidth, _, policy := a.LinkFigures(l)
	if policy == Fatpipe {
		return math.Inf(1)
	}
	return bandwidth
}

// most returns the byte/s that the hosts which a point of a zone is, or has inside, send out
// over a gateway at most, or receive; +Inf if messages of others may pass, or it is not known.
func (a *ampleness) most(zone, point int32, gateway position, way int) float64 {
	number, ok := a.inside[position{zone, point}]
	if j := &a.joints[zone][point]; !ok || j.neighbour == manyNeighbours || j.neighbour == point {
		return math.Inf(1)
	}
	return a.mostOf(number, gateway, way)
}

// mostOf is most for a zone, whose gateway may lie deeper inside. Its sum has every member of the zone, so
// the cost goes with the members of all zones inside it.
func (a *ampleness) mostOf(zone int32, gateway position, way int) float64 {
	sum := 0.0
	switch t := a.zones[zone].topology.(type) {
	case *flatCluster:
		if gateway != (position{zone, t.hosts}) { // a host, over whose link the messages of all go
			return math.Inf(1)
		}
		for host := range t.hosts {
			sum += a.width(t.private + host*t.width + min(int32(way), t.width-1))
		}
	case *graph:
		for point := range t.size {
			sum += a.mostOfPoint(t, point, gateway, way)
		}
	default:
		return math.Inf(1)
	}
	return sum
}

// mostOfPoint is most for a point of a zone through whose gateway the messages go.
// A router has no messages of its own. A zone around the gateway sends by way of the gateway itself. Any other point
// sends over its listed routes, whose narrowest links bound it, as does the gateway of the only one.
func (a *ampleness) mostOfPoint(g *graph, point int32, gateway position, way int) float64 {
	at := position{g.zone, point}
	number, isZone := a.inside[at]
	switch {
	case isZone && a.isInside(gateway, number):
		return a.mostOf(number, gateway, way)
	case !isZone && !a.hosts[at]:
		return 0 // a router
	case at == gateway:
		return math.Inf(1)
	}
	// The messages of the point go over its listed routes, and over the gateway of its only one.
	j := &a.joints[g.zone][point]
	if !isZone || j.neighbour < 0 {
		return j.bandwidth[way]
	}
	from, to := point, j.neighbour
	if way == in {
		from, to = to, from
	}
	e := g.edge(from, to)
	if e < 0 {
		return math.Inf(1)
	}
	own := g.edges[e].fromAt
	if way == in {
		own = g.edges[e].toAt
	}
	return min(j.bandwidth[way], a.mostOf(number, own, way))
}
