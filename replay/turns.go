package replay

import (
	"math"

	"reprise/trace"
)

// Between fences accesses take turns, as they do in SMPI. What is open at the memory of a rank is in a
// list with a guard: who adds to it waits until nobody has the guard, and who waits for what is in it
// has the guard until then. An accumulate waits so for all that is under way between its two ranks;
// what fetches first brings its bytes back, and keeps the memory to itself until it is through.

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

// act does what a turn is for.
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
		return e.launchTransfer(r, run.message, rk.clock)
	case actBack:
		if a.Peer == r {
			return nil
		}
		run.message = e.newTransfer(a, a.Peer, r, back, channelAccess)
		e.pay(r, e.costs.isendOverhead(r, back))
		return e.launchTransfer(r, run.message, rk.clock)
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
