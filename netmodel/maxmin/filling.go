package maxmin

import (
	"math"

	"reprise/internal/keyheap"
)

// Progressive filling of the working set: fill, or fillOne for a single variable, which solveLocal calls (local.go).
//
// A branch that the processor cannot predict costs as much as a dozen additions, and which constraint saturates next,
// or has no variable left to fix, is as good as random. So the innermost loops have no branches: they choose by min and
// by conditional moves, and an element that is alone on its constraint has a state too, unshared.

// A key has its state in its lowest bits.
const (
	stateBits = 7
	stateMask = 1<<stateBits - 1
)

// heapThreshold is the number of states from which a filling keeps them in a heap;
// below, a linear search for the next one is as quick.
const heapThreshold = 1 << stateBits

// fill gives all variables of A their levels by progressive filling, as if the variables outside A were fixed.
func (s *System) fill() {
	a := &s.set
	constraints, states := s.constraints, a.states
	keys := a.keys[:len(states)+spareKeys]
	*(*[spareKeys]int64)(keys[len(states):]) = [spareKeys]int64{neverKey, neverKey, neverKey}
	for i := unshared + 1; i < len(states); i++ {
		r := &states[i]
		remaining, usage := constraints[r.constraint].capacity-r.frozen, r.total
		keys[i] = keyOf(remaining, usage, uint32(i))
		r.remaining, r.usage, r.floor = remaining, usage, smallRemaining*usage
		r.level, r.rising, r.saturated = math.Inf(1), r.members, 0
	}
	lowest, variables := math.Inf(1), s.variables
	for _, id := range a.variables {
		v := &variables[id]
		v.stage, v.bottleneck = rising, noElement
		if v.maxLevel < lowest {
			lowest = v.maxLevel
		}
	}
	a.lowest = lowest
	a.rising = len(a.variables)
	if len(a.states) >= a.heapFrom {
		s.fillByHeap()
		return
	}
	for a.rising > 0 {
		s.fillConstraint(a.firstState())
	}
}

// fillOne is fill if A is one variable: the first of its constraints to saturate, or its maximum, gives its level.
func (s *System) fillOne(id uint32) {
	a, constraints, v := &s.set, s.constraints, &s.variables[id]
	states, first := a.states, int64(neverKey)
	for i := unshared + 1; i < len(states); i++ {
		r := &states[i]
		remaining := constraints[r.constraint].capacity - r.frozen
		first = min(first, keyOf(remaining, r.total, uint32(i)))
		r.remaining, r.level, r.saturated = remaining, math.Inf(1), 0
	}
	r := &states[first&stateMask]
	level, elements := max(0, r.remaining/r.total), s.sharedElements(id)
	v.bottleneck = noElement
	if level > v.maxLevel {
		level = v.maxLevel
	} else {
		r.level, r.saturated = level, 1
		for i := range elements {
			if elements[i].constraint == r.constraint {
				v.bottleneck = int16(i)
			}
		}
	}
	a.fixLast(v, elements, level)
}

// keyOf returns the level at which the constraint of a state saturates, as a number that orders as levels do, with the
// state in place of the last bits: levels that agree to 3e-14 count as equal, and the state that was opened first comes
// first. A constraint that rounding has overloaded comes before all others.
func keyOf(remaining, usage float64, state uint32) int64 {
	return int64(math.Float64bits(remaining/usage))&^stateMask | int64(state)
}

// neverKey is behind all keys.
const neverKey = math.MaxInt64

// spareKeys is the number of neverKeys that follow the states', as firstState looks at four in a turn.
const spareKeys = 3

// firstState returns the state of the constraint that saturates first.
func (a *workingSet) firstState() *state {
	keys, first, third := a.keys[unshared+1:len(a.states)+spareKeys], int64(neverKey), int64(neverKey)
	for i := 0; i < len(keys)-spareKeys; i += spareKeys + 1 {
		first, third = min(first, keys[i], keys[i+1]), min(third, keys[i+2], keys[i+3])
	}
	return &a.states[min(first, third)&stateMask]
}

