package replay

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"reprise/replay/eventlog"
	"reprise/trace"
)

// Locks of window memory (MPI_Win_lock, MPI_Win_unlock: lock, unlock), and accesses between fences, which take turns by
// guards of the same kind (accessInTurn).
//
// A rank asks for a lock of another rank's memory by a message of 0 bytes. The other rank grants locks in the order of
// the requests, shared ones together, by a message back, for which the first rank waits. It gives the lock back by a
// third message, for which it does not wait. A lock of its own memory takes no message, but waits its turn.

// windowLock says which ranks hold the lock of the memory of a rank, and which wait for it.
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

// cause is what has changed a lock or starts a transfer: the end of a message, or if that is -1 a rank.
type cause struct{ message, rank int32 }

// tell tells the log what a transfer starts with.
func (c cause) tell(log *eventlog.Log, id int32) {
	if c.message >= 0 {
		log.Follow(id, c.message)
	} else {
		log.Post(id, c.rank)
	}
}

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
	if err := e.launchTransfer(id, cause{-1, r}, rk.clock); err != nil {
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
	return goOn, e.launchTransfer(id, cause{-1, r}, rk.clock)
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
	// The request at the head of the queue waits for the lock to be free for it; shared requests after it follow up to
	// the next exclusive one: so none is overtaken.
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

// grantLock gives the lock to the rank that has asked for it.
func (e *engine) grantLock(l *windowLock, q lockRequest, by cause) error {
	m := &e.matcher.messages[q.grant]
	l.exclusive = q.exclusive
	l.holders = append(l.holders, m.dst)
	if m.src != m.dst {
		at := e.now
		if by.message < 0 {
			at = later(e.ranks[by.rank].clock, at)
		}
		return e.launchTransfer(q.grant, by, at)
	}
	// A lock of the rank's own memory takes no time: its grant ends now, or has before the rank waits.
	m.flags |= msgStarted
	if m.flags&msgRecvWait == 0 { // by its own rank, which has not waited
		m.flags |= msgEnded
		return nil
	}
	m.at = e.now
	if e.log != nil {
		by.tell(e.log, q.grant)
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

// Between fences accesses take turns, as in SMPI. The open accesses to the memory of a rank are in a list with a guard:
// a rank that adds to the list waits until the guard is free, and a rank that waits for the accesses in the list holds
// the guard until they have ended. So an accumulate waits for all accesses under way between its two ranks. An
// operation that fetches first brings its bytes back, and holds the memory (windowPart.memory) until its end.

// turn is a step of an access: it takes a guard, does something, and gives the guard back.
type turn struct {
	guard guard
	act   turnAct
}

// guard is a lock of a part: of its list, or for an operation that fetches.
type guard uint8

const (
	noGuard guard = iota
	ownList
	targetList
	targetMemory
)

// turnAct is what an access does in a turn.
type turnAct uint8

const (
	actPass  turnAct = iota // nothing
	actSend                 // starts the transfer to the target
	actBack                 // starts the transfer back
	actOpen                 // adds the transfer to the list
	actFlush                // waits for what the list has between the two ranks
	actWait                 // waits for the transfer back
	actKeep                 // keeps the guard
	actLeave                // gives it back
)

// turnsOf are the turns of an access, by its kind.
var turnsOf = [trace.NumAccesses][]turn{
	trace.AccessPut:           {{noGuard, actSend}, {ownList, actPass}, {targetList, actOpen}},
	trace.AccessGet:           {{noGuard, actBack}, {targetList, actPass}, {ownList, actOpen}},
	trace.AccessAccumulate:    {{noGuard, actSend}, {targetList, actOpen}, {ownList, actFlush}, {targetList, actFlush}},
	trace.AccessGetAccumulate: fetchTurns,
	trace.AccessFetchAndOp:    fetchTurns,
	trace.AccessCompareAndSwap: {{targetMemory, actKeep}, {noGuard, actBack}, {targetList, actPass}, {noGuard, actWait},
		{noGuard, actSend}, {ownList, actPass}, {targetList, actOpen}, {targetMemory, actLeave}},
}

var fetchTurns = []turn{{targetMemory, actKeep}, {noGuard, actBack}, {targetList, actPass}, {noGuard, actWait},
	{noGuard, actSend}, {targetList, actOpen}, {ownList, actFlush}, {targetList, actFlush}, {targetMemory, actLeave}}

// turnState says how far a rank is in a turn.
type turnState uint8

const (
	turnFresh turnState = iota
	turnTaken           // has the guard, or waits for it
	turnDone            // has done its act, or waits for its end
)

// accessInTurn carries on an access of rank r between fences.
func (e *engine) accessInTurn(r int32, rk *rank, a *trace.Action) (outcome, error) {
	run := e.syncRun(r)
	own, target := e.windows.part(a.Sym, a.Tag, r), e.windows.part(a.Sym, a.Tag, a.Peer)
	rk.collective = true
	// Each turn has two parts, its guard and its act, in either of which the rank may be blocked. run.state
	// says where it goes on. The list and its guard are looked up anew each time: parts may have moved.
	turns := turnsOf[a.AccessKind()]
	for int(run.turn) < len(turns) {
		t := turns[run.turn]
		list, lock := &e.windows.parts[target], (*windowLock)(nil)
		switch t.guard {
		case ownList:
			list = &e.windows.parts[own]
			lock = &list.guard
		case targetList:
			lock = &list.guard
		case targetMemory:
			lock = &list.memory
		}
		// What others have done to the list by this time must be known.
		if !e.comeToTime(r) {
			return parkedHere, nil
		}
		rk.clock = later(rk.clock, e.now)
		if run.state == turnFresh {
			run.state = turnTaken
			if lock != nil && t.act != actLeave && e.takeGuard(r, rk, lock) != goOn {
				return parkedHere, nil
			}
		}
		if run.state == turnTaken {
			run.state = turnDone
			if err := e.act(r, a, t.act, list, run); err != nil {
				return goOn, err
			}
			if e.settled(r, TimeWait) != goOn {
				return parkedHere, nil
			}
		}
		if lock != nil && t.act != actKeep {
			if err := e.releaseLock(lock, cause{-1, r}); err != nil {
				return goOn, err
			}
		}
		run.state = turnFresh
		run.turn++
		if int(run.turn) < len(turns) { // ranks that come at one time take their turns in rounds
			rk.stage = stageBegin
			e.wakeups.Set(r, math.Nextafter(later(rk.clock, e.now), math.Inf(1)))
			return parkedHere, nil
		}
	}
	*run, rk.collective = syncRun{message: -1}, false
	return goOn, nil
}

// takeGuard takes a guard for rank r, or has it wait.
func (e *engine) takeGuard(r int32, rk *rank, l *windowLock) outcome {
	if len(l.holders) == 0 && len(l.queue) == 0 {
		l.exclusive = true
		l.holders = append(l.holders, r)
		return goOn
	}
	// The guard is granted by a message of the rank to itself, so that it waits as for any other message.
	rk.serial = true
	grant, m := e.matcher.newMessage(r, r, label{windowTags + int32(channelGrant), commWindow}, 0)
	m.refs = 1
	l.queue = append(l.queue, lockRequest{grant, true})
	e.join(r, grant, receiver)
	return e.settled(r, TimeWait)
}

// act does the act of a turn.
func (e *engine) act(r int32, a *trace.Action, what turnAct, list *windowPart, run *syncRun) error {
	// out and back are the bytes to the target and back. An operation that fetches without operands has no
	// transfer to the target, and nothing to wait for there.
	rk := &e.ranks[r]
	rk.serial = true
	out, back := a.X[0], a.X[1]
	fetches := a.AccessKind().Fetches() && a.AccessKind() != trace.AccessGet
	switch what {
	case actSend:
		if fetches && out == 0 { // it fetches only
			run.message = -1
			return nil
		}
		run.message = e.newTransfer(a, r, a.Peer, out, channelAccess)
		e.pay(r, e.costs.isendOverhead(r, out))
		return e.launchTransfer(run.message, cause{-1, r}, rk.clock)
	case actBack:
		if a.Peer == r {
			return nil
		}
		run.message = e.newTransfer(a, a.Peer, r, back, channelAccess)
		e.pay(r, e.costs.isendOverhead(r, back))
		return e.launchTransfer(run.message, cause{-1, r}, rk.clock)
	case actOpen:
		if run.message >= 0 {
			list.open = append(list.open, openAccess{run.message, r})
			run.message = -1
		}
	case actWait:
		if run.message >= 0 {
			e.join(r, run.message, receiver)
		}
		run.message = -1
	case actFlush:
		if fetches && out == 0 {
			return nil
		}
		e.joinOpen(r, list, func(_ openAccess, m *message) bool {
			return m.src == r && m.dst == a.Peer || m.src == a.Peer && m.dst == r
		})
	}
	return nil
}
