package netmodel

import "reprise/platforms"

// What a transfer takes of the links of its route, for those who look at a network from
// outside.

// LinkCapacity returns the byte/s that link i of a platform carries.
func (o *Options) LinkCapacity(p *platforms.Platform, i int32) float64 {
	bandwidth, _, _ := o.link(p, i)
	return o.capacity(bandwidth)
}

// link returns the bandwidth, the latency and the policy of link i of a platform: the options
// say those of the global loopback.
func (o *Options) link(p *platforms.Platform, i int32) (bandwidth, latency float64, policy platforms.Policy) {
	bandwidth, latency, policy = p.LinkCapacity(i)
	if i == platforms.LoopbackLink {
		b, l := p.LinkFactors(i)
		bandwidth, latency = o.LoopbackBandwidth*b, o.LoopbackLatency*l
	}
	return bandwidth, latency, policy
}
