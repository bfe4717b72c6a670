package replay

import (
	"fmt"
	"slices"
	"strings"

	"reprise/trace"
)

// A lock of memory of another rank is asked for by a message of 0 bytes. Where that memory is, locks
// are granted in the order in which they are asked for, shared ones together, by a message back,
// which the rank waits for. It gives the lock back by a third one, which it does not wait for. A lock
// of its own memory takes no message, and its turn like all others.

// windowLock is who has the memory of a rank, and who waits for it.
type windowLock struct {
	exclusive bool
	holders   []int32
	queue     []lockRequest
}

// lockRequest is a lock that was asked for.
type lockRequest struct {
	grant     int32 // message that grants it
	exclusive bool
}

// cause is what has changed a lock: the end of a message, or with none a rank that has done so.
type cause struct{ message, rank int32 }

// lock asks for a lock and waits for it.
func (e *engine) lock(r int32, rk *rank, a *trace.Action) (outcome, error) {
	own := e.windows.part(a.Sym, a.Tag, r)
	if a.X[1]&trace.AssertNoCheck == 0 && a.Peer == r && !e.comeToTime(r) {
		return parkedHere, nil
	}
	part := &e.windows.parts[own]
	part.epochs++
	if a.X[1]&trace.AssertNoCheck != 0 {
		return goOn, nil
	}
	// The grant exists from the request on, so that the rank can wait for it. It is sent when the lock is
	// granted: at the end of the request, or of the unlock of another rank.
	part.held = append(part.held, a.Peer)
	rk.serial = false
	exclusive := a.SyncKind() == trace.SyncLockExclusive
	grant := e.newTransfer(a, a.Peer, r, 0, channelGrant)
	if a.Peer == r {
		e.matcher.messages[grant].flags = 0 // it costs nothing
		err := e.requestLock(&part.lock, lockRequest{grant, exclusive}, cause{-1, r})
		e.join(r, grant, receiver)
		return e.settled(r, TimeWait), err
	}
	c := channelShared
	if exclusive {
		c = channelExclusive
	}
	id := e.newTransfer(a, r, a.Peer, 0, c)
	e.matcher.messages[id].refs = 0
	e.matcher.after[id] = grant
	e.pay(r, e.costs.sendOverhead(r, 0, false))
	if err := e.launchTransfer(r, id, rk.clock); err != nil {
		return goOn, err
	}
	e.join(r, grant, receiver)
	return e.settled(r, TimeWait), nil
}

// unlock waits for the accesses of rank r to the memory that it has locked, and gives it back.
func (e *engine) unlock(r int32, rk *rank, a *trace.Action) (outcome, error) {
	if !e.flushFirst(r, rk, a) {
		return parkedHere, nil
	}
	// A lock that was taken with MPI_MODE_NOCHECK is held nowhere, so that there is nothing to give back.
	own := e.windows.part(a.Sym, a.Tag, r)
	part := &e.windows.parts[own]
	at := slices.Index(part.held, a.Peer)
	if at >= 0 && a.Peer == r && !e.comeToTime(r) {
		return parkedHere, nil
	}
	part.epochs = max(0, part.epochs-1)
	if at < 0 {
		return goOn, nil
	}
	part.held = slices.Delete(part.held, at, at+1)
	if a.Peer == r {
		return goOn, e.releaseLock(&part.lock, cause{-1, r})
	}
	// The message is on its way while the rank goes on; its end gives the lock to the next one.
	id := e.newTransfer(a, r, a.Peer, 0, channelUnlock)
	e.matcher.messages[id].refs = 0
	e.pay(r, e.costs.sendOverhead(r, 0, false))
	return goOn, e.launchTransfer(r, id, rk.clock)
}

// requestLock grants a lock that is asked for now, or queues the request.
func (e *engine) requestLock(l *windowLock, q lockRequest, by cause) error {
	if len(l.queue) > 0 || !l.free(q.exclusive) {
		l.queue = append(l.queue, q)
		return nil
	}
	return e.grantLock(l, q, by)
}

// free reports whether another rank may have the lock.
func (l *windowLock) free(exclusive bool) bool {
	return len(l.holders) == 0 || !exclusive && !l.exclusive
}

// releaseLock takes the lock from a rank and grants it to those whose turn it is.
func (e *engine) releaseLock(l *windowLock, by cause) error {
	rank := by.rank
	if by.message >= 0 {
		rank = e.matcher.messages[by.message].src
	}
	// The request at the head of the queue waits for the lock to be free for it; shared ones behind it
	// follow as long as nothing exclusive comes between them: so nobody is overtaken.
	if at := slices.Index(l.holders, rank); at >= 0 {
		l.holders = slices.Delete(l.holders, at, at+1)
	}
	for len(l.queue) > 0 && l.free(l.queue[0].exclusive) {
		q := l.queue[0]
		l.queue = slices.Delete(l.queue, 0, 1)
		if err := e.grantLock(l, q, by); err != nil {
			return err
		}
	}
	return nil
}

// grantLock gives the lock to who has asked for it.
func (e *engine) grantLock(l *windowLock, q lockRequest, by cause) error {
	m := &e.matcher.messages[q.grant]
	l.exclusive = q.exclusive
	l.holders = append(l.holders, m.dst)
	switch {
	case m.src != m.dst && by.message >= 0:
		return e.follow(q.grant, by.message)
	case m.src != m.dst:
		return e.launchTransfer(by.rank, q.grant, later(e.ranks[by.rank].clock, e.now))
	}
	// A lock of the rank's own memory takes no time: its grant ends now, or has before the rank waits.
	m.flags |= msgStarted
	if m.flags&msgRecvWait == 0 { // by its own rank, which has not waited
		m.flags |= msgEnded
		return nil
	}
	m.at = e.now
	if e.log != nil {
		if by.message >= 0 {
			e.log.Follow(q.grant, by.message)
		} else {
			e.log.Post(q.grant, by.rank)
		}
	}
	if os := e.observers; os != nil {
		os.notifyTransfer(q.grant, m, e.now)
		os.messageEnded(q.grant, m, e.now)
	}
	return e.end(q.grant)
}

// waitInWindow says what a rank waits for that waits for a message of a window, in an action.
func (e *engine) waitInWindow(m *message, a *trace.Action) string {
	family := ""
	if n := int(a.Sym); n < len(e.collectives.families) && e.collectives.families[n].Name != "" {
		family = " of " + e.collectives.families[n].Name
	}
	window := fmt.Sprintf("window %d%s", a.Tag, family)
	if a.Kind == trace.KindSync {
		switch a.SyncKind() {
		case trace.SyncStart:
			return fmt.Sprintf("win_start waits for the post of rank %d in %s", m.src, window)
		case trace.SyncWait:
			return fmt.Sprintf("win_wait waits for the complete of rank %d in %s", m.src, window)
		case trace.SyncLockShared, trace.SyncLockExclusive:
			l := &e.windows.parts[e.windows.part(a.Sym, a.Tag, a.Peer)].lock
			return fmt.Sprintf("win_%v waits for memory of rank %d in %s, which rank %s has locked", a.SyncKind(), a.Peer,
				window,
				strings.Join(strings.Fields(strings.Trim(fmt.Sprint(l.holders), "[]")), ", "))
		}
	}
	return fmt.Sprintf("waits for an access between ranks %d and %d in %s", m.src, m.dst, window)
}
