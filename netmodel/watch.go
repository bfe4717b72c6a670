package netmodel

import "reprise/netmodel/maxmin"

// This file tells the user of a Network how its transfers proceed: Watch all the time, Summarize once at the end of
// each.

// A Watcher is told how the transfers of a Network proceed (Network.Watch).
type Watcher interface {
	// Carried tells that transfer id, in its bandwidth phase, moved at a steady rate from a time to another, in
	// seconds. rate and alone are in byte/s: its rate, and the rate that it would have had with all links for itself (0
	// while a link has no bandwidth). link is the platform's number of the link that bounded it, -1 if the TCP window
	// or a factor of the model did.
	//
	// A transfer is told in parts that follow one another, from the begin of its bandwidth phase to its end: a part
	// ends where rate, alone or link changes. The sum of rate*(to-from) is the size of the message and its envelope of
	// 16 bytes.
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

// lookAll is look for the flows of the last solve, first those whose level it has changed. Not inlined: its caller is
// hot.
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

// end tells the Watcher of the last part of flow id, which ends now.
func (w *watch) end(n *Network, id uint32) {
	if p := &w.parts[id]; p.open && n.now > p.from {
		w.to.Carried(int32(id), p.from, n.now, p.rate, p.alone, p.link)
	}
	w.parts[id].open = false
}

// A Summary is what Summarize keeps of a transfer.
type Summary struct {
	From  float64 // since when the network has carried it, seconds
	Bytes float64 // with its envelope
	Alone float64 // byte/s that it would have in the end with all links for itself; 0 while one has no bandwidth
	// Link is the platform's number of the link that bounds it in the end, or, if it has all links for itself then, of
	// the link that bounded it when it began; -1: none.
	Link int32
}

// Size returns the bytes of the message that the network has carried, without its envelope.
func (s *Summary) Size() int64 { return max(0, int64(s.Bytes)-envelope) }

// Summarize has the network keep a Summary of each transfer from now on: of a transfer in flight only of what is left
// of it. Next must have been called since the last change, or no transfer be in flight. It takes less time than Watch.
func (n *Network) Summarize() {
	n.summary = &summary{}
	for id := range n.flows {
		n.summary.begin(n, uint32(id))
		if f := &n.flows[id]; f.since != noTime {
			n.summary.of[id].Bytes = max(0, f.remaining-float64(f.rate*(n.now-f.since)))
		}
	}
}

// Summary returns that of a transfer that the last Advance has returned. It is valid until the number of the transfer
// is used again.
func (n *Network) Summary(id int32) *Summary { return &n.summary.of[id] }

// Factor returns the factor of the rate of a transfer that the last Advance has returned: f(z) with FactorProgress, 1
// with FactorBound. Each byte of the transfer takes 1/Factor bytes of the capacity of a link. Acknowledgements on the
// way back (CrossTraffic) come on top of that.
func (n *Network) Factor(id int32) float64 { return n.factors[id] }

// summary is what a Network keeps for Summary.
type summary struct {
	of    []Summary // by flow, what is known of it: its begin, until it ends
	fresh []uint32  // flows that have begun since the last solve
}

// noLink bounds no flow.
const noLink = -1

// begin notes that the bandwidth phase of flow id begins.
func (s *summary) begin(n *Network, id uint32) {
	if int(id) >= len(s.of) {
		s.reserve(id)
	}
	b := &s.of[id]
	b.From, b.Bytes, b.Link = n.now, n.flows[id].remaining, noLink
	if n.opts.Contention {
		s.fresh = append(s.fresh, id)
	}
}

// reserve makes room for flow id.
//
//go:noinline
func (s *summary) reserve(id uint32) {
	for int(id) >= len(s.of) {
		s.of = append(s.of, Summary{})
	}
}

// look notes what bounds the flows that have begun. Not inlined: its caller is hot.
//
//go:noinline
func (s *summary) look(n *Network) {
	for _, id := range s.fresh {
		if n.flows[id].since != noTime && !n.isAlone(id) {
			s.of[id].Link = n.limitOf(id)
		}
	}
	s.fresh = s.fresh[:0]
}

// end notes what bounds flow id, which ends now, and what it would have alone.
func (s *summary) end(n *Network, id uint32) {
	b := &s.of[id]
	if !n.isAlone(id) {
		b.Link = n.limitOf(id)
	}
	b.Alone = n.levelAlone(id) * n.flows[id].gain
}

// isAlone reports whether flow id is as quick as it is without others.
func (n *Network) isAlone(id uint32) bool { return n.levelOf(id) >= n.levelAlone(id)*asAlone }

// asAlone: a flow counts as alone if its level is at least this part of its level alone, as levels are rounded.
const asAlone = 1 - 1e-9
