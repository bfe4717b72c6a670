package netmodel

import (
	"math"
	"slices"
)

// The local solver.
//
// Progressive filling raises one common level: a flow of penalty p that is fixed at
// level y has the share y/p. Levels are the weighted max-min solution if and only if
//
//	(i)  no link carries more than its capacity, and
//	(ii) every flow is at its own maximum, or has a bottleneck: a saturated link on
//	     which no flow has a higher level.
//
// Both conditions are local, so a solution can be repaired where it was disturbed.
// The solver keeps a set A of flows, at first those that began and those that had
// their bottleneck on a link that was joined or left. It fills A alone, the others
// being frozen, and then looks at the links of A for flows outside for which (ii)
// has become false; these join A, and so on. A only grows, so that ends; on HPL's
// traffic one or two fillings of 1 to 5 flows do. Links that A does not use have not
// changed, so (ii) still holds there: the result is exact.
//
// A link with a single flow is only a bound for that flow, and is contained in its
// maxLevel: such links never enter the filling, and a flow with no others gets its
// maximum at once.
//
// A filling works in place. A flow of A has its stage and level in flow.filling and
// flow.filled, and its bottleneck, which link.bottleneck does not count until the
// commit; each shared link of A has a room, to which link.room and slot.room point.
// Between solves A is empty, every flow is outside and no link has a room; slot.room
// and flow.filled are leftovers then, which nobody reads.
//
// What a processor cannot predict costs it as much as a dozen additions, and which
// link is next, or has no flow left to fix, is as good as random. So the innermost
// loops have no branches: they choose by min and by conditional moves, and a slot that
// is alone on its link has a room too, nowhere, of which nothing is read.

// levelTolerance is the relative difference of levels, and of load to capacity,
// that the conditions above let pass as rounding.
const levelTolerance = 1e-12

// A key has its room in its lowest bits.
const (
	roomBits = 7
	roomMask = 1<<roomBits - 1
)

// heapThreshold is the number of rooms from which a filling keeps them in a heap;
// below, a linear search for the next one is as quick.
const heapThreshold = 1 << roomBits

// nowhere is the room of slots that are alone on their links.
const nowhere = 0

// solver is the local solver's working set.
type solver struct {
	flows []uint32 // A
	rooms []room   // of the links with two flows or more, one of A at least; the first is nowhere
	keys  []int64  // by room: keyOf, or neverKey if all flows of A are fixed
	heap  []fillKey

	mixed    bool    // the set has met a mixed FATPIPE: take the textbook's way
	rising   int     // flows of this filling that have no level yet
	lowest   float64 // at most the smallest maximum of those
	solves   int     // since loads were last recomputed
	heapFrom int     // heapThreshold; lower in tests
}

// newSolver returns an empty working set.
func newSolver() solver {
	a := solver{rooms: []room{nowhere: {floor: math.Inf(-1)}}, heapFrom: heapThreshold}
	a.roomFor(heapThreshold)
	return a
}

// room is a link of the working set, and what it has left for the flows that are
// not fixed yet. 64 bytes.
type room struct {
	rest      float64 // of the capacity
	usage     float64 // sum of the usages of the flows that are not fixed
	floor     float64 // of usage, below which it is summed anew
	frozen    float64 // load of the flows outside A
	total     float64 // sum of the usages of all flows of A on it
	level     float64 // at which flows were fixed here, +Inf if none were
	link      uint32
	members   int32 // flows of A
	rising    int32 // those that are not fixed
	saturated int32 // 1 if flows were fixed here, else 0
}

// solveLocal repairs the levels after the changes since the last solve.
func (n *Network) solveLocal() {
	a := &n.local
	a.mixed = len(n.leftMixed) > 0
	n.seed()
	for before := 0; !a.mixed && len(a.flows) > before; {
		before = len(a.flows)
		n.stats.Rounds++
		if before == 1 && len(a.rooms) < a.heapFrom {
			n.fillOne(a.flows[0])
		} else {
			n.fill()
		}
		n.extend()
	}
	if a.mixed {
		n.solveComponent()
	} else {
		n.stats.SolvedFlows += int64(len(a.flows))
		n.commit()
	}
	if a.solves++; a.solves == refreshPeriod {
		a.solves = 0
		n.refreshLoads()
	}
}

// seed fills A with the flows that surely change.
func (n *Network) seed() {
	for _, id := range n.fresh {
		n.add(id)
	}
	for i, k := nowhere+1, len(n.local.rooms); i < k; i++ {
		n.addJoined(n.local.rooms[i].link)
	}
	for _, l := range n.left {
		if n.links[l].bottleneck > 0 {
			n.addBottlenecked(l)
		}
	}
}

