package replay

import (
	"errors"
	"fmt"
	"slices"

	"reprise/netmodel"
	"reprise/platforms"
)

// This file takes a message from its posts (postSend, postRecv) over its transfer (start, launch) to its end (end).
//
// The side that posts first leaves the message in a list of the receiving rank. The other side finds it there, by
// source, tag and communicator, in the order of posts (MPI 3.1, section 3.5: messages do not overtake), and from then
// on both sides hold the same message.

// postSend posts a send at the clock of its rank and returns the message. The transfer starts now if it is eager, else
// when both sides are posted. The sender must not use a detached message any more.
func (e *engine) postSend(src, dst int32, l label, size int64, synchronous bool) (int32, error) {
	// A detached send leaves its buffer at once; an eager one does not even wait for the receive. Which
	// sizes are which is a matter of the protocol (smpi/async-small-thresh, smpi/send-is-detached-thresh).
	if err := e.checkPost(dst, size); err != nil {
		return -1, err
	}
	at := e.ranks[src].clock
	detached := !synchronous && e.costs.protocol.Detached(size)
	eager := detached && e.costs.protocol.Eager(size)
	// The receive may have been posted already. Where receives with wildcards are pending at the target,
	// an event at the time of the send decides which of them takes it (matcher.go).
	to := &e.ranks[dst]
	id := int32(-1)
	if to.wild == 0 {
		id = e.matcher.take(&to.recvs, src, l)
	} else {
		e.awaitSend(dst, at)
	}
	start, matched := at, id >= 0
	if !matched {
		id, _ = e.matcher.newMessage(src, dst, l, at)
		e.matcher.enqueue(&to.sends, id)
	} else if posted := e.matcher.messages[id].at; posted > at && !eager {
		start = posted
	}
	// The message of a receive that was posted before has the room of that as its size so far.
	m := &e.matcher.messages[id]
	room := m.size
	m.size = size
	if detached {
		m.flags |= msgDetached
		m.refs--
	}
	if !m.ofWindow() {
		e.matcher.numMessages++
		e.matcher.numBytes += size
	}
	if e.costs.noisyNetwork() {
		e.costs.random.post(src, id)
	}
	if matched || eager {
		if err := e.start(id, start); err != nil {
			return id, err
		}
	}
	// A rank that probes for this message, and is parked for it, is told.
	if matched {
		e.matcher.truncate(m, room)
	} else if to.awaitedPeer != noneAwaited && m.accepts(to.awaitedPeer, to.awaited()) {
		e.notice(dst, id)
	}
	if e.log != nil && start == at {
		e.log.Post(id, src)
	}
	if os := e.observers; os != nil && (os.now.has(src) || os.now.has(dst)) {
		os.notifySend(id, m, size, at, start)
	}
	return id, nil
}

// postRecv posts a receive of room bytes at the clock of its rank and returns the message.
func (e *engine) postRecv(dst, src int32, l label, room int64) (int32, error) {
	if err := e.checkPost(src, room); err != nil {
		return -1, err
	}
	// The oldest send that fits is taken, unless an older receive with a wildcard may yet take it: then the event
	// at the time of the send decides (match).
	to := &e.ranks[dst]
	id, before := e.matcher.find(&to.sends, src, l)
	found := id >= 0 && (to.wild == 0 || e.matcher.messages[id].flags&msgSeen != 0)
	if found {
		e.matcher.unlink(&to.sends, id, before)
	} else {
		id = e.matcher.newReceive(to, src, dst, l, room)
	}
	if e.observers != nil {
		e.notifyReceive(id, dst, src, l.tag, room)
	}
	if !found {
		return id, nil
	}
	return id, e.matched(id, room, later(to.clock, e.matcher.messages[id].at))
}

// matched gives a posted send a receive of room bytes. It starts the transfer at a time, unless it has begun.
func (e *engine) matched(id int32, room int64, at float64) error {
	m := &e.matcher.messages[id]
	var err error
	if m.flags&msgStarted == 0 {
		err = e.start(id, at)
		if os := e.observers; os != nil && os.followed.has(m.dst) {
			os.started(id, at)
		}
	}
	e.matcher.truncate(m, room)
	return err
}

// maxBytes bounds the size of a message: a petabyte.
const maxBytes = 1 << 50

// checkPost checks what a source of actions may have got wrong.
func (e *engine) checkPost(peer int32, size int64) error {
	if uint64(size) > maxBytes {
		return fmt.Errorf("%d bytes, want a number in [0,%d]", size, int64(maxBytes))
	}
	return e.checkPeer(peer)
}

// checkPeer checks that a peer is a rank of the trace.
func (e *engine) checkPeer(peer int32) error {
	if uint32(peer) >= uint32(len(e.ranks)) {
		return fmt.Errorf("peer %d out of [0,%d)", peer, len(e.ranks))
	}
	return nil
}

// The transfer of a message starts, now or after a change of a link. The network (netmodel) carries it, with latency
// and sharing of links, until it ends; then the ranks that wait for it go on. Ranks pay overheads, at the begin of a
// send or at the end of a receive.

// start begins the transfer of a message at a time, or has it wait for the changes of links before that (changes.go).
func (e *engine) start(id int32, at float64) error {
	m := &e.matcher.messages[id]
	m.flags |= msgStarted
	// A transfer after the next change of a link is kept with its size, as a receive may cut the message before then.
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

// launch gives the network the transfer of a message: size bytes, from time at on. start calls it, or once all changes
// of links up to that time have happened, change.
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

// end completes a message whose transfer ends now. A side that is blocked on it has one transfer less to wait for.
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
		e.notify(id, m)
	}
	// Both sides may be blocked. The message may be recycled by the first release, so its fields are copied before.
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

// arrive tells a blocked rank that the transfer of a message for which it waits ends now, and that it costs overhead
// seconds to complete it.
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
