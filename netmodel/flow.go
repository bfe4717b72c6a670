package netmodel

// envelope is what the network carries beside the payload of a message, in bytes.
const envelope = 16

// crossWeight is the weight of a flow on the links of the way back, where its
// acknowledgements travel.
const crossWeight = 0.05

// noLink says that a flow has no bottleneck among the links.
const noLink = -1

// flow is what the solver and the queue know of a transfer. In its bandwidth phase
// the flow has the share level/penalty; level is what the solvers compute. 64
// bytes, one cache line.
type flow struct {
	level      float64 // share * penalty; 0 before the first solve
	maxLevel   float64 // of the flow alone on its route
	gain       float64 // rate / level: f(z)/penalty
	rate       float64 // byte/s of progress, f(z) * share
	remaining  float64 // bytes to carry at date since, envelope included
	since      float64 // s
	slot       int32   // first of its slots: those on SHARED links, then on FATPIPEs
	numShared  uint16
	numSlots   uint16
	bottleneck int32 // the link that fixed its level; noLink if its bound did
	local      int32 // index in solver.flows, valid if that entry is this flow
}

// coldFlow is what is read seldom.
type coldFlow struct {
	penalty float64
	bound   float64 // byte/s of share: min bandwidth and TCP window
	factor  float64 // f(z); the share of v bytes/s progresses at f(z)*v
	block   int32   // number of slots that it owns
	phase   phase
}

type phase uint8

const (
	phaseFree phase = iota
	phaseLatency
	phaseBandwidth
)

// slot is one flow on one link. The slots of a link's flows in their bandwidth
// phase form a doubly linked list. A slot with neither neighbour is alone on its
// link.
type slot struct {
	usage      float64 // weight / penalty: load per level
	link       int32
	flow       int32
	next, prev int32 // slots, -1 at the ends
}

func (s *slot) alone() bool { return s.next&s.prev == -1 }

// link is one capacity and the flows on it that are in their bandwidth phase.
type link struct {
	capacity   float64 // byte/s
	load       float64 // sum of usage*level; kept only while there are two flows or more
	head       int32   // first slot, -1 if none
	flows      int32   // number of slots in the list
	bottleneck int32   // number of flows whose bottleneck this is
	local      int32   // index in solver.links, valid if that entry is this link
}

// linkClass is what links of one kind have in common. Machines have many links but
// few kinds, so Start finds all that it sums up in a small table.
type linkClass struct {
	bandwidth float64 // byte/s
	latency   float64 // s
	penalty   float64 // S/bandwidth
	fatpipe   bool
}

// fatpipe is the state of a FATPIPE link. As long as all its flows have the same
// usage it only bounds each of them. When they differ it is mixed: it couples
// them, and their shares depend on the order of the filling.
type fatpipe struct {
	usage float64 // of the flow that came first
	other int32   // number of flows with another usage
}

// newFlow returns a free id.
func (n *Network) newFlow() int32 {
	if k := len(n.free); k > 0 {
		id := n.free[k-1]
		n.free = n.free[:k-1]
		return id
	}
	id := int32(len(n.flows))
	n.flows = append(n.flows, flow{})
	n.cold = append(n.cold, coldFlow{})
	n.ends.grow(len(n.flows))
	return id
}

// newSlots returns the first of count consecutive slots. Blocks come in even
// sizes, and free ones of a size are chained by next.
func (n *Network) newSlots(count int) (first, block int32) {
	class := (count + 1) / 2
	for len(n.freeSlots) <= class {
		n.freeSlots = append(n.freeSlots, -1)
	}
	block = int32(2 * class)
	if first = n.freeSlots[class]; first >= 0 {
		n.freeSlots[class] = n.slots[first].next
		return first, block
	}
	first = int32(len(n.slots))
	for range block {
		n.slots = append(n.slots, slot{})
	}
	return first, block
}

// release makes the slots of flow id free again, and its id at the next Advance.
func (n *Network) release(id int32) {
	if block := n.cold[id].block; block > 0 {
		first := n.flows[id].slot
		n.slots[first].next = n.freeSlots[block/2]
		n.freeSlots[block/2] = first
	}
	n.cold[id].phase = phaseFree
	n.ended = append(n.ended, id)
}

// shared returns the slots of f on SHARED links.
func (n *Network) shared(f *flow) []slot {
	return n.slots[f.slot : f.slot+int32(f.numShared)]
}

// fat returns the slots of f on FATPIPE links.
func (n *Network) fat(f *flow) []slot {
	return n.slots[f.slot+int32(f.numShared) : f.slot+int32(f.numSlots)]
}

// setSlots gives flow id the slots of its route and of its way back (empty without
// cross traffic), and the level that it has alone there. Occurrences of a link add
// up, or count by their max on a FATPIPE.
func (n *Network) setSlots(id int32, route, back []int32) {
	f, c := &n.flows[id], &n.cold[id]
	f.slot, c.block = n.newSlots(len(route) + len(back))
	there, ack := 1/c.penalty, crossWeight/c.penalty
	slots := n.slots[f.slot : f.slot : f.slot+c.block]
	slots = n.addShared(slots, id, route, there)
	slots = n.addShared(slots, id, back, ack)
	f.numShared = uint16(len(slots))
	if n.fatpipes != nil {
		slots = n.addFat(slots, id, route, there)
		slots = n.addFat(slots, id, back, ack)
	}
	f.numSlots = uint16(len(slots))
	f.maxLevel = c.bound * c.penalty
	for i := range slots {
		// Links used with weight 1 are in the bound.
		if s := &slots[i]; s.usage != there {
			f.maxLevel = min(f.maxLevel, n.class(s.link).bandwidth/s.usage)
		}
	}
}

