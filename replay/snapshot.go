package replay

import (
	"io"

	"reprise/internal/snapshot"
	"reprise/kernels/noise"
	"reprise/platforms"
	"reprise/trace"
)

// state saves the replay between two events, when no rank is runnable, or sets it to that of a
// replay of the same trace, machine and options. It leaves out what follows from these, and
// what is remembered only to be quick.
func (e *engine) state(s *snapshot.State) {
	s.Section("engine")
	s.Vars(&e.now, &e.live, &e.numActions, &e.accounts.rows)
	s.Vars(&e.files.numBytes, &e.files.freeBytes)
	s.Vars(&e.prober.factor, &e.prober.testFactor, &e.prober.numPolls, &e.prober.letIn)
	e.matcher.state(s, len(e.ranks))

	// The ranks, the actions that they have yet to play, and the cores that they share.
	r := -1
	snapshot.Slice(s, &e.ranks, func(rk *rank) {
		r++
		s.Vars(&rk.clock, &rk.charged, &rk.after, &rk.between, &rk.lastMiss, &rk.arrival)
		s.Vars(&rk.sends.head, &rk.sends.tail, &rk.recvs.head, &rk.recvs.tail, &rk.wild, &rk.waits)
		s.Vars(&rk.awaitedPeer, &rk.awaitedTag, &rk.awaitedComm, &rk.filled, &rk.pos, &rk.stage, &rk.charge)
		s.Vars(&rk.serial, &rk.over, &rk.collective, &rk.spinning, &rk.reqs, &rk.overflow, &rk.calls)
		for i := range rk.filled {
			a := e.action(int32(r), int(i))
			s.Vars(&a.Kind, &a.Flags, &a.Sym, &a.Peer, &a.Tag, &a.Req, &a.X)
		}
	})
	s.Vars(&e.slots.overflow)
	snapshot.Slice(s, &e.cpus.hosts, func(p *processor) { s.Vars(&p.speed, &p.limit, &p.active) })
	snapshot.Slice(s, &e.cpus.work, func(w *work) { s.Vars(&w.left, &w.rate, &w.bound, &w.at) })

	// When they go on.
	e.wakeups.State(s, len(e.ranks))
	e.progress.state(s)
	e.completions.state(s)
	s.Section("network")
	s.Part(e.network)
	if c := e.changes; c != nil { // the profiles, and the transfers that wait for their changes
		snapshot.Slice(s, &c.at, func(t *platforms.ProfileTime) { s.Vars(&t.Index, &t.Time) })
		s.Vars(&c.sizes)
		c.starts.State(s, len(e.matcher.messages))
		if s.Reading() {
			for i := range c.at {
				c.plan(i)
			}
		}
	}
	s.Section("source")
	sourceState(s, e.source)
	s.Section("operations")
	e.windows.state(s)
	e.collectivesState(s)

	// The steps that repeat. A replay that goes on with an observer has no use for them: it plays all
	// steps that are left.
	p, has := e.repeats, e.repeats != nil
	if s.Vars(&has); has {
		if p == nil {
			p = newRepeats(len(e.ranks))
		}
		s.Vars(&p.standing, &p.last.step, &p.last.clocks, &p.last.accounts, &p.last.factors)
		snapshot.Slice(s, &p.at, func(at *place) { s.Vars(&at.step, &at.actions) })
		c := &p.last.counts
		s.Vars(&c.messages, &c.bytes, &c.truncated, &c.actions, &c.polls, &c.fileBytes)
	}

	// The random numbers drawn so far.
	if n := e.costs.random; n != nil {
		snapshot.Slice(s, &n.drawn, func(d *drawCounts) { s.Vars(&d.step, &d.computations, &d.sends, &d.receives) })
		snapshot.Slice(s, &n.latency, func(d *noise.Draw) { s.Vars(d) })
	}
}

// sourceState is the state of a source that can go on where it was left; others fail.
func sourceState(s *snapshot.State, source Source) {
	if r, ok := source.(Resumable); ok {
		s.Part(r)
		return
	}
	s.Fail(errNotResumable)
}

// state includes the free messages: their numbers are given out again in the order of their list.
func (mt *matcher) state(s *snapshot.State, ranks int) {
	snapshot.Slice(s, &mt.messages, func(m *message) {
		s.Vars(&m.size, &m.at, &m.src, &m.dst, &m.tag, &m.comm, &m.refs, &m.flags)
	})
	s.Vars(&mt.after, &mt.free, &mt.numMessages, &mt.numBytes, &mt.numTruncated)
	mt.pending.State(s, ranks)
}

// state is the state of the counts of steps and of the sums of their begins.
func (p *stepCounter) state(s *snapshot.State) {
	s.Vars(&p.begun, &p.skipped, &p.last)
	snapshot.Slice(s, &p.starts, func(b *startSum) { s.Vars(&b.ranks, &b.sum, &b.last, &b.parts) })
}

