package maxmin

import (
	"math"

	"reprise/internal/keyheap"
)

// The clocked solver is for crowds: hundreds of variables on each constraint, where every change moves nearly all
// levels a little. UseClocks turns it on; Solve then calls solveClocks, whose step is relax.
//
// All variables that have their bottleneck on one constraint have one level. It is kept once, as the clock of that
// constraint, and these variables are the constraint's own. A change costs work for the clocks whose level it changes
// and for the variables that move to another clock. A variable whose level changes with its clock costs nothing.
//
// Let C be the capacity of a constraint, and frozen its load by variables that are not its own. Its level is
//
//	(C - frozen) / (sum of the usages of its own variables)
//
// When the level changes, so does the load of its own variables on the other constraints that they use. The pair
// (a, b) holds the usage of b by the own variables of a: a new level of a costs one multiplication and addition for
// each b, and b is relaxed later. A quiet constraint, far from full, has no pairs, only an upper bound of its load.
//
// Constraints are relaxed until no level changes, low levels first, as these depend on no higher ones. A constraint
// takes over variables that are not its own and have a higher level (takeOver), and lets go own variables whose maximum
// is below its level (letGo). In the end (i) and (ii) of the package comment hold, to levelTolerance, in whatever order
// constraints were relaxed. As constraints of nearly equal levels may pass variables to and fro for long, one filling
// computes all levels anew (fillClocks) after many relaxations, or if a large part of the variables has changed.

// load is the load of a constraint by variables not its own. 24 bytes, as a change of one level touches hundreds.
type load struct {
	frozen  float64 // sum of usage*level of the other variables
	highest float64 // at least the level of each of them
	// the constraint is to be relaxed if frozen is above limit: its capacity if it has no own variables, else -Inf;
	// +Inf while it waits to be relaxed
	limit float64
}

// clock is the data of a constraint about its own variables.
type clock struct {
	own     float64 // sum of their usages
	floor   float64 // of own, below which it is summed anew
	lowest  float64 // at most the smallest of their maxima
	age     int32   // relaxations since the sums were last computed anew
	changed bool    // in clocks.changed
}

// sameClock is the relative change of a level below which a clock keeps it, well below levelTolerance, so that clocks of
// equal levels do not pass variables to and fro. Such changes do not add up, as a level is computed from the loads each
// time.
const sameClock = levelTolerance / 4

// smallUsage is the part of a sum of usages below which a difference has lost too many digits.
const smallUsage = 1e-3

// clocks is the state of the clocked solver.
type clocks struct {
	level []float64 // by constraint: of its own variables; +Inf if there are none
	loads []load    // by constraint
	of    []clock   // by constraint
	pairs []pairs   // by constraint
	by    []uint32  // by variable: its clock, noClock if it has its maximum
	users [][]use   // by constraint
	quiet []bool    // by constraint: it is far from full, and frozen is only an upper bound of its load
	above []float64 // by constraint: a bound of its level, with which quiet constraints compute that bound

	waiting   keyheap.Heap // constraints that are to be relaxed, by their level when that was noted
	changed   []uint32     // constraints whose level the solve has changed
	moved     []uint32     // variables that the solve has moved to another clock, some several times
	over      []mover      // scratch
	saturated int          // constraints with own variables
	active    int          // variables that the clocked solver has taken in
	left      int          // number of variables disabled since the last solve
	mixed     bool         // the reference has solved all, as variables of different usages meet on a FATPIPE
	solved    bool         // nothing has changed since the last solve
}

// A variable with noClock has its maximum as its level. One that is away comes or goes: no load counts it, and its
// place among the elements of a bottleneck is noBody.
const (
	noClock = math.MaxUint32
	away    = noClock - 1
	noBody  = noElement - 1
)

// mover is a variable that takeOver may move to a clock: if its level is above that of the clock.
type mover struct {
	id           uint32
	level, usage float64
}

// UseClocks has Solve work by clocks from now on, and lets variables stand for several ([System.Resize]). No variable
// may be enabled, and Solve must have been called since the last change; all variables are to be Set anew.
func (s *System) UseClocks() {
	n := len(s.constraints)
	s.clocks = &clocks{level: make([]float64, n), loads: make([]load, n+1), of: make([]clock, n), pairs: make([]pairs, n), users: make([][]use, n),
		quiet: make([]bool, n), above: make([]float64, n)}
	for range s.variables {
		s.clocks.by = append(s.clocks.by, noClock)
	}
	s.reserveElements()
	s.clocks.loads[n].limit = math.Inf(1)
	for i := range s.constraints {
		s.clocks.pairs[i].dead = uint32(n)
		s.resetClock(i)
	}
}

