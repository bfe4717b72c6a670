package netmodel

import (
	"fmt"
	"math"

	"reprise/internal/eventqueue"
	"reprise/internal/invariants"
	"reprise/noise"
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
	opts   Options
	routes *routes
	now    float64 // date of the last Advance

	flows     []flow // by id
	cold      []coldFlow
	slots     []slot // 1<<slotShift for each flow
	slotShift uint8
	links     []link
	fatpipes  []fatpipe // by link; nil if the platform has none

	events eventqueue.Queue // by flow: start of its bandwidth phase, then planned end

	// What changed since the last solve.
	fresh     []uint32 // flows that began their bandwidth phase
	left      []uint32 // SHARED links that a flow left, if others have their bottleneck there
	leftMixed []uint32 // FATPIPE links that a flow left when they were mixed

	local  solver
	system system
	active int
	stats  Stats

	// Factors of the last message: sizes mostly come in runs.
	lastSize, lastF, lastG float64
	lastBound              float64 // factor of the bound; 1 with FactorProgress
	lastWithin             bool

	changing *changing // nil: links stay as they are
	watched  *watch    // nil: nobody looks
}

// Stats counts what a Network did.
type Stats struct {
	Flows       int64 `json:"flows"`        // transfers started
	Events      int64 `json:"events"`       // starts and ends of bandwidth phases
	Solves      int64 `json:"solves"`       // times that shares were recomputed
	SolvedFlows int64 `json:"solved_flows"` // flows in those solves that share links, summed
	Rounds      int64 `json:"rounds"`       // fillings of the local solver
	Components  int64 `json:"components"`   // solves that took the textbook's way for mixed FATPIPEs
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
	n, err := newNetworkOf(p, links, o)
	if err == nil {
		n.watch(p)
	}
	return n, err
}

// newNetworkOf is New but for changes.
func newNetworkOf(p *platforms.Platform, links []platforms.Link, o Options) (*Network, error) {
	if !p.OrdersDiffer() {
		return newNetwork(links, p.NumHosts(), p.AppendRoute, o)
	}
	in := func(order platforms.Order) routeFunc {
		return func(route []int32, src, dst int) ([]int32, error) { return p.AppendLinks(order, route, src, dst) }
	}
	n, err := newNetwork(links, p.NumHosts(), in(platforms.AsListed), o)
	if err == nil {
		n.routes.summedOf = in(platforms.AsSummed)
	}
	return n, err
}

// newNetwork is New over plain links and a routing function between hosts.
func newNetwork(links []platforms.Link, hosts int, routeOf routeFunc, o Options) (*Network, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("network options: %w", err)
	}
	r, err := newRoutes(links, hosts, routeOf, &o)
	if err != nil {
		return nil, err
	}
	n := &Network{opts: o, routes: r, links: make([]link, len(links)), slotShift: 2, lastSize: -1,
		local: newSolver(), events: eventqueue.New(0)}
	for i, l := range links {
		n.links[i] = link{capacity: o.capacity(l.Bandwidth), head: none, room: nowhere}
		if l.Policy == platforms.Fatpipe && n.fatpipes == nil {
			n.fatpipes = make([]fatpipe, len(links))
		}
	}
	return n, nil
}

// Start adds the transfer of a message of size bytes (>= 0, without envelope) from
// host src to host dst, whose latency phase begins at date at, which may lie in
// the future but not before the date of the last Advance. id is the caller's name
// for it until Advance returns it: a number >= 0 that no transfer in flight has.
// Small ones are best, as there is an array by id.
//
// The error says that there is no route, or with cross traffic no way back.
func (n *Network) Start(id int32, src, dst int, size int64, at float64) error {
	n.refresh()
	way, links, err := n.routes.find(int32(src), int32(dst))
	if err == nil && n.changing != nil {
		err = n.changing.checkOn(links)
	}
	if err != nil {
		return err
	}
	phase := n.latencyPhase(way, size)
	n.launch(uint32(id), way, links, phase, at+phase)
	return nil
}

// StartNoisy is Start with noise in the latency between two hosts.
func (n *Network) StartNoisy(id int32, src, dst int, size int64, at float64, by *Noise, d noise.Draw) error {
	n.refresh()
	way, links, err := n.routes.find(int32(src), int32(dst))
	if err == nil && n.changing != nil {
		err = n.changing.checkOn(links)
	}
	if err != nil {
		return err
	}
	phase := n.latencyPhase(way, size)
	drawn := phase
	if src != dst {
		drawn = by.Latency(phase, size, d)
	}
	n.launch(uint32(id), way, links, phase, at+drawn)
	return nil
}

// latencyPhase returns how long the latency phase of a message lasts on a way, and
// notes its factors.
func (n *Network) latencyPhase(way *route, size int64) float64 {
	z := float64(size) + envelope
	if z != n.lastSize || way.within != n.lastWithin {
		n.lastSize, n.lastWithin = z, way.within
		n.setFactors(z, way.within)
	}
	return float64(way.latency * n.lastG)
}

// launch starts the transfer of the message whose factors are noted. Its latency
// phase, which lasts so long without noise, ends at the date.
func (n *Network) launch(id uint32, way *route, links []int32, phase, date float64) {
	penalty := way.penalty
	if phase == 0 && way.penalty != 1 {
		instant := *way
		instant.setPenalty(1, n.routes, links)
		way = &instant
	}
	if n.lastBound < 1 {
		bounded := way.bounded(n.lastBound)
		way = &bounded
	}
	n.setFlow(id, way, links, n.lastSize)
	if n.changing != nil {
		n.note(id, way, links, penalty)
	}
	n.events.Set(int32(id), date)
	n.active++
	n.stats.Flows++
}

