package stat

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"reprise/trace"
)

// unitCounter adds up what the calls of units do. Ranks that do the same are
// counted once, with their number.
type unitCounter struct {
	*tally
	program *trace.Program
	blocks  summarizer
	eval    evaluator
	groups  *grouping
	states  *rankStates
	changes []groupChange // by group, of the call at hand
	sorted  []int         // groups in the order of evaluation
	same    []int64       // by vector of the chunk: the first that is equal
	args    []int64
}

// groupChange is what a call does to the state of a group's ranks.
type groupChange struct {
	config int32
	steps  []slotChange
}

// slotChange is a run of the operation in a slot, in a phase, or a new content.
type slotChange struct {
	slot  int
	run   bool
	phase int32
	op    int32 // unless run: the operation now pending, or -1
}

func newUnitCounter(p *trace.Program, late bool) *unitCounter {
	t := newTally(p.Header())
	return &unitCounter{tally: t, program: p, groups: newGrouping(p), states: newRankStates(p.Header()),
		blocks: summarizer{program: p, counters: t.counters, late: late}, eval: evaluator{program: p}}
}

// call counts one call of a unit.
func (u *unitCounter) call(chunk *trace.Chunk, c *trace.CallColumns) error {
	t := &u.program.Header().CallSites[c.Site]
	if idle, err := u.group(t, c); err != nil || idle {
		return err
	}
	u.enter(chunk)
	changed := false
	for _, g := range u.order(t, c) {
		ch, rank := &u.changes[g], u.groups.first[g]
		from, to := 0, 1
		if t.Counts != trace.NoAxis {
			class := u.program.Class(t.Counts, rank)
			from, to = int(c.Starts[class]), int(c.Starts[class+1])
		}
		for item := from; item < to; item++ {
			if err := u.item(t, c, item, g, ch); err != nil {
				return err
			}
		}
		changed = changed || ch.config != u.states.of[rank] || len(ch.steps) > 0
	}
	if changed {
		return u.apply()
	}
	return nil
}

// enter makes a chunk the one at hand: vectors with equal elements get one number,
// so that what depends on them is not evaluated again.
func (u *unitCounter) enter(chunk *trace.Chunk) {
	if u.eval.chunk == chunk {
		return
	}
	u.eval.chunk = chunk
	u.same = u.same[:0]
	byHash := map[uint64]int64{}
	for i := range chunk.Vectors() {
		h, sums := uint64(0), chunk.Sums(int64(i))
		for _, s := range sums {
			h = chained(h, s)
		}
		first, ok := byHash[h]
		if !ok || !slices.Equal(chunk.Sums(first), sums) {
			first = int64(i)
			byHash[h] = first
		}
		u.same = append(u.same, first)
	}
}

// order returns the groups with those that call the same block side by side: they
// share most values.
func (u *unitCounter) order(t *trace.CallSite, c *trace.CallColumns) []int {
	u.sorted = u.sorted[:0]
	for g := range u.groups.first {
		u.sorted = append(u.sorted, g)
	}
	if t.Block != trace.PerItem {
		block := func(g int) int32 { return c.Blocks[u.program.Class(t.Block, u.groups.first[g])] }
		slices.SortStableFunc(u.sorted, func(x, y int) int { return cmp.Compare(block(x), block(y)) })
	}
	return u.sorted
}

// group divides the ranks by their columns and states; idle: the call's blocks
// hold nothing to count.
func (u *unitCounter) group(t *trace.CallSite, c *trace.CallColumns) (idle bool, err error) {
	params, member := 0, false
	idle = true
	last := int32(trace.NoBlock)
	for _, b := range c.Blocks {
		if b < 0 || b == last {
			continue
		}
		last = b
		s, err := u.blocks.compiled(int(b))
		if err != nil {
			return false, err
		}
		idle = idle && s.idle()
		params, member = max(params, u.program.Block(int(b)).Params), member || s.code.member
	}
	if idle {
		return true, nil
	}
	g := u.groups
	state := split{class: u.states.of, n: len(u.states.configs)}
	each := split{n: 1}
	if member {
		each.n = len(g.all)
	}
	g.group(t, c, params, state, each)
	for len(u.changes) < len(g.first) {
		u.changes = append(u.changes, groupChange{})
	}
	for i, rank := range g.first {
		u.changes[i] = groupChange{config: u.states.of[rank], steps: u.changes[i].steps[:0]}
	}
	return false, nil
}

