package netmodel

import (
	"math"
	"slices"

	"reprise/internal/eventqueue"
	"reprise/internal/snapshot"
	"reprise/platforms"
)

// This file computes the energy of links (meter), as SimGrid's plugin link_energy does: a link draws a power between
// idle and busy by the part of its bandwidth that its transfers have, those on the way back included.
//
// The plugin looks at a link when a message starts or ends that crosses it on its way there, and takes the power at that
// time for all the time since it looked last. So a message alone is counted as busy from its start on, its latency
// included, and transfers on the way back count if they are there when the plugin looks. At one time ends come before
// starts, and shares are those before: a message that starts has none.

// meter is the state of the links that have a power; nil if none has. With it flows are never bundled.
type meter struct {
	of     []int32 // by link of the platform: 1 + index in links, 0: no power
	links  []meteredLink
	uses   [][]meteredUse   // by flow: of metered links
	starts eventqueue.Queue // by flow: starts to look at
	record func(from, to, joules float64)

	there, back []int32 // scratch of metersStart
}

// meteredLink is a link that has a power.
type meteredLink struct {
	platforms.LinkWatts
	bandwidth float64 // byte/s
	fatpipe   bool
	joules    float64 // up to the time looked at
	at        float64 // when it was looked at last, seconds
	flows     []meteredFlow
}

// meteredFlow is a flow in its bandwidth phase on a link.
type meteredFlow struct {
	id     uint32
	weight float64 // of its share
}

// meteredUse is the use of a link by a flow.
type meteredUse struct {
	link   int32 // index in meter.links
	weight float64
	there  bool // on its way there
}

// newMeter returns the meter of the links of p, nil if none of them has a power.
func newMeter(p *platforms.Platform) *meter {
	watts := p.LinkWatts()
	if len(watts) == 0 {
		return nil
	}
	m := &meter{of: make([]int32, p.NumLinks()), starts: eventqueue.New(0)}
	for i, w := range watts {
		bandwidth, _, policy := p.LinkFigures(w.Link)
		m.of[w.Link] = int32(i + 1)
		m.links = append(m.links, meteredLink{LinkWatts: w, bandwidth: bandwidth, fatpipe: policy == platforms.Fatpipe})
	}
	return m
}

// RecordEnergy has f told of the energy of links as it is counted, in joules from a time to another.
func (n *Network) RecordEnergy(f func(from, to, joules float64)) {
	if n.meter != nil {
		n.meter.record = f
	}
}

// LinkEnergy is the energy of a link.
type LinkEnergy struct {
	Link   int32
	Joules float64
}

// LinkEnergies returns the energy of the links that have a power, up to a time to which everything has happened. It
// ends the counting.
func (n *Network) LinkEnergies(until float64) []LinkEnergy {
	if n.meter == nil {
		return nil
	}
	list := make([]LinkEnergy, len(n.meter.links))
	for i := range list {
		n.look(int32(i), until)
		list[i] = LinkEnergy{n.meter.links[i].Link, n.meter.links[i].joules}
	}
	return list
}

// AboveIdle returns the joules of links above those of idle ones as far as they are counted.
func (n *Network) AboveIdle() (joules float64) {
	if n.meter == nil {
		return 0
	}
	for i := range n.meter.links {
		l := &n.meter.links[i]
		joules += l.joules - float64(l.Idle*l.at)
	}
	return joules
}

// look counts the energy of a metered link up to a time.
func (n *Network) look(i int32, at float64) {
	l := &n.meter.links[i]
	if at <= l.at {
		return
	}
	used := 0.0
	for _, f := range l.flows {
		share := float64(f.weight * (n.flows[f.id].rate / n.factors[f.id]))
		if l.fatpipe {
			used = max(used, share)
		} else {
			used += share
		}
	}
	bandwidth := l.bandwidth
	if n.changing != nil {
		if c, ok := n.changing.at[l.Link]; ok {
			bandwidth = n.changing.links[c].bandwidth
		}
	}
	watts := l.Idle
	if used > 0 {
		watts += float64((l.Busy - l.Idle) * (used / bandwidth))
	}
	joules := float64(watts * (at - l.at))
	if n.meter.record != nil {
		n.meter.record(l.at, at, joules)
	}
	l.joules += joules
	l.at = at
}

// lookThere looks at the links that a flow crosses on its way there.
func (n *Network) lookThere(id uint32, at float64) {
	for _, u := range n.meter.uses[id] {
		if u.there {
			n.look(u.link, at)
		}
	}
}

// metersStart notes which links a flow uses, and looks at them when it starts.
func (n *Network) metersStart(id uint32, src, dst int, at float64) error {
	m, r := n.meter, n.routes
	var err error
	if m.there, err = r.routeOf(m.there[:0], src, dst); err != nil {
		return err
	}
	m.back = m.back[:0]
	if r.crossTraffic {
		if m.back, err = r.routeOf(m.back, dst, src); err != nil {
			m.back, err = m.back[:0], nil // routes.compute has let it pass
		}
	}
	for int(id) >= len(m.uses) {
		m.uses = append(m.uses, nil)
	}
	uses, weight := m.uses[id][:0], 1.0
	for _, way := range [...][]int32{m.there, m.back} {
		for _, link := range way {
			i := m.of[link] - 1
			if i < 0 {
				continue
			}
			k := slices.IndexFunc(uses, func(u meteredUse) bool { return u.link == i })
			switch {
			case k < 0:
				uses = append(uses, meteredUse{i, weight, weight == 1})
			case m.links[i].fatpipe:
				uses[k].weight = max(uses[k].weight, weight)
			default:
				uses[k].weight += weight
			}
		}
		weight = crossWeight
	}
	m.uses[id] = uses
	if at <= n.now+n.opts.TimePrecision {
		n.lookThere(id, n.now)
		return nil
	}
	m.starts.Grow(len(m.uses))
	m.starts.Set(int32(id), at)
	return nil
}

// metersUntil looks at the links of the messages that start up to a time.
func (n *Network) metersUntil(limit float64) {
	m := n.meter
	for at := m.starts.Next(); at <= limit && at <= math.MaxFloat64; at = m.starts.Next() {
		n.lookThere(uint32(m.starts.Pop()), at)
	}
}

// metersChange looks at the links of the messages that start before a change of links.
func (n *Network) metersChange(at float64) {
	if n.meter != nil {
		n.metersUntil(at)
	}
}

// metersBegin and metersEnd put a flow on its links and take it from them.
func (n *Network) metersBegin(id uint32) {
	for _, u := range n.meter.uses[id] {
		l := &n.meter.links[u.link]
		l.flows = append(l.flows, meteredFlow{id, u.weight})
	}
}

func (n *Network) metersEnd(id uint32) {
	n.lookThere(id, n.now)
	for _, u := range n.meter.uses[id] {
		l := &n.meter.links[u.link]
		k := slices.IndexFunc(l.flows, func(f meteredFlow) bool { return f.id == id })
		l.flows = slices.Delete(l.flows, k, k+1)
	}
}

// state is what the links have drawn, and who uses them.
func (m *meter) state(s *snapshot.State) {
	snapshot.Slice(s, &m.links, func(l *meteredLink) {
		s.Vars(&l.joules, &l.at)
		snapshot.Slice(s, &l.flows, func(f *meteredFlow) { s.Vars(&f.id, &f.weight) })
	})
	snapshot.Slice(s, &m.uses, func(list *[]meteredUse) {
		snapshot.Slice(s, list, func(u *meteredUse) { s.Vars(&u.link, &u.weight, &u.there) })
	})
	m.starts.State(s, len(m.uses))
}
