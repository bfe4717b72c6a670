package netmodel

import (
	"fmt"
	"math"

	"reprise/platforms"
)

// Network holds the transfers in flight and computes the dates at which they
// begin and end their bandwidth phases. Its user drives it:
//
//	for t := n.Next(); !math.IsInf(t, 1); t = n.Next() {
//		done = n.Advance(t, done[:0])
//		// complete the messages of done; that may Start others
//	}
//
// A Network is not safe for concurrent use. Its methods allocate nothing once its
// arrays have grown to the largest number of flows that are in flight together.
type Network struct {
	opts    Options
	routeOf routeFunc
	classes []linkClass
	classOf []int32 // by link: index in classes
	now     float64 // date of the last Advance

	flows     []flow
	cold      []coldFlow
	free      []int32 // ids of flows, the last freed on top
	ended     []int32 // ids that the last Advance returned
	slots     []slot
	freeSlots []int32 // by half the size of the block: the first free block
	links     []link
	fatpipes  []fatpipe // by link; nil if the platform has none

	starts lanes     // of bandwidth phases
	ends   eventHeap // of bandwidth phases, and starts that no lane took

	// What changed since the last solve.
	fresh     []int32 // flows that began their bandwidth phase
	left      []int32 // SHARED links that a flow left, if others have their bottleneck there
	leftMixed []int32 // FATPIPE links that a flow left when they were mixed

	local  solver
	system system
	active int
	stats  Stats

	route, back []int32 // scratch of Start
}

// routeFunc appends the links from host src to host dst to route.
type routeFunc func(route []int32, src, dst int) ([]int32, error)

// Stats counts what a Network did.
type Stats struct {
	Flows       int64 // transfers started
	Events      int64 // starts and ends of bandwidth phases
	Solves      int64 // times that shares were recomputed
	SolvedFlows int64 // flows in those solves, summed
	Rounds      int64 // fillings of the local solver
	Components  int64 // solves that took the textbook's way for mixed FATPIPEs
}

// New returns an idle network over the links and routes of p, at date 0. It
// validates o. The platform's global loopback link gets the bandwidth and the
// latency of o; p itself is not changed, so several networks may use it.
func New(p *platforms.Platform, o Options) (*Network, error) {
	links := make([]platforms.Link, p.NumLinks())
	for i := range links {
		l := &links[i]
		l.Bandwidth, l.Latency, l.Policy = p.LinkCapacity(int32(i))
	}
	links[platforms.LoopbackLink].Bandwidth = o.LoopbackBandwidth
	links[platforms.LoopbackLink].Latency = o.LoopbackLatency
	return newNetwork(links, p.AppendRoute, o)
}

// newNetwork is New over plain links and a routing function.
func newNetwork(links []platforms.Link, routeOf routeFunc, o Options) (*Network, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("network options: %w", err)
	}
	n := &Network{
		opts:    o,
		routeOf: routeOf,
		classOf: make([]int32, len(links)),
		links:   make([]link, len(links)),
	}
	n.starts.next = math.Inf(1)
	known := map[linkClass]int32{}
	for i, l := range links {
		if !(l.Bandwidth > 0) || !(l.Latency >= 0) {
			return nil, fmt.Errorf("link %d: bandwidth %v byte/s and latency %v s, want positive and not negative",
				i, l.Bandwidth, l.Latency)
		}
		n.links[i] = link{capacity: l.Bandwidth, head: -1}
		n.setClass(i, l, known)
	}
	return n, nil
}

// setClass sets the class of link i, a new one if it is not known.
func (n *Network) setClass(i int, l platforms.Link, known map[linkClass]int32) {
	c := linkClass{
		bandwidth: l.Bandwidth,
		latency:   l.Latency,
		penalty:   n.opts.WeightS / l.Bandwidth,
		fatpipe:   l.Policy == platforms.Fatpipe,
	}
	at, ok := known[c]
	if !ok {
		at = int32(len(n.classes))
		known[c] = at
		n.classes = append(n.classes, c)
	}
	n.classOf[i] = at
	if c.fatpipe && n.fatpipes == nil {
		n.fatpipes = make([]fatpipe, len(n.links))
	}
}

// Start adds the transfer of a message of size bytes (>= 0, without envelope) from
// host src to host dst, whose latency phase begins at date at, which may lie in
// the future but not before the date of the last Advance. It returns the id of
// the flow. Ids are small: one that is free is used before a new one is made. The
// ids that Advance returns become free at the next Advance, so that flows may be
// started while those that ended are gone through.
//
// The error says that there is no route, or with cross traffic no way back.
func (n *Network) Start(src, dst int, size int64, at float64) (int32, error) {
	if err := n.findRoutes(src, dst); err != nil {
		return 0, err
	}
	z := float64(size) + envelope
	f, g := n.opts.factors(z)
	id := n.newFlow()
	c := &n.cold[id]
	latency := n.setCosts(c, n.route)
	phase := latency * g
	if phase == 0 {
		c.penalty = 1
	}
	c.factor = f
	c.phase = phaseLatency
	n.setSlots(id, n.route, n.back)
	fl := &n.flows[id]
	fl.gain = f / c.penalty
	fl.level, fl.rate, fl.remaining = 0, 0, z
	if e := (entry{at + phase, id}); !n.starts.push(e) {
		n.ends.set(id, e.date)
	}
	n.active++
	n.stats.Flows++
	return id, nil
}

