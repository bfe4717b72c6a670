package replay

import (
	"reprise/internal/eventqueue"
	"reprise/trace"
)

// matcher holds all messages, and finds the receive for a send and the send for a receive, by source and tag, in the
// order of posts. The lists of posts are chained here and begin at the receiving ranks (rank.sends, rank.recvs), whose
// memory a post touches anyway. message.go posts, and postWild where a rank receives from any source; prober.go looks
// for sends; completion.go and message.go release messages that are over. The matcher knows no network and no costs.
type matcher struct {
	messages []message
	after    []int32          // by message: the next in a list of posts, or of free messages
	free     int32            // list of free messages, -1: none
	pending  eventqueue.Queue // by rank: times of sends to ranks that wait for any of several

	numMessages, numBytes int64
	numTruncated          int64 // messages longer than their receive
}

// message is a send with its receive, or one of them while the other has not been posted. Messages are named by int32
// ids, recycled last in first out. 32 bytes: with the list of posts apart, two of them are a cache line.
type message struct {
	size     int64   // bytes of the send, of the receive, or once matched of the smaller
	at       float64 // time of the post while unmatched, seconds
	src, dst int32   // ranks
	tag      int32
	comm     uint16 // see label
	refs     uint8  // sides that have not let go of the message
	flags    messageFlags
}

type messageFlags uint8

const (
	msgDetached messageFlags = 1 << iota // the sender does not wait; the receiver pays its overhead
	msgStarted                           // the transfer has a flow, or has ended
	msgEnded                             // the transfer has ended
	msgSendWait                          // the sender is blocked until the end; join wants these two in this order
	msgRecvWait                          // the receiver is blocked until the end
	msgSeen                              // no receive posted before it takes this send
	msgAlias                             // a receive whose message is that of the send after it
	msgNotify                            // a rank waits for this one or for others
)

// postList is a list of unmatched posts, oldest first, chained by matcher.after;
// -1: none.
type postList struct{ head, tail int32 }

// newMessage returns a message in which both sides take part.
func (mt *matcher) newMessage(src, dst int32, l label, at float64) (int32, *message) {
	id := mt.free
	if id < 0 {
		id = int32(len(mt.messages))
		mt.messages = append(mt.messages, message{})
		mt.after = append(mt.after, -1)
	} else {
		mt.free = mt.after[id]
	}
	m := &mt.messages[id]
	*m = message{src: src, dst: dst, tag: l.tag, comm: l.comm, at: at, refs: 2}
	return id, m
}

// newReceive returns a receive of room bytes that a rank posts now, for which there is no send yet.
func (mt *matcher) newReceive(to *rank, src, dst int32, l label, room int64) int32 {
	id, m := mt.newMessage(src, dst, l, to.clock)
	m.size = room
	mt.enqueue(&to.recvs, id)
	return id
}

// release ends the use of a message by one side. Once both sides have released it and its transfer has ended, its
// number is free.
func (mt *matcher) release(id int32) {
	m := &mt.messages[id]
	if m.refs--; m.refs == 0 && m.flags&msgEnded != 0 {
		mt.recycle(id)
	}
}

// recycle puts a message at the head of the free ones: the next one gets its number.
func (mt *matcher) recycle(id int32) {
	mt.after[id] = mt.free
	mt.free = id
}

// truncate cuts a message to the bytes that its receive has room for.
func (mt *matcher) truncate(m *message, room int64) {
	if m.size > room {
		m.size = room
		mt.numTruncated++
	}
}

// enqueue appends a post to a list.
func (mt *matcher) enqueue(list *postList, m int32) {
	mt.after[m] = -1
	if list.head < 0 {
		list.head = m
	} else {
		mt.after[list.tail] = m
	}
	list.tail = m
}

// find returns the oldest post of list from src with a label and the post before
// it in the list, or -1.
// Lists are short: a rank that posts far ahead of its partners has as many entries as messages under way, and
// programs receive mostly in the order of sends, so that the first entry fits.
func (mt *matcher) find(list *postList, src int32, l label) (m, before int32) {
	before = -1
	for m = list.head; m >= 0; m = mt.after[m] {
		if p := &mt.messages[m]; p.src == src && p.tag == l.tag && p.comm == l.comm {
			return m, before
		}
		before = m
	}
	return -1, -1
}