// class returns what link l has in common with others.
func (n *Network) class(l int32) *linkClass { return &n.classes[n.classOf[l]] }

// addShared adds usage to the slots of flow id on those links that are SHARED.
func (n *Network) addShared(slots []slot, id int32, links []int32, usage float64) []slot {
	for _, l := range links {
		if n.isFatpipe(l) {
			continue
		}
		if i := indexOf(slots, l); i >= 0 {
			slots[i].usage += usage
		} else {
			slots = append(slots, slot{usage: usage, link: l, flow: id, next: -1, prev: -1})
		}
	}
	return slots
}

// addFat raises the usage of the slots of flow id on those links that are FATPIPEs.
func (n *Network) addFat(slots []slot, id int32, links []int32, usage float64) []slot {
	for _, l := range links {
		if !n.isFatpipe(l) {
			continue
		}
		if i := indexOf(slots, l); i >= 0 {
			slots[i].usage = max(slots[i].usage, usage)
		} else {
			slots = append(slots, slot{usage: usage, link: l, flow: id, next: -1, prev: -1})
		}
	}
	return slots
}

// indexOf returns the index of the slot on link l, -1 if there is none. Routes are
// short: a search beats a table.
func indexOf(slots []slot, l int32) int {
	for i := range slots {
		if slots[i].link == l {
			return i
		}
	}
	return -1
}

func (n *Network) isFatpipe(l int32) bool {
	return n.fatpipes != nil && n.class(l).fatpipe
}

// join puts flow id on its links, with level 0.
func (n *Network) join(id int32) {
	f := &n.flows[id]
	f.level, f.rate, f.bottleneck = 0, 0, noLink
	for i := f.slot; i < f.slot+int32(f.numShared); i++ {
		n.enlist(i)
	}
	for i := f.slot + int32(f.numShared); i < f.slot+int32(f.numSlots); i++ {
		n.enlistFat(i)
	}
}

// enlist puts slot i at the head of its link's list. The load of a link with one
// flow is not kept, so it is set when the second joins.
func (n *Network) enlist(i int32) {
	s := &n.slots[i]
	l := &n.links[s.link]
	s.prev, s.next = -1, l.head
	if l.head >= 0 {
		first := &n.slots[l.head]
		first.prev = i
		if l.flows == 1 {
			l.load = float64(n.flows[first.flow].level * first.usage)
		}
	}
	l.head = i
	l.flows++
}

// enlistFat does the same on a FATPIPE. If the link is mixed then, the next solve
// takes the textbook's way.
func (n *Network) enlistFat(i int32) {
	n.enlist(i)
	s := &n.slots[i]
	switch p := &n.fatpipes[s.link]; {
	case n.links[s.link].flows == 1:
		p.usage, p.other = s.usage, 0
	case s.usage != p.usage:
		p.other++
	}
}

// leave takes flow id off its links and notes those where others may now rise.
func (n *Network) leave(id int32) {
	f := &n.flows[id]
	if f.bottleneck >= 0 {
		n.links[f.bottleneck].bottleneck--
	}
	for i := f.slot; i < f.slot+int32(f.numShared); i++ {
		l := n.delist(i)
		l.load -= float64(f.level * n.slots[i].usage)
		if l.bottleneck > 0 {
			n.left = append(n.left, n.slots[i].link)
		}
	}
	for i := f.slot + int32(f.numShared); i < f.slot+int32(f.numSlots); i++ {
		n.delistFat(i)
	}
}

// delist takes slot i out of its link's list and returns the link.
func (n *Network) delist(i int32) *link {
	s := &n.slots[i]
	l := &n.links[s.link]
	if s.prev >= 0 {
		n.slots[s.prev].next = s.next
	} else {
		l.head = s.next
	}
	if s.next >= 0 {
		n.slots[s.next].prev = s.prev
	}
	l.flows--
	return l
}

// delistFat does the same on a FATPIPE, which is noted if it was mixed.
func (n *Network) delistFat(i int32) {
	l := n.delist(i)
	s := &n.slots[i]
	p := &n.fatpipes[s.link]
	if p.other == 0 {
		return
	}
	n.leftMixed = append(n.leftMixed, s.link)
	if s.usage != p.usage {
		p.other--
	}
	if p.other == l.flows { // the first usage has no flow any more: take another
		p.usage, p.other = 0, 0
		if l.head >= 0 {
			p.usage = n.slots[l.head].usage
		}
		for k := l.head; k >= 0; k = n.slots[k].next {
			if n.slots[k].usage != p.usage {
				p.other++
			}
		}
	}
}

// mixed reports whether f is on a FATPIPE whose flows have different usages.
func (n *Network) mixed(f *flow) bool {
	for i := range n.fat(f) {
		if n.fatpipes[n.fat(f)[i].link].other > 0 {
			return true
		}
	}
	return false
}
