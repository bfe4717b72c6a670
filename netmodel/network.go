// Package netmodel says how long messages take: the protocol of an MPI library (overheads at the sender and the
// receiver, eager and rendezvous sends) and the fluid sharing of links between the transfers in flight.
//
// The model is the one that SMPI, the MPI layer of SimGrid, calls a generalised LogGPS: see docs/network-model.md for
// its formulas and sources. In short, a message of s bytes is carried as z = s+16 bytes, in two phases:
//
//	latency phase    L*g(z) seconds, loads no link
//	bandwidth phase  z bytes at the rate f(z)*v, where v is the flow's share
//
// L is the sum of the latencies on the route, f and g are factors by size, and the shares v are weighted max-min fair
// over the links that the flows in their bandwidth phase use, and recomputed whenever one starts or ends.
//
// The key types are
//
//   - [Options]: every option that affects time, under SimGrid's names;
//   - [Protocol]: what sends and receives cost on a host, and how they are sent;
//   - [Network]: the transfers in flight and the times at which they end; their shares are
//     those of a [maxmin.System], of which links are the constraints and flows the variables;
//   - [Noise]: laws by size that make overheads and latencies random.
//
// The package knows hosts, links, flows, bytes and seconds. It knows nothing of
// ranks, tags or traces, and does not compute routes: package platforms does.
//
//	n, err := netmodel.New(platform, netmodel.DefaultOptions())
//	err = n.Start(0, src, dst, bytes, now) // transfer 0 between two hosts
//	ended := n.Advance(n.Next(), nil)      // at the time of the next event
//
// # Units
//
// Sizes are in bytes, times and latencies in seconds, bandwidths and rates in byte/s.
//
// # Errors
//
// An error of an option names it, one of a file of noise its line. A transfer between hosts
// without a route is refused when it starts.
//
// # Source
//
// SimGrid 3.32's model SMPI: docs/network-model.md gives each formula and the paper that
// it comes from, docs/deviations.md what differs.
package netmodel

import (
	"fmt"
	"io"
	"math"

	"reprise/internal/eventqueue"
	"reprise/internal/snapshot"
	"reprise/kernels/noise"
	"reprise/netmodel/maxmin"
	"reprise/platforms"
)

// Network holds the transfers in flight and computes the times at which they
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
	now    float64 // time of the last Advance

	flows   []flow      // by id
	factors []float64   // by id: f(z), by which a flow progresses for each byte/s of its share
	hosts   []bundleKey // by id: from where to where

	system *maxmin.System   // flows and the links that they share
	events eventqueue.Queue // by flow: start of its bandwidth phase, and from then on a lower bound of its end (first)

	active int
	stats  Stats

	due    []uint32  // scratch of Advance: flows whose events happen now
	bounds []float64 // and the times that the queue had for them

	// Factors of the last message: sizes mostly come in runs.
	lastSize, lastF, lastG float64
	lastBound              float64 // factor of the bound; 1 with FactorProgress
	lastWithin             bool

	changing *changing // nil: links stay as they are
	bundles  *bundles  // nil, the normal case: each flow is a variable of its own. Only crowds are bundled (bundle.go)
	// Of crowded: changes of shares since it looked last, the number of events then, and after how many changes it looks.
	shifts, looked, lookAfter int64
	watched                   *watch   // nil: nobody looks
	summary                   *summary // nil: nobody asks for it
	meter                     *meter   // nil: no link has a power
}

// Stats counts what a Network did.
type Stats struct {
	Flows       int64 `json:"flows"`        // transfers started
	Events      int64 `json:"events"`       // starts and ends of bandwidth phases
	Solves      int64 `json:"solves"`       // times that shares were recomputed
	SolvedFlows int64 `json:"solved_flows"` // flows in those solves that share links, summed
	Rounds      int64 `json:"rounds"`       // fillings of the local solver
	Components  int64 `json:"components"`   // solves that mixed FATPIPEs left to the reference
}

// New returns an idle network over the links and routes of p, at time 0. It validates o. The platform's global loopback
// link gets the bandwidth and the latency of o; p itself is not changed, so several networks may use it.
func New(p *platforms.Platform, o Options) (*Network, error) {
	links := make([]platforms.Link, p.NumLinks())
	for i := range links {
		l := &links[i]
		l.Bandwidth, l.Latency, l.Policy = o.link(p, int32(i))
	}
	// Latencies are added up in SimGrid's order, which may not be that of the links on the way.
	in := func(order platforms.Order) routeFunc {
		return func(route []int32, src, dst int) ([]int32, error) { return p.AppendLinks(order, route, src, dst) }
	}
	routeOf, summedOf := routeFunc(p.AppendRoute), routeFunc(nil)
	if p.OrdersDiffer() {
		routeOf, summedOf = in(platforms.AsListed), in(platforms.AsSummed)
	}
	n, err := newNetwork(links, p.NumHosts(), routeOf, o)
	if err != nil {
		return nil, err
	}
	n.routes.summedOf = summedOf
	if p.HasDistances() {
		n.routes.distanceOf = p.Distance
	}
	n.prepareChanges(p)
	n.meter = newMeter(p)
	if o.Solver != SolverReference { // that is SimGrid's arithmetic, link by link
		n.leaveOut(p.AmpleLinks())
	}
	return n, nil
}