// fillConstraint fixes variables when the constraint of r is the first to saturate: those whose
// maximum is below the level at which it does, or if there are none, all on it.
func (s *System) fillConstraint(r *state) {
	level := r.remaining / r.usage
	if !(level > 0) { // rounding
		level = 0
	}
	if level > s.set.lowest && s.fixBounded(level) {
		return
	}
	last := int(r.rising) == s.set.rising
	r.level, r.saturated = level, 1
	elements, variables := s.elements, s.variables
	for e := s.constraints[r.constraint].head; e != none; e = elements[e].next {
		v := &variables[s.variableOf(e)]
		if v.stage != rising {
			continue
		}
		place := s.placeOf(e)
		own := elements[e-place:][:v.numShared()]
		if v.bottleneck = int16(place); last {
			s.set.fixLast(v, own, level)
		} else {
			s.fix(v, own, level)
		}
	}
}

// fixBounded fixes the variables of A whose maximum is below a level that no constraint
// saturates below, and reports whether there were any.
func (s *System) fixBounded(level float64) (some bool) {
	a := &s.set
	a.lowest = math.Inf(1)
	for _, id := range a.variables {
		v := &s.variables[id]
		switch {
		case v.stage != rising:
		case v.maxLevel < level:
			s.fix(v, s.sharedElements(id), v.maxLevel)
			some = true
		default:
			a.lowest = min(a.lowest, v.maxLevel)
		}
	}
	return some
}

// fix gives a variable with the given elements its level and takes it from its constraints.
func (s *System) fix(v *variable, elements []element, level float64) {
	a := &s.set
	v.filled, v.stage = level, fixed
	a.rising--
	states := a.states
	keys, inexact := a.keys[:len(states)], 0
	for i := range elements {
		e := &elements[i]
		state := e.state
		r := &states[state]
		remaining, usage, left := r.remaining-float64(level*e.usage), r.usage-e.usage, r.rising-1
		r.remaining, r.usage, r.rising = remaining, usage, left
		key, low := keyOf(remaining, usage, state), 0
		if usage < r.floor {
			low = 1
		}
		if left == 0 {
			key, low = neverKey, 0
		}
		keys[state] = key
		inexact |= low
	}
	if inexact != 0 {
		s.sumUsages(elements)
	}
}

// fixLast is fix for variables that all the others have gone before: what their constraints have
// left is all that the commit asks for.
func (a *workingSet) fixLast(v *variable, elements []element, level float64) {
	v.filled, v.stage = level, fixed
	a.rising--
	states := a.states
	for i := range elements {
		e := &elements[i]
		states[e.state].remaining -= float64(level * e.usage)
	}
}

// smallRemaining is the part of a sum below which a difference has lost too many digits.
const smallRemaining = 1e-2

// sumUsages sums the usages anew in those states of elements where they are small.
func (s *System) sumUsages(elements []element) {
	a := &s.set
	for i := range elements {
		state := elements[i].state
		if r := &a.states[state]; r.rising > 0 && r.usage < r.floor {
			r.usage = s.risingUsage(r.constraint)
			r.floor = smallRemaining * r.usage
			a.keys[state] = keyOf(r.remaining, r.usage, state)
		}
	}
}

// risingUsage sums the usages of the variables on constraint c that are not fixed.
func (s *System) risingUsage(c uint32) float64 {
	usage := 0.0
	for e := s.constraints[c].head; e != none; e = s.elements[e].next {
		if s.variables[s.variableOf(e)].stage == rising {
			usage += s.elements[e].usage
		}
	}
	return usage
}

// fillByHeap is fill's loop for many constraints. Keys are brought up to date when they reach the top: while variables
// are fixed at the lowest level, the level at which a constraint saturates never falls.
func (s *System) fillByHeap() {
	a := &s.set
	a.heap = a.heap[:0]
	for i := unshared + 1; i < len(a.states); i++ {
		a.heap = append(a.heap, a.key(int32(i)))
	}
	a.heap.Init()
	for a.rising > 0 {
		top := a.heap[0].ID
		if a.states[top].rising == 0 {
			a.heap.Pop()
			continue
		}
		if k := a.key(top); k.Key > a.heap[0].Key {
			a.heap.SetFirst(k)
			if a.heap[0].ID != top {
				continue
			}
		}
		s.fillConstraint(&a.states[top])
	}
}

// key returns the level at which the constraint of state i saturates now.
func (a *workingSet) key(i int32) keyheap.Item {
	r := &a.states[i]
	return keyheap.Item{Key: max(0, r.remaining) / r.usage, ID: i}
}
