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
// maxLevel: such links never enter the filling.

// levelTolerance is the relative difference of levels, and of load to capacity,
// that the conditions above let pass as rounding.
const levelTolerance = 1e-12

// heapThreshold is the number of links from which a filling keeps its links in a
// heap; below, a linear search for the next one is as quick.
const heapThreshold = 48

// solver is the local solver's working set: small arrays that stay in the cache.
type solver struct {
	flows []localFlow
	links []localLink
	uses  []localUse
	room  []linkRoom // by link, of a filling
	heap  []fillKey

	mixed   bool // the set has met a mixed FATPIPE: take the textbook's way
	unfixed int  // flows of this filling that have no level yet
	solves  int  // since loads were last recomputed
}

// localFlow is a flow of A. Its uses follow each other.
type localFlow struct {
	level      float64 // the result
	maxLevel   float64
	id         int32
	firstUse   int32
	numUses    int32
	bottleneck int32 // index in solver.uses, noSlot if it is at its maximum
	fixed      bool
}

// localLink is a link with two flows or more, one of A at least.
type localLink struct {
	capacity float64
	frozen   float64 // load of the flows outside A
	usage    float64 // sum of the usages of A's flows
	rest     float64 // what the last filling left of the capacity
	level    float64 // at which flows were fixed here, -1 if none were
	link     int32
	head     int32 // first use, chained by localUse.next; -1 at the end
	members  int32 // flows of A
}

// linkRoom is what a localLink has left for the flows that are not fixed yet. The
// search for the link that saturates next reads nothing else.
type linkRoom struct {
	rest    float64 // of the capacity; +Inf if all flows are fixed
	usage   float64 // of the flows that are not fixed
	small   float64 // usage below which it is summed anew
	unfixed int32   // number of flows that are not fixed
}

// localUse is a flow of A on a localLink.
type localUse struct {
	usage      float64
	flow, link int32 // indices in solver
	next       int32
	slot       int32
}

// solveLocal repairs the levels after the changes since the last solve.
func (n *Network) solveLocal() {
	a := &n.local
	a.flows, a.links, a.uses = a.flows[:0], a.links[:0], a.uses[:0]
	a.mixed = len(n.leftMixed) > 0
	n.seed()
	n.stats.SolvedFlows += int64(len(a.flows))
	for !a.mixed && len(a.flows) > 0 {
		n.stats.Rounds++
		before := len(a.flows)
		a.fill()
		n.extend()
		if len(a.flows) == before {
			n.commit()
			break
		}
		n.stats.SolvedFlows += int64(len(a.flows) - before)
	}
	if a.mixed {
		n.solveComponent()
	}
	if a.solves++; a.solves == refreshPeriod {
		a.solves = 0
		n.refreshLoads()
	}
}

// seed fills A with the flows that surely change.
func (n *Network) seed() {
	for _, id := range n.fresh {
		if n.isAlone(id) {
			n.setLevel(id, n.flows[id].maxLevel)
		} else {
			n.add(id)
		}
	}
	for i, k := 0, len(n.local.links); i < k; i++ {
		n.addJoined(n.local.links[i].link)
	}
	for _, l := range n.left {
		if n.links[l].bottleneck > 0 {
			n.addBottlenecked(l)
		}
	}
}

// isAlone reports whether flow id shares no link: its links have no other flow, or
// are FATPIPEs that only bound it.
func (n *Network) isAlone(id int32) bool {
	s := n.sharedSlots(id)
	for i := range s {
		if !s[i].alone() {
			return false
		}
	}
	return !n.mixed(id)
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
			n.add(s >> n.slotShift)
		}
	}
}

// addBottlenecked adds the flows that have their bottleneck on l.
func (n *Network) addBottlenecked(l int32) {
	for s := n.links[l].head; s >= 0; s = n.slots[s].next {
		if n.isBottleneck(s) {
			n.add(s >> n.slotShift)
		}
	}
}

// isBottleneck reports whether the link of slot s is its flow's bottleneck.
func (n *Network) isBottleneck(s int32) bool {
	id := s >> n.slotShift
	return int32(n.flows[id].bottleneck) == s-id<<n.slotShift
}