// resetClock leaves constraint i without own variables and load.
func (s *System) resetClock(i int) {
	k := s.clocks
	k.level[i], k.loads[i] = math.Inf(1), load{limit: s.overload(uint32(i))}
	k.quiet[i] = true
	k.of[i] = clock{lowest: math.Inf(1), changed: k.of[i].changed}
	k.pairs[i].clear()
}

// overload returns the load above which a constraint without own variables takes over some.
func (s *System) overload(c uint32) float64 { return s.constraints[c].capacity * (1 + fullTolerance) }

// Clock returns the constraint that is the bottleneck of a variable, -1 if it has none.
func (s *System) Clock(id uint32) int32 {
	if c := s.clocks.by[id]; c < away && !s.clocks.mixed {
		return int32(c)
	}
	return -1
}

// levelBy returns the level of variable id.
func (s *System) levelBy(id uint32) float64 {
	if c := s.clocks.by[id]; c < away {
		return s.clocks.level[c]
	}
	return s.variables[id].level
}

// ClockLevel returns the level of the variables whose bottleneck a constraint is.
func (s *System) ClockLevel(c uint32) float64 { return s.clocks.level[c] }

// Moved returns the variables that the last solve gave another bottleneck.
func (s *System) Moved() []uint32 { return s.clocks.moved }

// ChangedClocks returns the constraints to whose variables the last solve gave another level.
func (s *System) ChangedClocks() []uint32 { return s.clocks.changed }

// crowdPart: if more than one variable in so many has changed since the last solve, all levels are filled anew.
const crowdPart = 4

// solveClocks repairs the levels after the changes since the last solve.
func (s *System) solveClocks() {
	k := s.clocks
	k.begin()
	defer func() { k.solved = true }()
	if mixed := s.mixedPipes > 0; mixed || k.mixed {
		k.mixed = mixed
		if mixed {
			s.solveAll()
			for id := range s.variables {
				if v := &s.variables[id]; v.stage != disabled {
					k.moved = append(k.moved, uint32(id))
				}
			}
			return
		}
		s.fillClocks()
		return
	}
	if changes := len(s.enabled) + k.left; changes > 32 && changes*crowdPart > k.active {
		s.fillClocks()
		return
	}
	for _, id := range s.enabled {
		if v := &s.variables[id]; v.stage == outside && !v.clocked {
			s.takeClock(id)
		}
	}
	for left := 32 + 8*k.saturated; len(k.waiting) > 0; left-- {
		if left == 0 {
			s.fillClocks()
			return
		}
		s.relax(uint32(k.waiting.Pop().ID))
	}
}

// begin forgets changed and moved of the last solve, at the first change after it.
func (k *clocks) begin() {
	if !k.solved {
		return
	}
	k.solved = false
	for _, c := range k.changed {
		k.of[c].changed = false
	}
	k.changed, k.moved = k.changed[:0], k.moved[:0]
}

// fillClocks computes all levels anew.
func (s *System) fillClocks() {
	k, a := s.clocks, &s.set
	s.stats.Fillings++
	k.waiting, k.saturated, k.active = k.waiting[:0], 0, 0
	for i := range s.constraints {
		s.constraints[i].load, s.constraints[i].bottleneck = 0, 0
		s.resetClock(i)
		k.users[i] = k.users[i][:0]
	}
	for id := range s.variables {
		if v := &s.variables[id]; v.stage != disabled {
			v.level, v.bottleneck, v.clocked = 0, noElement, true
			k.by[id] = away
			k.active++
			s.add(uint32(id))
		}
	}
	if len(a.variables) > 0 {
		s.fill()
	}
	for i := unshared + 1; i < len(a.states); i++ {
		s.constraints[a.states[i].constraint].state = unshared
	}
	for _, id := range a.variables {
		v := &s.variables[id]
		v.stage = outside
		if v.bottleneck >= 0 {
			s.setClock(s.bottleneckOf(id, v), v.filled)
		}
	}
	a.states, a.variables = a.states[:unshared+1], a.variables[:0]
	for id := range s.variables {
		if v := &s.variables[id]; v.stage != disabled {
			k.enlist(s, uint32(id))
			s.assign(uint32(id), v.bottleneck)
		}
	}
	for _, w := range k.waiting {
		if c := uint32(w.ID); k.quiet[c] { // nobody would tell it that it gets full
			s.makeLoud(c)
		}
		s.setLimit(uint32(w.ID))
	}
	k.waiting = k.waiting[:0]
}

// setLimit sets the load above which a constraint is to be relaxed.
func (s *System) setLimit(c uint32) {
	limit := math.Inf(-1)
	if s.constraints[c].bottleneck == 0 {
		limit = s.overload(c)
	}
	s.clocks.loads[c].limit = limit
}

