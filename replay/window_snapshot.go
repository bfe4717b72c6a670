package replay

import (
	"errors"
	"fmt"
	"math"

	"reprise/internal/snapshot"
	"reprise/trace"
)

// snapshot is Snapshot of what is under way in windows, between so many ranks and messages.
func (w *windows) snapshot(c *snapshot.Codec, ranks, messages int) {
	c.Section("windows", *w, windowPart{}, windowKey{}, openAccess{}, windowLock{}, lockRequest{}, syncRun{})
	snapshot.Index(c, &w.numAccesses, 0, math.MaxInt)
	snapshot.Index(c, &w.numBytes, 0, math.MaxInt)
	list := func(of *[]int32) {
		snapshot.Slice(c, of, math.MaxInt32, func(r *int32) { snapshot.Index(c, r, 0, ranks) })
	}
	snapshot.Slice(c, &w.parts, math.MaxInt32, func(p *windowPart) {
		snapshot.Index(c, &p.key.family, 0, familyMask+1)
		snapshot.Index(c, &p.key.window, 0, trace.MaxWindows)
		snapshot.Index(c, &p.key.rank, 0, ranks)
		snapshot.Slice(c, &p.open, math.MaxInt32, func(o *openAccess) {
			snapshot.Index(c, &o.message, 0, messages)
			snapshot.Index(c, &o.origin, 0, ranks)
		})
		snapshot.Index(c, &p.epochs, 0, math.MaxInt32)
		list(&p.targets)
		list(&p.held)
		for _, l := range []*windowLock{&p.lock, &p.guard, &p.memory} {
			c.Bool(&l.exclusive)
			list(&l.holders)
			snapshot.Slice(c, &l.queue, math.MaxInt32, func(q *lockRequest) {
				snapshot.Index(c, &q.grant, 0, messages)
				c.Bool(&q.exclusive)
			})
		}
	})
	snapshot.Slice(c, &w.runs, ranks, func(s *syncRun) {
		snapshot.Index(c, &s.phase, 0, int(numSyncPhases))
		snapshot.Index(c, &s.turn, 0, len(fetchTurns))
		snapshot.Index(c, &s.state, 0, int(turnDone)+1)
		snapshot.Index(c, &s.message, -1, messages)
	})
	if c.Reading() {
		c.Check(len(w.runs) == 0 || len(w.runs) == ranks, "windows of %d ranks of %d", len(w.runs), ranks)
		w.at = make(map[windowKey]int32, len(w.parts))
		for i := range w.parts {
			w.at[w.parts[i].key] = int32(i)
		}
		c.Check(len(w.at) == len(w.parts), "a window has two parts of a rank")
	}
}

var errWindows = errors.New("the lists of what is under way in windows are broken")

// tallyWindows counts the transfers that lists of windows hold, and notes the messages that wait there
// to begin.
func (e *engine) tallyWindows(t *tally) error {
	begins := func(id int32) error { // one that has not begun
		if id < 0 || t.place[id] != unlisted || e.matcher.messages[id].flags&(msgStarted|msgAlias) != 0 || !e.matcher.messages[id].ofWindow() {
			return errWindows
		}
		t.place[id] = listedWindow
		return nil
	}
	holds := func(id, rank int32) error { // one of whose ends a rank is
		m := &e.matcher.messages[id]
		if !m.ofWindow() || m.flags&msgAlias != 0 || t.place[id] == listedFree || m.dst != rank && m.src != rank {
			return errWindows
		}
		t.refs[id]++
		return nil
	}
	for i := range e.windows.parts {
		p := &e.windows.parts[i]
		for _, o := range p.open {
			m := &e.matcher.messages[o.message]
			if err := holds(o.message, o.origin); err != nil || m.dst != p.key.rank {
				return errWindows
			}
		}
		for _, l := range []*windowLock{&p.lock, &p.guard, &p.memory} {
			for _, q := range l.queue {
				if err := begins(q.grant); err != nil || e.matcher.messages[q.grant].channel() != channelGrant {
					return errWindows
				}
			}
		}
	}
	for r := range e.windows.runs {
		if id := e.windows.runs[r].message; id >= 0 {
			if err := holds(id, int32(r)); err != nil {
				return err
			}
		}
	}
	for id := range e.matcher.messages {
		m := &e.matcher.messages[id]
		if t.place[id] == listedFree || !m.ofWindow() {
			continue
		}
		if uint32(m.tag-windowTags) >= trace.MaxWindows<<channelBits {
			return fmt.Errorf("message %d is of no window", id)
		}
		switch c := m.channel(); {
		case c != channelPost && c != channelComplete && (t.place[id] == listedSend || t.place[id] == listedRecv):
			return fmt.Errorf("message %d of a window is in a list of posts", id)
		case m.flags&msgEnded != 0 || c != channelShared && c != channelExclusive && c != channelFetch:
		case m.flags&msgStarted == 0:
			return errWindows
		default:
			if err := begins(e.matcher.after[id]); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSync checks that what a rank is in the midst of in a window is what its action does.
func (e *engine) checkSync(r int32, rk *rank) error {
	run := syncRun{message: -1}
	if e.windows.runs != nil {
		run = e.windows.runs[r]
	}
	a, ok := e.action(r, int(rk.pos)%bufferedActions), true
	switch {
	case !rk.collective || rk.pos >= rk.filled || a.Kind != trace.KindSync && a.Kind != trace.KindAccess:
		ok = run == syncRun{message: -1}
	case a.Kind == trace.KindAccess:
		ok = checkWindow(a, a.X[2], trace.NumAccesses) == nil && run.phase == syncFresh && int(run.turn) < len(turnsOf[a.AccessKind()]) &&
			e.checkPeer(a.Peer) == nil
	case checkWindow(a, a.X[0], trace.NumSyncs) != nil || run.turn != 0 || run.state != turnFresh || run.message >= 0:
		ok = false
	case a.SyncKind().Collective():
		ok = run.phase == syncOpening || run.phase == syncWaiting || run.phase == syncClosing
	default:
		ok = run.phase == syncFlushed && (a.SyncKind() == trace.SyncComplete || a.SyncKind() == trace.SyncUnlock)
	}
	if !ok {
		return errors.New("it is not in the midst of its action in a window")
	}
	return nil
}
