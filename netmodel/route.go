package netmodel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"reprise/netmodel/maxmin"
	"reprise/platforms"
)

// routeFunc appends the links from host src to host dst to route.
type routeFunc func(route []int32, src, dst int) ([]int32, error)

// routes computes the route of a transfer (find), and keeps those of pairs of hosts that talk again and again: a route
// is kept if its place in the table is asked for the same pair twice in a row. Ranks have few partners at a time: on
// HPL nine of ten lookups hit, which makes the start of a transfer twice as quick. A route that is not asked for again
// is not kept, as it would only drive other data from the processor's caches. For the same reason a place holds only
// the links; the rest of a route is its kind, which many routes share.
type routes struct {
	routeOf routeFunc
	// the same links in the order to add latencies up; nil: that of routeOf
	summedOf     routeFunc
	distanceOf   func(src, dst int) (seconds float64) // latency besides that of links; nil: there is none
	classes      []linkClass
	of           []ofLink // by link
	crossTraffic bool
	window       float64 // byte: TCP gamma, 0 or less for none

	places []place
	shift  int     // of the source in the number of a place, if every pair has its own; else -1
	links  []int32 // width for each place, and for one behind all
	width  int

	kinds    []route // the first is what fill has made last
	kindOf   map[string]int32
	key      []byte // scratch of keep
	patterns [1 << patternBits]patternKind

	walk uint32 // number of the last walk over the links of a route

	there, back, summed []int32 // of compute
	from, to            int32   // what they are of, if there is a way back
	order               []int32 // scratch of summed
}

// place is an entry of the table of kept routes.
type place struct {
	asked hostPair // the pair that was asked for last
	kind  int32    // of its route, an index of routes.kinds; 0 if that is not known
}

// ofLink is the data of a link that routes needs.
type ofLink struct {
	class   int32  // index in routes.classes
	met     uint32 // number of the last walk that met it
	entry   int16  // its index among the links of the route, if that was this walk
	digit   uint8  // of its class in patterns; 0 if that has none, and for FATPIPEs
	fatpipe bool
	ample   bool // it is never full before others are
}

// hostPair is the source and the destination of a route; never 0.
type hostPair uint64

// route is the way from a host to another, and back with cross traffic, without the numbers of its links.
type route struct {
	// Its Bound is the smallest capacity of its links, or the TCP window if that is less; +Inf without links. A link
	// that the route crosses several times is one constraint.
	maxmin.Variable

	latency float64 // s: sum over the links there
	narrow  float64 // byte/s: min bandwidth
	within  bool    // from a host to itself
}

// unlimited is the share in byte/s of a flow with an empty route. Its product with a penalty is a number.
const unlimited = 1e200

// maxRouteLinks is the largest number of links there and back.
const maxRouteLinks = math.MaxInt16

// How many routes are remembered: those between all hosts if their numbers have few
// bits, else one for each link within bounds.
const (
	fewBits        = 7
	minKnownRoutes = 1 << 12
	maxKnownRoutes = 1 << 15
)

func newRoutes(links []platforms.Link, hosts int, routeOf routeFunc, o *Options) *routes {
	r := &routes{
		routeOf: routeOf, of: make([]ofLink, len(links)),
		crossTraffic: o.CrossTraffic && o.Contention, window: o.TCPGamma,
		width: 4, kinds: make([]route, 1),
	}
	r.shift = bits.Len(uint(max(hosts-1, 0)))
	count := 1 << (2 * min(r.shift, fewBits))
	if r.shift > fewBits {
		r.shift = -1
		count = minKnownRoutes
		for count < len(r.of) && count < maxKnownRoutes {
			count *= 2
		}
	}
	r.places = make([]place, count)
	r.forget()
	index := map[linkClass]int32{}
	for i, l := range links {
		r.of[i].fatpipe = l.Policy == platforms.Fatpipe
		r.classify(int32(i), classOf(l.Bandwidth, l.Latency, o), index)
	}
	return r
}

// place returns the place of the route from src to dst.
func (r *routes) place(src, dst int32) uint32 {
	mask := uint32(len(r.places) - 1)
	if r.shift >= 0 {
		return (uint32(src)<<r.shift | uint32(dst)) & mask
	}
	return (uint32(src)*2654435761 + uint32(dst)*2246822519) >> 8 & mask
}

// forget empties all places, whose width may have changed.
func (r *routes) forget() {
	r.links = make([]int32, (len(r.places)+1)*r.width)
	r.forgetKinds()
}

// forgetPlaces forgets of which kinds the routes are.
func (r *routes) forgetPlaces() {
	for i := range r.places {
		r.places[i].kind = 0
	}
}

func (r *routes) forgetKinds() {
	r.forgetPlaces()
	r.kinds, r.kindOf = r.kinds[:1], map[string]int32{}
	clear(r.patterns[:])
}

