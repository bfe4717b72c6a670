package netmodel

// Sweep prepares for many transfers at a time on each link, as in halo exchanges. It must be called
// before the first Start. The results are the same but for rounding, and the state cannot be saved.
func (n *Network) Sweep() { n.system.UseSweep() }

// LeaveOut spares the sharing of links that are never full before others are
// ([platforms.Platform.AmpleLinks]), which makes no difference but of rounding. It must be called
// before the first Start, and does nothing where links change.
func (n *Network) LeaveOut(links []int32) {
	if n.changing == nil {
		n.routes.leaveOut(links)
	}
}

// leaveOut has routes hold none of the given links, whose latency and bandwidth they have.
func (r *routes) leaveOut(links []int32) {
	index := map[linkClass]int32{}
	for _, l := range links {
		c := *r.class(l)
		c.ample = true
		r.classify(l, c, index)
	}
	r.forgetKinds()
}
