package replay

import (
	"errors"
	"io"
	"math"
	"slices"

	"reprise/internal/snapshot"
	"reprise/trace"
)

// snapshot stores the state of the replay at a safe point, where no rank is runnable,
// or sets it from one of a replay of the same trace, machine and options.
func (e *engine) snapshot(c *snapshot.Codec) {
	c.Section("engine", *e)
	c.Range(&e.now, 0, maxTime)
	snapshot.Index(c, &e.live, 0, len(e.ranks)+1)
	snapshot.Index(c, &e.numActions, 0, math.MaxInt)
	e.matcher.snapshot(c, len(e.ranks))
	e.prober.snapshot(c)
	e.snapshotRanks(c)
	e.wakeups.Snapshot(c, "wake-ups", len(e.ranks))
	e.cpus.snapshot(c)
	e.snapshotTimes(c)
	e.progress.snapshot(c)
	c.Part(e.network)
	e.snapshotChanges(c)
	snapshotSource(c, e.source)
	c.Section("files", e.files)
	snapshot.Index(c, &e.files.numBytes, 0, math.MaxInt)
	snapshot.Index(c, &e.files.freeBytes, 0, math.MaxInt)
	e.windows.snapshot(c, len(e.ranks), len(e.matcher.messages))
	e.snapshotCollectives(c)
	e.completions.snapshot(c, len(e.ranks))
	e.snapshotRepeats(c)
	if e.costs.random != nil {
		e.costs.random.snapshot(c, len(e.matcher.messages))
	}
	if c.Reading() && c.Err() == nil {
		if err := e.checkState(); err != nil {
			c.Check(false, "%v", err)
		}
	}
}

func snapshotSource(c *snapshot.Codec, s Source) {
	if s, ok := s.(Resumable); ok {
		c.Part(s)
		return
	}
	c.Fail(errNotResumable)
}

// snapshot is Snapshot of the messages between so many ranks, those that are free included:
// their numbers are given out again in the order of their list.
func (mt *matcher) snapshot(c *snapshot.Codec, ranks int) {
	c.Section("messages", *mt, message{})
	snapshot.Slice(c, &mt.messages, math.MaxInt32, func(m *message) {
		snapshot.Index(c, &m.size, 0, maxBytes+1)
		c.Amount(&m.at)
		snapshot.Index(c, &m.src, trace.AnySource, ranks)
		snapshot.Index(c, &m.dst, 0, ranks)
		snapshot.Int(c, &m.tag)
		snapshot.Int(c, &m.comm)
		snapshot.Int(c, &m.refs)
		snapshot.Int(c, &m.flags)
	})
	snapshot.Slice(c, &mt.after, len(mt.messages), func(m *int32) { mt.snapshotID(c, m) })
	c.Check(len(mt.after) == len(mt.messages), "%d of %d messages in lists", len(mt.after), len(mt.messages))
	mt.snapshotID(c, &mt.free)
	mt.pending.Snapshot(c, "sends to match", ranks)
	for _, n := range []*int64{&mt.numMessages, &mt.numBytes, &mt.numTruncated} {
		snapshot.Index(c, n, 0, math.MaxInt)
	}
}

// snapshotID is Snapshot of the number of a message, -1 for none.
func (mt *matcher) snapshotID(c *snapshot.Codec, id *int32) {
	snapshot.Index(c, id, -1, len(mt.messages))
}

func (p *prober) snapshot(c *snapshot.Codec) {
	c.Section("probes", *p)
	for _, n := range []*int64{&p.factor, &p.testFactor, &p.numPolls} {
		snapshot.Index(c, n, 0, math.MaxInt)
	}
}