// state is how far ranks are in their completions, and how far the cost of testany has grown.
func (l *completions) state(s *snapshot.State) {
	s.Vars(&l.factor)
	snapshot.Slice(s, &l.ranks, func(c *completion) { s.Vars(&c.waited, &c.open, &c.at, &c.sub) })
}

// state is that of all parts of windows: transfers that nobody has waited for, epochs and locks.
func (w *windows) state(s *snapshot.State) {
	s.Vars(&w.numAccesses, &w.numBytes)
	snapshot.Slice(s, &w.parts, func(p *windowPart) {
		s.Vars(&p.key.family, &p.key.window, &p.key.rank, &p.epochs, &p.targets, &p.held)
		snapshot.Slice(s, &p.open, func(o *openAccess) { s.Vars(&o.message, &o.origin) })
		for _, l := range []*windowLock{&p.lock, &p.guard, &p.memory} {
			s.Vars(&l.exclusive, &l.holders)
			snapshot.Slice(s, &l.queue, func(q *lockRequest) { s.Vars(&q.grant, &q.exclusive) })
		}
	})
	snapshot.Slice(s, &w.runs, func(r *syncRun) { s.Vars(&r.phase, &r.turn, &r.state, &r.message) })
	if s.Reading() {
		w.at = make(map[windowKey]int32, len(w.parts))
		for i := range w.parts {
			w.at[w.parts[i].key] = int32(i)
		}
	}
}

// collectivesState is the state of collective operations. Communicators that were used are made anew from
// their families; so are schedules, from the calls, which are among the actions of the ranks.
func (e *engine) collectivesState(s *snapshot.State) {
	c := &e.collectives
	s.Vars(&c.agreement, &c.idle)
	snapshot.Slice(s, &c.open, func(o *openCollective) { s.Vars(&o.requests, &o.flops) })
	snapshot.Slice(s, &c.comms, func(m *communicator) { s.Vars(&m.calls) })
	if s.Reading() {
		for i := range c.comms {
			if calls := c.comms[i].calls; len(calls) > 0 { // the others were not used yet
				comm, err := c.communicator(int32(i), len(e.ranks))
				if err != nil {
					s.Fail(err)
					return
				}
				comm.calls = calls
			}
		}
	}
	for r := range e.ranks {
		if a := e.scheduled(int32(r)); a != nil && s.Err() == nil {
			e.scheduleState(s, int32(r), a)
		}
	}
}

// scheduled returns the call of the collective operation whose schedule rank r is in the midst
// of, nil if it is in none.
func (e *engine) scheduled(r int32) *trace.Action {
	rk := &e.ranks[r]
	if !rk.collective {
		return nil
	}
	switch a := e.action(r, int(rk.pos)%bufferedActions); {
	case collects(a.Kind):
		return a
	case a.Kind == trace.KindSync:
		if phase := e.syncRun(r).phase; phase == syncOpening || phase == syncClosing {
			call := syncCall(a)
			return &call
		}
	}
	return nil
}

// scheduleState is the state of the collective operation that rank r is in. Its schedule is
// started anew from its call and taken to the same step.
func (e *engine) scheduleState(s *snapshot.State, r int32, call *trace.Action) {
	if s.Reading() {
		if _, err := e.beginCollective(r, &e.ranks[r], call); err != nil {
			s.Fail(err)
			return
		}
	}
	run := &e.collectives.runs[r]
	rounds, left := run.rounds, len(run.steps)
	s.Vars(&rounds, &left, &run.requests)
	if !s.Reading() {
		return
	}
	for run.rounds < rounds && s.Err() == nil {
		run.nextRound()
	}
	run.steps = run.steps[len(run.steps)-left:]
}

// SaveState implements Resumable.
func (list cursors) SaveState(w io.Writer) error { return trace.SaveCursors(w, list) }

// RestoreState implements Resumable.
func (list cursors) RestoreState(r io.Reader) error { return trace.RestoreCursors(r, list) }

// SaveState implements Resumable.
func (l *Lists) SaveState(w io.Writer) error { return snapshot.Save(w, l.state) }

// RestoreState implements Resumable.
func (l *Lists) RestoreState(r io.Reader) error { return snapshot.Restore(r, l.state) }

func (l *Lists) state(s *snapshot.State) { s.Vars(&l.next) }

// SaveState implements Resumable.
func (b *barrierSource) SaveState(w io.Writer) error { return snapshot.Save(w, b.state) }

// RestoreState implements Resumable.
func (b *barrierSource) RestoreState(r io.Reader) error { return snapshot.Restore(r, b.state) }

func (b *barrierSource) state(s *snapshot.State) {
	s.Vars(&b.over)
	sourceState(s, b.Source)
}