// addJoined adds the flows that a new flow on l probably pushes down: those that
// have their bottleneck there, and one that had the link for itself. (This only
// spares a round: extend would find them.)
func (n *Network) addJoined(l uint32) {
	k := &n.links[l]
	switch {
	case k.bottleneck > 0:
		n.addBottlenecked(l)
	case k.flows == 2 && k.load >= k.capacity*(1-levelTolerance):
		for s := k.head; s != none; s = n.slots[s].next {
			n.add(n.flowOf(s))
		}
	}
}

// addBottlenecked adds the flows that have their bottleneck on l.
func (n *Network) addBottlenecked(l uint32) {
	for s := n.links[l].head; s != none; s = n.slots[s].next {
		if n.isBottleneck(s) {
			n.add(n.flowOf(s))
		}
	}
}

// isBottleneck reports whether the link of slot s is the bottleneck of its flow, one
// outside A.
func (n *Network) isBottleneck(s uint32) bool {
	return uint32(n.flows[n.flowOf(s)].bottleneck) == n.placeOf(s)
}

// add puts flow id into A, unless it is there, and takes it out of the loads and
// the bottleneck counts of its links. One that shares no link and is on no mixed
// FATPIPE gets its maximum instead.
func (n *Network) add(id uint32) {
	f := &n.flows[id]
	if f.filling != outside {
		return
	}
	n.dropBottleneck(id)
	mixed := f.fat() && n.mixed(id)
	if !n.enter(f, n.sharedSlots(id)) && !mixed {
		n.setLevel(id, f.maxLevel)
		if n.watched != nil {
			n.watched.look(n, id)
		}
		return
	}
	f.filling, f.filled = rising, f.level
	a := &n.local
	a.mixed = a.mixed || mixed
	a.flows = append(a.flows, id)
}

// enter puts f into the rooms of the links that it shares, and reports whether it
// shares any.
func (n *Network) enter(f *flow, slots []slot) (shares bool) {
	a, links, level := &n.local, n.links, f.level
	opened := len(a.rooms)
	rooms := a.roomFor(len(slots))
	for i := range slots {
		s := &slots[i]
		if s.alone() {
			s.room = nowhere
			continue
		}
		shares = true
		l := &links[s.link]
		at := l.room
		if at == nowhere {
			at = uint32(opened)
			opened++
			l.room = at
			r := &rooms[at]
			r.frozen, r.total, r.link, r.members = l.load-float64(level*s.usage), s.usage, s.link, 1
		} else {
			r := &rooms[at]
			r.frozen -= float64(level * s.usage)
			r.total += s.usage
			r.members++
		}
		s.room = at
	}
	a.rooms = rooms[:opened]
	return shares
}

// roomFor returns the rooms, and behind them at least so many that are not open. Those of
// an earlier solve are used again as they are: enter and fill set all their fields.
func (a *solver) roomFor(more int) []room {
	if need := len(a.rooms) + more; need > cap(a.rooms) {
		a.rooms = slices.Grow(a.rooms, more)
		a.keys = make([]int64, cap(a.rooms)+spareKeys)
	}
	return a.rooms[:cap(a.rooms)]
}

// fill gives all flows of A their levels by progressive filling, as if the flows
// outside A were fixed.
func (n *Network) fill() {
	a := &n.local
	links, rooms := n.links, a.rooms
	keys := a.keys[:len(rooms)+spareKeys]
	*(*[spareKeys]int64)(keys[len(rooms):]) = [spareKeys]int64{neverKey, neverKey, neverKey}
	for i := nowhere + 1; i < len(rooms); i++ {
		r := &rooms[i]
		rest, usage := links[r.link].capacity-r.frozen, r.total
		keys[i] = keyOf(rest, usage, uint32(i))
		r.rest, r.usage, r.floor = rest, usage, smallRest*usage
		r.level, r.rising, r.saturated = math.Inf(1), r.members, 0
	}
	lowest, flows := math.Inf(1), n.flows
	for _, id := range a.flows {
		f := &flows[id]
		f.filling, f.bottleneck = rising, noSlot
		if f.maxLevel < lowest {
			lowest = f.maxLevel
		}
	}
	a.lowest = lowest
	a.rising = len(a.flows)
	if len(a.rooms) >= a.heapFrom {
		n.fillByHeap()
		return
	}
	for a.rising > 0 {
		n.fillLink(a.firstRoom())
	}
}