// newNetwork is New over plain links and a routing function between hosts.
func newNetwork(links []platforms.Link, hosts int, routeOf routeFunc, o Options) (*Network, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("network options: %w", err)
	}
	constraints := make([]maxmin.Constraint, len(links))
	for i, l := range links {
		constraints[i].Capacity = o.capacity(l.Bandwidth)
		if l.Policy == platforms.Fatpipe {
			constraints[i].Policy = maxmin.Fatpipe
		}
	}
	n := &Network{opts: o, routes: newRoutes(links, hosts, routeOf, &o), lastSize: -1, events: eventqueue.New(0), lookAfter: lookAfter}
	n.system = maxmin.New(constraints,
		maxmin.Options{Precision: o.SharePrecision, Reference: o.Solver == SolverReference})
	return n, nil
}

// Start adds the transfer of a message of size bytes (>= 0, without envelope) from host src to host dst. Its latency
// phase begins at time at, which may lie in the future but not before the last Advance. id is the caller's name for it
// until Advance returns it: a number >= 0 that no transfer in flight has, and a small one, as there is an array by id.
//
// The error says that there is no route, or with cross traffic no way back.
func (n *Network) Start(id int32, src, dst int, size int64, at float64) error {
	return n.StartNoisy(id, src, dst, size, at, nil, noise.Draw{})
}

// StartNoisy is Start with noise in the latency between two hosts; by may be nil.
func (n *Network) StartNoisy(id int32, src, dst int, size int64, at float64, by *Noise, d noise.Draw) error {
	if src == dst {
		by = nil
	}
	if n.bundles != nil {
		return n.startBundled(id, src, dst, size, at, by, d)
	}
	c := n.changing
	if c != nil && c.stale { // routes are remembered from before a change
		c.stale = false
		n.routes.forgetPlaces()
	}
	way, links, err := n.routes.find(int32(src), int32(dst))
	if err != nil {
		return err
	}
	if c != nil {
		for _, l := range links {
			if i, ok := c.at[l]; ok && c.links[i].off {
				return &LinkOffError{l}
			}
		}
	}
	phase := n.latencyPhase(way, size)
	drawn := phase
	if by != nil {
		drawn = by.Of(TimedLatency, phase, size, d)
	}
	n.launch(uint32(id), way, links, phase, at+drawn)
	n.hosts[id] = keyOf(int32(src), int32(dst), phase == 0)
	if n.meter != nil {
		return n.metersStart(uint32(id), src, dst, at)
	}
	return nil
}

// latencyPhase returns how long the latency phase of a message lasts on a way, and notes its factors.
func (n *Network) latencyPhase(way *route, size int64) float64 {
	z := float64(size) + envelope
	if z != n.lastSize || way.within != n.lastWithin {
		n.lastSize, n.lastWithin = z, way.within
		n.lastF, n.lastG = n.opts.factors(z, way.within)
		n.lastBound = 1
		if n.opts.boundsShares() {
			n.lastF, n.lastBound = 1, n.lastF
		}
	}
	return float64(way.latency * n.lastG)
}

// launch sets up flow id, with the factors that latencyPhase has noted, and its first event: its latency phase, which
// lasts phase seconds without noise, ends at time end. In the crowd case join (bundle.go) takes its place.
func (n *Network) launch(id uint32, way *route, links []int32, phase, end float64) {
	penalty := way.Penalty
	if phase == 0 && way.Penalty != 1 {
		instant := *way
		instant.setPenalty(1, n.routes, links)
		way = &instant
	}
	if n.lastBound < 1 {
		bounded := way.bounded(n.lastBound, n.routes.window)
		way = &bounded
	}
	if int(id) >= len(n.flows) {
		n.reserve(id)
	}
	f := &n.flows[id]
	f.gain, f.rate, f.remaining, f.since = n.lastF/way.Penalty, 0, n.lastSize, noTime
	n.factors[id] = n.lastF
	n.system.Set(id, &way.Variable, links)
	if n.changing != nil {
		n.note(id, way, links, penalty)
	}
	n.events.Set(int32(id), end)
	n.active++
	n.stats.Flows++
}