// item counts the call of one item by a group.
func (u *unitCounter) item(t *trace.CallSite, c *trace.CallColumns, item, group int, ch *groupChange) error {
	rank := u.groups.first[group]
	at := func(axis int) int {
		if axis == trace.PerItem {
			return item
		}
		return int(u.program.Class(axis, rank))
	}
	block := c.Blocks[at(t.Block)]
	if block < 0 {
		return nil
	}
	u.args = u.args[:0]
	for i := range u.program.Block(int(block)).Params {
		v := c.Args[i][at(t.Params[i].Axis)]
		if t.Params[i].Vector && v >= 0 && v < int64(len(u.same)) {
			v = u.same[v]
		}
		u.args = append(u.args, v)
	}
	u.eval.rank = rank
	if err := u.count(u.blocks.done[block], u.groups.size[group], ch); err != nil {
		return fmt.Errorf("rank %d: block %d %q: %w", rank, block, u.program.Block(int(block)).Name, err)
	}
	return nil
}

// count adds a summary, evaluated for the arguments at hand, times ranks.
func (u *unitCounter) count(s *summary, ranks int64, ch *groupChange) error {
	config := &u.states.configs[ch.config]
	e := &u.eval
	if err := e.load(s, u.args, config.guarded, config.free); err != nil {
		return err
	}
	for i := range s.counts {
		t := &s.counts[i]
		at := u.at(config.phase(t.phase), t.count)
		if t.term {
			u.floats[at] += float64(e.float(t.f) * float64(ranks))
			continue
		}
		if err := u.addInt(at, e.int(t.f), ranks); err != nil {
			return err
		}
	}
	for i := range s.amounts {
		t := &s.amounts[i]
		u.floats[u.at(config.phase(t.phase), t.count)] += float64(amount(e.int(t.f[0]), e.int(t.f[1])) * float64(ranks))
	}
	if s.stateless() {
		return nil
	}
	return u.change(s, ranks, ch, config)
}

// addInt adds value*times to a counter.
func (u *unitCounter) addInt(at int, value, times int64) error {
	if value < 0 {
		return fmt.Errorf("%w: a count or size of %d", trace.ErrAction, value)
	}
	hi, lo := bits.Mul64(uint64(value), uint64(times))
	if hi != 0 || lo > uint64(math.MaxInt64-u.ints[at]) {
		return errTotals
	}
	u.ints[at] += int64(lo)
	return nil
}

// change notes what a call does to phases and slots. The summary's atoms are
// loaded.
func (u *unitCounter) change(s *summary, ranks int64, ch *groupChange, was *config) error {
	now := config{phases: leavePhases(was, s), guarded: was.guarded, free: was.free}
	for i := range s.runs {
		r := &s.runs[i]
		if was.holds(r.slot, r.guarded) && u.eval.int(r.f) != 0 {
			ch.steps = append(ch.steps, slotChange{slot: int(r.slot), run: true, phase: was.phase(r.phase)})
		}
	}
	defs := u.leave(s, ch, was, &now)
	for i := range defs {
		if err := u.define(&defs[i], ranks, ch, &now); err != nil {
			return err
		}
	}
	ch.config = u.states.intern(now)
	return nil
}

// definition is a Define with the values of its arguments.
type definition struct {
	slot int32
	site *site
	args []int64
}

