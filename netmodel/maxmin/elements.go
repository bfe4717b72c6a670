package maxmin

import (
	"math"
	"slices"
)

// The data of a System: variables, constraints, and elements, which join them. Set and Enable (system.go) fill them, by
// enlist and delist below.

// noElement says that a variable has no bottleneck among its constraints.
const noElement = -1

// variable is the part of a variable that the local solver touches; its share is level/penalty. 32 bytes, half a cache
// line.
type variable struct {
	level    float64 // share * penalty; 0 before the first solve
	maxLevel float64 // without others
	filled   float64 // level in the filling under way; the old one until it is fixed
	shared   uint16  // number of its elements on SHARED constraints, and fatFlag if others follow
	// which of its elements is on the constraint that fixed its level; noElement if its bound did. Provisional in a
	// filling
	bottleneck int16
	stage      stage // of the filling under way
	clocked    bool  // the clocked solver has taken it in
}

// stage is how far a filling has come with a variable.
type stage uint8

const (
	outside stage = iota // it is not in the working set
	rising               // its level is not fixed
	fixed
	disabled // it uses no constraint now
)

// fatFlag in variable.shared says that the variable has elements on FATPIPEs too.
const fatFlag = 1 << 15

func (v *variable) numShared() uint32 { return uint32(v.shared &^ fatFlag) }
func (v *variable) fat() bool         { return v.shared&fatFlag != 0 }

// parameters is what only the reference and FATPIPEs need.
type parameters struct {
	penalty  float64
	bound    float64 // the largest share
	elements uint32  // number of elements
}

// element is the use of one constraint by one variable. Variable v has the elements from
// v<<elementShift on. Those of the enabled variables on a constraint form a doubly linked list.
// One with neither neighbour is alone on its constraint. 24 bytes.
type element struct {
	usage      float64 // load per level: weight/penalty
	constraint uint32
	state      uint32 // index in workingSet.states, unshared if alone; valid while the variable is in the working set
	next, prev uint32 // elements, none at the ends
}

func (e *element) alone() bool { return e.next&e.prev == none }

// none is no element.
const none = math.MaxUint32

// constraint is one capacity and the enabled variables that use it. 32 bytes.
type constraint struct {
	capacity   float64
	load       float64 // sum of usage*level; kept only while there are two variables or more
	head       uint32  // first element, or none
	variables  int32   // number of elements in the list
	bottleneck int32   // number of variables whose bottleneck this is
	state      uint32  // index in workingSet.states while it is in the working set, else unshared
}

// fatpipe is the state of a FATPIPE constraint. As long as all its variables have the same usage it only bounds each of
// them. When they differ it is mixed: it couples them, and their shares depend on the order of the filling.
type fatpipe struct {
	usage  float64 // of the variable that came first
	other  int32   // number of variables with another usage
	policy Policy  // of the constraint
}

// reserve makes room for variable id.
func (s *System) reserve(id uint32) {
	for int(id) >= len(s.variables) {
		s.variables = append(s.variables, variable{stage: disabled, bottleneck: noElement})
		s.params = append(s.params, parameters{})
		if s.clocks != nil {
			s.clocks.by = append(s.clocks.by, noClock)
		}
	}
	s.reserveElements()
}

// reserveElements makes room for the elements of all variables.
func (s *System) reserveElements() {
	// Twice as many at a time: append grows large slices by a quarter, and copies four times as much.
	if n := len(s.variables) << s.elementShift; n > cap(s.elements) {
		s.elements = append(make([]element, 0, 2*n), s.elements...)
	}
	s.elements = s.elements[:max(len(s.elements), len(s.variables)<<s.elementShift)]
	if s.clocks != nil {
		s.units = slices.Grow(s.units, cap(s.elements)-len(s.units))[:len(s.elements)]
	}
}

// widen gives every variable room for count elements.
func (s *System) widen(count int) {
	old, units, shift := s.elements, s.units, s.elementShift
	for count > 1<<s.elementShift {
		s.elementShift++
	}
	if s.elementShift == shift {
		return
	}
	s.elements, s.units = nil, nil
	s.reserveElements()
	moved := func(e uint32) uint32 {
		if e == none {
			return e
		}
		return e>>shift<<s.elementShift | e&(1<<shift-1)
	}
	for i, e := range old {
		e.next, e.prev = moved(e.next), moved(e.prev)
		s.elements[moved(uint32(i))] = e
		if units != nil {
			s.units[moved(uint32(i))] = units[i]
		}
	}
	for i := range s.constraints {
		s.constraints[i].head = moved(s.constraints[i].head)
	}
	if s.clocks != nil {
		for _, list := range s.clocks.users {
			for i := range list {
				list[i].element = moved(list[i].element)
			}
		}
	}
}

