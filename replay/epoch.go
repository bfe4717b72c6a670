package replay

import "reprise/trace"

// What synchronises a window is played as SMPI does it: a fence by collective operations of its group, an epoch
// of start, post, complete and wait by empty messages between pairs of ranks (MPI 3.1, section 11.5.2), a lock
// by messages to the rank that holds the memory (lock.go).

// sync carries on an action of rank r that synchronises a window.
func (e *engine) sync(r int32, rk *rank, a *trace.Action) (outcome, error) {
	kind := a.SyncKind()
	if err := checkWindow(a, a.X[0], trace.NumSyncs); err != nil {
		return goOn, err
	}
	if a.Peer != trace.AllRanks || kind >= trace.SyncPost && kind <= trace.SyncUnlock {
		if err := e.checkPeer(a.Peer); err != nil {
			return goOn, err
		}
	}
	own := e.windows.part(a.Sym, a.Tag, r)
	epochs := func(n int32) { // of locks and starts
		p := &e.windows.parts[own]
		p.epochs = max(0, p.epochs+n)
	}
	// MPI_MODE_NOCHECK says that the other side is known to be ready: no message tells of it then.
	unchecked := a.X[1]&trace.AssertNoCheck != 0
	switch kind {
	case trace.SyncCreate, trace.SyncFree, trace.SyncFence:
		return e.fence(r, rk, a)
	case trace.SyncPost:
		if unchecked || a.Peer == r {
			return goOn, nil
		}
		return goOn, e.tell(r, a, channelPost)
	case trace.SyncStart:
		epochs(1)
		if unchecked || a.Peer == r {
			return goOn, nil
		}
		return e.hear(r, rk, a, channelPost)
	case trace.SyncComplete:
		// The accesses of the epoch come first: the target goes on when all of them have ended.
		if done := e.flushFirst(r, rk, a); !done {
			return parkedHere, nil
		}
		epochs(-1)
		if a.Peer == r {
			return goOn, nil
		}
		return goOn, e.tell(r, a, channelComplete)
	case trace.SyncWait:
		if a.Peer == r {
			return goOn, nil
		}
		return e.hear(r, rk, a, channelComplete)
	case trace.SyncLockShared, trace.SyncLockExclusive:
		return e.lock(r, rk, a)
	case trace.SyncUnlock:
		return e.unlock(r, rk, a)
	case trace.SyncLockAll:
		epochs(1)
		return goOn, nil
	case trace.SyncUnlockAll:
		epochs(-1)
	}
	// What is left are flushes, of one target or of all.
	return e.flush(r, rk, a.Sym, a.Tag, a.Peer, TimeWait), nil
}

// flushFirst carries on the wait for accesses with which an action begins, and reports whether it is
// over.
func (e *engine) flushFirst(r int32, rk *rank, a *trace.Action) bool {
	phase := &e.syncRun(r).phase
	if *phase == syncFresh {
		*phase = syncFlushed
		if e.flush(r, rk, a.Sym, a.Tag, a.Peer, TimeWait) != goOn {
			rk.collective = true
			return false
		}
	}
	*phase, rk.collective = syncFresh, false
	return true
}

// tell sends a message of 0 bytes to the peer of an action, without waiting for it.
func (e *engine) tell(r int32, a *trace.Action, c channel) error {
	e.pay(r, e.costs.sendOverhead(r, 0, false))
	id, err := e.postSend(r, a.Peer, windowLabel(a.Sym, a.Tag, c), 0, false)
	if err == nil && !e.costs.protocol.Detached(0) {
		e.matcher.release(id)
	}
	return err
}

// hear waits for what the peer of an action tells.
func (e *engine) hear(r int32, rk *rank, a *trace.Action, c channel) (outcome, error) {
	rk.serial = false
	id, err := e.postRecv(r, a.Peer, windowLabel(a.Sym, a.Tag, c), 0)
	if err != nil {
		return goOn, err
	}
	e.join(r, id, receiver)
	return e.settled(r, TimeWait), nil
}

// A fence, as SMPI has it, is a barrier, after which all accesses have begun; then each rank waits
// for those to its memory and for what comes back to it; then another barrier. A window is freed
// likewise, and created by an allgather of an address.

// syncPhase says how far a rank is in an action that synchronises a window.
type syncPhase uint8

const (
	syncFresh   syncPhase = iota // not begun
	syncOpening                  // in the barrier before it waits
	syncWaiting                  // waits for accesses
	syncClosing                  // in the last operation
	syncFlushed                  // has waited for its own accesses
)

// syncRun is how far a rank is in an action that concerns a window.
type syncRun struct {
	phase   syncPhase
	turn    uint8 // of an access between fences (turns.go)
	state   turnState
	message int32 // of that access; -1: none
}

// bytesOfAddress is what each rank tells the others of its part of a window.
const bytesOfAddress = 8

// syncCall returns the collective operation that an action begins with.
func syncCall(a *trace.Action) (call trace.Action) {
	c := trace.Collective{Kind: trace.CollBarrier, Comm: int32(a.Sym) + 1}
	if a.SyncKind() == trace.SyncCreate {
		c.Kind, c.Send, c.SendSize, c.Recv, c.RecvSize = trace.CollAllgather, bytesOfAddress, 1, bytesOfAddress, 1
	}
	call.SetCollective(&c)
	return call
}

// syncRun returns how far rank r is.
func (e *engine) syncRun(r int32) *syncRun {
	if e.windows.runs == nil {
		e.windows.runs = make([]syncRun, len(e.ranks))
		for i := range e.windows.runs {
			e.windows.runs[i].message = -1
		}
	}
	return &e.windows.runs[r]
}

// fence carries on an action that all ranks of a window's group call.
func (e *engine) fence(r int32, rk *rank, a *trace.Action) (outcome, error) {
	// The phases of a fence are: fresh, opening (the barrier before), waiting (for accesses), closing (the
	// barrier after). One that asserts that no access precedes it has the last barrier only; so has the
	// allgather that creates a window.
	call, phase := syncCall(a), &e.syncRun(r).phase
	for {
		switch *phase {
		case syncFresh:
			*phase = syncOpening
			if a.SyncKind() == trace.SyncCreate || a.SyncKind() == trace.SyncFence && a.X[1]&trace.AssertNoPrecede != 0 {
				*phase = syncClosing
			}
			if err := e.callCollective(r, rk, &call); err != nil {
				return goOn, err
			}
		case syncWaiting:
			*phase = syncClosing
			if err := e.callCollective(r, rk, &call); err != nil {
				return goOn, err
			}
		case syncOpening:
			if out, err := e.playSchedule(r, rk, &e.collectives.runs[r]); out != goOn || err != nil {
				return out, err
			}
			*phase = syncWaiting
			rk.serial = true
			part := &e.windows.parts[e.windows.part(a.Sym, a.Tag, r)]
			for _, o := range part.open {
				e.join(r, o.message, receiver)
			}
			part.open, part.targets = part.open[:0], part.targets[:0]
			if e.settled(r, TimeCollective) != goOn {
				return parkedHere, nil
			}
		default:
			if out, err := e.playSchedule(r, rk, &e.collectives.runs[r]); out != goOn || err != nil {
				return out, err
			}
			*phase, rk.collective = syncFresh, false
			return goOn, nil
		}
	}
}
