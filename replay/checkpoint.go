package replay

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"reprise/internal/snapshot"
	"reprise/internal/sniff"
	"reprise/internal/textutil"
	"reprise/kernels/noise"
	"reprise/platforms"
	"reprise/trace"
)

// A checkpoint has the identity of a run, the wall time spent so far, and the state of the engine. Pause.Save writes
// it, between two events, when no rank is runnable; Pause.resume goes on from it (Options.Resume). A run that goes on
// ends with the same bits as one that was never stopped, so everything that results depend on is part of the identity.

// checkpointVersion is the version of the format of checkpoints. The types whose fields they hold
// are part of the identity.
const checkpointVersion = 4

// ErrOtherRun marks the error of a checkpoint that belongs to another run.
var ErrOtherRun = errors.New("checkpoint of another run")

// errNotResumable is the error of a source that does not know how to be saved.
var errNotResumable = errors.New("this source of actions cannot be saved in a checkpoint")

// A Resumable is a Source that can go on where a checkpoint left it.
type Resumable interface {
	Source
	// SaveState writes the places of all ranks.
	SaveState(w io.Writer) error
	// RestoreState sets the places of all ranks to those that SaveState has written. It
	// must take no more from r than that.
	RestoreState(r io.Reader) error
}

// A Checkpoint is a file with the state of a replay, to go on from.
type Checkpoint struct {
	File io.ReaderAt
	Size int64  // bytes
	Name string // for errors
}

// IsCheckpoint reports whether head, the first bytes of a file, is that of a checkpoint.
func IsCheckpoint(head []byte) bool { return snapshot.IsFile(head) }

// A Property is something that the result of a replay depends on, by the name that messages give to it.
type Property = platforms.Prop

// Save writes a checkpoint. wallSeconds, the wall time of the run since it was begun or resumed, is only noted for
// Result.WallBefore.
func (p *Pause) Save(w io.Writer, wallSeconds float64) error {
	return snapshot.Write(w, checkpointVersion, func(s *snapshot.State) {
		identity, wall := p.identity(), p.before+wallSeconds
		s.Vars(&identity, &wall)
		p.engine.state(s)
	})
}

// resume sets the state to that of a checkpoint.
func (p *Pause) resume(f *Checkpoint) error {
	var other error
	err := snapshot.Read(f.File, f.Size, checkpointVersion, func(s *snapshot.State) {
		var found []Property
		if s.Vars(&found, &p.before); s.Err() != nil {
			return
		}
		if other = difference(found, p.identity()); other == nil {
			p.engine.state(s)
		}
	})
	if other != nil {
		err = other
	}
	if err == nil {
		return nil
	}
	return sniff.InsteadAt(fmt.Errorf("%s: %w", f.Name, textutil.Brief(err)), f.Name, f.File, sniff.Checkpoint)
}

// difference names the properties in which a checkpoint and a run differ; nil if there are none.
func difference(found, want []Property) error {
	var list []string
	value := func(of []Property, name string) string {
		for _, p := range of {
			if p.Name == name {
				return p.Value
			}
		}
		return "not there"
	}
	// Properties that differ come first, in the order of this run, then those that only the checkpoint has.
	for _, p := range want {
		if v := value(found, p.Name); v != p.Value {
			list = append(list, fmt.Sprintf("%s: %s in the checkpoint, %s now", p.Name, brief(v), brief(p.Value)))
		}
	}
	for _, p := range found {
		if value(want, p.Name) == "not there" {
			list = append(list, fmt.Sprintf("%s: %s in the checkpoint, not there now", p.Name, brief(p.Value)))
		}
	}
	if len(list) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrOtherRun, strings.Join(list, "; "))
}

// brief shortens a long value, such as a hash, for a message.
func brief(value string) string {
	const most = 60
	switch {
	case value == "":
		return "empty"
	case len(value) == 2*sha256.Size:
		return value[:12] + "..."
	case len(value) > most:
		sum := sha256.Sum256([]byte(value))
		return fmt.Sprintf("%s... (%x)", value[:most/2], sum[:4])
	}
	return value
}

