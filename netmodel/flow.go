package netmodel

import "math"

// envelope is what the network carries beside the payload of a message, in bytes.
const envelope = 16

// crossWeight is the weight of a flow on the links of the way back, where its
// acknowledgements travel.
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
	}
	n.events.Grow(len(n.flows))
}
