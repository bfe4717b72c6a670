package maxmin

import (
	"errors"
	"fmt"
	"io"
	"math"

	"reprise/internal/snapshot"
)

// SaveState writes the state of the system, for RestoreState of another one over the same
// constraints with the same options. Solve must have been called since the last change.
func (s *System) SaveState(w io.Writer) error { return snapshot.Save(w, s.snapshot) }

// RestoreState sets the state of a new system to what SaveState has written, capacities
// excepted, and checks that it hangs together.
func (s *System) RestoreState(r io.Reader) error { return snapshot.Restore(r, s.snapshot) }

// snapshot stores the state, or sets it. The solvers' scratch is left out.
func (s *System) snapshot(c *snapshot.Codec) {
	c.Section("system", *s, s.set, s.stats)
	snapshot.Index(c, &s.elementShift, 2, 16)
	s.snapshotVariables(c)
	s.snapshotConstraints(c)
	if s.Unsolved() {
		c.Fail(errUnsolved)
	}
	if s.resizable {
		c.Fail(errResizable)
	}
	if s.sweeps() {
		c.Fail(errSweeps)
	}
	snapshot.Index(c, &s.set.solves, 0, refreshPeriod)
	for _, v := range []*int64{&s.stats.Solves, &s.stats.Variables, &s.stats.Fillings, &s.stats.Components} {
		snapshot.Int(c, v)
	}
	if c.Reading() && c.Err() == nil {
		if err := s.check(); err != nil {
			c.Check(false, "%v", err)
		}
	}
}

var (
	errUnsolved  = errors.New("the shares have not been computed since the last change")
	errResizable = errors.New("variables that stand for several are not saved")
	errSweeps    = errors.New("a system that sweeps is not saved")
)

// snapshotVariables is snapshot of what there is by variable.
func (s *System) snapshotVariables(c *snapshot.Codec) {
	c.Section("variables", variable{}, parameters{}, element{})
	width := 1 << s.elementShift
	snapshot.Slice(c, &s.variables, math.MaxInt32>>s.elementShift, func(v *variable) {
		c.Amount(&v.level)
		c.Amount(&v.maxLevel)
		snapshot.Int(c, &v.shared)
		c.Check(v.numShared() <= uint32(width), "variable on %d constraints of %d", v.numShared(), width)
		snapshot.Index(c, &v.bottleneck, noElement, width)
		snapshot.Index(c, &v.stage, int(outside), int(disabled)+1)
		c.Check(v.stage == outside || v.stage == disabled, "variable in a filling")
	})
	snapshot.Slice(c, &s.params, len(s.variables), func(p *parameters) {
		c.Amount(&p.penalty)
		c.Amount(&p.bound)
		snapshot.Index(c, &p.elements, 0, width+1)
	})
	elements := len(s.variables) << s.elementShift
	snapshot.Slice(c, &s.elements, elements, func(e *element) {
		snapshot.Index(c, &e.constraint, 0, len(s.constraints))
		c.Amount(&e.usage)
		snapshotElement(c, &e.next, elements)
		snapshotElement(c, &e.prev, elements)
	})
	c.Check(len(s.params) == len(s.variables) && len(s.elements) == elements, "%d and %d parts of %d variables", len(s.params), len(s.elements), len(s.variables))
}

// snapshotConstraints is snapshot of what there is by constraint.
func (s *System) snapshotConstraints(c *snapshot.Codec) {
	c.Section("constraints", constraint{}, fatpipe{})
	c.Const("constraints", len(s.constraints))
	for i := range s.constraints {
		k := &s.constraints[i]
		c.Range(&k.load, -math.MaxFloat64, math.MaxFloat64) // it may be below 0 by a rounding
		snapshotElement(c, &k.head, len(s.elements))
		snapshot.Index(c, &k.variables, 0, len(s.elements)+1)
		snapshot.Index(c, &k.bottleneck, 0, len(s.elements)+1)
	}
	c.Const("fatpipes", len(s.fatpipes))
	for i := range s.fatpipes {
		c.Amount(&s.fatpipes[i].usage)
		snapshot.Index(c, &s.fatpipes[i].other, 0, len(s.elements)+1)
	}
}

// snapshotElement is snapshot of one of so many elements, or none.
func snapshotElement(c *snapshot.Codec, e *uint32, elements int) {
	number := int32(*e) // -1 for none
	snapshot.Index(c, &number, -1, elements)
	*e = uint32(number)
}

// check checks the state that was read: variables, and the lists of those on each
// constraint.
func (s *System) check() error {
	elements := 0
	for id := range s.variables {
		v, p := &s.variables[id], &s.params[id]
		if v.stage == disabled && v.bottleneck == noElement {
			continue
		}
		if v.stage == disabled || !(p.penalty > 0) || !(p.bound > 0) || v.level > v.maxLevel*(1+1e-9) || v.bottleneck >= int16(v.numShared()) || v.numShared() > p.elements {
			return fmt.Errorf("variable %d: level %g of %g, penalty %g, bound %g", id, v.level, v.maxLevel, p.penalty, p.bound)
		}
		elements += int(p.elements)
	}
	return s.checkLists(elements)
}

// checkLists checks the lists of the elements on each constraint, so many in all.
func (s *System) checkLists(all int) error {
	seen := make([]bool, len(s.elements))
	total := 0
	for c := range s.constraints {
		count, err := s.checkList(uint32(c), seen)
		if err != nil {
			return fmt.Errorf("constraint %d: %w", c, err)
		}
		total += count
	}
	if total != all {
		return fmt.Errorf("variables on %d constraints, listed on %d", all, total)
	}
	return nil
}

// checkList checks what is known of a constraint, and returns how many elements are on it.
func (s *System) checkList(c uint32, seen []bool) (count int, err error) {
	on, before, bottlenecks, others := &s.constraints[c], uint32(none), 0, 0
	for i := on.head; i != none; before, i = i, s.elements[i].next {
		id, e := s.variableOf(i), &s.elements[i]
		if seen[i] || e.constraint != c || e.prev != before || s.variables[id].stage == disabled || s.placeOf(i) >= s.params[id].elements {
			return 0, errors.New("its list of variables is broken")
		}
		seen[i] = true
		count++
		if s.isBottleneck(i) {
			bottlenecks++
		}
		if s.isFatpipe(c) && e.usage != s.fatpipes[c].usage {
			others++
		}
	}
	switch {
	case count != int(on.variables) || bottlenecks != int(on.bottleneck):
		return 0, fmt.Errorf("%d variables, %d of them with their bottleneck here, and %d and %d are counted", count, bottlenecks, on.variables, on.bottleneck)
	case s.isFatpipe(c) && count > 0 && (others != int(s.fatpipes[c].other) || others == count):
		return 0, fmt.Errorf("%d other usages of %d, and %d are counted", others, count, s.fatpipes[c].other)
	case count > 1 && !s.isFatpipe(c) && math.Abs(on.load-s.loadOf(c)) > 1e-6*max(on.capacity, on.load):
		return 0, fmt.Errorf("load %g, and %g was computed", on.load, s.loadOf(c))
	}
	return count, nil
}
