package replay

import (
	"io"

	"reprise/internal/snapshot"
	"reprise/kernels/noise"
	"reprise/platforms"
	"reprise/trace"
)

// The parts of a checkpoint. Each function below both saves and restores, by the order of its calls: what it
// names is written in that order and read back in the same. A field that is added to one of these types must
// be added here, or to the list of those that are derived (snapshot_test.go); the layout of the types is part
// of a run's identity, so that a checkpoint of another layout is refused and not misread.

// state saves the replay between two events, when no rank is runnable, or sets it to that of a
// replay of the same trace, machine and options. It leaves out what follows from these, and
// what is remembered only to be quick.
func (e *engine) state(s *snapshot.State) {
	s.Section("engine")
	s.Vars(&e.now, &e.live, &e.numActions, &e.accounts.rows)
	s.Vars(&e.files.numBytes, &e.files.freeBytes)
	s.Vars(&e.prober.factor, &e.prober.testFactor, &e.prober.numPolls, &e.prober.letIn)

	// The messages, the free ones among them: their numbers are given out again in the order of their list.
	mt := &e.matcher
	snapshot.Slice(s, &mt.messages, func(m *message) {
		s.Vars(&m.size, &m.at, &m.src, &m.dst, &m.tag, &m.comm, &m.refs, &m.flags)
	})
	s.Vars(&mt.after, &mt.free, &mt.numMessages, &mt.numBytes, &mt.numTruncated)
	mt.pending.State(s, len(e.ranks))

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

	// How many steps they have begun and when, how far they are in completions, and how far the cost of testany
	// has grown.
	p := &e.progress
	s.Vars(&p.begun, &p.skipped, &p.last)
	snapshot.Slice(s, &p.starts, func(b *startSum) { s.Vars(&b.ranks, &b.sum, &b.last, &b.parts) })
	s.Vars(&e.completions.factor)
	snapshot.Slice(s, &e.completions.ranks, func(c *completion) { s.Vars(&c.waited, &c.open, &c.at, &c.sub) })
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
	steps, has := e.repeats, e.repeats != nil
	if s.Vars(&has); has {
		if steps == nil {
			steps = newRepeats(len(e.ranks))
		}
		s.Vars(&steps.standing, &steps.last.step, &steps.last.clocks, &steps.last.accounts, &steps.last.factors)
		snapshot.Slice(s, &steps.at, func(at *place) { s.Vars(&at.step, &at.actions) })
		c := &steps.last.counts
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
	for i := range e.ranks {
		r, rk := int32(i), &e.ranks[i]
		if !rk.collective || s.Err() != nil {
			continue
		}
		// The call whose schedule the rank is in the midst of, if it is in one: its own action, or what a
		// synchronisation of a window begins or ends with.
		call := e.action(r, int(rk.pos)%bufferedActions)
		if call.Kind == trace.KindSync {
			if phase := e.syncRun(r).phase; phase != syncOpening && phase != syncClosing {
				continue
			}
			call = new(syncCall(call))
		} else if !collects(call.Kind) {
			continue
		}
		// The schedule is started anew and taken to the same step.
		if s.Reading() {
			if _, err := e.beginCollective(r, rk, call); err != nil {
				s.Fail(err)
				return
			}
		}
		run := &e.collectives.runs[r]
		rounds, left := run.rounds, len(run.steps)
		if s.Vars(&rounds, &left, &run.requests); !s.Reading() {
			continue
		}
		for run.rounds < rounds && s.Err() == nil {
			run.nextRound()
		}
		run.steps = run.steps[len(run.steps)-left:]
	}
}

// SaveState implements Resumable.
func (list cursors) SaveState(w io.Writer) error { return trace.SaveCursors(w, list) }

// RestoreState implements Resumable.
func (list cursors) RestoreState(r io.Reader) error { return trace.RestoreCursors(r, list) }

// SaveState implements Resumable.
func (l *Lists) SaveState(w io.Writer) error { return snapshot.Save(w, l.state) }

// RestoreState implements Resumable.
func (l *Lists) RestoreState(r io.Reader) error { return snapshot.Restore(r, l.state) }

// state is where each rank is in its list.
func (l *Lists) state(s *snapshot.State) { s.Vars(&l.next) }

// SaveState implements Resumable.
func (b *barrierSource) SaveState(w io.Writer) error { return snapshot.Save(w, b.state) }

// RestoreState implements Resumable.
func (b *barrierSource) RestoreState(r io.Reader) error { return snapshot.Restore(r, b.state) }

// state is that of the source within, behind which of its ranks have come to their ends.
func (b *barrierSource) state(s *snapshot.State) {
	s.Vars(&b.over)
	sourceState(s, b.Source)
}