// leave empties the slots whose operation is not pending any more, and returns the
// operations that are now.
func (u *unitCounter) leave(s *summary, ch *groupChange, was, now *config) (defs []definition) {
	for slot := range int32(u.states.slots) {
		left, touched := s.outs[slot]
		if !touched {
			continue
		}
		kept := false
		for _, op := range left {
			switch {
			case u.eval.int(op.f) == 0:
			case op.site >= 0:
				defs = append(defs, u.definition(slot, &s.sites[op.site]))
			default:
				kept = kept || was.holds(slot, op.site == entryGuarded)
			}
		}
		if !kept {
			if was.holds(slot, true) || was.holds(slot, false) {
				ch.steps = append(ch.steps, slotChange{slot: int(slot), op: -1})
			}
			now.guarded &^= 1 << slot
			now.free &^= 1 << slot
		}
	}
	return defs
}

func (u *unitCounter) definition(slot int32, site *site) definition {
	args := make([]int64, len(site.f))
	for i, a := range site.f {
		args[i] = u.eval.int(a)
	}
	return definition{slot, site, args}
}

// define makes an operation pending. It loads other atoms.
func (u *unitCounter) define(d *definition, ranks int64, ch *groupChange, now *config) error {
	counts, err := u.bodyCounts(d.site.body, d.args)
	if err != nil {
		return err
	}
	ch.steps = append(ch.steps, slotChange{slot: int(d.slot), op: u.states.newOperation(counts, ranks)})
	if d.site.guarded {
		now.guarded |= 1 << d.slot
	} else {
		now.free |= 1 << d.slot
	}
	return nil
}

// leavePhases returns the open phases after a call.
func leavePhases(was *config, s *summary) []int32 {
	n := max(0, len(was.phases)-s.phases.popped)
	return append(was.phases[:n:n], s.phases.open...)
}

// bodyCounts evaluates the body of an operation at its definition.
func (u *unitCounter) bodyCounts(block int, args []int64) ([]countValue, error) {
	s := u.blocks.done[block]
	e := &u.eval
	if err := e.load(s, args, 0, 0); err != nil {
		return nil, err
	}
	var out []countValue
	for i := range s.counts {
		t := &s.counts[i]
		v := countValue{phase: t.phase, count: t.count}
		if t.term {
			v.float = e.float(t.f)
		} else {
			v.int = e.int(t.f)
		}
		out = append(out, v)
	}
	for i := range s.amounts {
		t := &s.amounts[i]
		out = append(out, countValue{phase: t.phase, count: t.count, float: amount(e.int(t.f[0]), e.int(t.f[1]))})
	}
	return out, nil
}

// apply gives the ranks the states that their groups' changes lead to.
func (u *unitCounter) apply() error {
	s := u.states
	for i, g := range u.groups.of {
		if g < 0 {
			continue
		}
		rank := int(u.groups.ranks[i])
		ch := &u.changes[g]
		s.of[rank] = ch.config
		for j := range ch.steps {
			if err := u.step(&ch.steps[j], &s.pending[rank*s.slots+ch.steps[j].slot]); err != nil {
				return err
			}
		}
	}
	return nil
}

// step does to a rank's slot, which holds op, what a call does.
func (u *unitCounter) step(c *slotChange, op *int32) error {
	s := u.states
	if !c.run && c.op >= 0 {
		*op = c.op
		return nil
	}
	o := &s.ops[*op]
	if c.run {
		if o.phase != c.phase {
			if err := u.flush(o); err != nil {
				return err
			}
			o.phase = c.phase
		}
		o.runs++
		return nil
	}
	if o.ranks--; o.ranks > 0 {
		return nil
	}
	s.unused = append(s.unused, *op)
	return u.flush(o)
}

// flush counts the runs of an operation.
func (u *unitCounter) flush(o *operation) error {
	if o.runs == 0 {
		return nil
	}
	for i := range o.counts {
		v := &o.counts[i]
		phase := v.phase
		if phase < 0 {
			phase = o.phase
		}
		at := u.at(phase, v.count)
		u.floats[at] += float64(v.float * float64(o.runs))
		if err := u.addInt(at, v.int, o.runs); err != nil {
			return err
		}
	}
	o.runs = 0
	return nil
}

// finish counts what is still pending as far as it has run.
func (u *unitCounter) finish() error {
	for i := range u.states.ops {
		if err := u.flush(&u.states.ops[i]); err != nil {
			return err
		}
	}
	return nil
}
