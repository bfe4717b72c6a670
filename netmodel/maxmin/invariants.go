package maxmin

import (
	"fmt"
	"math"
)

// solverTolerance is the relative difference that is accepted of shares from what they
// should be: between the two solvers, and of loads from capacities.
const solverTolerance = 1e-9

// checkedPerSolve is how many variables and constraints, about, are checked per solve in a build
// with invariants: all of a small network each time, of a large one from time to time.
const checkedPerSolve = 64

// mustHold panics if checkInvariants finds an error. Solve calls it in builds with invariants.
func (s *System) mustHold() {
	every := int64(1 + (len(s.variables)+len(s.constraints))/checkedPerSolve)
	if s.opts.Reference || s.stats.Solves%every != 0 {
		return
	}
	if err := s.checkInvariants(); err != nil {
		panic(fmt.Sprintf("maxmin: solve %d: %v", s.stats.Solves, err))
	}
}

// checkInvariants checks, from loads computed anew, that no constraint is overloaded, that every variable is at its
// maximum or has a bottleneck, that the counts agree, and that the solver has left its working set empty. With
// FATPIPEs, where the reference is used, too, loads may be off by its error.
func (s *System) checkInvariants() error {
	tolerance := solverTolerance
	if s.fatpipes != nil {
		tolerance += s.referenceError()
	}
	if a := &s.set; len(a.variables) > 0 || len(a.states) != unshared+1 {
		return fmt.Errorf("%d variables and %d states left in the working set", len(a.variables), len(a.states))
	}
	bottlenecks := make([]int32, len(s.constraints))
	for id := range s.variables {
		v := &s.variables[id]
		if v.stage == disabled {
			continue
		}
		if v.stage != outside {
			return fmt.Errorf("variable %d: left in the working set", id)
		}
		if level := s.Level(uint32(id)); level > v.maxLevel*(1+solverTolerance) {
			return fmt.Errorf("variable %d: level %v above its maximum %v", id, level, v.maxLevel)
		}
		if v.bottleneck >= 0 {
			bottlenecks[s.bottleneckOf(uint32(id), v)]++
		}
		if err := s.checkBottleneck(id); err != nil {
			return fmt.Errorf("variable %d: %w", id, err)
		}
	}
	for c := range s.constraints {
		k := &s.constraints[c]
		if k.state != unshared {
			return fmt.Errorf("constraint %d: left in the working set", c)
		}
		load := s.loadOf(uint32(c))
		if !s.isFatpipe(uint32(c)) && load > k.capacity*(1+tolerance) {
			return fmt.Errorf("constraint %d: load %v, capacity %v", c, load, k.capacity)
		}
		if s.clocks == nil && k.variables > 1 && !s.isFatpipe(uint32(c)) && math.Abs(load-k.load) > solverTolerance*k.capacity {
			return fmt.Errorf("constraint %d: load %v, kept as %v", c, load, k.load)
		}
		if k.bottleneck != bottlenecks[c] {
			return fmt.Errorf("constraint %d: bottleneck of %d variables, counted %d", c, bottlenecks[c], k.bottleneck)
		}
	}
	return nil
}

func (s *System) checkBottleneck(id int) error {
	v := &s.variables[id]
	level := s.Level(uint32(id))
	if math.Abs(level-v.maxLevel) <= solverTolerance*v.maxLevel || s.mixedPipes > 0 {
		return nil
	}
	if v.bottleneck < 0 {
		return fmt.Errorf("level %v, maximum %v, no bottleneck", level, v.maxLevel)
	}
	b := s.bottleneckOf(uint32(id), v)
	c := &s.constraints[b]
	if load := s.loadOf(b); load < c.capacity*(1-solverTolerance) {
		return fmt.Errorf("bottleneck %d has load %v of %v", b, load, c.capacity)
	}
	for e := c.head; e != none; e = s.elements[e].next {
		if other := s.Level(s.variableOf(e)); other > level*(1+solverTolerance) {
			return fmt.Errorf("bottleneck %d: level %v, but another has %v", b, level, other)
		}
	}
	return nil
}

// referenceError bounds what the reference loses as it subtracts usages: on a constraint each difference is off by half
// a unit in the last place of the sum that it began with, and the least that can be left is the smallest of them.
func (s *System) referenceError() float64 {
	worst := 0.0
	for c := range s.constraints {
		sum, least := 0.0, math.Inf(1)
		for e := s.constraints[c].head; e != none; e = s.elements[e].next {
			sum, least = sum+s.elements[e].usage, min(least, s.elements[e].usage)
		}
		worst = max(worst, sum/least*float64(s.constraints[c].variables)*0x1p-53)
	}
	return worst
}