func (e *engine) snapshotRanks(c *snapshot.Codec) {
	c.Section("ranks", e.slots, rank{}, postList{}, trace.Action{})
	snapshot.Slice(c, &e.slots.overflow, len(e.ranks)+1, func(list *[]request) {
		snapshot.Slice(c, list, trace.MaxRequests, func(q *request) { e.snapshotRequest(c, q) })
	})
	c.Check(len(e.slots.overflow) > 0, "no list of requests")
	for r := range e.ranks {
		rk := &e.ranks[r]
		rk.snapshot(c, e)
		buf := e.actions[r*bufferedActions:][:rk.filled]
		for i := range buf {
			snapshotAction(c, &buf[i])
		}
	}
	for r := range e.prober.letIn {
		c.Range(&e.prober.letIn[r], noTime, maxTime)
	}
}

func (e *engine) snapshotRequest(c *snapshot.Codec, q *request) {
	snapshot.Index(c, q, math.MinInt32, 2*len(e.matcher.messages)+2)
}

func (rk *rank) snapshot(c *snapshot.Codec, e *engine) {
	for _, v := range []*float64{&rk.clock, &rk.charged, &rk.after, &rk.between} {
		c.Range(v, 0, maxTime)
	}
	c.Range(&rk.lastMiss, -maxTime, maxTime)
	c.Range(&rk.arrival, 0, math.Inf(1))
	for _, id := range []*int32{&rk.sends.head, &rk.sends.tail, &rk.recvs.head, &rk.recvs.tail} {
		e.matcher.snapshotID(c, id)
	}
	snapshot.Index(c, &rk.wild, 0, math.MaxInt32)
	snapshot.Index(c, &rk.waits, 0, math.MaxInt32)
	snapshot.Index(c, &rk.awaitedPeer, noneAwaited, len(e.ranks))
	snapshot.Int(c, &rk.awaitedTag)
	snapshot.Int(c, &rk.awaitedComm)
	snapshot.Index(c, &rk.filled, 0, bufferedActions+1)
	snapshot.Index(c, &rk.pos, 0, int(rk.filled)+1)
	snapshot.Index(c, &rk.stage, 0, int(stageStands)+1)
	snapshot.Index(c, &rk.charge, 0, int(numKinds))
	for _, v := range []*bool{&rk.serial, &rk.over, &rk.collective, &rk.spinning} {
		c.Bool(v)
	}
	for i := range rk.reqs {
		e.snapshotRequest(c, &rk.reqs[i])
	}
	snapshot.Index(c, &rk.overflow, 0, len(e.slots.overflow))
	snapshot.Index(c, &rk.calls, 0, math.MaxInt)
}

func snapshotAction(c *snapshot.Codec, a *trace.Action) {
	snapshot.Int(c, &a.Kind)
	snapshot.Int(c, &a.Flags)
	snapshot.Int(c, &a.Sym)
	snapshot.Int(c, &a.Peer)
	snapshot.Int(c, &a.Tag)
	snapshot.Int(c, &a.Req)
	snapshot.Ints(c, a.X[:])
}

func (p *processors) snapshot(c *snapshot.Codec) {
	c.Section("processors", *p, processor{}, work{})
	c.Const("hosts", len(p.hosts))
	for i := range p.hosts {
		p.hosts[i].snapshot(c)
		snapshot.Slice(c, &p.hosts[i].active, len(p.work), func(r *int32) { snapshot.Index(c, r, 0, len(p.work)) })
	}
	for i := range p.work {
		w := &p.work[i]
		for _, v := range []*float64{&w.left, &w.rate, &w.bound, &w.at} {
			c.Amount(v)
		}
	}
}

// snapshotTimes is Snapshot of the accounts. What is read must agree with the ranks: from
// then on it does so, for which half of the tolerance is left.
func (e *engine) snapshotTimes(c *snapshot.Codec) {
	e.accounts.snapshot(c)
	if !c.Reading() || c.Err() != nil {
		return
	}
	for r := range e.ranks {
		rk, sum := &e.ranks[r], e.accounts.sum(int32(r), int(numKinds)+e.accounts.kernels)
		c.Check(rk.charged <= rk.clock && addsUp(sum, rk.charged, timeTolerance/2), "rank %d, charged for %v s of %v s", r, sum, rk.charged)
	}
}

