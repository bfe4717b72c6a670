package netmodel

import (
	"math"

	"reprise/internal/snapshot"
)

// Snapshot stores the state of the network in a checkpoint, or sets that of a new
// network over the same links with the same options. What is remembered only to be
// quick (the routes, the factors of the last size) and the solvers' scratch are left
// out.
func (n *Network) Snapshot(c *snapshot.Codec) {
	c.Section("network", *n, n.stats, n.local)
	c.Float64(&n.now)
	snapshot.Index(c, &n.slotShift, 2, 16)
	n.snapshotFlows(c)
	n.snapshotLinks(c)
	flows, links := len(n.flows), len(n.links)
	n.events.Snapshot(c, "events", flows)
	for _, list := range []struct {
		numbers *[]uint32
		limit   int
	}{{&n.fresh, flows}, {&n.left, links}, {&n.leftMixed, links}} {
		snapshot.Slice(c, list.numbers, math.MaxInt32, func(i *uint32) { snapshot.Index(c, i, 0, list.limit) })
	}
	snapshot.Int(c, &n.local.solves)
	snapshot.Int(c, &n.active)
	n.stats.snapshot(c)
}

func (s *Stats) snapshot(c *snapshot.Codec) {
	for _, v := range []*int64{&s.Flows, &s.Events, &s.Solves, &s.SolvedFlows, &s.Rounds, &s.Components} {
		snapshot.Int(c, v)
	}
}

// snapshotFlows is Snapshot of what there is by flow.
func (n *Network) snapshotFlows(c *snapshot.Codec) {
	c.Section("flows", flow{}, coldFlow{}, slot{})
	width := 1 << n.slotShift
	snapshot.Slice(c, &n.flows, math.MaxInt32>>n.slotShift, func(f *flow) {
		for _, v := range []*float64{&f.level, &f.maxLevel, &f.gain, &f.rate, &f.remaining, &f.since} {
			c.Float64(v)
		}
		snapshot.Int(c, &f.slots)
		c.Check(f.shared() <= uint32(width), "flow on %d links of %d", f.shared(), width)
		snapshot.Index(c, &f.bottleneck, noSlot, width)
	})
	snapshot.Slice(c, &n.cold, len(n.flows), func(f *coldFlow) {
		c.Float64(&f.penalty)
		c.Float64(&f.bound)
		c.Float64(&f.factor)
		snapshot.Index(c, &f.slots, 0, width+1)
	})
	slots := len(n.flows) << n.slotShift
	snapshot.Slice(c, &n.slots, slots, func(s *slot) {
		snapshot.Index(c, &s.link, 0, len(n.links))
		c.Float64(&s.usage)
		snapshotSlot(c, &s.next, slots)
		snapshotSlot(c, &s.prev, slots)
	})
	c.Const("flows", len(n.cold))
	c.Const("slots", len(n.slots))
}

// snapshotLinks is Snapshot of what there is by link.
func (n *Network) snapshotLinks(c *snapshot.Codec) {
	c.Section("links", link{}, fatpipe{})
	c.Const("links", len(n.links))
	for i := range n.links {
		l := &n.links[i]
		c.Float64(&l.load)
		snapshotSlot(c, &l.head, len(n.slots))
		snapshot.Index(c, &l.flows, 0, len(n.slots)+1)
		snapshot.Index(c, &l.bottleneck, 0, len(n.slots)+1)
	}
	c.Const("fatpipes", len(n.fatpipes))
	for i := range n.fatpipes {
		c.Float64(&n.fatpipes[i].usage)
		snapshot.Index(c, &n.fatpipes[i].other, 0, len(n.slots)+1)
	}
}

// snapshotSlot is Snapshot of one of so many slots, or none.
func snapshotSlot(c *snapshot.Codec, s *uint32, slots int) {
	number := int32(*s) // -1 for none
	snapshot.Index(c, &number, -1, slots)
	*s = uint32(number)
}
