package replay

import (
	"errors"
	"fmt"

	"reprise/netmodel"
)

// message is a send with its receive, or one of them while the other has not
// been posted. Messages are named by int32 ids, recycled last in first out. 32
// bytes: with the list of posts apart, two of them are a cache line.
type message struct {
	size     int64   // bytes of the send, of the receive, or once matched of the smaller
	at       float64 // time of the post while unmatched, seconds
	src, dst int32   // ranks
	tag      int32
	refs     uint8 // sides that have not let go of the message
	flags    messageFlags
}

type messageFlags uint8

const (
	msgDetached messageFlags = 1 << iota // the sender does not wait; the receiver pays its overhead
	msgStarted                           // the transfer has a flow, or has ended
	msgEnded                             // the transfer has ended
	msgSendWait                          // the sender is blocked until the end
	msgRecvWait                          // the receiver is blocked until the end
	msgSeen                              // no receive posted before it takes this send
	msgAlias                             // a receive whose message is that of the send after it
)

// postList is a list of unmatched posts, oldest first, chained by engine.after;
// -1: none.
type postList struct{ head, tail int32 }

// find returns the oldest post of list from src with tag and the post before
// it in the list, or -1.
func (e *engine) find(list *postList, src, tag int32) (m, before int32) {
	before = -1
	for m = list.head; m >= 0; m = e.after[m] {
		if p := &e.messages[m]; p.src == src && p.tag == tag {
			return m, before
		}
		before = m
	}
	return -1, -1
}

// take is find and removes the post.
func (e *engine) take(list *postList, src, tag int32) int32 {
	m, before := e.find(list, src, tag)
	if m >= 0 {
		e.unlink(list, m, before)
	}
	return m
}

// unlink removes a post, given the one before it.
func (e *engine) unlink(list *postList, m, before int32) {
	if before < 0 {
		list.head = e.after[m]
	} else {
		e.after[before] = e.after[m]
	}
	if list.tail == m {
		list.tail = before
	}
}

func (e *engine) enqueue(list *postList, m int32) {
	e.after[m] = -1
	if list.head < 0 {
		list.head = m
	} else {
		e.after[list.tail] = m
	}
	list.tail = m
}

// newMessage returns a message in which both sides take part.
func (e *engine) newMessage(src, dst, tag int32, at float64) (int32, *message) {
	id := e.free
	if id < 0 {
		id = int32(len(e.messages))
		e.messages = append(e.messages, message{})
		e.after = append(e.after, -1)
	} else {
		e.free = e.after[id]
	}
	m := &e.messages[id]
	*m = message{src: src, dst: dst, tag: tag, at: at, refs: 2}
	return id, m
}

// release tells that one side is through with the message, of which nothing is left
// once both are and the transfer has ended.
func (e *engine) release(id int32) {
	m := &e.messages[id]
	if m.refs--; m.refs == 0 && m.flags&msgEnded != 0 {
		e.recycle(id)
	}
}

func (e *engine) recycle(id int32) {
	e.after[id] = e.free
	e.free = id
}

// postSend posts a send at the clock of its rank and returns the message. The
// transfer starts now if it is eager, else when both sides are posted. A
// detached message must not be used by the sender any more.
func (e *engine) postSend(src, dst, tag int32, size int64, synchronous bool) (int32, error) {
	if err := e.checkPost(dst, size); err != nil {
		return -1, err
	}
	at := e.ranks[src].clock
	detached := !synchronous && e.protocol.Detached(size)
	eager := detached && e.protocol.Eager(size)
	to := &e.ranks[dst]
	id := int32(-1)
	if to.wild == 0 {
		id = e.take(&to.recvs, src, tag)
	} else {
		e.awaitSend(dst, at)
	}
	start, matched := at, id >= 0
	if !matched {
		id, _ = e.newMessage(src, dst, tag, at)
		e.enqueue(&to.sends, id)
	} else if posted := e.messages[id].at; posted > at && !eager {
		start = posted
	}
	m := &e.messages[id]
	room := m.size
	m.size = size
	if detached {
		m.flags |= msgDetached
		m.refs--
	}
	e.numMessages++
	e.numBytes += size
	if e.noisyNetwork() {
		e.random.post(src, id)
	}
	if matched || eager {
		if err := e.start(id, start); err != nil {
			return id, err
		}
	}
	if matched {
		e.truncate(m, room)
	} else if to.awaitedPeer != noneAwaited && m.accepts(to.awaitedPeer, to.awaitedTag) {
		e.notice(dst, id)
	}
	if e.watch != nil {
		e.watch.sent(id, size, at, start)
	}
	return id, nil
}

