package netmodel

import (
	"fmt"
	"math"

	"reprise/netmodel/maxmin"
	"reprise/platforms"
)

// Links that change with time: SetBandwidth, SetLatency and SetState, which package replay calls as profiles say.
//
// A change of a link reaches the transfers under way, as in SimGrid. The penalty of each transfer on the link, in
// either direction, changes by the difference of S/bandwidth or of the latency; with a new latency its TCP window
// changes too. Its bound stays the smallest bandwidth that its route had when it started. Its latency phase, if it is
// in that, ends at once, unless the bandwidth changes and S is 0: then penalties do not depend on it. A transfer whose
// penalty changes leaves its links and joins them anew.

// changing is the state of links that change; nil if none do.
type changing struct {
	links []changingLink
	at    map[int32]int // index in links
	flows []changingFlow
	stale bool     // routes are remembered from before a change
	ids   []uint32 // scratch of on
	route []int32  // scratch of tune
}

// changingLink is the present state of a link.
type changingLink struct {
	link      int32
	bandwidth float64 // byte/s; may be 0
	latency   float64 // seconds
	off       bool
}

// changingFlow is what the penalty and the bound of a transfer consist of.
type changingFlow struct {
	latency float64   // of its route, as present changes of links have made it
	penalty float64   // latency, and S/bandwidth of the route
	bound   float64   // byte/s: the smallest bandwidth of its route when it started
	weights []float64 // by link
	shared  int       // number of links that are not FATPIPEs, which follow
}

// A LinkOffError is the error of a transfer over a link that is switched off.
type LinkOffError struct{ Link int32 }

func (e *LinkOffError) Error() string { return fmt.Sprintf("link %d is off", e.Link) }

// prepareChanges prepares for changes of the links of p that have profiles.
func (n *Network) prepareChanges(p *platforms.Platform) {
	for _, use := range p.Profiles() {
		for _, l := range use.Links {
			if n.changing == nil {
				n.changing = &changing{at: map[int32]int{}}
			}
			if _, ok := n.changing.at[l]; !ok {
				// A class of its own, which may change. Patterns, which go by classes, then tell nothing of its routes.
				r := n.routes
				of := &r.of[l]
				r.classes = append(r.classes, r.classes[of.class])
				of.class, of.digit = int32(len(r.classes)-1), 0
				bandwidth, latency, _ := p.LinkFigures(l)
				n.changing.at[l] = len(n.changing.links)
				n.changing.links = append(n.changing.links, changingLink{link: l, bandwidth: bandwidth, latency: latency})
			}
		}
	}
}

// SetBandwidth gives a link that has a profile another bandwidth (>= 0 byte/s) at a time up
// to which everything has happened. At 0 its transfers stand still.
func (n *Network) SetBandwidth(l int32, bandwidth, at float64) {
	n.metersChange(at)
	k := n.changing.link(l)
	delta := n.opts.penalty(bandwidth) - n.opts.penalty(k.bandwidth)
	k.bandwidth = bandwidth
	n.setClass(k)
	n.system.SetCapacity(l, n.opts.capacity(bandwidth))
	n.change(l, at, n.opts.WeightS > 0, func(f *changingFlow) { f.penalty += delta })
}

// SetLatency gives a link that has a profile another latency (>= 0 s) at a time up to which everything has happened.
func (n *Network) SetLatency(l int32, latency, at float64) {
	n.metersChange(at)
	k := n.changing.link(l)
	delta := latency - k.latency
	k.latency = latency
	n.setClass(k)
	n.change(l, at, true, func(f *changingFlow) {
		f.latency += delta
		f.penalty += delta
	})
}

// SetState switches a link that has a profile on or off and returns a transfer that therefore fails, or -1.
func (n *Network) SetState(l int32, on bool) (failed int32) {
	n.changing.link(l).off = !on
	if ids := n.on(l); !on && len(ids) > 0 {
		return int32(ids[0])
	}
	return -1
}

// Stands reports whether transfers stand still on a link that has no bandwidth now.
func (n *Network) Stands(l int32) bool {
	return !(n.changing.link(l).bandwidth > 0) && len(n.on(l)) > 0
}

// on returns the transfers in flight on a link, in the order of their numbers. The list is valid until its next call.
func (n *Network) on(l int32) []uint32 {
	ids := n.changing.ids[:0]
	for id := range n.flows {
		inFlight := n.flows[id].since != noTime || !math.IsInf(n.events.Time(int32(id)), 1)
		if inFlight && n.system.Uses(uint32(id), l) {
			ids = append(ids, uint32(id))
		}
	}
	n.changing.ids = ids
	return ids
}

func (c *changing) link(l int32) *changingLink { return &c.links[c.at[l]] }

// setClass has routes use the present state of a link.
func (n *Network) setClass(k *changingLink) {
	*n.routes.class(k.link) = classOf(k.bandwidth, k.latency, &n.opts)
	n.changing.stale = true
}

// note keeps, of a transfer that starts, what later changes of links need.
func (n *Network) note(id uint32, way *route, links []int32, penalty float64) {
	for int(id) >= len(n.changing.flows) {
		n.changing.flows = append(n.changing.flows, changingFlow{})
	}
	f := &n.changing.flows[id]
	f.latency, f.penalty = way.latency, penalty
	f.bound = min(n.opts.capacity(way.narrow), float64(n.lastBound*way.narrow))
	f.weights = append(f.weights[:0], way.Weights[:len(links)]...)
	f.shared = way.Shared
	n.tune(id, way.Penalty)
}

// tune gives a transfer, which is on no link now, a penalty and all that depends on it.
func (n *Network) tune(id uint32, penalty float64) {
	n.flows[id].gain = n.factors[id] / penalty
	links := n.system.AppendConstraints(n.changing.route[:0], id)
	n.changing.route = links
	f := &n.changing.flows[id]
	v := maxmin.Variable{Penalty: penalty, Bound: shareBound(f.bound, f.latency, n.routes.window), Weights: f.weights,
		Shared: f.shared}
	n.system.Fit(&v, links)
	n.system.Set(id, &v, links)
}

// change tells the transfers on link l of its change. If penalties change, update changes their parts, and latency
// phases end.
func (n *Network) change(l int32, at float64, penalties bool, update func(*changingFlow)) {
	n.now = at
	if n.active == 0 {
		return
	}
	ids := n.on(l)
	for _, id := range ids {
		if penalties || n.flows[id].since != noTime {
			n.halt(id)
		}
	}
	for _, id := range ids {
		penalty := n.system.Penalty(id)
		if penalties {
			update(&n.changing.flows[id])
			if penalty = n.changing.flows[id].penalty; !(penalty > 0) { // that of transfers without latency
				penalty = 1
			}
		}
		n.tune(id, penalty)
		if n.flows[id].since == noTime {
			continue
		}
		n.flows[id].rate = 0
		if n.opts.Contention {
			n.system.Enable(id)
		} else {
			n.alone(id)
		}
	}
}

// halt brings a transfer up to date and takes it off its links. One in its latency phase has ended that.
func (n *Network) halt(id uint32) {
	f := &n.flows[id]
	if f.since == noTime {
		n.events.Clear(int32(id))
		f.since = n.now
		n.stats.Events++
		if n.summary != nil {
			n.summary.begin(n, id)
		}
		if n.meter != nil {
			n.metersBegin(id)
		}
		return
	}
	if n.progress(f); f.remaining > 0 {
		n.events.Clear(int32(id))
	} else {
		n.events.Set(int32(id), n.now) // whatever its link carries now
	}
	if n.opts.Contention {
		n.system.Disable(id)
	}
}
