package replay

import (
	"errors"
	"fmt"
	"slices"

	"reprise/netmodel"
	"reprise/platforms"
)

// The latency and the sharing of links are the network's (netmodel); overheads are paid by the ranks, at the
// begin of a send or at the end of a receive.

// A transfer is what becomes of a message once it may move: it starts, now or behind a change
// of a link; the network has it until it ends; and who waits for it goes on.

// start begins the transfer of a message at a time, or has it wait for the changes of
// links before that (changes.go).
func (e *engine) start(id int32, at float64) error {
	m := &e.matcher.messages[id]
	m.flags |= msgStarted
	// A transfer behind the next change of a link is kept with its size, as a receive may cut the message
	// before it starts.
	if c := e.changes; c != nil && c.links.Next() <= at {
		c.starts.Grow(int(id) + 1)
		for int(id) >= len(c.sizes) {
			c.sizes = append(c.sizes, 0)
		}
		c.sizes[id] = m.size
		c.starts.Set(id, at)
		return nil
	}
	return e.launch(id, m.size, at)
}

// launch hands the transfer of a message of so many bytes, which begins at a time, to the
// network.
func (e *engine) launch(id int32, size int64, at float64) error {
	m := &e.matcher.messages[id]
	from, to := e.machine.Hosts[m.src], e.machine.Hosts[m.dst]
	var err error
	if e.costs.noisyNetwork() {
		err = e.network.StartNoisy(id, int(from), int(to), size, at, e.costs.random.network, e.costs.random.latency[id])
	} else {
		err = e.network.Start(id, int(from), int(to), size, at)
	}
	if err == nil {
		return nil
	}
	if off := (*netmodel.LinkOffError)(nil); errors.As(err, &off) { // the profile of the link names it
		err = off
		for i := range e.changes.uses {
			if use := &e.changes.uses[i]; use.Kind == platforms.LinkState && slices.Contains(use.Links, off.Link) {
				err = fmt.Errorf("at %.9g s link %q is off (profile %q)", at, use.Target, use.Profile.Name)
				break
			}
		}
	}
	return fmt.Errorf("message of rank %d to rank %d: %w", m.src, m.dst, err)
}

// end completes a message whose transfer ends now: the sides that are blocked on it have
// one thing less to wait for.
func (e *engine) end(id int32) error {
	m := &e.matcher.messages[id]
	m.flags |= msgEnded
	if m.ofWindow() {
		if err := e.transferEnds(id); err != nil {
			return err
		}
	}
	if m.refs == 0 { // both sides have let go of it
		e.matcher.recycle(id)
		return nil
	}
	if m.flags&msgNotify != 0 {
		e.notify(m)
	}
	// Both sides may be blocked. The message may be recycled by the first release, so its fields are
	// copied before.
	flags, src, dst := m.flags, m.src, m.dst
	if flags&msgSendWait != 0 {
		overhead := 0.0
		if m.ofWindow() {
			overhead = e.costs.recvOverhead(src, m)
		}
		e.arrive(src, id, overhead)
		e.matcher.release(id)
	}
	if flags&msgRecvWait != 0 {
		e.arrive(dst, id, e.costs.recvOverhead(dst, m))
		e.matcher.release(id)
	}
	return nil
}

// arrive tells a blocked rank that the transfer of a message, for which it waits, ends now,
// and that completing it costs overhead seconds.
func (e *engine) arrive(r, message int32, overhead float64) {
	rk := &e.ranks[r]
	// Overheads of several receives are paid one by one as they end, or together after the last one.
	rk.clock = later(rk.clock, e.now)
	if !rk.serial {
		rk.after += overhead
	} else if overhead > 0 {
		e.chargeWait(r, message)
		e.pay(r, overhead)
	}
	if rk.waits--; rk.waits > 0 {
		return
	}
	e.chargeWait(r, message)
	if rk.after > 0 {
		e.pay(r, rk.after)
		rk.after = 0
	}
	e.prober.letsIn(r, rk.clock)
	e.wake(r)
}

// pay lets a rank, which has been charged up to its clock, sleep for a protocol overhead.
func (e *engine) pay(r int32, seconds float64) {
	if seconds > 0 {
		e.ranks[r].clock += e.costs.sleepTime(seconds)
		e.charge(r, TimeOverhead)
	}
}