// identity returns all that the results depend on.
func (p *Pause) identity() []Property {
	if p.about != nil {
		return p.about
	}
	// The names stand in messages and in files: they do not change. Some properties are left out where
	// they are as by default.
	o, m := p.options, &p.engine.machine
	machine := m.Platform.Hash()
	source := p.engine.source
	if b, ok := source.(*barrierSource); ok {
		source = b.Source
	}
	list := append(slices.Clone(o.Identity),
		Property{Name: "layout of the state", Value: snapshot.Layout(*p.engine, barrierSource{}, source)})
	if t := p.engine.trace; t != nil { // the trace with the order of its definitions
		hash, _ := t.Hash()
		sum := sha256.New()
		sum.Write(hash[:])
		for i := range t.Program().NumBlocks() {
			block := t.Program().BlockHash(i)
			sum.Write(block[:])
		}
		list = append(list, Property{Name: "trace", Value: hex.EncodeToString(sum.Sum(nil))})
	}
	to := o.To
	if steps := p.header.Steps; steps > 0 && (to == 0 || to > steps) { // 0 steps: not known
		to = steps
	}
	list = append(list,
		Property{Name: "ranks", Value: fmt.Sprint(p.header.Ranks)},
		Property{Name: "steps", Value: fmt.Sprintf("%d:%d", o.From, to)},
		Property{Name: "begins of steps", Value: fmt.Sprint(o.StepStarts)},
		Property{Name: "description of the machine", Value: hex.EncodeToString(machine[:])},
		Property{Name: "mapping of ranks to hosts", Value: hashOf(m.Hosts)},
	)
	addIf := func(differs bool, name string, value any) {
		if differs {
			list = append(list, Property{Name: name, Value: fmt.Sprint(value)})
		}
	}
	addIf(m.Factors != nil, "speeds of hosts", hashOf(m.Factors))
	for _, v := range m.Source.Values() { // the description of the machine is that of its file
		if v.Name != "bandwidth" && v.Name != "latency" && v.Name != "kernel-noise" {
			continue
		}
		if last := &list[len(list)-1]; last.Name == v.Name { // properties are compared by their names
			last.Value += ", " + v.Value
		} else {
			list = append(list, v)
		}
	}
	addIf(o.ComputeScale != 1, "scale of computations", o.ComputeScale)
	addIf(o.FileBandwidth != 0, "bandwidth of files", o.FileBandwidth)
	addIf(o.ComputeNoise, "noise of computations", "yes")
	addIf(p.engine.costs.random != nil, "seed", o.Seed)
	p.about = append(list, o.Network.Settings()...)
	return p.about
}

// hashOf names a list of numbers.
func hashOf(list any) string {
	sum := sha256.New()
	_ = binary.Write(sum, binary.LittleEndian, list)
	return hex.EncodeToString(sum.Sum(nil))
}

// Checkpoints says when the state of a replay is saved, so that another one can go on from there (Options.Resume).
type Checkpoints struct {
	// Write is called between two events: before the first, then when Every has passed since the last time, and at the
	// end of the context. It may call Pause.Save. An error ends the replay with it, and with the result so far.
	Write func(*Pause) error
	// Every is the wall time between two; 0: Write is called between any two events, some
	// hundred thousand times a second.
	Every time.Duration
}

// Pause is a replay that stands between two events, so that its state can be
// saved. It is valid until the function that got it returns.
type Pause struct {
	engine  *engine
	header  *trace.Header
	options *Options
	about   []Property // identity; nil until it is needed
	before  float64    // seconds of wall time of the parts that were resumed
	stopped bool       // the replay has ended before its end

	ctx       context.Context
	attention atomic.Bool // the event loop is to pause
	due       atomic.Bool // for a checkpoint
	timer     *time.Timer // of the next one
}

// pauser knows when the event loop is to pause, and for whom.
type pauser struct {
	call  func() error // between events; nil: nobody asks
	asked *atomic.Bool // whether to call it; nil: always
}

// due reports whether the event loop is to pause now.
func (p *pauser) due() bool { return p.call != nil && (p.asked == nil || p.asked.Load()) }

// stopWith has the event loop pause for checkpoints and for the end of ctx; stop frees what
// waits for these. Between them the loop looks at a flag.
func (p *Pause) stopWith(ctx context.Context) (stop func()) {
	p.ctx = ctx
	c := p.options.Checkpoints
	if c != nil || ctx.Done() != nil {
		p.engine.pauser.call = p.attend
	}
	if c != nil && c.Every <= 0 {
		return func() {}
	}
	// The first checkpoint is due at once, the next ones by a timer. The flag is set from other goroutines, and
	// the loop reads it once an event.
	p.engine.pauser.asked = &p.attention
	if c != nil {
		p.tick()
		p.timer = time.AfterFunc(c.Every, p.tick)
	}
	unwatch := context.AfterFunc(ctx, func() { p.attention.Store(true) })
	if ctx.Err() != nil {
		p.attention.Store(true)
	}
	return func() {
		unwatch()
		if p.timer != nil {
			p.timer.Stop()
		}
	}
}

// tick makes a checkpoint due.
func (p *Pause) tick() {
	p.due.Store(true)
	p.attention.Store(true)
}

