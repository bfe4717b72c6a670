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
//
// If whole, which takes less time, each transfer is told in one part, when it ends: at its mean
// rate, with alone as it is then, and the link that bounds it then, or if it is alone by then
// the one with which it began.
func (n *Network) Watch(w Watcher, whole bool) {
	n.watched = &watch{to: w, whole: whole}
	for id := range n.flows {
		if n.flows[id].since != noTime {
			n.watched.begin(n, uint32(id))
			n.watched.look(n, uint32(id))
		}
	}
}

// watch is what a Network keeps for its Watcher; nil if there is none.
type watch struct {
	to    Watcher
	whole bool   // transfers are told in one part
	parts []part // by flow
	round uint32 // number of the last solve

	begun []uint32 // flows that have begun since then; if whole
}

// part is the part of a transfer that is under way.
type part struct {
	open  bool
	link  int32   // that bounds it, -1: none
	round uint32  // in which it was looked at last
	from  float64 // s
	rate  float64 // byte/s; of a transfer that is told in one part, its bytes
	alone float64 // byte/s
}

// begin begins the bandwidth phase of flow id. Its first part begins with look.
func (w *watch) begin(n *Network, id uint32) {
	if !w.whole {
		return
	}
	*w.part(id) = part{open: true, link: noLink, from: n.now, rate: n.flows[id].remaining}
	if n.opts.Contention {
		w.begun = append(w.begun, id)
	}
}

// noLink bounds no flow.
const noLink = -1

// lookAtBegun notes the links that bound flows which have begun, if they are not alone.
func (w *watch) lookAtBegun(n *Network) {
	for _, id := range w.begun {
		if n.system.Enabled(id) && !n.isAlone(id) {
			w.parts[id].link = n.system.Limit(id)
		}
	}
	w.begun = w.begun[:0]
}

// isAlone reports whether flow id is as quick as it is without others.
func (n *Network) isAlone(id uint32) bool {
	return n.system.Level(id) >= n.system.MaxLevel(id)*asAlone
}

// part returns the part of a flow.
func (w *watch) part(id uint32) *part {
	for int(id) >= len(w.parts) {
		w.parts = append(w.parts, part{})
	}
	return &w.parts[id]
}

// look begins a part of flow id if its share is another one than before.
func (w *watch) look(n *Network, id uint32) {
	if w.whole {
		return
	}
	f, p := &n.flows[id], w.part(id)
	p.round = w.round
	link, alone := n.system.Limit(id), n.system.MaxLevel(id)*f.gain
	if p.open && f.rate == p.rate && link == p.link && alone == p.alone {
		return
	}
	if p.open && n.now > p.from {
		w.to.Carried(int32(id), p.from, n.now, p.rate, p.alone, p.link)
	}
	p.open, p.link, p.from, p.rate, p.alone = true, link, n.now, f.rate, alone
}

// lookAll is look for the flows that the last solve was about, those of which it has changed
// the level first. Not inlined: its caller is hot.
//
//go:noinline
func (w *watch) lookAll(n *Network, changed []maxmin.Change) {
	if w.whole {
		w.lookAtBegun(n)
		return
	}
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
	p := w.part(id)
	if w.whole && n.now > p.from {
		w.sumUp(n, id)
	}
	if p.open && n.now > p.from {
		w.to.Carried(int32(id), p.from, n.now, p.rate, p.alone, p.link)
	}
	p.open = false
}

// asAlone is the share of its rate alone from which on a transfer is alone: rates are rounded,
// and the times that a mean is from.
const asAlone = 1 - 1e-9

// sumUp makes the part that of the whole transfer of flow id, which ends now.
func (w *watch) sumUp(n *Network, id uint32) {
	p := &w.parts[id]
	p.rate /= n.now - p.from
	p.alone = n.system.MaxLevel(id) * n.flows[id].gain
	if p.link == noLink || !n.isAlone(id) {
		p.link = n.system.Limit(id)
	}
	if p.rate > p.alone*asAlone && p.alone > 0 {
		p.rate = p.alone
	}
}