// take is find and removes the post.
func (mt *matcher) take(list *postList, src int32, l label) int32 {
	m, before := mt.find(list, src, l)
	if m >= 0 {
		mt.unlink(list, m, before)
	}
	return m
}

// unlink removes a post, given the one before it.
func (mt *matcher) unlink(list *postList, m, before int32) {
	if before < 0 {
		list.head = mt.after[m]
	} else {
		mt.after[before] = mt.after[m]
	}
	if list.tail == m {
		list.tail = before
	}
}

// remove takes a post out of a list.
func (mt *matcher) remove(list *postList, id int32) {
	before := int32(-1)
	for m := list.head; m != id; m = mt.after[m] {
		before = m
	}
	mt.unlink(list, id, before)
}

// earliest returns the post of the earliest time among those for which ok holds, the
// oldest of them at equal times, or -1.
func (mt *matcher) earliest(list *postList, ok func(*message) bool) int32 {
	best := int32(-1)
	for id := list.head; id >= 0; id = mt.after[id] {
		if m := &mt.messages[id]; ok(m) && (best < 0 || m.at < mt.messages[best].at) {
			best = id
		}
	}
	return best
}

// unseen reports whether a send has yet to look for a receive with wildcards posted before it.
func unseen(m *message) bool { return m.flags&msgSeen == 0 }

// isWild reports whether a receive or probe takes messages of several sources or tags.
func isWild(src, tag int32) bool { return src == trace.AnySource || tag == trace.AnyTag }

// accepts reports whether a receive from src with a label takes m.
func (m *message) accepts(src int32, l label) bool {
	return (src == m.src || src == trace.AnySource) && l.comm == m.comm &&
		(l.tag == m.tag || l.tag == trace.AnyTag && m.tag != CollectiveTag)
}

// resolve returns the message that the request of a receive stands for. A receive with a wildcard is an alias of the
// message of its send, if both were posted before they met (merge): the caller holds the send's from then on, and the
// alias is free.
func (mt *matcher) resolve(id int32) int32 {
	if mt.messages[id].flags&msgAlias == 0 {
		return id
	}
	send := mt.after[id]
	mt.release(id)
	return send
}

// label is what messages match by, beside their ranks.
type label struct {
	tag  int32
	comm uint16 // tells the messages of one communicator from those of others
}

// Values of label.comm. For a message between two ranks it is the family, or 0 if the trace does not tell communicators
// apart. For a collective operation, whose tag no other message has, it is 1 + the family, or 0 for all ranks, and
// these bits.
const (
	commNonblocking = 1 << 14 // nonblocking operations
	commBarrier     = 1 << 15 // nonblocking barriers, which receive from any rank
	familyMask      = 1<<12 - 1
)

// label returns that of the message of an action.
func (e *engine) label(a *trace.Action) label { return label{a.Tag, a.Sym & e.commMask} }

// label returns that of a message.
func (m *message) label() label { return label{m.tag, m.comm} }

// commMask returns which bits of the family of a message are part of its label.
func commMask(h *trace.Header) uint16 {
	if h.Communicators {
		return familyMask
	}
	return 0
}

// A receive from any source or with any tag takes the first message that comes. Which one that is depends on the order
// of sends of several ranks, which run ahead of the event loop. So such a receive waits for the loop to come to its
// clock (comeToTime): then all sends up to there are known. While one is pending at a rank, sends to that rank are not
// matched when they are posted, but by an event at their time (match): each takes the oldest receive that accepts it.
// As receives also take the oldest send, the matching is that of a run in the order of time, and unique.

// comeToTime reports whether the event loop has come to the clock of rank r; if not, the rank is parked until then.
func (e *engine) comeToTime(r int32) bool {
	rk := &e.ranks[r]
	if rk.stage == stageFresh && rk.clock > e.now {
		rk.stage = stageBegin
		e.wakeups.Set(r, rk.clock)
		return false
	}
	rk.stage = stageFresh
	return true
}

