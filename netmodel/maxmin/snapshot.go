package maxmin

import (
	"errors"
	"io"

	"reprise/internal/snapshot"
)

// SaveState writes the state of the system, for RestoreState of another one over the same
// constraints with the same options. Solve must have been called since the last change.
func (s *System) SaveState(w io.Writer) error { return snapshot.Save(w, s.state) }

// RestoreState sets the state of a new system to what SaveState has written, except for the
// capacities.
func (s *System) RestoreState(r io.Reader) error { return snapshot.Restore(r, s.state) }

// state leaves out the solvers' scratch.
func (s *System) state(c *snapshot.State) {
	c.Section("system")
	switch {
	case s.Unsolved():
		c.Fail(errors.New("the shares have not been computed since the last change"))
	case s.resizable:
		c.Fail(errors.New("variables that stand for several are not saved"))
	case s.sweeps():
		c.Fail(errors.New("a system that sweeps is not saved"))
	}
	c.Vars(&s.elementShift, &s.set.solves, &s.stats)
	snapshot.Slice(c, &s.variables, func(v *variable) {
		c.Vars(&v.level, &v.maxLevel, &v.shared, &v.bottleneck, &v.stage)
	})
	snapshot.Slice(c, &s.params, func(p *parameters) { c.Vars(&p.penalty, &p.bound, &p.elements) })
	snapshot.Slice(c, &s.elements, func(e *element) { c.Vars(&e.usage, &e.constraint, &e.next, &e.prev) })
	snapshot.Slice(c, &s.constraints, func(k *constraint) {
		c.Vars(&k.load, &k.head, &k.variables, &k.bottleneck)
	})
	snapshot.Slice(c, &s.fatpipes, func(f *fatpipe) { c.Vars(&f.usage, &f.other) })
}
