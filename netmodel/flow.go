package netmodel

import "math"

// envelope is what the network carries beside the payload of a message, in bytes.
const envelope = 16

// crossWeight is the weight of a flow on the links of the way back, where its
// acknowledgements travel.
const crossWeight = 0.05

// noSlot says that a flow has no bottleneck among its links.
const noSlot = -1

// noDate is the date of a flow that is not in its bandwidth phase.
const noDate = -1

// flow is what the solver and the event loop know of a transfer. In its bandwidth phase
// the flow has the share level/penalty; level is what the solvers compute. 64
// bytes, one cache line.
type flow struct {
	level      float64 // share * penalty; 0 before the first solve
	maxLevel   float64 // of the flow alone on its route
	gain       float64 // rate / level: f(z)/penalty
	rate       float64 // byte/s of progress, f(z) * share
	remaining  float64 // bytes to carry at date since, envelope included
	since      float64 // s; noDate outside the bandwidth phase
	filled     float64 // level in the filling under way; the old one until it is fixed
	slots      uint16  // number of its slots on SHARED links, and fatFlag if others follow
	bottleneck int16   // which of its slots is on the link that fixed its level; noSlot if its bound did. Provisional in a filling
	filling    stage   // of the filling under way
}

// stage is how far a filling has come with a flow.
type stage uint8

const (
	outside stage = iota // it is not in the working set
	rising               // its level is not fixed
	fixed
)

// fatFlag in flow.slots says that the flow has slots on FATPIPEs too.
const fatFlag = 1 << 15

func (f *flow) shared() uint32 { return uint32(f.slots &^ fatFlag) }
func (f *flow) fat() bool      { return f.slots&fatFlag != 0 }

// coldFlow is what only the textbook and FATPIPEs need.
type coldFlow struct {
	penalty float64
	bound   float64 // byte/s of share: min bandwidth and TCP window
	factor  float64 // f(z); the share of v bytes/s progresses at f(z)*v
	slots   uint32  // number of slots
}

// slot is one flow on one link. Flow f has the slots from f<<slotShift on. The slots
// of a link's flows in their bandwidth phase form a doubly linked list. A slot with
// neither neighbour is alone on its link.
type slot struct {
	usage      float64 // load per level: weight/penalty
	link       uint32
	room       uint32 // index in solver.rooms, nowhere if alone; valid while the flow is in the working set
	next, prev uint32 // slots, none at the ends
}

func (s *slot) alone() bool { return s.next&s.prev == none }

// none is no slot.
const none = math.MaxUint32

// link is one capacity and the flows on it that are in their bandwidth phase.
type link struct {
	capacity   float64 // byte/s
	load       float64 // sum of usage*level; kept only while there are two flows or more
	head       uint32  // first slot, or none
	flows      int32   // number of slots in the list
	bottleneck int32   // number of flows whose bottleneck this is
	room       uint32  // index in solver.rooms while it is in the working set, else nowhere
}

// fatpipe is the state of a FATPIPE link. As long as all its flows have the same
// usage it only bounds each of them. When they differ it is mixed: it couples
// them, and their shares depend on the order of the filling.
type fatpipe struct {
	usage float64 // of the flow that came first
	other int32   // number of flows with another usage
}

// reserve makes room for flow id.
func (n *Network) reserve(id uint32) {
	if id > math.MaxInt32 {
		panic("netmodel: the name of a transfer is negative")
	}
	for int(id) >= len(n.flows) {
		n.flows = append(n.flows, flow{since: noDate})
		n.cold = append(n.cold, coldFlow{})
	}
	n.events.Grow(len(n.flows))
	n.reserveSlots()
}

// reserveSlots makes room for the slots of all flows.
func (n *Network) reserveSlots() {
	for len(n.slots) < len(n.flows)<<n.slotShift {
		n.slots = append(n.slots, slot{})
	}
}

// widen gives every flow room for count slots.
func (n *Network) widen(count int) {
	old, shift := n.slots, n.slotShift
	for count > 1<<n.slotShift {
		n.slotShift++
	}
	if n.slotShift == shift {
		return
	}
	n.slots = nil
	n.reserveSlots()
	moved := func(s uint32) uint32 {
		if s == none {
			return s
		}
		return s>>shift<<n.slotShift | s&(1<<shift-1)
	}
	for i, s := range old {
		s.next, s.prev = moved(s.next), moved(s.prev)
		n.slots[moved(uint32(i))] = s
	}
	for i := range n.links {
		n.links[i].head = moved(n.links[i].head)
	}
}

// sharedSlots returns the slots of flow id on SHARED links.
func (n *Network) sharedSlots(id uint32) []slot {
	return n.slots[n.firstSlot(id):][:n.flows[id].shared()]
}

// fatSlots returns the range of the slots of flow id on FATPIPE links.
func (n *Network) fatSlots(id uint32) (from, to uint32) {
	first := n.firstSlot(id)
	return first + n.flows[id].shared(), first + n.cold[id].slots
}

// allSlots returns the range of the slots of flow id.
func (n *Network) allSlots(id uint32) (from, to uint32) {
	from = n.firstSlot(id)
	return from, from + n.cold[id].slots
}

