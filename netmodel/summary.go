package netmodel

// A Summarizer is told of each transfer of a Network when it ends (Network.Summarize).
type Summarizer interface {
	// Carried tells that the network has carried transfer id, which ends now, from a time on, in
	// seconds: so many bytes with the envelope. alone is in byte/s what it would have now with all
	// links for itself (0 while a link has no bandwidth). link is the platform's number of the link
	// that bounds it now, or if it is alone by now the one that did when it began, -1 for none.
	Carried(id int32, from, bytes, alone float64, link int32)
}

// Summarize has s told of all transfers that end from now on. Next must have been called since
// the last change, or no transfer be in flight. It takes less time than Watch.
func (n *Network) Summarize(s Summarizer) {
	n.summary = &summary{to: s}
	for id := range n.flows {
		n.summary.begin(n, uint32(id))
	}
}

// summary is what a Network keeps for its Summarizer.
type summary struct {
	to    Summarizer
	begun []begun  // by flow
	fresh []uint32 // flows that have begun since the last solve
}

// begun is the begin of the bandwidth phase of a flow.
type begun struct {
	at    float64 // s
	bytes float64
	link  int32 // that bounded it then, if it was not alone; else -1
}

// noLink bounds no flow.
const noLink = -1

// begin notes that the bandwidth phase of flow id begins.
func (s *summary) begin(n *Network, id uint32) {
	for int(id) >= len(s.begun) {
		s.begun = append(s.begun, begun{})
	}
	s.begun[id] = begun{n.now, n.flows[id].remaining, noLink}
	if n.opts.Contention {
		s.fresh = append(s.fresh, id)
	}
}

// look notes what bounds the flows that have begun. Not inlined: its caller is hot.
//
//go:noinline
func (s *summary) look(n *Network) {
	for _, id := range s.fresh {
		if n.system.Enabled(id) && !n.isAlone(id) {
			s.begun[id].link = n.system.Limit(id)
		}
	}
	s.fresh = s.fresh[:0]
}

// end tells of flow id, which ends now.
func (s *summary) end(n *Network, id uint32) {
	b := &s.begun[id]
	link := b.link
	if !n.isAlone(id) {
		link = n.system.Limit(id)
	}
	s.to.Carried(int32(id), b.at, b.bytes, n.system.MaxLevel(id)*n.flows[id].gain, link)
}

// isAlone reports whether flow id is as quick as it is without others.
func (n *Network) isAlone(id uint32) bool {
	return n.system.Level(id) >= n.system.MaxLevel(id)*asAlone
}

// asAlone is the share of its level alone from which on a flow is alone: levels are rounded.
const asAlone = 1 - 1e-9
