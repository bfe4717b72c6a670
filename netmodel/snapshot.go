package netmodel

import (
	"io"

	"reprise/internal/snapshot"
)

// SaveState writes the state of the network, for RestoreState of another one over the same
// links with the same options. Next must have been called since the last change.
func (n *Network) SaveState(w io.Writer) error { return snapshot.Save(w, n.state) }

// RestoreState sets the state of a new network to what SaveState has written.
func (n *Network) RestoreState(r io.Reader) error { return snapshot.Restore(r, n.state) }

// state leaves out what is remembered only to be quick (the routes, the factors of the last
// size) and the solvers' scratch.
func (n *Network) state(s *snapshot.State) {
	s.Section("network")
	s.Vars(&n.now, &n.active, &n.stats.Flows, &n.stats.Events, &n.factors) // the system counts the rest
	snapshot.Slice(s, &n.flows, func(f *flow) { s.Vars(&f.gain, &f.rate, &f.remaining, &f.since) })
	n.events.State(s, len(n.flows))
	if n.changing != nil {
		snapshot.Slice(s, &n.changing.links, func(k *changingLink) {
			s.Vars(&k.bandwidth, &k.latency, &k.off)
			if s.Reading() {
				n.setClass(k)
				n.system.SetCapacity(k.link, n.opts.capacity(k.bandwidth))
			}
		})
		snapshot.Slice(s, &n.changing.flows, func(f *changingFlow) {
			s.Vars(&f.latency, &f.penalty, &f.bound, &f.weights, &f.shared)
		})
	}
	s.Part(n.system)
}