// postRecv posts a receive of room bytes at the clock of its rank and returns
// the message.
func (e *engine) postRecv(dst, src, tag int32, room int64) (int32, error) {
	if err := e.checkPost(src, room); err != nil {
		return -1, err
	}
	to := &e.ranks[dst]
	id, before := e.find(&to.sends, src, tag)
	if id >= 0 && to.wild > 0 && e.messages[id].flags&msgSeen == 0 {
		id = -1 // an older receive may take it
	}
	if id < 0 {
		id, m := e.newMessage(src, dst, tag, to.clock)
		m.size = room
		e.enqueue(&to.recvs, id)
		if e.watch != nil {
			e.watch.receives(id, dst, src, tag, room)
		}
		return id, nil
	}
	e.unlink(&to.sends, id, before)
	if e.watch != nil {
		e.watch.receives(id, dst, src, tag, room)
	}
	return id, e.matched(id, room, later(to.clock, e.messages[id].at))
}

// matched gives a posted send a receive of room bytes. Unless the transfer has
// started before, it does at the time.
func (e *engine) matched(id int32, room int64, at float64) error {
	m := &e.messages[id]
	var err error
	if m.flags&msgStarted == 0 {
		err = e.start(id, at)
		if e.watch != nil {
			e.watch.to.Started(id, at)
		}
	}
	e.truncate(m, room)
	return err
}

// truncate cuts a message to the bytes that its receive has room for.
func (e *engine) truncate(m *message, room int64) {
	if m.size > room {
		m.size = room
		e.numTruncated++
	}
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

func (e *engine) checkPeer(peer int32) error {
	if uint32(peer) >= uint32(len(e.ranks)) {
		return fmt.Errorf("peer %d out of [0,%d)", peer, len(e.ranks))
	}
	return nil
}

// launch hands the transfer of a message of so many bytes, which begins at the time, to the
// network.
func (e *engine) launch(id int32, size int64, at float64) error {
	m := &e.messages[id]
	from, to := e.machine.Hosts[m.src], e.machine.Hosts[m.dst]
	var err error
	if e.noisyNetwork() {
		err = e.network.StartNoisy(id, int(from), int(to), size, at, e.random.network, e.random.latency[id])
	} else {
		err = e.network.Start(id, int(from), int(to), size, at)
	}
	if err == nil {
		return nil
	}
	if off := (*netmodel.LinkOffError)(nil); errors.As(err, &off) {
		err = e.linkOff(off, at)
	}
	return fmt.Errorf("message of rank %d to rank %d: %w", m.src, m.dst, err)
}

// end completes a message whose transfer ended at the time: the sides that are
// blocked on it have one thing less to wait for.
func (e *engine) end(id int32, at float64) {
	m := &e.messages[id]
	m.flags |= msgEnded
	if m.refs == 0 { // both sides have let go of it
		e.recycle(id)
		return
	}
	flags, src, dst := m.flags, m.src, m.dst
	if flags&msgSendWait != 0 {
		e.arrive(src, at, 0)
		e.release(id)
	}
	if flags&msgRecvWait != 0 {
		e.arrive(dst, at, e.recvOverhead(id))
		e.release(id)
	}
}

// arrive tells a blocked rank that one of the transfers it waits for ended at
// the time, and that completing it costs overhead seconds.
func (e *engine) arrive(r int32, at, overhead float64) {
	rk := &e.ranks[r]
	rk.clock = later(rk.clock, at)
	if !rk.serial {
		rk.after += overhead
	} else if overhead > 0 {
		e.charge(r, rk.charge)
		e.pay(r, overhead)
	}
	if rk.waits--; rk.waits > 0 {
		return
	}
	e.charge(r, rk.charge)
	if rk.after > 0 {
		e.pay(r, rk.after)
		rk.after = 0
	}
	e.wake(r)
}

// pay lets a rank, which has been charged up to its clock, sleep for a protocol overhead.
func (e *engine) pay(r int32, seconds float64) {
	if seconds > 0 {
		e.ranks[r].clock += e.sleepTime(seconds)
		e.charge(r, TimeOverhead)
	}
}

// sleepTime returns how long a sleep lasts: a positive one at least as long as
// the precision of times.
func (e *engine) sleepTime(seconds float64) float64 {
	if seconds > 0 && seconds < e.precision {
		return e.precision
	}
	return seconds
}
