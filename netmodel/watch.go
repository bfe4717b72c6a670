package netmodel

// A Watcher is told how the transfers of a Network get on (Network.Watch).
type Watcher interface {
	// Carried tells that transfer id, in its bandwidth phase, got on at a steady rate from a
	// time to another, in seconds. rate and alone are in byte/s: what it got, and what it
	// would have got with all links for itself (0 while a link has no bandwidth). link is the
	// platform's number of the link that bounded it, -1 if the TCP window or a factor of the
	// model did.
	//
	// A transfer is told in parts that follow one another, from the begin of its bandwidth
	// phase to its end: a part ends where one of the three changes. Their rate*(to-from) adds
	// up to the size of the message and its envelope of 16 bytes.
	Carried(id int32, from, to, rate, alone float64, link int32)
}

// Watch has w told what happens to all transfers from now on. Next must have been called
// since the last change, or no transfer be in flight.
func (n *Network) Watch(w Watcher) {
	n.watched = &watch{to: w}
	for id := range n.flows {
		if n.flows[id].since != noDate {
			n.watched.look(n, uint32(id))
		}
	}
}

// watch is what a Network keeps for its Watcher; nil if there is none.
type watch struct {
	to    Watcher
	parts []part // by flow
}

// part is the part of a transfer that is under way.
type part struct {
	open  bool
	link  int32   // that bounds it, -1: none
	from  float64 // s
	rate  float64 // byte/s
	alone float64 // byte/s
}

// look begins a part of flow id if its share is another one than before.
func (w *watch) look(n *Network, id uint32) {
	for int(id) >= len(w.parts) {
		w.parts = append(w.parts, part{})
	}
	f, p := &n.flows[id], &w.parts[id]
	now := part{open: true, link: n.boundOf(id), from: p.from, rate: f.rate, alone: f.maxLevel * f.gain}
	if now == *p {
		return
	}
	w.end(n, id)
	now.from = n.now
	*p = now
}

// lookAll is look for several flows. Not inlined: its callers are hot.
//
//go:noinline
func (w *watch) lookAll(n *Network, flows []uint32) {
	for _, id := range flows {
		w.look(n, id)
	}
}

// end tells the part of flow id that ends now.
func (w *watch) end(n *Network, id uint32) {
	p := &w.parts[id]
	if p.open && n.now > p.from {
		w.to.Carried(int32(id), p.from, n.now, p.rate, p.alone, p.link)
	}
	p.open = false
}

// boundOf returns the link that bounds the share of flow id, -1 if none does: its
// bottleneck, or the first that it saturates.
func (n *Network) boundOf(id uint32) int32 {
	f := &n.flows[id]
	first, to := n.allSlots(id)
	if f.bottleneck >= 0 {
		return int32(n.slots[first+uint32(f.bottleneck)].link)
	}
	for i := first; i < to; i++ {
		l, usage := n.slots[i].link, n.slots[i].usage
		if n.isFatpipe(l) {
			usage = n.fatUsage(l, usage, f.level)
		}
		if n.links[l].capacity*(1-levelTolerance) <= f.level*usage {
			return int32(l)
		}
	}
	return -1
}

// fatUsage returns the largest of a usage and those of the flows on FATPIPE l that have
// a level at least: a flow of a lower one is bounded elsewhere.
func (n *Network) fatUsage(l uint32, usage, level float64) float64 {
	for s := n.links[l].head; s != none; s = n.slots[s].next {
		if n.flows[n.flowOf(s)].level >= level*(1-levelTolerance) {
			usage = max(usage, n.slots[s].usage)
		}
	}
	return usage
}