// takeClock gives a variable that has begun the clock that it will probably have.
func (s *System) takeClock(id uint32) {
	v := &s.variables[id]
	at, lowest := int16(noElement), v.maxLevel
	for i, e := range s.sharedElements(id) {
		if e.alone() {
			continue
		}
		left := s.constraints[e.constraint].capacity - s.clocks.loads[e.constraint].frozen
		if level := max(0, left) / (s.clocks.of[e.constraint].own + e.usage); level < lowest {
			at, lowest = int16(i), level
		}
	}
	v.clocked = true
	s.clocks.active++
	s.clocks.by[id] = away
	s.clocks.enlist(s, id)
	if at >= 0 {
		if c := s.elements[s.firstElement(id)+uint32(at)].constraint; s.constraints[c].bottleneck == 0 {
			s.setClock(c, lowest)
		}
	}
	s.assign(id, at)
}

// setClock gives a clock a level.
func (s *System) setClock(c uint32, level float64) {
	if math.IsInf(s.clocks.level[c], 1) {
		s.clocks.above[c] = level * headroom
	}
	s.clocks.level[c] = level
	if k := &s.clocks.of[c]; !k.changed {
		k.changed = true
		s.clocks.changed = append(s.clocks.changed, c)
	}
}

// assign makes the element at a place of a variable its bottleneck; with noElement, its level is its maximum. With
// noBody no load counts it any more.
func (s *System) assign(id uint32, place int16) {
	v, k := &s.variables[id], s.clocks
	elements := s.sharedElements(id)
	if place >= 0 && k.quiet[elements[place].constraint] {
		s.makeLoud(elements[place].constraint)
	}
	was, from, old := s.levelBy(id), v.bottleneck, k.by[id]
	if old < away {
		c := &k.of[old]
		c.own -= elements[from].usage
		if s.constraints[old].bottleneck--; s.constraints[old].bottleneck == 0 {
			c.own, c.floor = 0, 0
			k.saturated--
			s.setClock(old, math.Inf(1))
			if !math.IsInf(k.loads[old].limit, 1) {
				s.setLimit(old)
			}
		}
		s.wait(old)
	}
	level, by := v.maxLevel, uint32(noClock)
	switch {
	case place == noBody:
		place, by = noElement, away
	case place == noElement:
		v.level = level
	default:
		e := &elements[place]
		by = e.constraint
		level = k.level[by]
		c := &k.of[by]
		if s.constraints[by].bottleneck == 0 {
			c.own, c.floor, c.lowest = 0, 0, math.Inf(1)
			k.saturated++
		}
		if s.constraints[by].bottleneck++; !math.IsInf(k.loads[by].limit, 1) {
			s.setLimit(by)
		}
		c.own += e.usage
		c.floor = max(c.floor, smallUsage*c.own)
		c.lowest = min(c.lowest, v.maxLevel)
		s.wait(by)
	}
	if by != away {
		k.moved = append(k.moved, id)
	}
	v.bottleneck, k.by[id] = place, by
	for i := range elements {
		e := &elements[i]
		k.users[e.constraint][e.state].by = by
		on, quiet := &k.loads[e.constraint], k.quiet[e.constraint]
		less := false
		switch {
		case old == away || old < away && int16(i) == from:
		case quiet && old != noClock:
			on.frozen -= float64(e.usage * k.above[old])
		default:
			on.frozen -= float64(e.usage * was)
			if less = old != noClock; less && k.pairs[old].add(e.constraint, -e.usage, -1) {
				s.sumPair(old, e.constraint)
			}
		}
		switch {
		case by == away || int16(i) == place:
		case quiet && by != noClock:
			on.frozen += float64(e.usage * k.above[by])
			on.highest = max(on.highest, level)
		default:
			on.frozen += float64(e.usage * level)
			on.highest = max(on.highest, level)
			if by != noClock {
				k.pairs[by].add(e.constraint, e.usage, 1)
			}
		}
		if less && s.constraints[e.constraint].bottleneck == 0 && on.frozen < quietPart*s.constraints[e.constraint].capacity {
			s.makeQuiet(e.constraint)
		}
		s.wait(e.constraint)
	}
}

// sumPair sums anew the usage of a constraint by the own variables of another, of which usages of other sizes
// have gone.
func (s *System) sumPair(by, on uint32) {
	usage := 0.0
	for e := s.constraints[on].head; e != none; e = s.elements[e].next {
		if s.clocks.by[s.variableOf(e)] == by {
			usage += s.elements[e].usage
		}
	}
	s.clocks.pairs[by].set(on, usage)
}

// wait notes that a constraint is to be relaxed, if that can change anything.
func (s *System) wait(c uint32) {
	if l := &s.clocks.loads[c]; l.frozen > l.limit {
		l.limit = math.Inf(1)
		s.clocks.waiting.Push(keyheap.Item{Key: s.clocks.level[c], ID: int32(c)})
	}
}

