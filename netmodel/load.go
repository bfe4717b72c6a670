package netmodel

import "reprise/platforms"

// What a transfer takes of the links of its route, for those who look at a network from
// outside.

// LinkCapacity returns the byte/s that link i of a platform carries.
func (o *Options) LinkCapacity(p *platforms.Platform, i int32) float64 {
	bandwidth, _, _ := p.LinkCapacity(i)
	if i == platforms.LoopbackLink {
		bandwidth = o.LoopbackBandwidth
	}
	return o.capacity(bandwidth)
}
