package netmodel

import (
	"fmt"
	"math"

	"reprise/internal/snapshot"
)

// snapshot stores the present state of links that change and what their changes need to
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
			n.links[k.link].capacity = n.opts.capacity(k.bandwidth)
		}
	}
	snapshot.Slice(c, &n.changing.flows, len(n.flows), func(f *changingFlow) {
		c.Range(&f.latency, -math.MaxFloat64, math.MaxFloat64) // a rounding may take it below 0
		c.Range(&f.penalty, -math.MaxFloat64, math.MaxFloat64)
		c.Amount(&f.bound)
		snapshot.Slice(c, &f.weights, 1<<n.slotShift, func(w *float64) { c.Amount(w) })
	})
}

// checkChangingFlow is CheckFlow where links change: a transfer keeps what they were when it
// started, so only its links and what follows from its penalty are as those of its route.
func (n *Network) checkChangingFlow(id int32, way *route, links []int32) error {
	f, c := &n.flows[id], &n.cold[id]
	if int(id) >= len(n.changing.flows) || int(c.slots) != len(links) || int(f.shared()) != way.shared || f.fat() != (way.shared < len(links)) {
		return errOtherWay
	}
	own := &n.changing.flows[id]
	if len(own.weights) != len(links) || c.penalty != own.presentPenalty() && c.penalty != 1 {
		return errOtherWay
	}
	usage := 1 / c.penalty
	for i, l := range links {
		s := &n.slots[n.firstSlot(uint32(id))+uint32(i)]
		if s.link != uint32(l) || own.weights[i] != way.weights[i] || s.usage != float64(way.weights[i]*usage) {
			return errOtherWay
		}
	}
	if bound, most := n.limits(uint32(id), c.penalty); c.bound != bound || f.maxLevel != most {
		return fmt.Errorf("a bound of %g byte/s, and %g was computed", c.bound, bound)
	}
	return nil
}