// relax gives the own variables of constraint c the level that fills it.
func (s *System) relax(c uint32) {
	k, on := s.clocks, &s.constraints[c]
	l, of := &k.loads[c], &k.of[c]
	defer s.setLimit(c) // only now: what the moves below change, the loop sees
	if of.age++; of.age > on.variables || of.own < of.floor {
		s.survey(c, math.Inf(1))
	}
	for {
		level := math.Inf(1)
		if on.bottleneck > 0 {
			level = max(0, (on.capacity-l.frozen)/of.own)
		} else if k.quiet[c] {
			s.makeLoud(c)
			continue
		} else if l.frozen <= s.overload(c) {
			return
		}
		if (on.bottleneck == 0 || l.highest > level*(1+levelTolerance)) && s.takeOver(c) || level > of.lowest && s.letGo(c, level) {
			continue
		}
		if on.bottleneck > 0 && math.Abs(level-k.level[c]) > sameClock*level {
			s.spread(c, level)
		}
		return
	}
}

// spread gives the clock of c a level, and adds to the other constraints what that changes of their loads.
func (s *System) spread(c uint32, level float64) {
	k := s.clocks
	rise := level - k.level[c]
	s.setClock(c, level)
	if level > k.above[c] || level < quietPart*k.above[c] {
		s.raiseAbove(c, level)
	}
	loads, usages := k.loads, k.pairs[c].usages
	for i, to := range k.pairs[c].to[:len(usages)] {
		l := &loads[to]
		frozen := l.frozen + float64(usages[i]*rise)
		l.frozen = frozen
		if level > l.highest { // max is slower
			l.highest = level
		}
		if frozen > l.limit {
			l.limit = math.Inf(1)
			k.waiting.Push(keyheap.Item{Key: k.level[to], ID: int32(to)})
		}
	}
}

// leaveClocks takes a variable from its clock, as it is disabled.
func (s *System) leaveClocks(id uint32) {
	v := &s.variables[id]
	s.clocks.begin()
	s.clocks.left++
	if !v.clocked {
		return
	}
	if !s.clocks.mixed {
		level := s.levelBy(id)
		s.assign(id, noBody)
		s.clocks.delist(s, id)
		v.level = level
	}
	v.clocked = false
	s.clocks.active--
}

// resizeClocked gives variable id other usages and another maximum.
func (s *System) resizeClocked(id uint32, resize func()) {
	v := &s.variables[id]
	place := v.bottleneck
	s.clocks.begin()
	if !v.clocked || s.clocks.mixed {
		resize()
		return
	}
	if place < 0 {
		s.assign(id, noBody)
		s.clocks.delist(s, id)
		resize()
		s.clocks.enlist(s, id)
		s.assign(id, place)
		return
	}
	elements := s.sharedElements(id)
	var old [8]float64
	before := old[:0]
	for i := range elements {
		before = append(before, elements[i].usage)
	}
	resize()
	by := elements[place].constraint
	of := &s.clocks.of[by]
	of.lowest = min(of.lowest, v.maxLevel)
	for i := range elements {
		e := &elements[i]
		s.clocks.users[e.constraint][e.state].usage = e.usage
		if more := e.usage - before[i]; int16(i) == place {
			of.own += more
			of.floor = max(of.floor, smallUsage*of.own)
		} else {
			if s.clocks.quiet[e.constraint] {
				s.clocks.loads[e.constraint].frozen += float64(more * s.clocks.above[by])
			} else {
				s.clocks.loads[e.constraint].frozen += float64(more * s.clocks.level[by])
				s.clocks.pairs[by].add(e.constraint, more, 0)
			}
		}
		s.wait(e.constraint)
	}
}

// use is a variable on a constraint, with the clock of the variable. Those of a constraint stand in a row, as takeOver
// scans them all.
type use struct {
	usage   float64
	element uint32
	by      uint32
}

// enlist and delist keep the users of the constraints of a variable.
func (k *clocks) enlist(s *System, id uint32) {
	first := s.firstElement(id)
	for i := range s.sharedElements(id) {
		e := &s.elements[first+uint32(i)]
		e.state = uint32(len(k.users[e.constraint]))
		k.users[e.constraint] = append(k.users[e.constraint], use{e.usage, first + uint32(i), away})
	}
}

func (k *clocks) delist(s *System, id uint32) {
	for _, e := range s.sharedElements(id) {
		list := k.users[e.constraint]
		last := list[len(list)-1]
		list[e.state] = last
		s.elements[last.element].state = e.state
		k.users[e.constraint] = list[:len(list)-1]
	}
}
