package netmodel

import "math"

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

// levelTolerance is the relative difference of levels, and of load to capacity,
// that the conditions above let pass as rounding.
const levelTolerance = 1e-12

// heapThreshold is the number of links from which a filling keeps its links in a
// heap; below, a linear search for the next one is as quick.
const heapThreshold = 128

// solver is the local solver's working set.
type solver struct {
	flows []int32 // A
	rooms []room  // of the links with two flows or more, one of A at least
	heap  []fillKey

	mixed  bool    // the set has met a mixed FATPIPE: take the textbook's way
	rising int     // flows of this filling that have no level yet
	lowest float64 // of the maxima of A
	solves int     // since loads were last recomputed
}

// room is a link of the working set, and what it has left for the flows that are
// not fixed yet. 64 bytes.
type room struct {
	rest    float64 // of the capacity; +Inf if all flows of A are fixed
	usage   float64 // sum of the usages of the flows that are not fixed
	frozen  float64 // load of the flows outside A
	total   float64 // sum of the usages of all flows of A
	left    float64 // rest when the last flow was fixed
	level   float64 // at which flows were fixed here, -1 if none were
	link    int32
	members int32 // flows of A
	rising  int32 // those that are not fixed
}

// solveLocal repairs the levels after the changes since the last solve.
func (n *Network) solveLocal() {
	a := &n.local
	a.mixed = len(n.leftMixed) > 0
	n.seed()
	for !a.mixed && len(a.flows) > 0 {
		n.stats.Rounds++
		before := len(a.flows)
		n.fill()
		n.extend()
		if len(a.flows) == before {
			break
		}
	}
	n.stats.SolvedFlows += int64(len(a.flows))
	if a.mixed {
		n.solveComponent()
	} else {
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
	for i, k := 0, len(n.local.rooms); i < k; i++ {
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
func (n *Network) addJoined(l int32) {
	k := &n.links[l]
	switch {
	case k.bottleneck > 0:
		n.addBottlenecked(l)
	case k.flows == 2 && k.load >= k.capacity*(1-levelTolerance):
		for s := k.head; s >= 0; s = n.slots[s].next {
			n.add(n.flowOf(s))
		}
	}
}

// addBottlenecked adds the flows that have their bottleneck on l.
func (n *Network) addBottlenecked(l int32) {
	for s := n.links[l].head; s >= 0; s = n.slots[s].next {
		if n.isBottleneck(s) {
			n.add(n.flowOf(s))
		}
	}
}

// isBottleneck reports whether the link of slot s is its flow's bottleneck.
func (n *Network) isBottleneck(s int32) bool {
	id := n.flowOf(s)
	return int32(n.flows[id].bottleneck) == s-n.firstSlot(id)
}

// add puts flow id into A, unless it is there, and takes it out of the loads and
// the bottleneck counts of its links. If it shares none, it gets its maximum.
func (n *Network) add(id int32) {
	f := &n.flows[id]
	if f.filling != outside {
		return
	}
	n.dropBottleneck(f, n.firstSlot(id))
	mixed := n.mixed(id)
	if !n.enter(f, n.sharedSlots(id)) && !mixed {
		n.setLevel(id, f.maxLevel)
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
	for i := range slots {
		s := &slots[i]
		if s.alone() {
			s.room = -1
			continue
		}
		shares = true
		l := &n.links[s.link]
		if l.room < 0 {
			n.open(l, s.link)
		}
		s.room = l.room
		r := &n.local.rooms[l.room]
		r.frozen -= float64(f.level * s.usage)
		r.total += s.usage
		r.members++
	}
	return shares
}

// open makes a room for l, the link of a number.
func (n *Network) open(l *link, number int32) {
	a := &n.local
	if len(a.rooms) == cap(a.rooms) {
		a.rooms = append(a.rooms, room{})
	} else {
		a.rooms = a.rooms[:len(a.rooms)+1]
	}
	l.room = int32(len(a.rooms) - 1)
	r := &a.rooms[l.room]
	r.frozen, r.total, r.link, r.members = l.load, 0, number, 0
}

// fill gives all flows of A their levels by progressive filling, as if the flows
// outside A were fixed.
func (n *Network) fill() {
	a := &n.local
	for i := range a.rooms {
		r := &a.rooms[i]
		r.rest, r.usage, r.level, r.rising = n.links[r.link].capacity-r.frozen, r.total, -1, r.members
	}
	a.lowest = math.Inf(1)
	for _, id := range a.flows {
		f := &n.flows[id]
		f.filling, f.bottleneck = rising, noSlot
		a.lowest = min(a.lowest, f.maxLevel)
	}
	a.rising = len(a.flows)
	if len(a.rooms) >= heapThreshold {
		n.fillByHeap()
		return
	}
	for a.rising > 0 {
		n.fillLink(a.firstRoom())
	}
}

// firstRoom returns the room of the link that saturates first: the one with the
// smallest rest/usage, compared crosswise to spare the divisions.
func (a *solver) firstRoom() *room {
	best, rest, usage := 0, math.Inf(1), 1.0
	for i := range a.rooms {
		r := &a.rooms[i]
		if float64(r.rest*usage) < float64(rest*r.usage) {
			best, rest, usage = i, r.rest, r.usage
		}
	}
	return &a.rooms[best]
}

// fillLink fixes flows on the link of r, which saturates first: those whose maximum
// is below the level that it reaches, or if there are none, all that are not fixed.
func (n *Network) fillLink(r *room) {
	level := max(0, r.rest) / r.usage
	if r.rising < r.members || level > n.local.lowest {
		usage, lowest := n.risingOn(r.link)
		if level = max(0, r.rest) / usage; level > lowest {
			n.fixBounded(r.link, level)
			return
		}
	}
	r.level = level
	for s := n.links[r.link].head; s >= 0; s = n.slots[s].next {
		id := n.flowOf(s)
		if f := &n.flows[id]; f.filling == rising {
			f.bottleneck = int16(s - n.firstSlot(id))
			n.fix(id, level)
		}
	}
}

// risingOn returns the sum of the usages of the flows on link l that are not fixed,
// and the lowest of their maxima.
func (n *Network) risingOn(l int32) (usage, lowest float64) {
	lowest = math.Inf(1)
	for s := n.links[l].head; s >= 0; s = n.slots[s].next {
		if f := &n.flows[n.flowOf(s)]; f.filling == rising {
			usage += n.slots[s].usage
			lowest = min(lowest, f.maxLevel)
		}
	}
	return usage, lowest
}

// fixBounded fixes the flows on link l whose maximum is below a level.
func (n *Network) fixBounded(l int32, level float64) {
	for s := n.links[l].head; s >= 0; s = n.slots[s].next {
		id := n.flowOf(s)
		if f := &n.flows[id]; f.filling == rising && f.maxLevel < level {
			n.fix(id, f.maxLevel)
		}
	}
}

// fix gives flow id its level and takes it from its links.
func (n *Network) fix(id int32, level float64) {
	a, f := &n.local, &n.flows[id]
	f.filled, f.filling = level, fixed
	a.rising--
	slots := n.sharedSlots(id)
	for i := range slots {
		s := &slots[i]
		if s.room < 0 {
			continue
		}
		r := &a.rooms[s.room]
		r.rest -= float64(level * s.usage)
		r.usage -= s.usage
		if r.rising--; r.rising == 0 {
			r.left, r.rest = r.rest, math.Inf(1)
		} else if r.usage < smallRest*r.total {
			r.usage, _ = n.risingOn(r.link)
		}
	}
}

// smallRest is the part of a sum below which a difference has lost too many digits.
const smallRest = 1e-4

// extend adds to A the flows outside it for which the levels of A break condition
// (ii), or whose link they overload.
func (n *Network) extend() {
	a := &n.local
	for i, k := 0, len(a.rooms); i < k; i++ {
		r := &a.rooms[i]
		on := &n.links[r.link]
		if on.flows == r.members || on.bottleneck == 0 && r.level < 0 {
			continue
		}
		n.extendLink(on, r.level, n.lowestBottleneck(on, r))
	}
}

// lowestBottleneck returns the level that flows must have to keep their bottleneck
// on l: the highest on it if it is saturated, else none will do.
func (n *Network) lowestBottleneck(l *link, r *room) float64 {
	if r.left > 2*levelTolerance*l.capacity {
		return math.Inf(1)
	}
	highest := 0.0
	for s := l.head; s >= 0; s = n.slots[s].next {
		if f := &n.flows[n.flowOf(s)]; f.filling != outside {
			highest = max(highest, f.filled)
		} else {
			highest = max(highest, f.level)
		}
	}
	return highest * (1 - levelTolerance)
}

// extendLink adds the flows on l that have their bottleneck there and a level below
// lowest, and if flows of A were fixed there at a level (>= 0), those above it.
func (n *Network) extendLink(l *link, level, lowest float64) {
	highest := math.Inf(1)
	if level >= 0 {
		highest = level * (1 + levelTolerance)
	}
	for s := l.head; s >= 0; s = n.slots[s].next {
		f := &n.flows[n.flowOf(s)]
		if f.filling == outside && (f.level > highest || f.level < lowest && n.isBottleneck(s)) {
			n.add(n.flowOf(s))
		}
	}
}

// commit makes the levels of A those of the network, and empties it.
func (n *Network) commit() {
	a := &n.local
	for i := range a.rooms {
		r := &a.rooms[i]
		l := &n.links[r.link]
		l.load, l.room = l.capacity-r.left, -1
	}
	for _, id := range a.flows {
		f := &n.flows[id]
		if f.filling = outside; f.bottleneck >= 0 {
			n.links[n.slots[n.firstSlot(id)+int32(f.bottleneck)].link].bottleneck++
		}
		n.setLevel(id, f.filled)
	}
	a.rooms, a.flows = a.rooms[:0], a.flows[:0]
}

// abandon empties A.
func (n *Network) abandon() {
	a := &n.local
	for i := range a.rooms {
		n.links[a.rooms[i].link].room = -1
	}
	for _, id := range a.flows {
		n.flows[id].filling, n.flows[id].bottleneck = outside, noSlot
	}
	a.rooms, a.flows = a.rooms[:0], a.flows[:0]
}

// refreshPeriod is the number of solves after which all loads are computed anew,
// to keep the rounding of increments from adding up.
const refreshPeriod = 1 << 16

// refreshLoads computes the loads of all links anew.
func (n *Network) refreshLoads() {
	for l := range n.links {
		n.links[l].load = n.loadOf(int32(l))
	}
}
