package replay

// A receive from any source or with any tag takes the first message that comes, so
// it depends on the order of sends of several ranks, which run ahead of the event
// loop, one more than another. Such a receive therefore waits for the loop to come
// to its clock: then all sends up to there are known. As long as one is pending at a
// rank, sends to that rank are not matched when they are posted but by an event at
// their time, in the order of time; each takes the oldest receive that accepts it.
// That is what happens in the order of time: receives prefer the oldest send, sends
// the oldest receive, and as all rank them alike there is one stable outcome.

// comeToTime reports whether the event loop has come to the clock of rank r; if
// not, the rank is parked until then.
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

// postWild posts a receive with wildcards, at a time to which the event loop has
// come, and returns the message.
func (e *engine) postWild(dst, src int32, l label, room int64) (int32, error) {
	to := &e.ranks[dst]
	if to.wild > 0 { // older receives come first: sends of this time may still await their event
		if err := e.match(dst); err != nil {
			return -1, err
		}
	}
	// All sends up to the clock of the rank are known. Of those the earliest that fits is taken.
	id := e.matcher.earliest(&to.sends, func(m *message) bool { return m.at <= to.clock && m.accepts(src, l) })
	if id >= 0 {
		e.matcher.remove(&to.sends, id)
		if e.observers != nil {
			e.notifyReceive(id, dst, src, l.tag, room)
		}
		return id, e.matched(id, room, to.clock)
	}
	id, m := e.matcher.newMessage(src, dst, l, to.clock)
	m.size = room
	e.matcher.enqueue(&to.recvs, id)
	if e.observers != nil {
		e.notifyReceive(id, dst, src, l.tag, room)
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

// awaitSend gives rank dst an event at the time of a send, unless it has an earlier
// one.
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

// merge makes one message of a send and a receive that were both posted. The send's
// stays; the receive's leads to it until its request is finished.
func (e *engine) merge(send, recv int32) error {
	s, r := &e.matcher.messages[send], &e.matcher.messages[recv]
	if e.observers != nil {
		e.notifyMerge(send, recv)
	}
	// Both sides may be in any state: the receive blocked on, let go, or one of those that wait for any; the
	// send eager, under way or ended. What was noted at the receive is noted at the send from now on.
	blocked, letGo := r.flags&msgRecvWait != 0, r.refs == 1
	s.flags |= r.flags & (msgRecvWait | msgNotify)
	if s.flags&msgNotify != 0 && s.flags&msgEnded != 0 {
		e.notify(s)
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