// findRoutes sets n.route and n.back.
func (n *Network) findRoutes(src, dst int) (err error) {
	if n.route, err = n.routeOf(n.route[:0], src, dst); err != nil {
		return err
	}
	n.back = n.back[:0]
	if n.opts.CrossTraffic && n.opts.Contention {
		if n.back, err = n.routeOf(n.back, dst, src); err != nil {
			return fmt.Errorf("cross traffic: %w", err)
		}
	}
	if len(n.route)+len(n.back) > math.MaxUint16 {
		return fmt.Errorf("route from host %d to host %d: %d links there and %d back, want at most %d in all",
			src, dst, len(n.route), len(n.back), math.MaxUint16)
	}
	return nil
}

// unlimited is the share in byte/s of a flow with an empty route.
const unlimited = 1e300

// setCosts computes the penalty and the bound of a flow from its route, and
// returns the sum of the latencies. The sums run in route order, latencies first:
// on FATPIPE links the last bit can decide.
func (n *Network) setCosts(c *coldFlow, route []int32) (latency float64) {
	bandwidth := unlimited
	for _, l := range route {
		latency += n.class(l).latency
	}
	c.penalty = latency
	for _, l := range route {
		k := n.class(l)
		c.penalty += k.penalty
		bandwidth = min(bandwidth, k.bandwidth)
	}
	c.bound = bandwidth
	if latency > 0 {
		c.bound = min(bandwidth, n.opts.TCPGamma/(2*latency))
	}
	return latency
}

// Next returns the date of the next event, the start or the end of a bandwidth
// phase, or +Inf if nothing is in flight. If the last Advance changed the set of
// flows that share links, it computes the new shares first.
func (n *Network) Next() float64 {
	if len(n.fresh)+len(n.left)+len(n.leftMixed) > 0 {
		n.solve()
	}
	return min(n.starts.next, n.ends.top())
}

// Advance moves the clock to t, at most the date that Next returned: all events
// dated up to t plus the time precision happen, at t. It appends to done the flows
// that ended, by ascending planned date, and returns it.
func (n *Network) Advance(t float64, done []int32) []int32 {
	n.now = t
	n.free = append(n.free, n.ended...)
	n.ended = n.ended[:0]
	limit := min(t+n.opts.TimePrecision, math.MaxFloat64)
	if n.starts.next <= limit {
		n.beginLanes(limit)
	}
	for n.ends.top() <= limit {
		id := n.ends.pop()
		if n.flows[id].rate == 0 {
			n.begin(id)
			continue
		}
		n.end(id)
		done = append(done, id)
	}
	return done
}

// beginLanes begins the bandwidth phases that the lanes hold up to date limit.
func (n *Network) beginLanes(limit float64) {
	for i := range n.starts.lane {
		l := &n.starts.lane[i]
		for l.size > 0 && l.front().date <= limit {
			n.begin(l.pop().flow)
		}
	}
	n.starts.findNext()
}

// begin starts the bandwidth phase of flow id now.
func (n *Network) begin(id int32) {
	n.stats.Events++
	n.cold[id].phase = phaseBandwidth
	n.flows[id].since = n.now
	if n.opts.Contention {
		n.join(id)
		n.fresh = append(n.fresh, id)
		return
	}
	n.setLevel(id, n.flows[id].maxLevel)
}

// end ends the bandwidth phase of flow id.
func (n *Network) end(id int32) {
	n.stats.Events++
	if n.opts.Contention {
		n.leave(id)
	}
	n.active--
	n.release(id)
}

// sameShare is the relative change of a level below which the flow keeps its rate
// and its planned end: rounding, not a change.
const sameShare = 1e-13

// setLevel changes the level of flow id, and with it the date of its end. What is
// left to carry is brought up to date only here, as in SimGrid.
func (n *Network) setLevel(id int32, level float64) {
	if f := &n.flows[id]; math.Abs(level-f.level) > sameShare*level {
		n.setRate(id, level, level*f.gain)
	}
}

// setShare is setLevel for a share in byte/s.
func (n *Network) setShare(id int32, share float64) {
	c := &n.cold[id]
	if level := share * c.penalty; math.Abs(level-n.flows[id].level) > sameShare*level {
		n.setRate(id, level, share*c.factor)
	}
}

// setRate changes the level of flow id and the rate in byte/s that goes with it.
func (n *Network) setRate(id int32, level, rate float64) {
	f := &n.flows[id]
	f.remaining -= float64(f.rate * (n.now - f.since))
	if f.remaining < n.opts.TimePrecision*n.opts.SharePrecision {
		f.remaining = 0
	}
	f.since, f.level, f.rate = n.now, level, rate
	end := n.now
	if f.remaining > 0 {
		end += f.remaining / f.rate
	}
	n.ends.set(id, end)
}

// solve computes the shares after the changes since the last solve.
func (n *Network) solve() {
	n.stats.Solves++
	if n.opts.Solver == SolverReference {
		n.solveAll()
	} else {
		n.solveLocal()
	}
	n.fresh, n.left, n.leftMixed = n.fresh[:0], n.left[:0], n.leftMixed[:0]
}

// Active returns the number of flows in flight, in either phase.
func (n *Network) Active() int { return n.active }

// Stats returns the counts since New.
func (n *Network) Stats() Stats { return n.stats }

// Share returns the share of flow id on its links in byte/s, 0 in its latency
// phase. It is up to date after Next.
func (n *Network) Share(id int32) float64 {
	if n.cold[id].phase != phaseBandwidth {
		return 0
	}
	return n.flows[id].level / n.cold[id].penalty
}
