package replay

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/eventqueue"
	"reprise/platforms"
	"reprise/trace"
)

// This file plays the profiles of a machine, its changes with time (prepareChanges, and change in the event loop), and
// reports ranks that wait for ever (checkComplete).

// changes is the state of the profiles; nil for a machine that has none. A change happens before all else at its time.
// Ranks run ahead of the event loop, so a transfer that a rank starts after the next change of a link waits for that
// change: only then are the route, its bounds and its latency known. Ranks on hosts whose speed changes do not run
// ahead over a computation: their hosts share cores as those with too many ranks do (compute.go).
type changes struct {
	uses  []platforms.ProfileUse
	at    []platforms.ProfileTime // by use: of its next value
	hosts eventqueue.Queue        // by use: times of changes of hosts
	links eventqueue.Queue        // by use: times of changes of links

	starts eventqueue.Queue // by message: times of transfers that wait for changes before them
	sizes  []int64          // by message: of those transfers, bytes
}

// errSteps is the error of a part of a trace on a machine that changes with time: when
// its first step would begin is not known.
var errSteps = errors.New("the platform has profiles, whose times are of a run from its beginning: all steps must be played")

// prepareChanges prepares for the profiles of the machine, and makes the changes that come before the first action.
func (e *engine) prepareChanges(o *Options) error {
	uses := e.machine.Platform.Profiles()
	if len(uses) == 0 {
		return nil
	}
	if o.From > 0 || o.To > 0 {
		return errSteps
	}
	c := &changes{uses: uses, at: make([]platforms.ProfileTime, len(uses)),
		hosts: eventqueue.New(len(uses)), links: eventqueue.New(len(uses)), starts: eventqueue.New(0)}
	e.changes = c
	for i := range uses {
		p := uses[i].Profile
		c.at[i] = p.Begin()
		if uses[i].Kind == platforms.HostState {
			// Only the first time that a host is off matters, as no rank survives that.
			at := p.Begin()
			c.at[i] = platforms.ProfileTime{Index: p.Len(), Time: math.Inf(1)}
			for range p.Len() {
				if p.Value(at) == 0 {
					c.at[i] = at
					break
				}
				at = p.Next(at)
			}
		}
		c.plan(i)
	}
	// Changes at time 0 are the machine's state at the begin.
	for c.next() <= 0 {
		if _, err := e.change(0); err != nil {
			return err
		}
	}
	return nil
}

// plan sets the time of the next change of a use.
func (c *changes) plan(use int) {
	queue := &c.links
	if c.uses[use].Kind.OfHost() {
		queue = &c.hosts
	}
	queue.Set(int32(use), c.at[use].Time)
}

// next returns the time of the next change, +Inf if there is none.
func (c *changes) next() float64 { return earlier(c.hosts.Next(), c.links.Next()) }

// change takes the next change, or the next transfer that has waited for one, if it comes
// up to a time, and reports whether there was one.
func (e *engine) change(until float64) (bool, error) {
	c := e.changes
	at, start := c.next(), c.starts.Next()
	switch {
	case start < at && start <= until:
		e.now = later(e.now, start)
		id := c.starts.Pop()
		return true, e.launch(id, c.sizes[id], start)
	case math.IsInf(at, 1) || at > until:
		return false, nil
	}
	// Of changes at one time those of hosts come first. A profile that has been played goes on to its next
	// value; the state of a host does not, as no rank survives the first change to off.
	e.now = later(e.now, at)
	queue := &c.links
	if c.hosts.Next() <= at {
		queue = &c.hosts
	}
	i := queue.Pop()
	use := &c.uses[i]
	value := use.Profile.Value(c.at[i])
	if use.Kind == platforms.HostState {
		c.at[i] = platforms.ProfileTime{Index: use.Profile.Len(), Time: math.Inf(1)}
	} else {
		c.at[i] = use.Profile.Next(c.at[i])
	}
	c.plan(int(i))
	if value < 0 || use.Kind == platforms.HostSpeed && c.at[i].Time == at {
		return true, nil // of several speeds at one time the last one counts
	}
	switch use.Kind {
	case platforms.HostSpeed:
		e.setSpeed(use.Host, value, at)
		return true, nil
	case platforms.HostState:
		return true, e.hostOff(use, at)
	}
	for _, l := range use.Links {
		bandwidth, latency := e.machine.Platform.LinkFactors(l)
		switch use.Kind {
		case platforms.LinkBandwidth:
			e.network.SetBandwidth(l, value*bandwidth, at)
		case platforms.LinkLatency:
			e.network.SetLatency(l, value*latency, at)
		case platforms.LinkState:
			if id := e.network.SetState(l, value > 0); id >= 0 {
				m := &e.matcher.messages[id]
				return true, fmt.Errorf("at %.9g s link %q is switched off (profile %q) under a message of rank %d to rank %d",
					at, use.Target, use.Profile.Name, m.src, m.dst)
			}
		}
	}
	return true, nil
}

