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
// pairs of hosts that talk again and again: a pair is given a place when it is the
// second time in a row to be asked for there. Ranks have few partners at a time: on
// HPL nine of ten lookups hit, which makes the start of a transfer twice as quick.
// But where everybody talks to somebody else each time, to store what is not asked for
// again would only drive the rest of the simulation from the caches.
type routes struct {
	routeOf      routeFunc
	summedOf     routeFunc // the same links in the order to add latencies up; nil: that of routeOf
	classes      []linkClass
	of           []ofLink // by link
	fat          bool     // some links are FATPIPEs
	crossTraffic bool
	window       float64 // byte: TCP gamma, 0 for none

	asked []hostPair // by place: the pair that was asked for last
	known []route    // by place; the one behind all is for pairs without
	shift int        // of the source in the number of a place, if every pair has its own; else -1
	links []routeLink
	width int // entries of links for each of known

	there, back, summed []int32 // of compute
	from, to            int32   // what they are of, if there is a way back
	order               []int32 // scratch of summed
}

// ofLink is what routes knows of a link.
type ofLink struct {
	class int32 // index in routes.classes
	entry int32 // one more than its index among the links of the route that is being stored, 0 if it is none
}

// hostPair is source and destination of a route; never 0.
type hostPair uint64

func pairOf(src, dst int32) hostPair { return hostPair(src)<<32 + hostPair(dst) + 1 }

// route is the way from a host to another, and back with cross traffic. 64 bytes.
type route struct {
	pair     hostPair // 0: empty
	latency  float64  // s: sum over the links there
	penalty  float64
	usage    float64 // 1/penalty
	bound    float64 // byte/s of share: min capacity and TCP window
	maxLevel float64 // of a flow alone
	narrow   float64 // byte/s: min bandwidth
	shared   int16   // number of links that are SHARED; those that are FATPIPEs follow
	count    int16   // number of links
	within   bool    // from a host to itself
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
		routeOf: routeOf, of: make([]ofLink, len(links)),
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
		r.of[i].class = at
		r.fat = r.fat || c.fatpipe
	}
	return r, nil
}

// remember makes the places of routes.
func (r *routes) remember(hosts int) {
	r.shift = bits.Len(uint(max(hosts-1, 0)))
	count := 1 << (2 * min(r.shift, fewBits))
	if r.shift > fewBits {
		r.shift = -1
		count = minKnownRoutes
		for count < len(r.of) && count < maxKnownRoutes {
			count *= 2
		}
	}
	r.asked = make([]hostPair, count)
	r.forget()
}

// place returns the place of the route from src to dst.
func (r *routes) place(src, dst int32) uint32 {
	mask := uint32(len(r.asked) - 1)
	if r.shift >= 0 {
		return (uint32(src)<<r.shift | uint32(dst)) & mask
	}
	return (uint32(src)*2654435761 + uint32(dst)*2246822519) >> 8 & mask
}

// forget empties all places.
func (r *routes) forget() {
	r.known = make([]route, len(r.asked)+1)
	r.links = make([]routeLink, len(r.known)*r.width)
}

// find returns the route from src to dst and its links, valid until the next find.
func (r *routes) find(src, dst int32) (*route, []routeLink, error) {
	i, pair := r.place(src, dst), pairOf(src, dst)
	if r.asked[i] != pair {
		r.asked[i] = pair
		i = uint32(len(r.asked))
	}
	if r.known[i].pair != pair {
		if err := r.compute(src, dst); err != nil {
			return nil, nil, err
		}
		r.store(i, src, dst)
	}
	k := &r.known[i]
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

// store puts the route of r.there and r.back in place i. The sums run in SimGrid's
// order, latencies first: on FATPIPE links the last bit can decide.
func (r *routes) store(i uint32, src, dst int32) {
	k := &r.known[i]
	*k = route{pair: pairOf(src, dst), within: src == dst, bound: unlimited, narrow: unlimited}
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
	links = r.addLinks(links, false)
	k.shared = int16(len(links))
	if r.fat {
		links = r.addLinks(links, true)
	}
	k.count = int16(len(links))
	for _, l := range links {
		r.of[l.link].entry = 0
	}
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

func (r *routes) class(l int32) *linkClass { return &r.classes[r.of[l].class] }

// addLinks adds the links there and back that are FATPIPEs, or those that are not.
func (r *routes) addLinks(list []routeLink, fatpipe bool) []routeLink {
	for _, l := range r.there {
		list = r.addLink(list, l, 1, fatpipe)
	}
	for _, l := range r.back {
		list = r.addLink(list, l, crossWeight, fatpipe)
	}
	return list
}

// addLink adds link l with a weight, if it is a FATPIPE or is not. The weights of its
// occurrences add up, but count by their maximum on a FATPIPE.
func (r *routes) addLink(list []routeLink, l int32, weight float64, fatpipe bool) []routeLink {
	if r.fat && r.class(l).fatpipe != fatpipe {
		return list
	}
	switch at := &r.of[l].entry; {
	case *at == 0:
		list = append(list, routeLink{l, weight})
		*at = int32(len(list))
	case fatpipe:
		k := &list[*at-1]
		k.weight = max(k.weight, weight)
	default:
		list[*at-1].weight += weight
	}
	return list
}