func (b *timeAccounts) snapshot(c *snapshot.Codec) {
	c.Section("times", *b)
	c.Const("times", len(b.rows))
	c.Float64s(b.rows)
}

func (p *stepCounter) snapshot(c *snapshot.Codec) {
	c.Section("steps", *p, startSum{})
	snapshot.Index(c, &p.begun, 0, math.MaxInt)
	snapshot.Index(c, &p.skipped, 0, math.MaxInt)
	snapshot.Int(c, &p.last)
	c.Const("steps", len(p.starts))
	for i := range p.starts {
		b := &p.starts[i]
		snapshot.Index(c, &b.ranks, 0, p.ranks+1)
		c.Amount(&b.sum)
		c.Amount(&b.last)
		for j := range b.parts {
			c.Amount(&b.parts[j])
		}
	}
}

// snapshot is Snapshot of how far so many ranks are in completions.
func (l *completions) snapshot(c *snapshot.Codec, ranks int) {
	c.Section("completions", *l, completion{})
	snapshot.Index(c, &l.factor, 0, math.MaxInt)
	snapshot.Slice(c, &l.ranks, ranks, func(of *completion) {
		c.Bool(&of.waited)
		c.Bool(&of.open)
		snapshot.Index(c, &of.at, 0, math.MaxInt32)
		snapshot.Index(c, &of.sub, 0, math.MaxInt32)
	})
	c.Check(len(l.ranks) == 0 || len(l.ranks) == ranks, "completions of %d ranks of %d", len(l.ranks), ranks)
}

// snapshotCollectives is Snapshot of the collective operations that are under way. A
// schedule is started anew from its action, and taken to the same step.
func (e *engine) snapshotCollectives(c *snapshot.Codec) {
	c.Section("collectives", e.collectives, collectiveRun{}, communicator{}, openCollective{})
	snapshot.Int(c, &e.collectives.agreement)
	e.snapshotCommunicators(c)
	snapshot.Slice(c, &e.collectives.open, math.MaxInt32, func(o *openCollective) {
		snapshot.Slice(c, &o.requests, trace.MaxRequests, func(q *request) { e.snapshotRequest(c, q) })
		c.Amount(&o.flops)
	})
	snapshot.Slice(c, &e.collectives.idle, len(e.collectives.open), func(n *int32) { snapshot.Index(c, n, 0, len(e.collectives.open)) })
	for r := range e.ranks {
		if rk := &e.ranks[r]; rk.collective && c.Err() == nil {
			e.snapshotCollective(c, int32(r), rk)
		}
	}
}

// snapshotCommunicators is Snapshot of the calls on communicators.
func (e *engine) snapshotCommunicators(c *snapshot.Codec) {
	n := len(e.collectives.comms)
	snapshot.Index(c, &n, 0, len(e.collectives.families)+1)
	for i := range n {
		used := !c.Reading() && e.collectives.comms[i].groups != nil
		if c.Bool(&used); !used || c.Err() != nil {
			continue
		}
		if c.Reading() {
			e.collectives.communicator(int32(i), len(e.ranks))
		}
		comm := &e.collectives.comms[i]
		for r := range comm.calls {
			snapshot.Index(c, &comm.calls[r], 0, math.MaxInt)
		}
	}
}