// inSet reports whether flow id is in A.
func (n *Network) inSet(id int32) bool {
	i := int(n.flows[id].local)
	return i < len(n.local.flows) && n.local.flows[i].id == id
}

// add puts flow id into A, unless it is there, and takes it out of the loads and
// the bottleneck counts of its links.
func (n *Network) add(id int32) {
	if n.inSet(id) {
		return
	}
	a, f := &n.local, &n.flows[id]
	f.local = int32(len(a.flows))
	n.dropBottleneck(f, id<<n.slotShift)
	a.mixed = a.mixed || n.mixed(id)
	first := len(a.uses)
	for s, to := id<<n.slotShift, id<<n.slotShift+f.shared(); s < to; s++ {
		if !n.slots[s].alone() {
			n.addUse(s, f)
		}
	}
	a.flows = oneMore(a.flows)
	l := &a.flows[len(a.flows)-1]
	l.level, l.maxLevel, l.id = f.level, f.maxLevel, id
	l.firstUse, l.numUses = int32(first), int32(len(a.uses)-first)
}

// oneMore returns list with one element more, which holds anything. Filling in the
// fields where they are spares the copy that append would make of a literal; it
// halves the time of add.
func oneMore[T any](list []T) []T {
	if len(list) < cap(list) {
		return list[:len(list)+1]
	}
	return append(list, *new(T))
}

// addUse adds the use of s by f, which is about to become the last flow of A.
func (n *Network) addUse(s int32, f *flow) {
	link := n.slots[s].link
	usage := float64(n.weights[n.slots[s].weight] * f.usage)
	a := &n.local
	at := n.localLink(link)
	a.uses = oneMore(a.uses)
	u, l := &a.uses[len(a.uses)-1], &a.links[at]
	u.usage, u.flow, u.link, u.next, u.slot = usage, f.local, at, l.head, s
	l.head = int32(len(a.uses) - 1)
	l.frozen -= float64(f.level * usage)
	l.usage += usage
	l.members++
}

// localLink returns the index of a link in the working set, which it joins.
func (n *Network) localLink(link int32) int32 {
	a, k := &n.local, &n.links[link]
	if int(k.local) < len(a.links) && a.links[k.local].link == link {
		return k.local
	}
	k.local = int32(len(a.links))
	a.links = oneMore(a.links)
	l := &a.links[k.local]
	l.capacity, l.frozen, l.usage = k.capacity, k.load, 0
	l.link, l.head, l.members = link, -1, 0
	return k.local
}

// fill gives all flows of A their levels by progressive filling, as if the flows
// outside A were fixed.
func (a *solver) fill() {
	a.unfixed = 0
	for len(a.room) < len(a.links) {
		a.room = oneMore(a.room)
	}
	for i := range a.links {
		l, m := &a.links[i], &a.room[i]
		l.level = -1
		m.rest, m.usage, m.small, m.unfixed = l.capacity-l.frozen, l.usage, smallRest*l.usage, l.members
	}
	for i := range a.flows {
		f := &a.flows[i]
		f.bottleneck, f.fixed = noSlot, f.numUses == 0
		if f.fixed {
			f.level = f.maxLevel
		} else {
			a.unfixed++
		}
	}
	if len(a.links) >= heapThreshold {
		a.fillByHeap()
		return
	}
	for a.unfixed > 0 {
		a.fillLink(a.firstLink())
	}
}

// firstLink returns the link that saturates first: the one with the smallest
// rest/usage, compared crosswise to spare the divisions.
func (a *solver) firstLink() int32 {
	best, rest, usage := 0, math.Inf(1), 1.0
	for i := range a.room[:len(a.links)] {
		m := &a.room[i]
		if float64(m.rest*usage) < float64(rest*m.usage) {
			best, rest, usage = i, m.rest, m.usage
		}
	}
	return int32(best)
}