// hostOff ends the replay if a rank is on the host.
func (e *engine) hostOff(use *platforms.ProfileUse, at float64) error {
	for r, host := range e.machine.Hosts {
		if rk := &e.ranks[r]; host == use.Host && !(rk.over && rk.clock < at) {
			return fmt.Errorf("at %.9g s host %q is switched off (profile %q) under rank %d", at, use.Target, use.Profile.Name,
				r)
		}
	}
	return nil
}

// revives reports whether a later change may let a transfer or computation go on that stands still.
func (e *engine) revives() bool {
	for i := range e.changes.uses {
		use, at := &e.changes.uses[i], e.changes.at[i]
		if at.Index < use.Profile.Len() && use.Profile.Ever(at) && e.stands(use) {
			return true
		}
	}
	return false
}

// stands reports whether something stands still because the quantity that a profile changes is 0: transfers on a link
// without bandwidth, or computations that began at speed 0.
func (e *engine) stands(use *platforms.ProfileUse) bool {
	switch use.Kind {
	case platforms.HostSpeed:
		return e.cpus.stands(use.Host)
	case platforms.LinkBandwidth:
		return slices.ContainsFunc(use.Links, e.network.Stands)
	}
	return false
}

// A replay that cannot go on ends with an error that says why: ranks wait for messages that no rank sends, a profile of
// the machine leaves a resource at 0 for good, or a clock exceeds maxTime. SimGrid reports a deadlock in the first two
// cases, without the names of ranks, actions and resources.

// maxTime bounds the time that a replay may come to, in seconds: 3,000 years. At that time two float64 are 15
// microseconds apart; later times would not tell messages apart, and a rank that polls would never reach them.
const maxTime = 1e11

// errTooLate is the error of a rank whose clock is beyond maxTime.
var errTooLate = fmt.Errorf("the time is beyond %g s", float64(maxTime))

// beyond returns the error of a rank whose clock is beyond maxTime.
func (e *engine) beyond(r int32) error {
	if host := e.machine.Platform.Host(int(e.machine.Hosts[r])); host.Speed == 0 {
		return fmt.Errorf("rank %d computes on host %q, whose speed is 0", r, host.Name)
	}
	return fmt.Errorf("rank %d: %w", r, errTooLate)
}

// slowestLink is the error of messages that end beyond maxTime, which a bandwidth causes that lacks its unit.
func (e *engine) slowestLink() error {
	p, least, name := e.machine.Platform, math.Inf(1), ""
	for i := range p.NumLinks() {
		if bandwidth, _, _ := p.LinkFigures(int32(i)); bandwidth < least {
			least, name = bandwidth, p.Link(int32(i)).Name
		}
	}
	return fmt.Errorf("the messages on their way end after %g s; the slowest link, %q, has %g B/s", float64(maxTime), name, least)
}

// DeadlockError says that the replay cannot go on although ranks have actions left.
type DeadlockError struct {
	Blocked []Wait  // the first ranks that wait, at most maxWaits
	Count   int     // number of ranks that wait
	Time    float64 // of the last event, or from which on the last rank waits, seconds
}

// Wait says for what one rank waits.
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

// maxWaits bounds the number of ranks that a deadlock names, so that they fit on a screen.
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
		for c := e.changes; c != nil && !math.IsInf(c.hosts.Next(), 1); {
			at := c.hosts.Next()
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

// waitOf says what a blocked rank waits for: the first message that it joined, or the one that it probes for.
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
		case m.flags&msgRecvWait != 0 && m.dst == r, e.waitsBeside(r, m.dst, requestOf(int32(i), receiver)):
			w.Peer, w.Tag = m.src, m.tag
			return w
		case m.flags&msgSendWait != 0 && m.src == r, e.waitsBeside(r, m.src, requestOf(int32(i), sender)):
			w.Peer, w.Tag, w.Send = m.dst, m.tag, true
			return w
		}
	}
	return w
}
