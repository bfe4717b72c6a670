package replay

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"reprise/platforms"
	"reprise/trace"
)

// A replay that cannot go on ends with an error that says why: ranks wait for messages that nobody sends, a
// machine's profile leaves a resource at 0 for good, or a clock has run beyond all sense. SimGrid reports a
// deadlock in the first two cases; the names of ranks, actions and resources are ours.

// maxTime bounds the time that a replay may come to, in seconds: 3,000 years. At that
// time two float64 are 15 microseconds apart; later ones would not tell messages apart,
// and what waits by polling for a time that far never gets there.
const maxTime = 1e11

// errTooLate is the error of a rank whose clock is beyond that.
var errTooLate = fmt.Errorf("the time is beyond %g s", float64(maxTime))

// beyond returns the error of a rank whose clock is beyond maxTime.
func (e *engine) beyond(r int32) error {
	if host := e.machine.Platform.Host(int(e.machine.Hosts[r])); host.Speed == 0 {
		return fmt.Errorf("rank %d computes on host %q, whose speed is 0", r, host.Name)
	}
	return fmt.Errorf("rank %d: %w", r, errTooLate)
}

// DeadlockError says that the replay cannot go on although ranks have actions
// left.
type DeadlockError struct {
	Blocked []Wait  // the first ranks that wait, at most maxWaits
	Count   int     // number of ranks that wait
	Time    float64 // of the last event, or from which on the last rank waits, seconds
}

// Wait is what one rank waits for.
type Wait struct {
	Rank   int32
	Action trace.Kind // in which it is blocked
	Send   bool       // it waits for a receiver, else for a sender
	Peer   int32
	Tag    int32
	Time   float64 // since when, seconds

	Collective string // operation whose message it is; "": none
	Window     string // what it waits for in a window; "": it is in none
}

// maxWaits is how many ranks a deadlock names: those of all would fill the screen.
const maxWaits = 8

// String says which rank waits since when for what, in one line.
func (w Wait) String() string {
	what, peer, tag := "a send", fmt.Sprintf("rank %d", w.Peer), strconv.Itoa(int(w.Tag))
	if w.Send {
		what = "a receive"
	}
	if w.Peer == trace.AnySource {
		peer = "any rank"
	}
	if w.Tag == trace.AnyTag {
		tag = "any"
	}
	if w.Window != "" {
		return fmt.Sprintf("rank %d in %v since %.9g s: %s", w.Rank, w.Action, w.Time, w.Window)
	}
	if w.Collective != "" {
		return fmt.Sprintf("rank %d in %s since %.9g s: %s of %s", w.Rank, w.Collective, w.Time, what, peer)
	}
	return fmt.Sprintf("rank %d in %v since %.9g s: %s of %s with tag %s", w.Rank, w.Action, w.Time, what, peer, tag)
}

// Error names the first ranks and what they wait for.
func (e *DeadlockError) Error() string {
	var b strings.Builder
	waits := "1 rank waits"
	if e.Count != 1 {
		waits = fmt.Sprintf("%d ranks wait", e.Count)
	}
	fmt.Fprintf(&b, "deadlock at %.9g s: %s for messages that never come", e.Time, waits)
	for _, w := range e.Blocked {
		fmt.Fprintf(&b, "\n  %v", w)
	}
	if more := e.Count - len(e.Blocked); more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	return b.String()
}

// checkComplete is called when no event is left: all ranks must be through.
func (e *engine) checkComplete() error {
	if e.live == 0 {
		// A host may be switched off under a rank that has played its last action ahead of the event loop.
		for c := e.changes; c != nil; {
			at := c.hosts.Next()
			if math.IsInf(at, 1) {
				break
			}
			use := &c.uses[c.hosts.Pop()]
			if use.Kind == platforms.HostState {
				if err := e.hostOff(use, at); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if e.changes != nil { // ranks may wait for a resource that is 0 for good
		for i := range e.changes.uses {
			if use := &e.changes.uses[i]; e.stands(use) {
				return fmt.Errorf("nothing goes on after %.9g s: the %v %q is 0 for good (profile %q)", e.now, use.Kind, use.Target,
					use.Profile.Name)
			}
		}
	}
	// All ranks that have actions left wait: the time is that from which on the last of them does.
	d := &DeadlockError{Count: e.live, Time: e.now}
	for r := range e.ranks {
		rk := &e.ranks[r]
		if rk.over {
			continue
		}
		d.Time = max(d.Time, rk.clock)
		if len(d.Blocked) < maxWaits {
			d.Blocked = append(d.Blocked, e.waitOf(int32(r)))
		}
	}
	return d
}

// waitOf says what a blocked rank waits for: the first message that it joined,
// or the one that it probes for.
func (e *engine) waitOf(r int32) Wait {
	// A rank that probes waits for a post, all others for the end of a transfer. The search through all
	// messages is slow, but ends the replay.
	rk := &e.ranks[r]
	if src, l, busy := e.busyWait(r); busy && rk.waits == 0 {
		a := e.action(r, int(rk.pos))
		return Wait{Rank: r, Action: a.Kind, Peer: src, Tag: l.tag, Time: rk.clock}
	}
	pos := int(rk.pos)
	if rk.stage == stageAny { // it waits for any of several messages, of which the first is named
		a := e.action(r, pos)
		w := Wait{Rank: r, Action: a.Kind, Time: rk.charged, Peer: -1}
		slots, _ := e.requestList(r, a.X[0])
		for _, n := range slots {
			slot, err := e.slots.at(rk, n)
			if err != nil || *slot <= completeRequest {
				continue
			}
			m := &e.matcher.messages[*slot>>1-1]
			if w.Peer, w.Tag, w.Send = m.src, m.tag, side(*slot&1) == sender; w.Send {
				w.Peer = m.dst
			}
			break
		}
		return w
	}
	if !rk.collective {
		pos-- // it goes on with the action after the one that blocks it
	}
	last := e.action(r, pos)
	w := Wait{Rank: r, Action: last.Kind, Time: rk.charged, Peer: -1}
	switch {
	case rk.collective && collects(last.Kind):
		w.Collective = trace.CollectiveKind(last.Sym).String()
	case last.Kind == trace.KindSync && last.SyncKind().Collective():
		w.Collective = fmt.Sprintf("win_%v of window %d", last.SyncKind(), last.Tag)
	}
	for i := range e.matcher.messages {
		m := &e.matcher.messages[i]
		switch {
		case m.flags&msgEnded != 0:
		case m.flags&(msgRecvWait|msgSendWait) != 0 && m.ofWindow() && (m.dst == r || m.src == r):
			w.Window = e.waitInWindow(m, last)
			return w
		case m.flags&msgRecvWait != 0 && m.dst == r:
			w.Peer, w.Tag = m.src, m.tag
			return w
		case m.flags&msgSendWait != 0 && m.src == r:
			w.Peer, w.Tag, w.Send = m.dst, m.tag, true
			return w
		}
	}
	return w
}
