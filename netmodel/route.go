package netmodel

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"reprise/platforms"
)

// routeFunc appends the links from host src to host dst to route.
type routeFunc func(route []int32, src, dst int) ([]int32, error)

// linkClass is what links of one kind have in common. Machines have many links but
// few kinds.
type linkClass struct {
	bandwidth float64 // byte/s
	capacity  float64 // byte/s that it carries
	latency   float64 // s
	penalty   float64 // S/bandwidth
	fatpipe   bool
}

// routes computes what a transfer needs to know of its way, and remembers it for
// pairs of hosts that talk again. Ranks have few partners at a time: on HPL nine
// of ten lookups hit, which makes the start of a transfer twice as quick.
type routes struct {
	routeOf      routeFunc
	summedOf     routeFunc // the same links in the order to add latencies up; nil: that of routeOf
	classes      []linkClass
	classOf      []int32 // by link: index in classes
	crossTraffic bool
	window       float64 // byte: TCP gamma, 0 for none

	known []route // by the pair of hosts
	shift int     // of the source in the index of known, if every pair has a place; else -1
	links []routeLink
	width int // entries of links for each of known

	there, back, summed []int32 // of compute
	from, to            int32   // what they are of, if there is a way back
	order               []int32 // scratch of summed
}

// route is the way from a host to another, and back with cross traffic. 64 bytes.
type route struct {
	src, dst int32   // src < 0: empty
	latency  float64 // s: sum over the links there
	penalty  float64
	usage    float64 // 1/penalty
	bound    float64 // byte/s of share: min capacity and TCP window
	maxLevel float64 // of a flow alone
	shared   int32   // number of links that are SHARED; those that are FATPIPEs follow
	count    int32   // number of links
	narrow   float64 // byte/s: min bandwidth
}

// routeLink is a link of a route. One that is met several times is there once.
type routeLink struct {
	link   int32
	weight float64
}

// unlimited is the share in byte/s of a flow with an empty route.
const unlimited = 1e300

// maxRouteLinks is the largest number of links there and back.
const maxRouteLinks = math.MaxInt16

// How many routes are remembered: those between all hosts if their numbers have few
// bits, else one for each link within bounds.
const (
	fewBits        = 7
	minKnownRoutes = 1 << 12
	maxKnownRoutes = 1 << 15
)

func newRoutes(links []platforms.Link, hosts int, routeOf routeFunc, o *Options) (*routes, error) {
	r := &routes{
		routeOf: routeOf, classOf: make([]int32, len(links)),
		crossTraffic: o.CrossTraffic && o.Contention, window: o.TCPGamma,
		width: 4,
	}
	r.remember(hosts)
	index := map[linkClass]int32{}
	for i, l := range links {
		if !(l.Bandwidth > 0) || !(l.Latency >= 0) {
			return nil, fmt.Errorf("link %d: bandwidth %v byte/s and latency %v s, want positive and not negative",
				i, l.Bandwidth, l.Latency)
		}
		c := linkClass{
			bandwidth: l.Bandwidth, capacity: o.capacity(l.Bandwidth), latency: l.Latency,
			penalty: o.WeightS / l.Bandwidth, fatpipe: l.Policy == platforms.Fatpipe,
		}
		at, ok := index[c]
		if !ok {
			at = int32(len(r.classes))
			index[c] = at
			r.classes = append(r.classes, c)
		}
		r.classOf[i] = at
	}
	return r, nil
}

// remember makes the table of known routes.
func (r *routes) remember(hosts int) {
	r.shift = bits.Len(uint(max(hosts-1, 0)))
	count := 1 << (2 * min(r.shift, fewBits))
	if r.shift > fewBits {
		r.shift = -1
		count = minKnownRoutes
		for count < len(r.classOf) && count < maxKnownRoutes {
			count *= 2
		}
	}
	r.known = make([]route, count)
	r.forget()
}

// place returns the index of the route from src to dst in the table of known ones.
func (r *routes) place(src, dst int32) uint32 {
	mask := uint32(len(r.known) - 1)
	if r.shift >= 0 {
		return (uint32(src)<<r.shift | uint32(dst)) & mask
	}
	return (uint32(src)*2654435761 + uint32(dst)*2246822519) >> 8 & mask
}

// forget empties the table of known routes.
func (r *routes) forget() {
	for i := range r.known {
		r.known[i].src = -1
	}
	r.links = make([]routeLink, len(r.known)*r.width)
}

// find returns the route from src to dst and its links, valid until the next find.
func (r *routes) find(src, dst int32) (*route, []routeLink, error) {
	i := r.place(src, dst)
	k := &r.known[i]
	if k.src != src || k.dst != dst {
		if err := r.compute(src, dst); err != nil {
			return nil, nil, err
		}
		r.store(i, src, dst)
	}
	return k, r.links[int(i)*r.width:][:k.count], nil
}

