package replay

import "reprise/trace"

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
