package maxmin

import (
	"errors"
	"io"

	"reprise/internal/snapshot"
)

// SaveState writes the state of the system, for RestoreState of another one over the same
// constraints with the same options. Solve must have been called since the last change.
func (s *System) SaveState(w io.Writer) error { return snapshot.Save(w, s.state) }

// RestoreState sets the state of a new system to what SaveState has written, except for the capacities.
func (s *System) RestoreState(r io.Reader) error { return snapshot.Restore(r, s.state) }

// state leaves out the solvers' scratch.
func (s *System) state(c *snapshot.State) {
	c.Section("system")
	if s.Unsolved() {
		c.Fail(errors.New("the shares have not been computed since the last change"))
	}
	clocked := s.clocks != nil
	c.Vars(&clocked)
	if clocked && s.clocks == nil {
		s.UseClocks()
	}
	c.Vars(&s.mixedPipes, &s.elementShift, &s.set.solves, &s.stats, &s.units)
	snapshot.Slice(c, &s.variables, func(v *variable) {
		c.Vars(&v.level, &v.maxLevel, &v.shared, &v.bottleneck, &v.stage, &v.clocked)
	})
	snapshot.Slice(c, &s.params, func(p *parameters) { c.Vars(&p.penalty, &p.bound, &p.elements) })
	snapshot.Slice(c, &s.elements, func(e *element) {
		c.Vars(&e.usage, &e.constraint, &e.state, &e.next, &e.prev)
	})
	snapshot.Slice(c, &s.constraints, func(k *constraint) {
		c.Vars(&k.load, &k.head, &k.variables, &k.bottleneck)
	})
	snapshot.Slice(c, &s.fatpipes, func(f *fatpipe) { c.Vars(&f.usage, &f.other) })
	if clocked {
		s.clocks.state(c)
	}
}

// state is that between two solves: nothing waits.
func (k *clocks) state(c *snapshot.State) {
	c.Vars(&k.level, &k.by, &k.quiet, &k.above, &k.changed, &k.saturated, &k.active, &k.mixed, &k.solved)
	snapshot.Slice(c, &k.loads, func(l *load) { c.Vars(&l.frozen, &l.highest, &l.limit) })
	snapshot.Slice(c, &k.of, func(o *clock) { c.Vars(&o.own, &o.floor, &o.lowest, &o.age, &o.changed) })
	snapshot.Slice(c, &k.pairs, func(p *pairs) {
		c.Vars(&p.usages, &p.to, &p.empty, &p.dead)
		snapshot.Slice(c, &p.table, func(m *entry) { c.Vars(&m.constraint, &m.index, &m.count, &m.floor) })
	})
	snapshot.Slice(c, &k.users, func(list *[]use) {
		snapshot.Slice(c, list, func(u *use) { c.Vars(&u.usage, &u.element, &u.by) })
	})
}
