package maxmin

import (
	"math"
	"slices"
)

// The sweep is another local solver, for crowds: variables that meet many others on each of
// their constraints, as in halo exchanges, where a change reaches a hundred variables in a dozen
// steps. It finds them in one filling, in which the level rises once:
//
//   - A constraint that A uses saturates. Variables outside A with a higher level on it must
//     fall: they join A, and it saturates later. If there are none, those of A are fixed.
//   - The level is reached of the variables outside whose bottleneck a constraint of A is. If it
//     has something left they rise: they join A, too.
//
// Who joins takes so far what it has taken while it was frozen, or less, and no constraint that it
// uses was saturated below its level: so nothing that was fixed before changes, and each variable
// is filled once.

// sweepBatch is the number of changes that are swept together. Those of one time are often far
// apart: a small working set stays in the caches.
const sweepBatch = 64

// smallUsage is the part of a sum of usages below which a sweep sums them anew.
const smallUsage = 1e-3

// UseSweep has Solve sweep instead of what the local solver does otherwise: the levels are the
// same but for rounding. It must be called before the first Enable, and a system that sweeps
// cannot be saved.
func (s *System) UseSweep() { s.fullAt, s.batch = make([]float64, len(s.constraints)), sweepBatch }

func (s *System) sweeps() bool { return s.fullAt != nil }

// solveSweep repairs the levels after the changes since the last solve.
func (s *System) solveSweep() {
	a := &s.set
	a.mixed = len(s.freedMixed) > 0
	a.swept, s.touched = a.swept[:0], nil
	for list := range slices.Chunk(s.enabled, s.batch) {
		s.sweep(list, nil)
	}
	for list := range slices.Chunk(s.freed, s.batch) {
		s.sweep(nil, list)
	}
	s.touched = a.swept
	if a.mixed {
		for _, c := range s.freed {
			s.joinBottlenecked(c)
		}
		s.solveComponent()
		a.levels.clear()
		s.touched = append(a.swept, s.touched...)
	}
	s.refreshSometimes()
}

// sweep repairs the levels after variables were enabled, or left constraints, unless the reference
// has to.
func (s *System) sweep(enabled, freed []uint32) {
	a := &s.set
	if a.mixed {
		return
	}
	a.lowest = math.Inf(1)
	for _, id := range enabled {
		s.join(id)
	}
	for _, i := range freed {
		switch c := &s.constraints[i]; {
		case c.bottleneck == 0 || c.state != unshared:
		case c.variables == 1:
			s.join(s.variableOf(c.head))
		default:
			s.open(c, i)
		}
	}
	s.stats.Fillings++
	for at := a.levels.first(); at != unshared && !a.mixed; at = a.levels.first() {
		s.reach(at)
	}
	if !a.mixed {
		s.stats.Variables += int64(len(a.variables))
		s.commit()
		a.swept = append(a.swept, s.touched...)
		a.levels.clear()
	}
}

