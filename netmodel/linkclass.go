package netmodel

// linkClass is what links of one kind have in common. Machines have many links but
// few kinds.
type linkClass struct {
	bandwidth float64 // byte/s
	capacity  float64 // byte/s that it carries
	latency   float64 // s
	penalty   float64 // S/bandwidth
	ample     bool    // it takes no part in the sharing
}

func classOf(bandwidth, latency float64, o *Options) linkClass {
	return linkClass{bandwidth: bandwidth, capacity: o.capacity(bandwidth), latency: latency,
		penalty: o.penalty(bandwidth)}
}

// classify gives a link a class, of those of an index or a new one.
func (r *routes) classify(l int32, c linkClass, index map[linkClass]int32) {
	at, ok := index[c]
	if !ok {
		at = int32(len(r.classes))
		index[c] = at
		r.classes = append(r.classes, c)
	}
	of := &r.of[l]
	of.class, of.ample, of.digit = at, c.ample, 0
	if at+1 < patternBase && !of.fatpipe {
		of.digit = uint8(at + 1)
	}
}

// setApart gives a link a class of its own, which may change. Patterns, which go by classes,
// then tell nothing of its routes.
func (r *routes) setApart(l int32) {
	of := &r.of[l]
	r.classes = append(r.classes, r.classes[of.class])
	of.class, of.digit = int32(len(r.classes)-1), 0
}

func (r *routes) class(l int32) *linkClass { return &r.classes[r.of[l].class] }

// Sweep prepares for many transfers at a time on each link, as in halo exchanges. It must be called
// before the first Start. Results differ by rounding only, and the state cannot be saved.
func (n *Network) Sweep() { n.system.UseSweep() }

// LeaveOut takes links that are never full before others are ([platforms.Platform.AmpleLinks]) out of the
// sharing, which changes results by rounding only. It must be called before the first Start, and
// does nothing where links change.
func (n *Network) LeaveOut(links []int32) {
	if n.changing == nil {
		n.routes.leaveOut(links)
	}
}

// leaveOut takes links off the lists of routes, which keep their latency and bandwidth.
func (r *routes) leaveOut(links []int32) {
	index := map[linkClass]int32{}
	for _, l := range links {
		c := *r.class(l)
		c.ample = true
		r.classify(l, c, index)
	}
	r.forgetKinds()
}
