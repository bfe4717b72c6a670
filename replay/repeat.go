package replay

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"reprise/internal/textutil"
	"reprise/trace"
)

// Steps that repeat are not all played (lookForRepeats turns that on, stand and atCut do it).
//
// If consecutive steps are the same work, as the iterations of a solver, each rank stands in each step before it
// first sends or waits, until the event loop has come to its clock. If all ranks stand there at once and no message is
// under way, the further run depends on nothing but their clocks: this is a cut. If the clocks of two cuts, a step
// apart, differ by the same time for all ranks, all further steps of this work take that time: the replay jumps to the
// last of them.
//
// That is so for a run without noise, polls and windows on a machine that does not change. With observers all steps are
// played, as they want to see them.

// repeats finds the steps to jump over. It is nil in a replay that plays all steps.
type repeats struct {
	cursors cursors // of the source
	from    trace.CursorOptions
	first   int     // step
	work    []int32 // by step from first: which work it is

	at       []place // by rank: where it stands, or stood last
	standing int     // ranks that stand
	last     cut     // the last cut; of no step before the first
}

// place is where in a step a rank stands.
type place struct {
	step    int32
	actions int32 // of the step that it has played, its mark included
}

// cut is the state of a replay when all ranks stand in one step.
type cut struct {
	step     int
	clocks   []float64 // by rank
	accounts []float64 // timeAccounts.rows
	counts   [numCounters]int64
	factors  [3]int64 // of the costs of probes and tests, which may grow
}

const numCounters = 7

// counters are those of all ranks together: of actions, messages, their bytes, truncated ones, polls, and bytes of files.
func (e *engine) counters() [numCounters]*int64 {
	return [...]*int64{&e.numActions, &e.matcher.numMessages, &e.matcher.numBytes, &e.matcher.numTruncated,
		&e.prober.numPolls, &e.files.numBytes, &e.files.freeBytes}
}

// noStep is the step of repeats.last before the first cut.
const noStep = math.MinInt32

// sameTime: clocks that differ by less than this part of the simulator's precision of time, as by rounding, count as
// equal.
const sameTime = 1e-3

// lookForRepeats has the engine look for steps to jump over, if the run allows that.
func (e *engine) lookForRepeats(list cursors, co trace.CursorOptions, o *Options) error {
	t := e.trace
	if _, file := t.Totals(); !file || len(o.Observers) > 0 || e.meter != nil || o.StepStarts || e.costs.random != nil || e.changes != nil ||
		e.cpus.index != nil || t.Program().Polls() || t.Program().Has(trace.OpAccess, trace.OpIaccess, trace.OpSync, trace.OpBeside) ||
		len(t.Header().Queues) > 0 {
		return nil
	}
	first, end := o.steps(t)
	if end-first < minRepeats {
		return nil
	}
	// Noise, observers, polls, windows, changes and shared cores make the time of a step depend on more than
	// the clocks at its cut; the test above excludes them.
	work, err := workOfSteps(t, first, end, true)
	if work == nil || err != nil {
		return err
	}
	e.repeats = newRepeats(len(e.ranks))
	e.repeats.cursors, e.repeats.from, e.repeats.first, e.repeats.work = list, co, first, work
	return nil
}

// minRepeats is the number of steps from which on it is worth while to look for repeats.
const minRepeats = 4

// newRepeats returns repeats in which no rank stands and no cut has been seen.
func newRepeats(ranks int) *repeats {
	return &repeats{at: make([]place, ranks), last: cut{step: noStep}}
}

// stand plays the actions of rank r in a step, after the mark of the step, up to its first send or wait. There the rank
// stands, and stand returns true. It does not if the step has neither or is not among those looked at.
func (e *engine) stand(r int32, step int64) (stands bool, err error) {
	p := e.repeats
	if i := step - int64(p.first); i < 0 || i >= int64(len(p.work)) {
		return false, nil
	}
	rk := &e.ranks[r]
	at := place{step: int32(step), actions: 1}
	for {
		if rk.pos == rk.filled {
			if err := e.fillAhead(r); rk.filled == 0 || err != nil {
				return false, err
			}
		}
		a := e.action(r, int(rk.pos))
		if !local(a) {
			break
		}
		if _, err := e.do(r, rk, a); err != nil { // which goes on: no host shares its cores
			return false, fmt.Errorf("rank %d: %v: %w", r, a.Kind, err)
		}
		if rk.pos++; a.Kind != trace.KindNone {
			at.actions++
		}
	}
	if rk.clock > maxTime || e.action(r, int(rk.pos)).Kind == trace.KindStep {
		return false, nil
	}
	p.at[r] = at
	p.standing++
	rk.stage = stageStands
	e.wakeups.Set(r, later(rk.clock, e.now))
	return true, nil
}

// fillAhead gets the next actions of a rank that has none left.
func (e *engine) fillAhead(r int32) error {
	rk := &e.ranks[r]
	n, err := e.source.Fill(r, e.actions[int(r)*bufferedActions:][:bufferedActions])
	e.numActions += int64(n)
	rk.pos, rk.filled = 0, uint8(n)
	return err
}

// local reports whether an action sends nothing and waits for nobody.
func local(a *trace.Action) bool {
	switch a.Kind {
	case trace.KindCompute, trace.KindFlops, trace.KindSleep, trace.KindPhase, trace.KindMark, trace.KindNone:
		return true
	case trace.KindIrecv:
		return !isWild(a.Peer, a.Tag) && a.X[0] >= 0
	}
	return false
}