func (e *engine) snapshotCollective(c *snapshot.Codec, r int32, rk *rank) {
	a := e.action(r, int(rk.pos)%bufferedActions)
	if completes(a.Kind) || a.Kind == trace.KindAccess {
		return
	}
	if a.Kind == trace.KindSync {
		if e.windows.runs == nil || e.windows.runs[r].phase != syncOpening && e.windows.runs[r].phase != syncClosing {
			return
		}
		call := syncCall(a)
		a = &call
	}
	if c.Reading() {
		c.Check(rk.pos < rk.filled && collects(a.Kind), "rank %d is in a %v, not in a collective operation", r, a.Kind)
		if c.Err() != nil {
			return
		}
		if _, err := e.beginCollective(r, rk, a); err != nil {
			c.Check(false, "rank %d: %v", r, err)
			return
		}
	}
	run := &e.collectives.runs[r]
	rounds, left := run.rounds, len(run.steps)
	snapshot.Index(c, &rounds, 0, math.MaxInt)
	snapshot.Index(c, &left, 0, math.MaxInt)
	snapshot.Slice(c, &run.requests, trace.MaxRequests, func(q *request) { e.snapshotRequest(c, q) })
	if c.Reading() && c.Err() == nil {
		c.Check(run.skip(rounds, left), "rank %d: %d steps of round %d of a %v", r, left, rounds, trace.CollectiveKind(a.Sym))
	}
}

// skip takes so many rounds, and all steps of the last but those left. It reports
// whether there are as many.
func (run *collectiveRun) skip(rounds, left int) bool {
	for run.rounds < rounds {
		run.nextRound()
		if len(run.steps) == 0 {
			break
		}
	}
	if run.rounds != rounds || left > len(run.steps) {
		return false
	}
	run.steps = run.steps[len(run.steps)-left:]
	return true
}

// SaveState implements Resumable.
func (list cursors) SaveState(w io.Writer) error { return trace.SaveCursors(w, list) }

// RestoreState implements Resumable.
func (list cursors) RestoreState(r io.Reader) error { return trace.RestoreCursors(r, list) }

// Follows implements Resumable. A cursor knows what it has asked.
func (list cursors) Follows(rank int32, rest []trace.Action) error {
	peer, tag, asks := list[rank].Asks()
	poll := len(rest) > 0 && rest[len(rest)-1].Kind == trace.KindPoll
	if asks != poll || asks && (peer != rest[len(rest)-1].Peer || tag != rest[len(rest)-1].Tag) {
		return errOtherActions
	}
	return nil
}

var errOtherActions = errors.New("its actions are not those that its program has come to")

// SaveState implements Resumable.
func (l *Lists) SaveState(w io.Writer) error { return snapshot.Save(w, l.snapshot) }

// RestoreState implements Resumable.
func (l *Lists) RestoreState(r io.Reader) error { return snapshot.Restore(r, l.snapshot) }

func (l *Lists) snapshot(c *snapshot.Codec) {
	c.Section("lists", *l)
	c.Const("ranks", len(l.next))
	for r := range l.next {
		snapshot.Index(c, &l.next[r], 0, len(l.actions[r])+1)
	}
}

// Follows implements Resumable.
func (l *Lists) Follows(rank int32, rest []trace.Action) error {
	next := l.next[rank]
	if len(rest) > next || !slices.Equal(rest, l.actions[rank][next-len(rest):next]) {
		return errOtherActions
	}
	return nil
}

// SaveState implements Resumable.
func (b *barrierSource) SaveState(w io.Writer) error { return snapshot.Save(w, b.snapshot) }

// RestoreState implements Resumable.
func (b *barrierSource) RestoreState(r io.Reader) error { return snapshot.Restore(r, b.snapshot) }

func (b *barrierSource) snapshot(c *snapshot.Codec) {
	c.Section("barrier", *b)
	for r := range b.over {
		c.Bool(&b.over[r])
	}
	snapshotSource(c, b.Source)
}

// Follows implements Resumable.
func (b *barrierSource) Follows(rank int32, rest []trace.Action) error {
	if !b.over[rank] {
		return b.Source.(Resumable).Follows(rank, rest)
	}
	last := lastActions()
	if len(rest) > len(last) || !slices.Equal(rest, last[len(last)-len(rest):]) {
		return errOtherActions
	}
	return nil
}