// Next returns the time of the next event, the start or the end of a bandwidth phase, or +Inf if nothing is in flight.
// If the last Advance changed the set of flows that share links, it computes the new shares first. From a crowd on
// (crowded) flows are bundled: nextBundled then does the same by bundles.
func (n *Network) Next() float64 {
	if n.bundles == nil && n.system.Unsolved() {
		n.solve()
		if n.crowded() {
			n.goOver()
		}
	}
	if n.bundles != nil {
		return n.nextBundled()
	}
	return n.first()
}

// Advance moves the clock to t, at most the time that Next returned: all events
// dated up to t plus the time precision happen, at t. It appends to done the flows
// that ended, in the order of their events: by time, and by number at equal times.
func (n *Network) Advance(t float64, done []int32) []int32 {
	limit := t + n.opts.TimePrecision
	if n.meter != nil {
		n.metersUntil(t - n.opts.TimePrecision)
	}
	n.now = t
	if n.bundles != nil {
		return n.advanceBundled(limit, done)
	}
	due, until := n.due, min(limit, math.MaxFloat64)
	for next := n.first(); next <= until; next = n.first() {
		due = append(due[:0], uint32(n.events.Pop()))
		if n.together() && n.events.Next() <= until {
			due = n.takeMore(due, until)
		}
		for _, id := range due {
			if n.flows[id].since == noTime {
				n.begin(id)
				continue
			}
			if n.watched != nil {
				n.watched.end(n, id)
			}
			if n.summary != nil {
				n.summary.end(n, id)
			}
			n.end(id)
			done = append(done, int32(id))
		}
	}
	n.due = due
	if n.meter != nil {
		n.metersUntil(limit)
	}
	return done
}

// Cached is the number of flows, or of ranks, whose data are assumed to fit into the caches of a processor. With more, the
// events of one time are taken together, and what they touch is read first, so that waits for main memory overlap: 65,536
// ranks gain 1.3, 6,006 nothing (docs/experiments.md).
const Cached = 1 << 13

// together reports whether the events of one time are taken together. Without contention what begins may end before
// others of that time do.
func (n *Network) together() bool { return len(n.flows) > Cached && n.opts.Contention }

// takeMore moves the other events up to a time from the queue to due, which has the first, in their order. The queue has
// lower bounds of the ends: if one is later than that, its event and those behind it stay in the queue.
func (n *Network) takeMore(due []uint32, until float64) []uint32 {
	bounds := append(n.bounds[:0], 0)
	for at := n.events.Next(); at <= until; at = n.events.Next() {
		due, bounds = append(due, uint32(n.events.Pop())), append(bounds, at)
	}
	n.bounds = bounds
	for i := 1; i < len(due); i++ {
		if f := &n.flows[due[i]]; f.since != noTime && f.end() > bounds[i] {
			bounds[i] = f.end()
			for j := i; j < len(due); j++ {
				n.events.Set(int32(due[j]), bounds[j])
			}
			due = due[:i]
		}
	}
	n.system.Fetch(due)
	return due
}

// begin starts the bandwidth phase of flow id now.
func (n *Network) begin(id uint32) {
	n.stats.Events++
	n.flows[id].since = n.now
	if n.summary != nil {
		n.summary.begin(n, id)
	}
	if n.meter != nil {
		n.metersBegin(id)
	}
	if n.opts.Contention {
		n.system.Enable(id)
		return
	}
	n.alone(id)
}

// end ends the bandwidth phase of flow id.
func (n *Network) end(id uint32) {
	n.stats.Events++
	if n.meter != nil {
		n.metersEnd(id)
	}
	if n.opts.Contention {
		n.system.Disable(id)
	}
	n.flows[id].since = noTime
	n.active--
}

// alone gives flow id, which sees no other, its largest rate.
func (n *Network) alone(id uint32) {
	if level := n.system.Alone(id); level > 0 {
		n.setRate(id, level*n.flows[id].gain)
	}
	if n.watched != nil {
		n.watched.look(n, id)
	}
}

// setRate changes the rate of flow id, in byte/s, and with it the time of its end. What is
// left to carry is brought up to date only here, as in SimGrid.
func (n *Network) setRate(id uint32, rate float64) {
	f := &n.flows[id]
	n.progress(f)
	f.rate = rate
	if end := f.end(); end < n.events.Time(int32(id)) {
		n.events.Set(int32(id), end)
	}
}