// join puts variable id into A, unless it is there. One that shares no constraint and is on no
// mixed FATPIPE gets its maximum instead.
func (s *System) join(id uint32) {
	v := &s.variables[id]
	if v.stage != outside {
		return
	}
	s.dropBottleneck(id, v)
	mixed := v.fat() && s.mixed(id)
	if !s.rise(v, s.sharedElements(id)) && !mixed {
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
	a.lowest = min(a.lowest, v.maxLevel)
}

// rise has v, which was frozen, rise on the constraints that it shares, and reports whether it
// shares any.
func (s *System) rise(v *variable, elements []element) (shares bool) {
	a, level := &s.set, v.level
	for i := range elements {
		e := &elements[i]
		if e.alone() {
			e.state = unshared
			continue
		}
		shares = true
		c := &s.constraints[e.constraint]
		if c.state == unshared {
			s.open(c, e.constraint)
		}
		e.state = c.state
		r := &a.states[e.state]
		r.remaining += float64(level * e.usage)
		r.usage += e.usage
		r.floor = max(r.floor, smallUsage*r.usage)
		r.rising++
		a.levels.set(e.state, r.next())
	}
	return shares
}

// open makes a state for constraint i, on which nothing rises yet. Its level is that of the
// variables outside A whose bottleneck it is.
func (s *System) open(c *constraint, i uint32) {
	a := &s.set
	at := uint32(len(a.states))
	r := state{constraint: i, remaining: c.capacity - c.load, level: math.Inf(1)}
	if c.bottleneck > 0 {
		r.level = s.fullAt[i]
	}
	a.states = append(a.states, r)
	c.state = at
	a.levels.reserve(len(a.states))
	a.levels.set(at, r.next())
}

// saturates returns the level at which the constraint of r saturates.
func (r *state) saturates() float64 {
	if r.rising == 0 {
		return math.Inf(1)
	}
	return max(0, r.remaining/r.usage)
}

// next returns the level at which something may happen on the constraint of r.
func (r *state) next() float64 { return min(r.saturates(), r.level) }

// reach lets happen what does at the next level of a state, the first of all.
func (s *System) reach(at uint32) {
	a := &s.set
	r := &a.states[at]
	full, others := r.saturates(), r.level
	if lowest := min(full, others); lowest > a.lowest && s.fixLow(lowest) {
		return
	}
	if full < others*(1-levelTolerance) || math.IsInf(others, 1) {
		s.saturate(at, full)
		return
	}
	r.level = math.Inf(1)
	c := &s.constraints[r.constraint]
	left := r.remaining
	if r.rising > 0 {
		left -= float64(others * r.usage)
	}
	switch {
	case left > fullTolerance*c.capacity:
		s.joinBottlenecked(r.constraint)
	case r.rising > 0 && c.bottleneck > 0: // the others keep their level, and the constraint saturates at it, or just below
		s.saturate(at, min(full, others))
		return
	}
	a.levels.set(at, a.states[at].next())
}

// saturate is called when the constraint of a state saturates: those above have to come down, or if
// there are none, those that rise are fixed.
func (s *System) saturate(at uint32, level float64) {
	a := &s.set
	r := &a.states[at]
	c, highest := &s.constraints[r.constraint], level*(1+levelTolerance)
	if r.level > highest && !math.IsInf(r.level, 1) {
		r.level = math.Inf(1)
		s.joinBottlenecked(r.constraint)
		a.levels.set(at, a.states[at].next())
		return
	}
	list, joined := a.fixing[:0], false
	for e := c.head; e != none; e = s.elements[e].next {
		switch v := &s.variables[s.variableOf(e)]; {
		case v.stage == rising:
			list = append(list, e)
		case v.stage == outside && v.level > highest:
			s.join(s.variableOf(e))
			joined = true
		}
	}
	a.fixing = list
	if joined {
		a.levels.set(at, a.states[at].next())
		return
	}
	s.fullAt[r.constraint] = level
	for _, e := range list {
		id := s.variableOf(e)
		v := &s.variables[id]
		v.bottleneck = int16(s.placeOf(e))
		s.stop(v, s.sharedElements(id), level)
	}
}

// joinBottlenecked has the variables outside A that have their bottleneck on constraint i join A.
func (s *System) joinBottlenecked(i uint32) {
	for e := s.constraints[i].head; e != none; e = s.elements[e].next {
		if s.isBottleneck(e) && s.variables[s.variableOf(e)].stage == outside {
			s.join(s.variableOf(e))
		}
	}
}

// fixLow fixes the variables that rise and have their maximum below a level that nothing happens
// below, and reports whether there were any.
func (s *System) fixLow(level float64) (some bool) {
	a := &s.set
	a.lowest = math.Inf(1)
	for _, id := range a.variables {
		v := &s.variables[id]
		switch {
		case v.stage != rising:
		case v.maxLevel < level:
			s.stop(v, s.sharedElements(id), v.maxLevel)
			some = true
		default:
			a.lowest = min(a.lowest, v.maxLevel)
		}
	}
	return some
}

// stop fixes a variable at a level, which its constraints then carry.
func (s *System) stop(v *variable, elements []element, level float64) {
	a := &s.set
	v.filled, v.stage = level, fixed
	for i := range elements {
		e := &elements[i]
		if e.state == unshared {
			continue
		}
		r := &a.states[e.state]
		r.remaining -= float64(level * e.usage)
		r.usage -= e.usage
		r.rising--
		switch {
		case r.rising == 0: // no rest of rounding is left for those that join later
			r.usage, r.floor = 0, 0
		case r.usage < r.floor:
			r.usage = s.risingUsage(r.constraint)
			r.floor = smallUsage * r.usage
		}
		a.levels.set(e.state, r.next())
	}
}