// slotOn returns which slot of flow id is on link l.
func (n *Network) slotOn(id uint32, l uint32) int16 {
	for i, to := n.allSlots(id); i < to; i++ {
		if n.slots[i].link == l {
			return int16(n.placeOf(i))
		}
	}
	return noSlot
}

func (n *Network) isFatpipe(l uint32) bool {
	return n.fatpipes != nil && n.routes.of[l].fatpipe
}

// flowOf returns the flow of slot s. (& 31 tells the compiler that the shift is a
// small one, which spares a comparison.)
func (n *Network) flowOf(s uint32) uint32 { return s >> (n.slotShift & 31) }

// placeOf returns which slot of its flow s is.
func (n *Network) placeOf(s uint32) uint32 { return s & (1<<(n.slotShift&31) - 1) }

// firstSlot returns the first slot of flow id.
func (n *Network) firstSlot(id uint32) uint32 { return id << (n.slotShift & 31) }

// join puts flow id on its links, with level 0.
func (n *Network) join(id uint32) {
	f := &n.flows[id]
	f.level, f.rate, f.bottleneck = 0, 0, noSlot
	first := n.firstSlot(id)
	n.enlist(first, first+f.shared())
	if f.fat() {
		for i, to := n.fatSlots(id); i < to; i++ {
			n.enlistFat(i)
		}
	}
}

// enlist puts slots at the heads of their links' lists. The load of a link with one
// flow is not kept, so it is set when the second joins.
func (n *Network) enlist(from, to uint32) {
	slots, links, flows, shift := n.slots, n.links, n.flows, n.slotShift&31
	for i := from; i < to; i++ {
		s := &slots[i]
		l := &links[s.link]
		head := l.head
		s.prev, s.next = none, head
		l.head = i
		l.flows++
		if head == none {
			continue
		}
		after := &slots[head]
		after.prev = i
		if l.flows == 2 {
			l.load = float64(flows[head>>shift].level * after.usage)
		}
	}
}

// enlistFat does the same on a FATPIPE. If the link is mixed then, the next solve
// takes the textbook's way.
func (n *Network) enlistFat(i uint32) {
	n.enlist(i, i+1)
	l, usage := n.slots[i].link, n.slots[i].usage
	switch p := &n.fatpipes[l]; {
	case n.links[l].flows == 1:
		p.usage, p.other = usage, 0
	case usage != p.usage:
		p.other++
	}
}

// leave takes flow id off its links and notes those where others may now rise.
func (n *Network) leave(id uint32) {
	f := &n.flows[id]
	n.dropBottleneck(id)
	slots, links, level := n.slots, n.links, f.level
	first := n.firstSlot(id)
	for i, to := first, first+f.shared(); i < to; i++ {
		s := &slots[i]
		l := &links[s.link]
		delist(slots, s, l)
		if l.flows == 0 {
			continue
		}
		l.load -= float64(level * s.usage)
		if l.bottleneck > 0 {
			n.left = append(n.left, s.link)
		}
	}
	if f.fat() {
		for i, to := n.fatSlots(id); i < to; i++ {
			n.delistFat(i)
		}
	}
}

// dropBottleneck makes flow id have no bottleneck.
func (n *Network) dropBottleneck(id uint32) {
	if f := &n.flows[id]; f.bottleneck >= 0 {
		n.bottleneckOf(id).bottleneck--
		f.bottleneck = noSlot
	}
}

// bottleneckOf returns the link that is the bottleneck of flow id.
func (n *Network) bottleneckOf(id uint32) *link {
	return &n.links[n.slots[n.firstSlot(id)+uint32(n.flows[id].bottleneck)].link]
}

// delist takes a slot out of its link's list.
func delist(slots []slot, s *slot, l *link) {
	next, prev := s.next, s.prev
	if prev != none {
		slots[prev].next = next
	} else {
		l.head = next
	}
	if next != none {
		slots[next].prev = prev
	}
	l.flows--
}

// delistFat does the same on a FATPIPE, which is noted if it was mixed.
func (n *Network) delistFat(i uint32) {
	s := &n.slots[i]
	l, p := &n.links[s.link], &n.fatpipes[s.link]
	delist(n.slots, s, l)
	if p.other == 0 {
		return
	}
	n.leftMixed = append(n.leftMixed, n.slots[i].link)
	if n.slots[i].usage != p.usage {
		p.other--
	}
	if p.other == l.flows { // the first usage has no flow any more: take another
		p.usage, p.other = 0, 0
		if l.head != none {
			p.usage = n.slots[l.head].usage
		}
		for k := l.head; k != none; k = n.slots[k].next {
			if n.slots[k].usage != p.usage {
				p.other++
			}
		}
	}
}

// mixed reports whether flow id is on a FATPIPE whose flows have different usages.
func (n *Network) mixed(id uint32) bool {
	for i, to := n.fatSlots(id); i < to; i++ {
		if n.fatpipes[n.slots[i].link].other > 0 {
			return true
		}
	}
	return false
}
