package netmodel

import (
	"errors"
	"io"
	"math"

	"reprise/internal/snapshot"
)

// SaveState writes the state of the network, for RestoreState of another one over the same
// links with the same options. Next must have been called since the last change.
func (n *Network) SaveState(w io.Writer) error { return snapshot.Save(w, n.snapshot) }

// RestoreState sets the state of a new network to what SaveState has written. It checks
// that it hangs together; CheckFlow tells whether a transfer is that of its message.
func (n *Network) RestoreState(r io.Reader) error { return snapshot.Restore(r, n.snapshot) }

// snapshot stores the state, or sets it. What is remembered only to be quick (the routes,
// the factors of the last size) and the solvers' scratch are left out.
func (n *Network) snapshot(c *snapshot.Codec) {
	c.Section("network", *n, n.stats, n.local)
	c.Amount(&n.now)
	snapshot.Index(c, &n.slotShift, 2, 16)
	n.snapshotFlows(c)
	n.snapshotLinks(c)
	flows := len(n.flows)
	n.events.Snapshot(c, "events", flows)
	if len(n.fresh)+len(n.left)+len(n.leftMixed) > 0 {
		c.Fail(errUnsolved)
	}
	snapshot.Index(c, &n.local.solves, 0, refreshPeriod)
	snapshot.Index(c, &n.active, 0, flows+1)
	n.stats.snapshot(c)
	n.snapshotChanging(c)
	if c.Reading() && c.Err() == nil {
		if err := n.check(); err != nil {
			c.Check(false, "%v", err)
		}
	}
}

var errUnsolved = errors.New("the shares have not been computed since the last change")

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
		for _, v := range []*float64{&f.level, &f.maxLevel, &f.gain, &f.rate, &f.remaining} {
			c.Amount(v)
		}
		c.Range(&f.since, noDate, math.MaxFloat64)
		snapshot.Int(c, &f.slots)
		c.Check(f.shared() <= uint32(width), "flow on %d links of %d", f.shared(), width)
		snapshot.Index(c, &f.bottleneck, noSlot, width)
	})
	snapshot.Slice(c, &n.cold, len(n.flows), func(f *coldFlow) {
		c.Amount(&f.penalty)
		c.Amount(&f.bound)
		c.Amount(&f.factor)
		snapshot.Index(c, &f.slots, 0, width+1)
	})
	slots := len(n.flows) << n.slotShift
	snapshot.Slice(c, &n.slots, slots, func(s *slot) {
		snapshot.Index(c, &s.link, 0, len(n.links))
		c.Amount(&s.usage)
		snapshotSlot(c, &s.next, slots)
		snapshotSlot(c, &s.prev, slots)
	})
	c.Check(len(n.cold) == len(n.flows) && len(n.slots) == slots, "%d and %d parts of %d transfers", len(n.cold), len(n.slots), len(n.flows))
}

// snapshotLinks is Snapshot of what there is by link.
func (n *Network) snapshotLinks(c *snapshot.Codec) {
	c.Section("links", link{}, fatpipe{})
	c.Const("links", len(n.links))
	for i := range n.links {
		l := &n.links[i]
		c.Range(&l.load, -math.MaxFloat64, math.MaxFloat64) // it may be below 0 by a rounding
		snapshotSlot(c, &l.head, len(n.slots))
		snapshot.Index(c, &l.flows, 0, len(n.slots)+1)
		snapshot.Index(c, &l.bottleneck, 0, len(n.slots)+1)
	}
	c.Const("fatpipes", len(n.fatpipes))
	for i := range n.fatpipes {
		c.Amount(&n.fatpipes[i].usage)
		snapshot.Index(c, &n.fatpipes[i].other, 0, len(n.slots)+1)
	}
}

// snapshotSlot is Snapshot of one of so many slots, or none.
func snapshotSlot(c *snapshot.Codec, s *uint32, slots int) {
	number := int32(*s) // -1 for none
	snapshot.Index(c, &number, -1, slots)
	*s = uint32(number)
}