// setFactors finds the factors of messages of z bytes.
func (n *Network) setFactors(z float64, within bool) {
	n.lastF, n.lastG = n.opts.factors(z, within)
	n.lastBound = 1
	if n.opts.boundsShares() {
		n.lastF, n.lastBound = 1, n.lastF
	}
}

// setFlow makes id a flow of z bytes that has not begun.
func (n *Network) setFlow(id uint32, way *route, links []int32, z float64) {
	if int(id) >= len(n.flows) {
		n.reserve(id)
	}
	if len(links) > 1<<n.slotShift {
		n.widen(len(links))
	}
	f := &n.flows[id]
	f.level, f.rate, f.maxLevel, f.gain = 0, 0, way.maxLevel, n.lastF/way.penalty
	f.remaining, f.since, f.slots, f.bottleneck = z, noDate, uint16(way.shared), noSlot
	if way.shared < len(links) {
		f.slots |= fatFlag
	}
	c := &n.cold[id]
	c.penalty, c.bound, c.factor, c.slots = way.penalty, way.bound, n.lastF, uint32(len(links))
	slots := n.slots[n.firstSlot(id):][:len(links)]
	weights := way.weights[:len(links)]
	for i, l := range links {
		s := &slots[i]
		s.usage, s.link, s.next, s.prev = float64(weights[i]*way.usage), uint32(l), none, none
	}
}

// Next returns the date of the next event, the start or the end of a bandwidth
// phase, or +Inf if nothing is in flight. If the last Advance changed the set of
// flows that share links, it computes the new shares first.
func (n *Network) Next() float64 {
	if len(n.fresh)+len(n.left)+len(n.leftMixed) > 0 {
		n.solve()
	}
	return n.events.Next()
}

// Advance moves the clock to t, at most the date that Next returned: all events
// dated up to t plus the time precision happen, at t. It appends to done the flows
// that ended, in the order of their events: by date, and by number at equal dates.
func (n *Network) Advance(t float64, done []int32) []int32 {
	n.now = t
	limit := t + n.opts.TimePrecision
	for next := n.events.Next(); next <= limit && next <= math.MaxFloat64; next = n.events.Next() {
		id := uint32(n.events.Pop())
		if n.flows[id].since == noDate {
			n.begin(id)
			continue
		}
		n.end(id)
		done = append(done, int32(id))
		if n.watched != nil {
			n.watched.end(n, id)
		}
	}
	return done
}

// begin starts the bandwidth phase of flow id now.
func (n *Network) begin(id uint32) {
	n.stats.Events++
	n.flows[id].since = n.now
	if n.opts.Contention {
		n.join(id)
		n.fresh = append(n.fresh, id)
		return
	}
	n.setLevel(id, n.flows[id].maxLevel)
	if n.watched != nil {
		n.watched.look(n, id)
	}
}

// end ends the bandwidth phase of flow id.
func (n *Network) end(id uint32) {
	n.stats.Events++
	if n.opts.Contention {
		n.leave(id)
	}
	n.flows[id].since = noDate
	n.active--
}

// sameShare is the relative change of a level below which the flow keeps its rate
// and its planned end: rounding, not a change.
const sameShare = 1e-13

// setLevel changes the level of flow id, and with it the date of its end. What is
// left to carry is brought up to date only here, as in SimGrid.
func (n *Network) setLevel(id uint32, level float64) {
	if f := &n.flows[id]; math.Abs(level-f.level) > sameShare*level {
		n.setRate(id, level, level*f.gain)
	}
}

// setShare is setLevel for a share in byte/s.
func (n *Network) setShare(id uint32, share float64) {
	c := &n.cold[id]
	if level := float64(share * c.penalty); math.Abs(level-n.flows[id].level) > sameShare*level {
		n.setRate(id, level, share*c.factor)
	}
}

// setRate changes the level of flow id and the rate in byte/s that goes with it.
func (n *Network) setRate(id uint32, level, rate float64) {
	f := &n.flows[id]
	n.progress(f)
	f.level, f.rate = level, rate
	end := n.now
	if f.remaining > 0 {
		end += f.remaining / f.rate
	}
	n.events.Set(int32(id), end)
}

// progress brings what a flow has left to carry up to date.
func (n *Network) progress(f *flow) {
	f.remaining -= float64(f.rate * (n.now - f.since))
	if f.remaining < n.opts.TimePrecision*n.opts.SharePrecision {
		f.remaining = 0
	}
	f.since = n.now
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
	if invariants.Enabled {
		n.mustHold()
	}
}

// Latency returns the latency in seconds of the route from host src to host dst, without
// factors, and 0 where there is none.
func (n *Network) Latency(src, dst int) float64 { return n.routes.latencyOf(src, dst) }

// Active returns the number of flows in flight, in either phase.
func (n *Network) Active() int { return n.active }

// Stats returns the counts since New.
func (n *Network) Stats() Stats { return n.stats }

// Share returns the share of flow id on its links in byte/s, 0 in its latency
// phase. It is up to date after Next.
func (n *Network) Share(id int32) float64 {
	if n.flows[id].since == noDate {
		return 0
	}
	return n.flows[id].level / n.cold[id].penalty
}
