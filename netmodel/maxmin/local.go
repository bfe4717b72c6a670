package maxmin

import (
	"math"
	"slices"

	"reprise/internal/keyheap"
)

// The local solver (solveLocal) keeps a working set A of variables: at first those that were enabled, and those with
// their bottleneck on a constraint that another variable joined or left. It fills A alone, with the other variables
// frozen. Then it looks on the constraints of A for variables outside A for which condition (ii) of the package comment
// has become false; these join A, and A is filled anew. A only grows, so that ends. Constraints that A does not use
// have not changed, so (ii) still holds there: the result is exact.
//
// A constraint with a single variable is only a bound for that variable, and is contained in its maxLevel. Such
// constraints never enter the filling, and a variable that uses no others gets its maximum at once.
//
// A filling works in place. The stage and level of a variable of A are in variable.stage and variable.filled; its
// bottleneck is not counted in constraint.bottleneck until the commit. Each constraint with variables of A has a state,
// to which constraint.state and element.state point. Between solves A is empty, every enabled variable is outside and
// no constraint has a state; nobody reads element.state and variable.filled then.

// levelTolerance is the relative difference of levels that the conditions above let pass as rounding.
const levelTolerance = 1e-12

// fullTolerance is the part of its capacity that a full constraint may have left, by rounding. The error is relative
// to the capacity: if other variables take all but 1e-5 of it, the relative error of the rest is 1e5 times as large.
const fullTolerance = 1e-14

// unshared is the state of elements that are alone on their constraints, of which nothing is read.
const unshared = 0

// workingSet is the local solver's working set.
type workingSet struct {
	variables []uint32     // A
	states    []state      // of the constraints with two variables or more, one of A at least; the first is unshared
	keys      []int64      // by state: keyOf, or neverKey if all variables of A are fixed
	heap      keyheap.Heap // of a large filling: the states by the level at which they saturate

	mixed    bool    // A has met a mixed FATPIPE: the reference solves it
	rising   int     // variables of this filling that have no level yet
	lowest   float64 // at most the smallest maximum of those
	solves   int     // since loads were last recomputed
	heapFrom int     // heapThreshold; lower in tests
}

// newWorkingSet returns an empty working set.
func newWorkingSet() workingSet {
	a := workingSet{states: []state{unshared: {floor: math.Inf(-1)}}, heapFrom: heapThreshold}
	a.stateFor(heapThreshold)
	return a
}

// state is a constraint of the working set, and what it has left for the variables that are not fixed yet. 64 bytes.
type state struct {
	remaining  float64 // of the capacity
	usage      float64 // sum of the usages of the variables that are not fixed
	floor      float64 // of usage, below which it is summed anew
	frozen     float64 // load of the variables outside A
	total      float64 // sum of the usages of all variables of A on it
	level      float64 // at which variables were fixed here, +Inf if none were
	constraint uint32
	members    int32 // variables of A
	rising     int32 // those that are not fixed
	saturated  int32 // 1 if variables were fixed here, else 0
}

// solveLocal repairs the levels after the changes since the last solve.
func (s *System) solveLocal() {
	a := &s.set
	a.mixed = len(s.freedMixed) > 0
	s.seed()
	for before := 0; !a.mixed && len(a.variables) > before; {
		before = len(a.variables)
		s.stats.Fillings++
		if before == 1 && len(a.states) < a.heapFrom {
			s.fillOne(a.variables[0])
		} else {
			s.fill()
		}
		s.extend()
	}
	if a.mixed {
		s.solveComponent()
	} else {
		s.stats.Variables += int64(len(a.variables))
		s.commit()
	}
	s.refreshSometimes()
}

// seed fills A with the variables that surely change.
func (s *System) seed() {
	for _, id := range s.enabled {
		s.add(id)
	}
	for i, k := unshared+1, len(s.set.states); i < k; i++ {
		s.addJoined(s.set.states[i].constraint)
	}
	for _, c := range s.freed {
		if s.constraints[c].bottleneck > 0 {
			s.addBottlenecked(c)
		}
	}
}

// addJoined adds the variables that a new variable on c probably pushes down: those that have their bottleneck there,
// and one that had the constraint for itself. (This only spares a round: extend would find them.)
func (s *System) addJoined(c uint32) {
	k := &s.constraints[c]
	switch {
	case k.bottleneck > 0:
		s.addBottlenecked(c)
	case k.variables == 2 && k.load >= k.capacity*(1-levelTolerance):
		for e := k.head; e != none; e = s.elements[e].next {
			s.add(s.variableOf(e))
		}
	}
}

// addBottlenecked adds the variables that have their bottleneck on c.
func (s *System) addBottlenecked(c uint32) {
	for e := s.constraints[c].head; e != none; e = s.elements[e].next {
		if s.isBottleneck(e) {
			s.add(s.variableOf(e))
		}
	}
}

// isBottleneck reports whether the constraint of element e is the bottleneck of its variable, one outside A.
func (s *System) isBottleneck(e uint32) bool {
	return uint32(s.variables[s.variableOf(e)].bottleneck) == s.placeOf(e)
}