// fillLink fixes flows on link i, which saturates first: those whose maximum is
// below the level that it reaches, or if there are none, all that are not fixed.
func (a *solver) fillLink(i int32) {
	l := &a.links[i]
	usage, lowest := 0.0, math.Inf(1)
	for u := l.head; u >= 0; u = a.uses[u].next {
		if f := &a.flows[a.uses[u].flow]; !f.fixed {
			usage += a.uses[u].usage // anew: that of the room has been subtracted from
			lowest = min(lowest, f.maxLevel)
		}
	}
	level := max(0, a.room[i].rest) / usage
	if level <= lowest {
		l.level = level
	}
	for u := l.head; u >= 0; u = a.uses[u].next {
		f := &a.flows[a.uses[u].flow]
		switch {
		case f.fixed:
		case level <= lowest:
			f.bottleneck = u
			a.fix(f, level)
		case f.maxLevel < level:
			a.fix(f, f.maxLevel)
		}
	}
}

// fix gives f its level and takes it from its links.
func (a *solver) fix(f *localFlow, level float64) {
	f.level, f.fixed = level, true
	a.unfixed--
	uses := a.uses[f.firstUse : f.firstUse+f.numUses]
	for i := range uses {
		u := &uses[i]
		m := &a.room[u.link]
		m.rest -= float64(level * u.usage)
		m.usage -= u.usage
		if m.unfixed--; m.unfixed == 0 {
			a.links[u.link].rest, m.rest = m.rest, math.Inf(1)
		} else if m.usage < m.small {
			m.usage = a.unfixedUsage(&a.links[u.link])
		}
	}
}

// smallRest is the part of a sum below which a difference has lost too many digits.
const smallRest = 1e-4

// unfixedUsage sums the usages of the flows on l that are not fixed.
func (a *solver) unfixedUsage(l *localLink) float64 {
	usage := 0.0
	for u := l.head; u >= 0; u = a.uses[u].next {
		if !a.flows[a.uses[u].flow].fixed {
			usage += a.uses[u].usage
		}
	}
	return usage
}

// extend adds to A the flows outside it for which the levels of A break condition
// (ii), or whose link they overload.
func (n *Network) extend() {
	a := &n.local
	for i, k := 0, len(a.links); i < k; i++ {
		l := &a.links[i]
		on := &n.links[l.link]
		if on.flows == l.members || on.bottleneck == 0 && l.level < 0 {
			continue
		}
		n.extendLink(l.link, l.level, n.lowestBottleneck(l))
	}
}

// lowestBottleneck returns the level that flows must have to keep their bottleneck
// on l: the highest on it if it is saturated, else none will do.
func (n *Network) lowestBottleneck(l *localLink) float64 {
	if l.rest > 2*levelTolerance*l.capacity {
		return math.Inf(1)
	}
	highest := 0.0
	for s := n.links[l.link].head; s >= 0; s = n.slots[s].next {
		id := s >> n.slotShift
		if n.inSet(id) {
			highest = max(highest, n.local.flows[n.flows[id].local].level)
		} else {
			highest = max(highest, n.flows[id].level)
		}
	}
	return highest * (1 - levelTolerance)
}

// extendLink adds the flows on link l that have their bottleneck there and a level
// below lowest, and if flows of A were fixed there at level fixed (>= 0), those
// above it.
func (n *Network) extendLink(l int32, fixed, lowest float64) {
	highest := math.Inf(1)
	if fixed >= 0 {
		highest = fixed * (1 + levelTolerance)
	}
	for s := n.links[l].head; s >= 0; s = n.slots[s].next {
		f := &n.flows[s>>n.slotShift]
		if f.level > highest || f.level < lowest && n.isBottleneck(s) {
			n.add(s >> n.slotShift)
		}
	}
}

// commit makes the levels of A those of the network.
func (n *Network) commit() {
	a := &n.local
	for i := range a.links {
		l := &a.links[i]
		n.links[l.link].load = l.capacity - l.rest
	}
	for i := range a.flows {
		f := &a.flows[i]
		if f.bottleneck >= 0 {
			u := &a.uses[f.bottleneck]
			n.flows[f.id].bottleneck = int16(u.slot - f.id<<n.slotShift)
			n.links[a.links[u.link].link].bottleneck++
		}
		n.setLevel(f.id, f.level)
	}
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
