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

// LinkLoad returns how many bytes of its capacity a link gives for each byte that the
// transfer of a message carries over it, which is so many with its envelope, within a host or
// between two: 1/f by FactorProgress, 1 by FactorBound. Acknowledgements on the way back (CrossTraffic) come on
// top of that.
func (o *Options) LinkLoad(bytes float64, within bool) float64 {
	if o.boundsShares() {
		return 1
	}
	f, _ := o.factors(bytes, within)
	return 1 / f
}
