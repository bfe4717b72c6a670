package netmodel

// system translates a part of the network into a filling and back. Its arrays by
// flow and by link are valid where they point to an entry that names that flow or
// link, so nothing is cleared between uses.
type system struct {
	filling filling
	flows   []uint32 // by index in the filling: flow id
	links   []uint32 // by index in the filling: link
	flowAt  []int32  // by flow id: index in the filling
	linkAt  []int32  // by link: index in the filling
}

// solveAll computes all shares anew by the textbook: SolverReference.
func (n *Network) solveAll() {
	n.beginSystem()
	for id := range n.flows {
		if n.flows[id].since != noDate {
			n.addToSystem(uint32(id))
		}
	}
	n.stats.SolvedFlows += int64(len(n.system.flows))
	n.solveSystem()
}

// solveComponent computes by the textbook the shares of all flows that are tied,
// over any number of common links, to a flow that changed. The local solver leaves
// to it what a mixed FATPIPE is involved in.
func (n *Network) solveComponent() {
	n.beginSystem()
	for _, id := range n.local.flows {
		n.addToSystem(id)
	}
	n.abandon()
	for _, id := range n.fresh {
		n.addToSystem(id)
	}
	for _, l := range n.leftMixed {
		n.addFlowsOf(l)
	}
	s := &n.system
	for i := 0; i < len(s.flows); i++ {
		for k, to := n.allSlots(s.flows[i]); k < to; k++ {
			if l := n.slots[k].link; s.addLink(l, n.links[l].capacity, n.isFatpipe(l)) {
				n.addFlowsOf(l)
			}
		}
	}
	n.stats.Components++
	n.stats.SolvedFlows += int64(len(s.flows))
	n.solveSystem()
}

// beginSystem empties the system.
func (n *Network) beginSystem() {
	s := &n.system
	s.flows, s.links = s.flows[:0], s.links[:0]
	s.filling.reset()
	if s.linkAt == nil {
		s.linkAt = make([]int32, len(n.links))
	}
	for len(s.flowAt) < len(n.flows) {
		s.flowAt = append(s.flowAt, 0)
	}
}

// addToSystem adds flow id, unless it is there.
func (n *Network) addToSystem(id uint32) {
	s := &n.system
	if at := int(s.flowAt[id]); at < len(s.flows) && s.flows[at] == id {
		return
	}
	s.flowAt[id] = int32(len(s.flows))
	s.flows = append(s.flows, id)
}

func (n *Network) addFlowsOf(l uint32) {
	for k := n.links[l].head; k != none; k = n.slots[k].next {
		n.addToSystem(n.flowOf(k))
	}
}

// addLink adds link l and reports whether it was new.
func (s *system) addLink(l uint32, capacity float64, fatpipe bool) bool {
	if at := int(s.linkAt[l]); at < len(s.links) && s.links[at] == l {
		return false
	}
	s.linkAt[l] = s.filling.addLink(capacity, fatpipe)
	s.links = append(s.links, l)
	return true
}

// solveSystem computes the shares of the system's flows, which must be all those
// on their links.
func (n *Network) solveSystem() {
	s := &n.system
	for _, id := range s.flows {
		n.fillSystem(id)
	}
	s.filling.solve(n.opts.SharePrecision)
	for i, id := range s.flows {
		n.setResult(id, &s.filling.flows[i])
	}
	if n.watched != nil {
		n.watched.lookAll(n, s.flows)
	}
	for _, l := range s.links {
		n.links[l].load = n.loadOf(l)
	}
}

// fillSystem adds flow id to the filling.
func (n *Network) fillSystem(id uint32) {
	s, c := &n.system, &n.cold[id]
	s.filling.addFlow(c.penalty, c.bound)
	for k, to := n.allSlots(id); k < to; k++ {
		l := n.slots[k].link
		s.addLink(l, n.links[l].capacity, n.isFatpipe(l))
		s.filling.use(s.linkAt[l], n.slots[k].usage)
	}
}

// setResult gives flow id its share and its bottleneck. FATPIPEs are nobody's
// bottleneck: what happens on a mixed one is always solved here.
func (n *Network) setResult(id uint32, r *fillFlow) {
	f := &n.flows[id]
	n.dropBottleneck(id)
	if r.link >= 0 && !n.isFatpipe(n.system.links[r.link]) {
		l := n.system.links[r.link]
		f.bottleneck = n.slotOn(id, l)
		n.links[l].bottleneck++
	}
	n.setShare(id, r.share)
}

// loadOf computes the load of link l from its flows.
func (n *Network) loadOf(l uint32) float64 {
	load := 0.0
	for k := n.links[l].head; k != none; k = n.slots[k].next {
		load += float64(n.flows[n.flowOf(k)].level * n.slots[k].usage)
	}
	return load
}
