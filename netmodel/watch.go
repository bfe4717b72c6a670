package netmodel

import "reprise/netmodel/maxmin"

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
		if n.flows[id].since != noTime {
			n.watched.look(n, uint32(id))
		}
	}
}

// watch is what a Network keeps for its Watcher; nil if there is none.
type watch struct {
	to    Watcher
	parts []part // by flow
	round uint32 // number of the last solve
}

// part is the part of a transfer that is under way.
type part struct {
	open  bool
	link  int32   // that bounds it, -1: none
	round uint32  // in which it was looked at last
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
	p.round = w.round
	link, alone, rate := n.limitOf(id), n.levelAlone(id)*f.gain, n.rateOf(id)
	if p.open && rate == p.rate && link == p.link && alone == p.alone {
		return
	}
	if p.open && n.now > p.from {
		w.to.Carried(int32(id), p.from, n.now, p.rate, p.alone, p.link)
	}
	*p = part{true, link, w.round, n.now, rate, alone}
}

// lookAll is look for the flows that the last solve was about, those of which it has changed
// the level first. Not inlined: its caller is hot.
//
//go:noinline
func (w *watch) lookAll(n *Network, changed []maxmin.Change) {
	w.round++
	for i := range changed {
		w.look(n, changed[i].Variable)
	}
	for _, id := range n.system.Touched() {
		if int(id) >= len(w.parts) || w.parts[id].round != w.round {
			w.look(n, id)
		}
	}
}

// end tells the part of flow id that ends now.
func (w *watch) end(n *Network, id uint32) {
	if p := &w.parts[id]; p.open && n.now > p.from {
		w.to.Carried(int32(id), p.from, n.now, p.rate, p.alone, p.link)
	}
	w.parts[id].open = false
}