// first returns the time of the first event. Four of five changes of a rate postpone an end, so the queue holds lower
// bounds of the ends: if the first event is an end, it is computed anew, until the end is no later than its bound.
func (n *Network) first() float64 {
	for {
		at := n.events.Next()
		if at > math.MaxFloat64 {
			return at
		}
		id := n.events.First()
		f := &n.flows[id]
		if f.since == noTime {
			return at
		}
		end := f.end()
		if end <= at {
			return at
		}
		n.events.Set(id, end)
	}
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
	changed := n.system.Solve()
	for _, c := range changed {
		n.setRate(c.Variable, c.Value*n.flows[c.Variable].gain)
	}
	for _, c := range n.system.Shares() {
		n.setRate(c.Variable, c.Value*n.factors[c.Variable])
	}
	if n.watched != nil {
		n.watched.lookAll(n, changed)
	}
	if n.summary != nil {
		n.summary.look(n)
	}
}

// Latency returns the latency in seconds of the route from host src to host dst, without
// factors, and 0 where there is none.
func (n *Network) Latency(src, dst int) (seconds float64) {
	r := n.routes
	routeOf := r.routeOf
	if r.summedOf != nil {
		routeOf = r.summedOf
	}
	links, err := routeOf(make([]int32, 0, 32), src, dst)
	if err != nil {
		return 0
	}
	for _, l := range links {
		seconds += r.class(l).latency
	}
	return seconds + r.distance(src, dst)
}

// Active returns the number of flows in flight, in either phase.
func (n *Network) Active() int { return n.active }

// Stats returns the counts since New.
func (n *Network) Stats() Stats {
	s, solver := n.stats, n.system.Stats()
	s.Solves, s.SolvedFlows, s.Rounds, s.Components = solver.Solves, solver.Variables, solver.Fillings, solver.Components
	return s
}

// envelope is what the network carries beside the payload of a message, in bytes.
const envelope = 16

// crossWeight is the weight of a flow on the links of the way back, where its acknowledgements travel.
const crossWeight = 0.05

// noTime is the time of a flow that is not in its bandwidth phase.
const noTime = -1

// flow is how far a transfer is. What it shares is its variable in the system. 32 bytes.
type flow struct {
	gain      float64 // rate / level of the variable: f(z)/penalty
	rate      float64 // byte/s of progress, f(z) * share
	remaining float64 // bytes to carry at time since, envelope included
	since     float64 // s; noTime outside the bandwidth phase
}

// end returns when a flow in its bandwidth phase ends if its rate stays.
func (f *flow) end() float64 {
	if f.remaining > 0 {
		return f.since + f.remaining/f.rate
	}
	return f.since
}

// reserve makes room for flow id.
func (n *Network) reserve(id uint32) {
	if id > math.MaxInt32 {
		panic("netmodel: the name of a transfer is negative")
	}
	for int(id) >= len(n.flows) {
		n.flows = append(n.flows, flow{since: noTime})
		n.factors = append(n.factors, 0)
		n.hosts = append(n.hosts, 0)
	}
	n.events.Grow(len(n.flows))
}

// SaveState writes the state of the network, for RestoreState of another one over the same
// links with the same options. Next must have been called since the last change.
func (n *Network) SaveState(w io.Writer) error { return snapshot.Save(w, n.state) }

// RestoreState sets the state of a new network to what SaveState has written.
func (n *Network) RestoreState(r io.Reader) error { return snapshot.Restore(r, n.state) }

// state leaves out what is remembered only to be quick (the routes, the factors of the last
// size) and the solvers' scratch.
func (n *Network) state(s *snapshot.State) {
	s.Section("network")
	bundled := n.bundles != nil
	if s.Vars(&bundled); bundled {
		n.goOver()
	}
	s.Vars(&n.now, &n.active, &n.stats.Flows, &n.stats.Events, &n.factors) // the system counts the rest
	s.Vars(&n.shifts, &n.looked)
	snapshot.Slice(s, &n.hosts, func(k *bundleKey) { s.Vars((*uint64)(k)) })
	snapshot.Slice(s, &n.flows, func(f *flow) { s.Vars(&f.gain, &f.rate, &f.remaining, &f.since) })
	n.events.State(s, len(n.flows))
	if n.changing != nil {
		snapshot.Slice(s, &n.changing.links, func(k *changingLink) {
			s.Vars(&k.bandwidth, &k.latency, &k.off)
			if s.Reading() {
				n.setClass(k)
				n.system.SetCapacity(k.link, n.opts.capacity(k.bandwidth))
			}
		})
		snapshot.Slice(s, &n.changing.flows, func(f *changingFlow) {
			s.Vars(&f.latency, &f.penalty, &f.bound, &f.weights, &f.shared)
		})
	}
	if n.meter != nil {
		n.meter.state(s)
	}
	s.Part(n.system)
	if bundled {
		n.bundles.state(s, n)
	}
}