// sharedElements returns the elements of variable id on SHARED constraints.
func (s *System) sharedElements(id uint32) []element {
	return s.elements[s.firstElement(id):][:s.variables[id].numShared()]
}

// fatElements returns the range of the elements of variable id on FATPIPE constraints.
func (s *System) fatElements(id uint32) (from, to uint32) {
	first := s.firstElement(id)
	return first + s.variables[id].numShared(), first + s.params[id].elements
}

// allElements returns the range of the elements of variable id.
func (s *System) allElements(id uint32) (from, to uint32) {
	from = s.firstElement(id)
	return from, from + s.params[id].elements
}

// elementOn returns which element of variable id is on constraint c.
func (s *System) elementOn(id uint32, c uint32) int16 {
	for i, to := s.allElements(id); i < to; i++ {
		if s.elements[i].constraint == c {
			return int16(s.placeOf(i))
		}
	}
	return noElement
}

func (s *System) isFatpipe(c uint32) bool {
	return s.fatpipes != nil && s.fatpipes[c].policy == Fatpipe
}

// variableOf returns the variable of element e. (& 31 tells the compiler that the shift is a
// small one, which spares a comparison.)
func (s *System) variableOf(e uint32) uint32 { return e >> (s.elementShift & 31) }

// placeOf returns which element of its variable e is.
func (s *System) placeOf(e uint32) uint32 { return e & (1<<(s.elementShift&31) - 1) }

// firstElement returns the first element of variable id.
func (s *System) firstElement(id uint32) uint32 { return id << (s.elementShift & 31) }

// enlist puts elements at the heads of their constraints' lists. The load of a constraint with
// one variable is not kept, so it is set when the second joins.
func (s *System) enlist(from, to uint32) {
	elements, constraints, variables, shift := s.elements, s.constraints, s.variables, s.elementShift&31
	for i := from; i < to; i++ {
		e := &elements[i]
		c := &constraints[e.constraint]
		head := c.head
		e.prev, e.next = none, head
		c.head = i
		c.variables++
		if head == none {
			continue
		}
		after := &elements[head]
		after.prev = i
		if c.variables == 2 {
			c.load = float64(variables[head>>shift].level * after.usage)
		}
	}
}

// enlistFat does the same on a FATPIPE. If the constraint is mixed then, the next solve leaves it to the reference.
func (s *System) enlistFat(i uint32) {
	s.enlist(i, i+1)
	c, usage := s.elements[i].constraint, s.elements[i].usage
	switch p := &s.fatpipes[c]; {
	case s.constraints[c].variables == 1:
		p.usage, p.other = usage, 0
	case usage != p.usage:
		if p.other++; p.other == 1 {
			s.mixedPipes++
		}
	}
}

// dropBottleneck makes variable id have no bottleneck.
func (s *System) dropBottleneck(id uint32, v *variable) {
	if v.bottleneck >= 0 {
		s.constraints[s.bottleneckOf(id, v)].bottleneck--
		v.bottleneck = noElement
	}
}

// bottleneckOf returns the constraint that is the bottleneck of variable id.
func (s *System) bottleneckOf(id uint32, v *variable) uint32 {
	return s.elements[s.firstElement(id)+uint32(v.bottleneck)].constraint
}

// delist takes an element out of its constraint's list.
func delist(elements []element, e *element, c *constraint) {
	next, prev := e.next, e.prev
	if prev != none {
		elements[prev].next = next
	} else {
		c.head = next
	}
	if next != none {
		elements[next].prev = prev
	}
	c.variables--
}

// delistFat does the same on a FATPIPE, which is noted if it was mixed.
func (s *System) delistFat(i uint32) {
	e := &s.elements[i]
	c, p := &s.constraints[e.constraint], &s.fatpipes[e.constraint]
	delist(s.elements, e, c)
	if p.other == 0 {
		return
	}
	s.mixedPipes--
	s.freedMixed = append(s.freedMixed, s.elements[i].constraint)
	if s.elements[i].usage != p.usage {
		p.other--
	}
	if p.other == c.variables { // the first usage has no variable any more: take another
		p.usage, p.other = 0, 0
		if c.head != none {
			p.usage = s.elements[c.head].usage
		}
		for k := c.head; k != none; k = s.elements[k].next {
			if s.elements[k].usage != p.usage {
				p.other++
			}
		}
	}
	if p.other > 0 {
		s.mixedPipes++
	}
}

// mixed reports whether variable id is on a FATPIPE whose variables have different usages.
func (s *System) mixed(id uint32) bool {
	for i, to := s.fatElements(id); i < to; i++ {
		if s.fatpipes[s.elements[i].constraint].other > 0 {
			return true
		}
	}
	return false
}