// atCut is called when all ranks stand. If that is a cut that differs from the last one by a period, it jumps.
func (e *engine) atCut() (jumps bool, err error) {
	p := e.repeats
	if !e.isCut() {
		return false, nil
	}
	step := int(p.at[0].step)
	now := cut{step, make([]float64, len(e.ranks)), slices.Clone(e.accounts.rows), e.counts(),
		[3]int64{e.prober.factor, e.prober.testFactor, e.completions.factor}}
	for r := range e.ranks {
		now.clocks[r] = e.ranks[r].clock
	}
	before := p.last
	p.last = now
	if m, period := p.ahead(step), 0.0; m > 0 && before.step == step-1 {
		if period = now.clocks[0] - before.clocks[0]; now.after(&before, period, sameTime*e.options.TimePrecision) {
			return true, e.jump(&before, m, period)
		}
	}
	return false, nil
}

// isCut reports whether all ranks, which stand, do so in one step, and neither a message that
// was sent nor a collective operation is left.
func (e *engine) isCut() bool {
	if e.network.Active() > 0 || len(e.collectives.open) > len(e.collectives.idle) {
		return false
	}
	for r := range e.ranks {
		if e.repeats.at[r].step != e.repeats.at[0].step || e.ranks[r].sends.head >= 0 {
			return false
		}
	}
	return true
}

// ahead returns how many steps after a step are, without a break, the same work as it and the step before it.
func (p *repeats) ahead(step int) int {
	i := step - p.first
	if i < 1 || p.work[i-1] != p.work[i] {
		return 0
	}
	n := 0
	for i+n+1 < len(p.work) && p.work[i+n+1] == p.work[i] {
		n++
	}
	return n
}

// after reports whether the clocks of a cut are those of another one a period later.
func (c *cut) after(other *cut, period, tolerance float64) bool {
	if c.factors != other.factors {
		return false
	}
	for r, clock := range c.clocks {
		if !(math.Abs(clock-other.clocks[r]-period) <= tolerance) {
			return false
		}
	}
	return true
}

// counts returns what was counted of what the ranks have played.
func (e *engine) counts() (c [numCounters]int64) {
	for i, n := range e.counters() {
		c[i] = *n
	}
	for r := range e.ranks {
		c[0] -= int64(e.ranks[r].filled - e.ranks[r].pos)
	}
	return c
}

// jump moves the state of the replay on by m steps, each of which repeats what has happened since another cut and takes
// a period.
func (e *engine) jump(since *cut, m int, period float64) error {
	p := e.repeats
	times := float64(m)
	for i, spent := range since.accounts {
		switch now := &e.accounts.rows[i]; {
		case i%e.accounts.stride < e.accounts.width():
			*now += float64(times * (*now - spent))
		case *now != spent: // a phase that was opened since then begins so much later
			*now += float64(times * period)
		}
	}
	// The clocks of all ranks, their events and the receives that they have posted move on by all steps left out.
	span := float64(times * period)
	for r := range e.ranks {
		rk := &e.ranks[r]
		rk.clock += span
		rk.charged += span
		e.wakeups.Set(int32(r), rk.clock)
		for m := rk.recvs.head; m >= 0; m = e.matcher.after[m] {
			e.matcher.messages[m].at += span
		}
	}
	// Each of these steps counts as much as the last one did.
	for i, n := range e.counters() {
		*n += int64(m) * (p.last.counts[i] - since.counts[i])
	}
	e.progress.skip(m)
	to := p.last.step + m
	p.last = cut{step: noStep}
	return e.seek(to)
}

// seek takes the actions of all ranks to where they stand in a step, from that step.
func (e *engine) seek(step int) error {
	p := e.repeats
	p.from.From = step
	list, err := e.trace.Cursors(nil, p.from)
	if err != nil {
		return err
	}
	copy(p.cursors, list)
	for r := range e.ranks {
		if err := e.seekRank(int32(r), step); err != nil {
			return fmt.Errorf("rank %d, step %d: %w", r, step, textutil.Brief(err))
		}
	}
	return nil
}

var errOtherActions = errors.New("its actions are not those that its program has come to")

// seekRank takes a rank to the first action of the step that it has not played.
func (e *engine) seekRank(r int32, step int) error {
	// The action that the rank stands before must be the same as in the step from which it jumped, or the
	// steps were not the same work.
	rk, at := &e.ranks[r], &e.repeats.at[r]
	next := *e.action(r, int(rk.pos))
	for left := at.actions; ; {
		e.numActions -= int64(rk.filled - rk.pos)
		if err := e.fillAhead(r); err != nil || rk.filled == 0 {
			return errors.Join(err, errOtherActions)
		}
		for ; rk.pos < rk.filled; rk.pos++ {
			if e.action(r, int(rk.pos)).Kind != trace.KindNone {
				if left == 0 {
					break
				}
				left--
			}
			e.numActions--
		}
		if rk.pos < rk.filled {
			break
		}
	}
	at.step = int32(step)
	if a := e.action(r, int(rk.pos)); a.Kind != next.Kind || a.Sym != next.Sym || a.Peer != next.Peer ||
		a.Tag != next.Tag || a.Req != next.Req {
		return errOtherActions
	}
	return nil
}
