package maxmin

import (
	"math"

	"reprise/internal/invariants"
)

// This file is what a user of the package sees: New makes a System, Set, Enable and Disable change it, Solve solves it.

// Policy says how a constraint limits the variables that use it.
type Policy uint8

const (
	Shared  Policy = iota // it limits their sum
	Fatpipe               // it limits each of them alone
)

// Constraint is a resource with a capacity (> 0).
type Constraint struct {
	Capacity float64
	Policy   Policy
}

// Variable describes a variable without the constraints that it uses, so that variables may share a description.
// Usage and MaxLevel follow from the others and the constraints ([System.Fit] computes them).
type Variable struct {
	Penalty  float64   // > 0: twice the penalty, half the share
	Bound    float64   // > 0: the largest share
	Weights  []float64 // > 0, by constraint: the part of the share that is carried there
	Shared   int       // the first so many constraints are Shared, the others FATPIPEs
	Usage    float64   // 1/Penalty: load per level, for a weight of 1
	MaxLevel float64   // level of the variable without others
}

// Options say how a System is solved.
type Options struct {
	Reference bool // by the reference, all anew each time
	// Of the reference, SimGrid's maxmin/precision: a constraint is saturated when less than this part of its capacity
	// is left, and has no rising variables when their usages sum up to less than this.
	Precision float64
}

// Stats counts what a System did.
type Stats struct {
	Solves     int64
	Variables  int64 // in those solves: of the working sets, what the reference solved, or with clocks those with another bottleneck
	Fillings   int64 // of the local solver, or with clocks of all variables
	Components int64 // solves that it left to the reference
}

// System holds constraints and the variables that use them, by numbers that its user gives:
// small ones are best, as there are arrays by number.
//
// A System is not safe for concurrent use. Its methods allocate nothing once its arrays have
// grown to the largest number of a variable and of its constraints.
type System struct {
	opts Options

	variables    []variable // by number
	params       []parameters
	elements     []element // 1<<elementShift for each variable
	elementShift uint8
	// by element, with clocks: its usage for one of those that the variable stands for
	units       []float64
	constraints []constraint
	fatpipes    []fatpipe // by constraint; nil if there is none
	mixedPipes  int       // FATPIPEs on which variables of different usages meet
	clocks      *clocks   // nil: the local solver is used

	// What changed since the last solve.
	enabled    []uint32 // variables that were enabled
	freed      []uint32 // Shared constraints that a variable left, if others have their bottleneck there
	freedMixed []uint32 // FATPIPEs that a variable left when they were mixed

	// What the last solve did.
	levels  []Change // by the local solver
	shares  []Change // by the reference
	touched []uint32 // the working set, or what the reference solved

	set     workingSet
	part    part
	stats   Stats
	fetched uint32 // without meaning: it keeps the compiler from leaving out the reads of Fetch
}

// Change is a variable with its new level or its new share.
type Change struct {
	Variable uint32
	Value    float64
}

// New returns a system of constraints without variables.
func New(constraints []Constraint, o Options) *System {
	s := &System{opts: o, constraints: make([]constraint, len(constraints)), elementShift: 2, set: newWorkingSet()}
	for i, c := range constraints {
		s.constraints[i] = constraint{capacity: c.Capacity, head: none, state: unshared}
		if c.Policy == Fatpipe {
			if s.fatpipes == nil {
				s.fatpipes = make([]fatpipe, len(constraints))
			}
			s.fatpipes[i].policy = Fatpipe
		}
	}
	return s
}

// Set makes id, which is not enabled, a variable that uses the given constraints, each of them
// once. It retains neither of them.
func (s *System) Set(id uint32, d *Variable, constraints []int32) {
	if int(id) >= len(s.variables) {
		s.reserve(id)
	}
	if len(constraints) > 1<<s.elementShift {
		s.widen(len(constraints))
	}
	v := &s.variables[id]
	v.level, v.maxLevel, v.shared, v.bottleneck = 0, d.MaxLevel, uint16(d.Shared), noElement
	if d.Shared < len(constraints) {
		v.shared |= fatFlag
	}
	p := &s.params[id]
	p.penalty, p.bound, p.elements = d.Penalty, d.Bound, uint32(len(constraints))
	elements := s.elements[s.firstElement(id):][:len(constraints)]
	weights := d.Weights[:len(constraints)]
	for i, c := range constraints {
		e := &elements[i]
		e.usage, e.constraint, e.next, e.prev = float64(weights[i]*d.Usage), uint32(c), none, none
	}
	if s.clocks != nil {
		for i := range elements {
			s.units[s.firstElement(id)+uint32(i)] = elements[i].usage
		}
	}
}

// Resize makes variable id, which is enabled, stand for n > 0 variables that use what it was
// Set to, all at one level. The system must have clocks.
func (s *System) Resize(id uint32, n int) {
	s.resizeClocked(id, func() { s.resize(id, n) })
	s.enabled = append(s.enabled, id)
}