// attend does what the event loop has paused for.
func (p *Pause) attend() error {
	p.attention.Store(false)
	ended := p.ctx.Err() != nil
	var err error
	if c := p.options.Checkpoints; c != nil && (p.due.Swap(false) || ended || c.Every <= 0) {
		err = c.Write(p)
		if p.timer != nil {
			p.timer.Reset(c.Every)
		}
	}
	if err == nil && ended {
		err = context.Cause(p.ctx)
	}
	p.stopped = err != nil
	return err
}

// Time returns the simulated time up to which everything has happened, in seconds.
func (p *Pause) Time() float64 { return p.engine.now }

// Messages returns the number of messages that have been sent.
func (p *Pause) Messages() int64 { return p.engine.matcher.numMessages }

// The parts of a checkpoint. Each function below both saves and restores: it names fields in the order in which they
// are written and read back. A field that is added to one of these types must be added here, or to the list of derived
// fields (snapshot_test.go). The layout of the types is part of a run's identity, so that a checkpoint of another
// layout is refused and not misread.

// state saves the state of the replay between two events, when no rank is runnable, or restores it in a replay of the
// same trace, machine and options. It leaves out data that follow from these, and caches.
func (e *engine) state(s *snapshot.State) {
	s.Section("engine")
	s.Vars(&e.now, &e.live, &e.numActions, &e.accounts.rows)
	s.Vars(&e.files.numBytes, &e.files.freeBytes)
	e.devices.state(s)
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
	if e.meter != nil {
		e.meter.state(s)
	}
	s.Section("source")
	sourceState(s, e.source)
	s.Section("operations")
	e.windows.state(s)
	e.collectivesState(s)
	e.asidesState(s)

	// The steps that repeat. A replay that goes on with an observer has no use for them: it plays all
	// steps that are left.
	steps, has := e.repeats, e.repeats != nil
	if s.Vars(&has); has {
		if steps == nil {
			steps = newRepeats(len(e.ranks))
		}
		s.Vars(&steps.standing, &steps.last.step, &steps.last.clocks, &steps.last.accounts, &steps.last.counts,
			&steps.last.factors)
		snapshot.Slice(s, &steps.at, func(at *place) { s.Vars(&at.step, &at.actions) })
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
	s.Vars(&c.agreement, &c.linear, &c.idle)
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
		if s.Reading() {
			if _, err := e.beginCollective(r, rk, call); err != nil {
				s.Fail(err)
				return
			}
		}
		e.collectives.runs[r].state(s)
	}
}

// state is that of a schedule that is started anew, which is taken to the same step.
func (c *collectiveRun) state(s *snapshot.State) {
	rounds, left := c.rounds, len(c.steps)
	if s.Vars(&rounds, &left, &c.requests); !s.Reading() {
		return
	}
	for c.rounds < rounds && s.Err() == nil {
		c.nextRound()
	}
	if left < 0 || left > len(c.steps) {
		s.Fail(fmt.Errorf("%w: %d steps are left of %d", snapshot.ErrCorrupt, left, len(c.steps)))
		return
	}
	c.steps = c.steps[len(c.steps)-left:]
}

// asidesState is the state of the actions beside ranks.
func (e *engine) asidesState(s *snapshot.State) {
	has := e.asides != nil
	if s.Vars(&has); !has {
		return
	}
	if e.asides == nil {
		e.asides = newAsides(len(e.ranks))
	}
	t := e.asides
	var waits [][2]int32 // requests, and which action waits for each
	for _, q := range slices.Sorted(maps.Keys(t.waiting)) {
		waits = append(waits, [2]int32{q, t.waiting[q]})
	}
	s.Vars(&t.idle, &waits)
	for _, w := range waits {
		t.waiting[w[0]] = w[1]
	}
	snapshot.Slice(s, &t.ranks, func(of *rankAsides) {
		s.Vars(&of.numbers, &of.open, &of.free, &of.busy, &of.joined)
		snapshot.Slice(s, &of.before, func(l *link) { s.Vars(&l.order, &l.begin) })
	})
	snapshot.Slice(s, &t.list, func(a *aside) {
		s.Vars(&a.order, &a.seconds, &a.at, &a.step, &a.label.tag, &a.label.comm, &a.posted, &a.begins, &a.ends, &a.rank, &a.left,
			&a.pending, &a.on, &a.kind, &a.stage)
		calls, runs := a.call != nil, a.run != nil
		if s.Vars(&calls, &runs); !calls || s.Err() != nil {
			return
		}
		if a.call == nil {
			a.call = &trace.Collective{}
		}
		s.Vars(a.call)
		if !runs {
			return
		}
		if s.Reading() {
			a.run = &collectiveRun{}
			if err := e.schedule(a.rank, a.run, a.call); err != nil {
				s.Fail(err)
				return
			}
		}
		a.run.state(s)
	})
	t.times.State(s, len(t.list))
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
