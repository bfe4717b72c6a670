package netmodel

import (
	"math"
	"slices"

	"reprise/internal/snapshot"
)

// snapshotChanging stores the present state of links that change and what their changes need to
// know of transfers, or sets it.
func (n *Network) snapshotChanging(c *snapshot.Codec) {
	if n.changing == nil {
		return
	}
	c.Section("changing links", changing{}, changingLink{}, changingFlow{})
	c.Const("changing links", len(n.changing.links))
	for i := range n.changing.links {
		k := &n.changing.links[i]
		c.Amount(&k.bandwidth)
		c.Amount(&k.latency)
		c.Bool(&k.off)
		if c.Reading() && c.Err() == nil {
			n.setClass(k)
			n.system.SetCapacity(k.link, n.opts.capacity(k.bandwidth))
		}
	}
	snapshot.Slice(c, &n.changing.flows, len(n.flows), func(f *changingFlow) {
		c.Range(&f.latency, -math.MaxFloat64, math.MaxFloat64) // a rounding may take it below 0
		c.Range(&f.penalty, -math.MaxFloat64, math.MaxFloat64)
		c.Amount(&f.bound)
		snapshot.Slice(c, &f.weights, maxRouteLinks, func(w *float64) { c.Amount(w) })
		snapshot.Index(c, &f.shared, 0, len(f.weights)+1)
	})
}

// checkChangingFlow is CheckFlow where links change: a transfer keeps what they were when it
// started, so only its links and what follows from its penalty are as those of its route.
func (n *Network) checkChangingFlow(id int32, way *route, links []int32) error {
	if int(id) >= len(n.changing.flows) {
		return errOtherWay
	}
	penalty, own := n.system.Penalty(uint32(id)), &n.changing.flows[id]
	if !slices.Equal(own.weights, way.Weights[:len(links)]) || own.shared != way.Shared || penalty != own.presentPenalty() && penalty != 1 {
		return errOtherWay
	}
	if v := n.variable(uint32(id), penalty, links); !n.system.Is(uint32(id), &v, links) {
		return errOtherWay
	}
	return nil
}