// find returns the route from src to dst and its links, valid until the next find.
func (r *routes) find(src, dst int32) (*route, []int32, error) {
	i, pair := int(r.place(src, dst)), hostPair(src)<<32+hostPair(dst)+1
	p := &r.places[i]
	again := p.asked == pair
	if again && p.kind > 0 {
		way := &r.kinds[p.kind]
		return way, r.links[i*r.width:][:len(way.Weights)], nil
	}
	*p = place{asked: pair}
	if err := r.compute(src, dst); err != nil {
		return nil, nil, err
	}
	if !again {
		i = len(r.places)
	}
	// The kind is that of its pattern, if that is known. It is 0 if it is neither known nor to be kept.
	room := r.links[i*r.width:][:0:r.width]
	links, shape := r.pattern(room)
	known := &r.patterns[uint64(shape)*0x9e3779b97f4a7c15>>(64-patternBits)] // another pattern may have this place
	met, kind := shape != 0 && known.pattern == shape, int32(0)
	if met {
		kind = known.kind
	}
	if kind == 0 {
		links = r.fill(room)
		if again || met {
			kind = r.keep()
		}
		if shape != 0 {
			*known = patternKind{shape, kind}
		}
	}
	if again {
		p.kind = kind
	}
	return &r.kinds[kind], links, nil
}

// nextWalk begins a walk over links and returns its number.
func (r *routes) nextWalk() uint32 {
	if r.walk++; r.walk == 0 { // all numbers were used
		for i := range r.of {
			r.of[i].met = 0
		}
		r.walk = 1
	}
	return r.walk
}

// distance returns the latency in seconds from src to dst besides that of links.
func (r *routes) distance(src, dst int) float64 {
	if r.distanceOf == nil {
		return 0
	}
	return r.distanceOf(src, dst)
}

// keep returns the kind of the route that fill has made last.
func (r *routes) keep() int32 {
	way := &r.kinds[0]
	r.key = way.appendKey(r.key[:0])
	if k, ok := r.kindOf[string(r.key)]; ok {
		return k
	}
	if len(r.kinds) > len(r.places) {
		r.forgetKinds()
	}
	k := int32(len(r.kinds))
	kept := *way
	kept.Weights = slices.Clone(way.Weights)
	r.kinds = append(r.kinds, kept)
	r.kindOf[string(r.key)] = k
	return k
}

// appendKey appends what tells kinds apart: all but what follows from the rest.
func (w *route) appendKey(key []byte) []byte {
	key = binary.LittleEndian.AppendUint32(key, uint32(w.Shared))
	if w.within {
		key[len(key)-1] |= 0x80
	}
	for _, v := range []float64{w.latency, w.Penalty, w.Bound, w.MaxLevel, w.narrow} {
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v))
	}
	for _, v := range w.Weights {
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v))
	}
	return key
}

