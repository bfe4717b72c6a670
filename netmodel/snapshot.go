package netmodel

import (
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
	c.Section("network", *n, n.stats)
	c.Amount(&n.now)
	if !c.Reading() {
		n.planEnds()
	}
	n.snapshotFlows(c)
	flows := len(n.flows)
	n.events.Snapshot(c, "events", flows)
	snapshot.Index(c, &n.active, 0, flows+1)
	n.stats.snapshot(c)
	n.snapshotChanging(c) // first, as capacities may have changed
	c.Part(n.system)
	if c.Reading() && c.Err() == nil {
		if err := n.check(); err != nil {
			c.Check(false, "%v", err)
		}
	}
}

// planEnds brings the ends of all flows up to date.
func (n *Network) planEnds() {
	if n.bundles != nil {
		return
	}
	for id := range n.flows {
		if f := &n.flows[id]; f.since != noTime {
			n.events.Set(int32(id), f.end())
		}
	}
}

// snapshot stores what is counted here, or sets it: the system counts the rest.
func (s *Stats) snapshot(c *snapshot.Codec) {
	snapshot.Int(c, &s.Flows)
	snapshot.Int(c, &s.Events)
}

// snapshotFlows is snapshot of what there is by flow.
func (n *Network) snapshotFlows(c *snapshot.Codec) {
	c.Section("flows", flow{})
	snapshot.Slice(c, &n.flows, math.MaxInt32, func(f *flow) {
		for _, v := range []*float64{&f.gain, &f.rate, &f.remaining} {
			c.Amount(v)
		}
		c.Range(&f.since, noTime, math.MaxFloat64)
	})
	snapshot.Slice(c, &n.factors, len(n.flows), func(f *float64) { c.Amount(f) })
	c.Check(len(n.factors) == len(n.flows), "%d factors of %d transfers", len(n.factors), len(n.flows))
}