func (s *System) resize(id uint32, n int) {
	v, p := &s.variables[id], &s.params[id]
	most := p.bound * p.penalty
	for i, to := s.firstElement(id), s.firstElement(id)+v.numShared(); i < to; i++ {
		e := &s.elements[i]
		c, usage := &s.constraints[e.constraint], float64(float64(n)*s.units[i])
		if c.variables > 1 {
			c.load += float64(v.level * (usage - e.usage))
		}
		e.usage = usage
		most = min(most, c.capacity/usage)
	}
	if v.fat() { // each of the n may have all of a FATPIPE
		for i, to := s.fatElements(id); i < to; i++ {
			most = min(most, s.constraints[s.elements[i].constraint].capacity/s.units[i])
		}
	}
	v.maxLevel = most
}

// Fit sets the usage and the largest level of d, which uses the given constraints, from its
// penalty, its bound, its weights and what capacity they have now.
func (s *System) Fit(d *Variable, constraints []int32) {
	d.Usage = 1 / d.Penalty
	d.MaxLevel = d.Bound * d.Penalty
	for i, c := range constraints {
		d.MaxLevel = min(d.MaxLevel, s.constraints[c].capacity/float64(d.Weights[i]*d.Usage))
	}
}

// SetCapacity changes the capacity of a constraint, to 0 perhaps. The variables that use it must
// be disabled, and Set anew before they are enabled.
func (s *System) SetCapacity(constraint int32, capacity float64) {
	s.constraints[constraint].capacity = capacity
}

// Fetch reads what Enable and Disable of variables touch. One by one each would wait for main memory several times; here
// these waits overlap, as no read needs the one before it.
func (s *System) Fetch(ids []uint32) {
	sum := uint32(0)
	for _, id := range ids {
		sum += uint32(s.variables[id].shared) + s.elements[s.firstElement(id)].constraint
	}
	for _, id := range ids {
		first := s.firstElement(id)
		for i, to := first, first+s.variables[id].numShared(); i < to; i++ {
			sum += s.constraints[s.elements[i].constraint].head
		}
	}
	s.fetched += sum
}

// Enable lets variable id, which is not enabled, use its constraints, with level 0 until the next Solve.
func (s *System) Enable(id uint32) {
	v := &s.variables[id]
	v.level, v.bottleneck, v.stage, v.clocked = 0, noElement, outside, false
	first := s.firstElement(id)
	s.enlist(first, first+v.numShared())
	if v.fat() {
		for i, to := s.fatElements(id); i < to; i++ {
			s.enlistFat(i)
		}
	}
	s.enabled = append(s.enabled, id)
}

// Disable takes variable id, which is enabled, off its constraints, and notes those where others
// may now rise. Its level stays.
func (s *System) Disable(id uint32) {
	v := &s.variables[id]
	v.stage = disabled
	if s.clocks != nil {
		s.leaveClocks(id)
	}
	s.dropBottleneck(id, v)
	elements, constraints, level := s.elements, s.constraints, v.level
	first := s.firstElement(id)
	for i, to := first, first+v.numShared(); i < to; i++ {
		e := &elements[i]
		c := &constraints[e.constraint]
		delist(elements, e, c)
		if c.variables == 0 {
			continue
		}
		c.load -= float64(level * e.usage)
		if c.bottleneck > 0 {
			s.freed = append(s.freed, e.constraint)
		}
	}
	if v.fat() {
		for i, to := s.fatElements(id); i < to; i++ {
			s.delistFat(i)
		}
	}
}

// Unsolved reports whether something has changed since the last Solve.
func (s *System) Unsolved() bool {
	return len(s.enabled)+len(s.freed)+len(s.freedMixed) > 0 || s.clocks != nil && s.clocks.left > 0
}

// Solve computes the levels after the changes since the last Solve, and returns those that are other ones now; the list
// is valid until the next Solve. The reference solver leaves its result in Shares instead.
func (s *System) Solve() []Change {
	s.stats.Solves++
	s.levels, s.shares = s.levels[:0], s.shares[:0]
	switch {
	case s.opts.Reference:
		s.solveAll()
	case s.clocks != nil:
		s.solveClocks()
		if s.clocks.left = 0; !s.clocks.mixed { // the reference counts its own
			s.stats.Variables += int64(len(s.clocks.moved))
		}
	default:
		s.solveLocal()
	}
	s.enabled, s.freed, s.freedMixed = s.enabled[:0], s.freed[:0], s.freedMixed[:0]
	if invariants.Enabled {
		s.mustHold()
	}
	return s.levels
}

// Alone gives a variable that is not enabled the level that it has without others, and returns it.
func (s *System) Alone(id uint32) float64 {
	v := &s.variables[id]
	v.level = v.maxLevel
	return v.level
}

// Level returns the level of a variable.
func (s *System) Level(id uint32) float64 {
	v := &s.variables[id]
	if s.clocks != nil && v.clocked && !s.clocks.mixed {
		return s.levelBy(id)
	}
	return v.level
}

// sameLevel is the relative change of a level below which a variable keeps it: rounding, not a change.
const sameLevel = 1e-13

// differ reports whether a new level is another one than an old level.
func differ(level, old float64) bool { return math.Abs(level-old) > sameLevel*level }

// setShare gives variable id the share that the reference has found.
func (s *System) setShare(id uint32, share float64) {
	v := &s.variables[id]
	if level := float64(share * s.params[id].penalty); differ(level, v.level) {
		v.level = level
		s.shares = append(s.shares, Change{id, share})
	}
}