// compute sets r.there, r.back and r.summed. A way back that no route is listed for has no
// links: SimGrid asks there for one only to load it, and finds nothing.
func (r *routes) compute(src, dst int32) (err error) {
	if len(r.back) > 0 && r.from == dst && r.to == src {
		r.there, r.back = r.back, r.there // an exchange: the way back is at hand
	} else {
		r.there, err = r.routeOf(r.there[:0], int(src), int(dst))
		if err == nil && r.crossTraffic {
			if r.back, err = r.routeOf(r.back[:0], int(dst), int(src)); errors.Is(err, platforms.ErrNotListed) {
				err = nil
			} else if err != nil {
				err = fmt.Errorf("cross traffic: %w", err)
			}
		}
		if err != nil {
			r.back = r.back[:0]
			return err
		}
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

// fill makes kinds[0] the route of r.there and r.back, and appends its links. The sums
// run in SimGrid's order, latencies first: on FATPIPE links the last bit can decide.
func (r *routes) fill(links []int32) []int32 {
	w := &r.kinds[0]
	r.nextWalk()
	links, weights, fat := r.addLinks(links, w.Weights[:0], false)
	*w = route{Variable: maxmin.Variable{Bound: unlimited, Shared: len(links)}, within: r.from == r.to, narrow: unlimited}
	if fat {
		links, weights, _ = r.addLinks(links, weights, true)
	}
	w.Weights = weights
	for _, l := range r.summed {
		w.latency += r.class(l).latency
	}
	w.latency += r.distance(int(r.from), int(r.to))
	w.Penalty = w.latency
	for _, l := range r.there {
		c := r.class(l)
		w.Penalty += c.penalty
		w.Bound, w.narrow = min(w.Bound, c.capacity), min(w.narrow, c.bandwidth)
	}
	w.Bound = shareBound(w.Bound, w.latency, r.window)
	w.setPenalty(w.Penalty, r, links)
	return links
}

// shareBound returns the largest share in byte/s of a flow that gets at most a rate, and has a latency and a TCP
// window. Without a window links alone bound it: SimGrid takes a window of 0 or less for the bound, whatever the rate,
// and such a bound for none. Nor does the window bound what takes no link, which ends with its latency.
func shareBound(rate, latency, window float64) float64 {
	if latency != 0 && rate < unlimited {
		rate = min(rate, window/(2*latency))
	}
	if !(rate > 0) {
		return unlimited
	}
	return rate
}

// bounded returns the route of a flow whose share is at most factor times the smallest bandwidth, if it has a bound.
func (w route) bounded(factor, window float64) route {
	if w.narrow == unlimited {
		return w // it takes no link
	}
	w.Bound = min(w.Bound, shareBound(float64(factor*w.narrow), w.latency, window))
	w.MaxLevel = min(w.MaxLevel, w.Bound*w.Penalty)
	return w
}

// setPenalty sets what follows from the penalty.
func (w *route) setPenalty(penalty float64, r *routes, links []int32) {
	w.Penalty, w.Usage, w.MaxLevel = penalty, 1/penalty, w.Bound*penalty
	for i, l := range links {
		if w.Weights[i] == 1 && w.Bound < unlimited {
			continue // links used with weight 1 are in the bound
		}
		usage := float64(w.Weights[i] * w.Usage)
		if c := r.class(l); c.capacity < w.MaxLevel*usage {
			w.MaxLevel = c.capacity / usage
		}
	}
}

// addLinks appends the links there and back that are FATPIPEs, or those that are not, and their weights, and reports
// whether there are others. The weights of a link's occurrences add up, but count by their maximum on a FATPIPE.
func (r *routes) addLinks(links []int32, weights []float64, fatpipe bool) (_ []int32, _ []float64, others bool) {
	weight := 1.0
	for _, way := range [...][]int32{r.there, r.back} {
		for _, l := range way {
			switch of := &r.of[l]; {
			case of.fatpipe != fatpipe:
				others = true
			case of.ample:
			case of.met != r.walk:
				of.met, of.entry = r.walk, int16(len(links))
				links, weights = append(links, l), append(weights, weight)
			case fatpipe:
				weights[of.entry] = max(weights[of.entry], weight)
			default:
				weights[of.entry] += weight
			}
		}
		weight = crossWeight
	}
	return links, weights, others
}

// A pattern tells routes apart by all that their kind depends on: the classes of their links in order, a digit of four
// bits each, and in the last four bits the number of links there. It is 0 where that is not all: for a host to itself,
// with more links than patternLinks, with a link that is met twice or has no digit, and where the latencies are summed
// in another order or are not all.
type pattern uint64

const (
	patternBase  = 16
	patternLinks = 15
)

// patternKind is a pattern that was met, and the kind of the routes that have it, 0 if that is not known.
type patternKind struct {
	pattern pattern
	kind    int32
}

// patternBits is the binary logarithm of the number of patterns that are remembered. A
// fat tree has as many as it has levels.
const patternBits = 6

// pattern appends the links of r.there and r.back, and returns the pattern of the route;
// if that is 0, the links mean nothing.
func (r *routes) pattern(links []int32) ([]int32, pattern) {
	if len(r.there)+len(r.back) > patternLinks || r.from == r.to || r.distanceOf != nil || r.summedOf != nil &&
		!slices.Equal(r.summed, r.there) {
		return links, 0
	}
	p, of, walk := pattern(0), r.of, r.nextWalk()
	for _, way := range [...][]int32{r.there, r.back} {
		for _, l := range way {
			o := &of[l]
			if o.met == walk || o.digit == 0 {
				return links, 0
			}
			o.met = walk
			p = p<<4 | pattern(o.digit)
			if !o.ample {
				links = append(links, l)
			}
		}
	}
	return links, p<<4 | pattern(len(r.there))
}

// linkClass is what links of one kind have in common. Machines have many links but few kinds.
type linkClass struct {
	bandwidth float64 // byte/s
	capacity  float64 // byte/s that it carries
	latency   float64 // s
	penalty   float64 // S/bandwidth
	ample     bool    // it takes no part in the sharing
}

func classOf(bandwidth, latency float64, o *Options) linkClass {
	return linkClass{bandwidth: bandwidth, capacity: o.capacity(bandwidth), latency: latency,
		penalty: o.penalty(bandwidth)}
}

// classify gives a link a class, of those of an index or a new one.
func (r *routes) classify(l int32, c linkClass, index map[linkClass]int32) {
	at, ok := index[c]
	if !ok {
		at = int32(len(r.classes))
		index[c] = at
		r.classes = append(r.classes, c)
	}
	of := &r.of[l]
	of.class, of.ample, of.digit = at, c.ample, 0
	if at+1 < patternBase && !of.fatpipe {
		of.digit = uint8(at + 1)
	}
}

func (r *routes) class(l int32) *linkClass { return &r.classes[r.of[l].class] }

// leaveOut takes links that are never full before others are ([platforms.Platform.AmpleLinks]) out of the
// sharing, which changes results by rounding only. It must be called before the first Start, and
// does nothing where links change.
func (n *Network) leaveOut(links []int32) {
	if n.changing != nil {
		return
	}
	// The lists of routes lose them; latencies and bandwidths stay.
	r, index := n.routes, map[linkClass]int32{}
	for _, l := range links {
		c := *r.class(l)
		c.ample = true
		r.classify(l, c, index)
	}
	r.forgetKinds()
}
