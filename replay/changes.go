package replay

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"reprise/internal/eventqueue"
	"reprise/platforms"
)

// changes plays the profiles of a machine: what changes with time. It is nil for a machine
// that has none, and then costs a look at that.
//
// A change happens before all else at its time. Ranks run ahead of the event loop, so a
// transfer that a rank starts behind the next change of a link waits for it: only then are
// the route, its bounds and its latency known. Ranks on hosts whose speed changes do not
// run ahead over a computation: their hosts share cores as those with too many ranks do
// (processor.go).
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

// prepareChanges prepares for the profiles of the machine, and makes the changes that come
// before the first action.
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

// pending returns the time of the next transfer that waits for changes, +Inf if none does.
func (c *changes) pending() float64 { return c.starts.Next() }

// change takes the next change, or the next transfer that has waited for one, if it comes
// up to a time, and reports whether there was one.
func (e *engine) change(until float64) (bool, error) {
	c := e.changes
	at, start := c.next(), c.pending()
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

// revives reports whether a change to come may set something going that stands still.
func (e *engine) revives() bool {
	for i := range e.changes.uses {
		use, at := &e.changes.uses[i], e.changes.at[i]
		if at.Index < use.Profile.Len() && use.Profile.Ever(at) && e.stands(use) {
			return true
		}
	}
	return false
}

// stands reports whether something stands still for want of what a profile changes:
// transfers on a link without bandwidth, or computations that began at speed 0.
func (e *engine) stands(use *platforms.ProfileUse) bool {
	switch use.Kind {
	case platforms.HostSpeed:
		return e.cpus.stands(use.Host)
	case platforms.LinkBandwidth:
		return slices.ContainsFunc(use.Links, e.network.Stands)
	}
	return false
}