// compute sets r.there, r.back and r.summed.
func (r *routes) compute(src, dst int32) (err error) {
	if len(r.back) > 0 && r.from == dst && r.to == src {
		r.there, r.back = r.back, r.there // an exchange: the way back is at hand
	} else if err := r.findWays(src, dst); err != nil {
		r.back = r.back[:0]
		return err
	}
	r.from, r.to = src, dst
	r.summed = r.there
	if r.summedOf != nil {
		if r.summed, err = r.summedOf(r.order[:0], int(src), int(dst)); err != nil {
			return err
		}
		r.order = r.summed
	}
	count := len(r.there) + len(r.back)
	if count > maxRouteLinks {
		return fmt.Errorf("route from host %d to host %d: %d links there and %d back, want at most %d in all",
			src, dst, len(r.there), len(r.back), maxRouteLinks)
	}
	if count > r.width {
		for r.width < count {
			r.width *= 2
		}
		r.forget()
	}
	return nil
}

// findWays sets r.there and r.back. A way back that no route is listed for has no
// links: SimGrid asks there for one only to load it, and finds nothing.
func (r *routes) findWays(src, dst int32) (err error) {
	if r.there, err = r.routeOf(r.there[:0], int(src), int(dst)); err != nil || !r.crossTraffic {
		return err
	}
	if r.back, err = r.routeOf(r.back[:0], int(dst), int(src)); err != nil && !errors.Is(err, platforms.ErrNotListed) {
		return fmt.Errorf("cross traffic: %w", err)
	}
	return nil
}

// store makes entry i the route of r.there and r.back. The sums run in SimGrid's
// order, latencies first: on FATPIPE links the last bit can decide.
func (r *routes) store(i uint32, src, dst int32) {
	k := &r.known[i]
	*k = route{src: src, dst: dst, bound: unlimited, narrow: unlimited}
	for _, l := range r.summed {
		k.latency += r.class(l).latency
	}
	k.penalty = k.latency
	for _, l := range r.there {
		c := r.class(l)
		k.penalty += c.penalty
		k.bound, k.narrow = min(k.bound, c.capacity), min(k.narrow, c.bandwidth)
	}
	if k.latency > 0 && r.window > 0 {
		k.bound = min(k.bound, r.window/(2*k.latency))
	}
	links := r.links[int(i)*r.width:][:0:r.width]
	fat := r.haveFatpipe(r.there) || r.haveFatpipe(r.back)
	links = r.addLinks(links, fat, false)
	k.shared = int32(len(links))
	if fat {
		links = r.addLinks(links, fat, true)
	}
	k.count = int32(len(links))
	k.setPenalty(k.penalty, r, links)
}

// bounded returns the route of a flow whose share is at most factor times the
// smallest bandwidth.
func (k route) bounded(factor float64) route {
	k.bound = min(k.bound, float64(factor*k.narrow))
	k.maxLevel = min(k.maxLevel, k.bound*k.penalty)
	return k
}

// setPenalty sets what follows from the penalty.
func (k *route) setPenalty(penalty float64, r *routes, links []routeLink) {
	k.penalty, k.usage, k.maxLevel = penalty, 1/penalty, k.bound*penalty
	for _, l := range links {
		if l.weight == 1 {
			continue // links used with weight 1 are in the bound
		}
		usage := float64(l.weight * k.usage)
		if c := r.class(l.link); c.capacity < k.maxLevel*usage {
			k.maxLevel = c.capacity / usage
		}
	}
}

func (r *routes) class(l int32) *linkClass { return &r.classes[r.classOf[l]] }

func (r *routes) haveFatpipe(links []int32) bool {
	for _, l := range links {
		if r.class(l).fatpipe {
			return true
		}
	}
	return false
}

// addLinks adds the links there and back; if some are FATPIPEs, only those that
// are, or those that are not.
func (r *routes) addLinks(list []routeLink, some, fatpipe bool) []routeLink {
	for _, l := range r.there {
		if !some || r.class(l).fatpipe == fatpipe {
			list = r.addLink(list, l, 1, fatpipe)
		}
	}
	if len(r.back) == 0 {
		return list
	}
	for _, l := range r.back {
		if !some || r.class(l).fatpipe == fatpipe {
			list = r.addLink(list, l, crossWeight, fatpipe)
		}
	}
	return list
}

// addLink adds link l with a weight. The weights of its occurrences add up, but
// count by their maximum on a FATPIPE.
func (r *routes) addLink(list []routeLink, l int32, weight float64, fatpipe bool) []routeLink {
	for i := range list {
		switch k := &list[i]; {
		case k.link != l:
			continue
		case fatpipe:
			k.weight = max(k.weight, weight)
		default:
			k.weight += weight
		}
		return list
	}
	return append(list, routeLink{l, weight})
}