// postWild posts a receive with wildcards, at a time to which the event loop has come, and returns the message.
func (e *engine) postWild(dst, src int32, l label, room int64) (int32, error) {
	to := &e.ranks[dst]
	if to.wild > 0 { // older receives come first: sends of this time may still await their event
		if err := e.match(dst); err != nil {
			return -1, err
		}
	}
	// All sends up to the clock of the rank are known. Of those the earliest that fits is taken.
	id := e.matcher.earliest(&to.sends, func(m *message) bool { return m.at <= to.clock && m.accepts(src, l) })
	found := id >= 0
	if found {
		e.matcher.remove(&to.sends, id)
	} else {
		id = e.matcher.newReceive(to, src, dst, l, room)
	}
	if e.observers != nil {
		e.notifyReceive(id, dst, src, l.tag, room)
	}
	if found {
		return id, e.matched(id, room, to.clock)
	}
	// None fits: those that are there have been looked at, and do not look for this receive again.
	to.wild++
	for s := to.sends.head; s >= 0; s = e.matcher.after[s] {
		if p := &e.matcher.messages[s]; p.at <= to.clock {
			p.flags |= msgSeen
		}
	}
	e.awaitSends(dst)
	return id, nil
}

// awaitSends gives rank dst an event at the first send that has not been seen.
func (e *engine) awaitSends(dst int32) {
	if id := e.matcher.earliest(&e.ranks[dst].sends, unseen); id >= 0 {
		e.awaitSend(dst, e.matcher.messages[id].at)
	}
}

// awaitSend gives rank dst an event at the time of a send, unless it has an earlier one.
func (e *engine) awaitSend(dst int32, at float64) {
	e.matcher.pending.Grow(len(e.ranks))
	if at < e.matcher.pending.Time(dst) {
		e.matcher.pending.Set(dst, at)
	}
}

// match lets the sends to rank dst that were posted up to now look for receives.
func (e *engine) match(dst int32) error {
	to := &e.ranks[dst]
	for to.wild > 0 {
		id := e.matcher.earliest(&to.sends, func(m *message) bool { return unseen(m) && m.at <= e.now })
		if id < 0 {
			e.awaitSends(dst)
			return nil
		}
		e.matcher.messages[id].flags |= msgSeen
		if err := e.matchSend(to, id); err != nil {
			return err
		}
	}
	// What is left is for receives of one source and tag each, in whatever order.
	for id := to.sends.head; id >= 0; {
		next := e.matcher.after[id]
		if err := e.matchSend(to, id); err != nil {
			return err
		}
		id = next
	}
	return nil
}

// matchSend joins a send with the oldest receive that accepts it, if there is one.
func (e *engine) matchSend(to *rank, id int32) error {
	s := &e.matcher.messages[id]
	for r := to.recvs.head; r >= 0; r = e.matcher.after[r] {
		p := &e.matcher.messages[r]
		if !s.accepts(p.src, p.label()) {
			continue
		}
		if isWild(p.src, p.tag) {
			to.wild--
		}
		e.matcher.remove(&to.sends, id)
		e.matcher.remove(&to.recvs, r)
		return e.merge(id, r)
	}
	return nil
}

// merge makes one message of a send and a receive that were both posted: that of the send. The receive's is an alias of
// it until its request is finished.
func (e *engine) merge(send, recv int32) error {
	s, r := &e.matcher.messages[send], &e.matcher.messages[recv]
	if e.observers != nil {
		e.notifyMerge(send, recv)
	}
	// Both sides may be in any state: the receive blocked on, let go, or one of those that wait for any; the
	// send eager, under way or ended. What was noted at the receive is noted at the send from now on.
	blocked, letGo := r.flags&msgRecvWait != 0, r.refs == 1
	s.flags |= r.flags & (msgRecvWait | msgNotify)
	if e.asides != nil {
		e.asides.merged(send, recv)
	}
	if s.flags&msgNotify != 0 && s.flags&msgEnded != 0 {
		e.notify(send, s)
	}
	room, start := r.size, max(s.at, r.at)
	r.flags, r.refs = msgAlias|msgEnded, 1
	e.matcher.after[recv] = send
	if blocked || letGo {
		e.matcher.release(recv)
	}
	if err := e.matched(send, room, start); err != nil {
		return err
	}
	// A receive that was let go holds the message no longer; one that is blocked on goes on if it has ended.
	if letGo {
		e.matcher.release(send)
	}
	if blocked && s.flags&msgEnded != 0 {
		e.arrive(s.dst, send, e.costs.recvOverhead(s.dst, s))
		e.matcher.release(send)
	}
	return nil
}