// fillOne is fill if A is one flow: the first of its links to saturate, or its maximum,
// gives its level.
func (n *Network) fillOne(id uint32) {
	a, links, f := &n.local, n.links, &n.flows[id]
	rooms, first := a.rooms, int64(neverKey)
	for i := nowhere + 1; i < len(rooms); i++ {
		r := &rooms[i]
		rest := links[r.link].capacity - r.frozen
		first = min(first, keyOf(rest, r.total, uint32(i)))
		r.rest, r.level, r.saturated = rest, math.Inf(1), 0
	}
	r := &rooms[first&roomMask]
	level, slots := max(0, r.rest/r.total), n.sharedSlots(id)
	f.bottleneck = noSlot
	if level > f.maxLevel {
		level = f.maxLevel
	} else {
		r.level, r.saturated = level, 1
		for i := range slots {
			if slots[i].link == r.link {
				f.bottleneck = int16(i)
			}
		}
	}
	a.fixLast(f, slots, level)
}

// keyOf returns the level at which the link of a room saturates, as a number that
// orders as levels do, with the room in place of the last bits: levels that agree to
// 3e-14 count as equal, and the room that was opened first comes first. A link that
// rounding has overloaded comes before all others.
func keyOf(rest, usage float64, room uint32) int64 {
	return int64(math.Float64bits(rest/usage))&^roomMask | int64(room)
}

// neverKey is behind all keys.
const neverKey = math.MaxInt64

// spareKeys is the number of neverKeys that follow the rooms', as firstRoom looks at four
// in a turn.
const spareKeys = 3

// firstRoom returns the room of the link that saturates first.
func (a *solver) firstRoom() *room {
	keys, first, third := a.keys[nowhere+1:len(a.rooms)+spareKeys], int64(neverKey), int64(neverKey)
	for i := 0; i < len(keys)-spareKeys; i += spareKeys + 1 {
		first, third = min(first, keys[i], keys[i+1]), min(third, keys[i+2], keys[i+3])
	}
	return &a.rooms[min(first, third)&roomMask]
}

// fillLink fixes flows when the link of r is the first to saturate: those whose
// maximum is below the level at which it does, or if there are none, all on it.
func (n *Network) fillLink(r *room) {
	level := r.rest / r.usage
	if !(level > 0) { // rounding
		level = 0
	}
	if level > n.local.lowest && n.fixBounded(level) {
		return
	}
	last := int(r.rising) == n.local.rising
	r.level, r.saturated = level, 1
	slots, flows := n.slots, n.flows
	for s := n.links[r.link].head; s != none; s = slots[s].next {
		f := &flows[n.flowOf(s)]
		if f.filling != rising {
			continue
		}
		place := n.placeOf(s)
		own := slots[s-place:][:f.shared()]
		if f.bottleneck = int16(place); last {
			n.local.fixLast(f, own, level)
		} else {
			n.fix(f, own, level)
		}
	}
}

// fixBounded fixes the flows of A whose maximum is below a level that no link
// saturates below, and reports whether there were any.
func (n *Network) fixBounded(level float64) (some bool) {
	a := &n.local
	a.lowest = math.Inf(1)
	for _, id := range a.flows {
		f := &n.flows[id]
		switch {
		case f.filling != rising:
		case f.maxLevel < level:
			n.fix(f, n.sharedSlots(id), f.maxLevel)
			some = true
		default:
			a.lowest = min(a.lowest, f.maxLevel)
		}
	}
	return some
}

// fix gives a flow with the given slots its level and takes it from its links.
func (n *Network) fix(f *flow, slots []slot, level float64) {
	a := &n.local
	f.filled, f.filling = level, fixed
	a.rising--
	rooms := a.rooms
	keys, inexact := a.keys[:len(rooms)], 0
	for i := range slots {
		s := &slots[i]
		room := s.room
		r := &rooms[room]
		rest, usage, left := r.rest-float64(level*s.usage), r.usage-s.usage, r.rising-1
		r.rest, r.usage, r.rising = rest, usage, left
		key, low := keyOf(rest, usage, room), 0
		if usage < r.floor {
			low = 1
		}
		if left == 0 {
			key, low = neverKey, 0
		}
		keys[room] = key
		inexact |= low
	}
	if inexact != 0 {
		n.sumUsages(slots)
	}
}