// add puts variable id into A, unless it is there, and takes it out of the loads and the bottleneck counts of its
// constraints. One that shares no constraint and is on no mixed FATPIPE gets its maximum instead.
func (s *System) add(id uint32) {
	v := &s.variables[id]
	if v.stage != outside {
		return
	}
	s.dropBottleneck(id, v)
	mixed := v.fat() && s.mixed(id)
	if !s.enter(v, s.sharedElements(id)) && !mixed {
		if differ(v.maxLevel, v.level) {
			v.level = v.maxLevel
			s.levels = append(s.levels, Change{id, v.level})
		}
		return
	}
	v.stage, v.filled = rising, v.level
	a := &s.set
	a.mixed = a.mixed || mixed
	a.variables = append(a.variables, id)
}

// enter puts v into the states of the constraints that it shares, and reports whether it shares any.
func (s *System) enter(v *variable, elements []element) (shares bool) {
	a, constraints, level := &s.set, s.constraints, v.level
	opened := len(a.states)
	states := a.stateFor(len(elements))
	for i := range elements {
		e := &elements[i]
		if e.alone() {
			e.state = unshared
			continue
		}
		shares = true
		c := &constraints[e.constraint]
		at := c.state
		if at == unshared {
			at = uint32(opened)
			opened++
			c.state = at
			r := &states[at]
			r.frozen, r.total, r.constraint, r.members = c.load-float64(level*e.usage), e.usage, e.constraint, 1
		} else {
			r := &states[at]
			r.frozen -= float64(level * e.usage)
			r.total += e.usage
			r.members++
		}
		e.state = at
	}
	a.states = states[:opened]
	return shares
}

// stateFor returns the states, and behind them at least so many that are not open. Those of
// an earlier solve are used again as they are: enter and fill set all their fields.
func (a *workingSet) stateFor(more int) []state {
	if need := len(a.states) + more; need > cap(a.states) {
		a.states = slices.Grow(a.states, more)
		a.keys = make([]int64, cap(a.states)+spareKeys)
	}
	return a.states[:cap(a.states)]
}

// extend adds to A the variables outside it for which the levels of A break condition
// (ii), or whose constraint they overload.
func (s *System) extend() {
	constraints, states := s.constraints, s.set.states
	for i := unshared + 1; i < len(states); i++ {
		r := &states[i]
		on := &constraints[r.constraint]
		others := on.variables - r.members
		if int64(others)*int64(on.bottleneck|r.saturated) == 0 { // one branch for all three
			continue
		}
		s.extendConstraint(on, r.level, s.lowestBottleneck(on, r))
		states = s.set.states[:len(states)] // which may have moved
	}
}

// lowestBottleneck returns the least level with which variables keep their bottleneck on c: the highest level on it if
// it is saturated, else +Inf, as c is no bottleneck.
func (s *System) lowestBottleneck(c *constraint, r *state) float64 {
	if r.remaining > fullTolerance*c.capacity {
		return math.Inf(1)
	}
	highest, elements, variables := 0.0, s.elements, s.variables
	for e := c.head; e != none; e = elements[e].next {
		if v := &variables[s.variableOf(e)]; v.stage != outside {
			highest = max(highest, v.filled)
		} else {
			highest = max(highest, v.level)
		}
	}
	return highest * (1 - levelTolerance)
}

// extendConstraint adds the variables on c that have their bottleneck there and a level below
// lowest, and those above the level at which variables of A were fixed there.
func (s *System) extendConstraint(c *constraint, level, lowest float64) {
	highest, elements, variables := level*(1+levelTolerance), s.elements, s.variables
	for e := c.head; e != none; e = elements[e].next {
		v := &variables[s.variableOf(e)]
		if v.stage == outside && (v.level > highest || v.level < lowest && s.isBottleneck(e)) {
			s.add(s.variableOf(e))
		}
	}
}

// commit makes the levels of A those of the system, and empties it.
func (s *System) commit() {
	a := &s.set
	states, constraints := a.states, s.constraints
	for i := unshared + 1; i < len(states); i++ {
		r := &states[i]
		c := &constraints[r.constraint]
		c.load, c.state = c.capacity-r.remaining, unshared
	}
	variables, levels := s.variables, s.levels
	for _, id := range a.variables {
		v := &variables[id]
		if v.stage = outside; v.bottleneck >= 0 {
			s.constraints[s.bottleneckOf(id, v)].bottleneck++
		}
		if level := v.filled; differ(level, v.level) {
			v.level = level
			levels = append(levels, Change{id, level})
		}
	}
	s.levels, s.touched = levels, a.variables
	a.states, a.variables = a.states[:unshared+1], a.variables[:0]
}

// abandon empties A, whose variables the reference solves.
func (s *System) abandon() {
	a := &s.set
	for i := unshared + 1; i < len(a.states); i++ {
		s.constraints[a.states[i].constraint].state = unshared
	}
	for _, id := range a.variables {
		s.variables[id].stage, s.variables[id].bottleneck = outside, noElement
	}
	a.states, a.variables = a.states[:unshared+1], a.variables[:0]
}

// refreshPeriod is the number of solves after which all loads are computed anew,
// to keep the rounding of increments from adding up.
const refreshPeriod = 1 << 16

// refreshSometimes computes all loads anew after so many solves.
func (s *System) refreshSometimes() {
	a := &s.set
	if a.solves++; a.solves == refreshPeriod {
		a.solves = 0
		for c := range s.constraints {
			s.constraints[c].load = s.loadOf(uint32(c))
		}
	}
}
