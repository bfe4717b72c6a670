package replay

import (
	"fmt"
)

// A message begins with the post of either side. The side that comes second finds it in the list of its rank,
// by source, tag and communicator, in the order of posts (MPI 3.1, section 3.5: messages do not overtake), and
// from then on both sides hold the same message. Lists are with the receiving rank.

// postSend posts a send at the clock of its rank and returns the message. The
// transfer starts now if it is eager, else when both sides are posted. A
// detached message must not be used by the sender any more.
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
	// an event at the time of the send decides which of them takes it (wildcard.go).
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

// postRecv posts a receive of room bytes at the clock of its rank and returns
// the message.
func (e *engine) postRecv(dst, src int32, l label, room int64) (int32, error) {
	if err := e.checkPost(src, room); err != nil {
		return -1, err
	}
	// The oldest send that fits is taken, unless an older receive with a wildcard may yet take it: then the event
	// at the time of the send decides (match).
	to := &e.ranks[dst]
	id, before := e.matcher.find(&to.sends, src, l)
	if id >= 0 && to.wild > 0 && e.matcher.messages[id].flags&msgSeen == 0 {
		id = -1 // an older receive may take it
	}
	if id < 0 {
		id, m := e.matcher.newMessage(src, dst, l, to.clock)
		m.size = room
		e.matcher.enqueue(&to.recvs, id)
		if e.observers != nil {
			e.notifyReceive(id, dst, src, l.tag, room)
		}
		return id, nil
	}
	e.matcher.unlink(&to.sends, id, before)
	if e.observers != nil {
		e.notifyReceive(id, dst, src, l.tag, room)
	}
	return id, e.matched(id, room, later(to.clock, e.matcher.messages[id].at))
}

// matched gives a posted send a receive of room bytes. Unless the transfer has
// started before, it does at a time.
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