// fixLast is fix for flows that all the others have gone before: what their links have
// left is all that the commit asks for.
func (a *solver) fixLast(f *flow, slots []slot, level float64) {
	f.filled, f.filling = level, fixed
	a.rising--
	rooms := a.rooms
	for i := range slots {
		s := &slots[i]
		rooms[s.room].rest -= float64(level * s.usage)
	}
}

// smallRest is the part of a sum below which a difference has lost too many digits.
const smallRest = 1e-2

// sumUsages sums the usages anew in those rooms of slots where they are small.
func (n *Network) sumUsages(slots []slot) {
	a := &n.local
	for i := range slots {
		room := slots[i].room
		if r := &a.rooms[room]; r.rising > 0 && r.usage < r.floor {
			r.usage = n.risingUsage(r.link)
			r.floor = smallRest * r.usage
			a.keys[room] = keyOf(r.rest, r.usage, room)
		}
	}
}

// risingUsage sums the usages of the flows on link l that are not fixed.
func (n *Network) risingUsage(l uint32) float64 {
	usage := 0.0
	for s := n.links[l].head; s != none; s = n.slots[s].next {
		if n.flows[n.flowOf(s)].filling == rising {
			usage += n.slots[s].usage
		}
	}
	return usage
}

// extend adds to A the flows outside it for which the levels of A break condition
// (ii), or whose link they overload.
func (n *Network) extend() {
	links, rooms := n.links, n.local.rooms
	for i := nowhere + 1; i < len(rooms); i++ {
		r := &rooms[i]
		on := &links[r.link]
		others := on.flows - r.members
		if int64(others)*int64(on.bottleneck|r.saturated) == 0 { // one branch for all three
			continue
		}
		n.extendLink(on, r.level, n.lowestBottleneck(on, r))
		rooms = n.local.rooms[:len(rooms)] // which may have moved
	}
}

// lowestBottleneck returns the level that flows must have to keep their bottleneck
// on l: the highest on it if it is saturated, else none will do.
func (n *Network) lowestBottleneck(l *link, r *room) float64 {
	if r.rest > 2*levelTolerance*l.capacity {
		return math.Inf(1)
	}
	highest, slots, flows := 0.0, n.slots, n.flows
	for s := l.head; s != none; s = slots[s].next {
		if f := &flows[n.flowOf(s)]; f.filling != outside {
			highest = max(highest, f.filled)
		} else {
			highest = max(highest, f.level)
		}
	}
	return highest * (1 - levelTolerance)
}

// extendLink adds the flows on l that have their bottleneck there and a level below
// lowest, and those above the level at which flows of A were fixed there.
func (n *Network) extendLink(l *link, level, lowest float64) {
	highest, slots, flows := level*(1+levelTolerance), n.slots, n.flows
	for s := l.head; s != none; s = slots[s].next {
		f := &flows[n.flowOf(s)]
		if f.filling == outside && (f.level > highest || f.level < lowest && n.isBottleneck(s)) {
			n.add(n.flowOf(s))
		}
	}
}

// commit makes the levels of A those of the network, and empties it.
func (n *Network) commit() {
	a := &n.local
	rooms, links := a.rooms, n.links
	for i := nowhere + 1; i < len(rooms); i++ {
		r := &rooms[i]
		l := &links[r.link]
		l.load, l.room = l.capacity-r.rest, nowhere
	}
	for _, id := range a.flows {
		f := &n.flows[id]
		if f.filling = outside; f.bottleneck >= 0 {
			n.bottleneckOf(id).bottleneck++
		}
		n.setLevel(id, f.filled)
	}
	if n.watched != nil {
		n.watched.lookAll(n, a.flows)
	}
	a.rooms, a.flows = a.rooms[:nowhere+1], a.flows[:0]
}

// abandon empties A, whose flows the textbook solves.
func (n *Network) abandon() {
	a := &n.local
	for i := nowhere + 1; i < len(a.rooms); i++ {
		n.links[a.rooms[i].link].room = nowhere
	}
	for _, id := range a.flows {
		n.flows[id].filling, n.flows[id].bottleneck = outside, noSlot
	}
	a.rooms, a.flows = a.rooms[:nowhere+1], a.flows[:0]
}

// refreshPeriod is the number of solves after which all loads are computed anew,
// to keep the rounding of increments from adding up.
const refreshPeriod = 1 << 16

// refreshLoads computes the loads of all links anew.
func (n *Network) refreshLoads() {
	for l := range n.links {
		n.links[l].load = n.loadOf(uint32(l))
	}
}
