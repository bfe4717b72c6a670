package replay

import (
	"fmt"

	"reprise/trace"
)

// This file plays the actions that post and complete messages, for engine.do: send, recv, exchange, wait and others.
//
// An action joins the transfers that it waits for, and ends with settled. If one of them is under way the rank is
// blocked: it begins its next action when the last of them ends (message.go). An action that must look again later
// parks its rank: do calls it once more, and rank.stage says how far it has got. rank.serial says when the overheads of
// several receives are paid: as each of them ends, or all after the last one.

// parkedUnless returns the outcome of an action: over, or to be called again.
func parkedUnless(over bool) outcome {
	if over {
		return goOn
	}
	return parkedHere
}

// settled is what becomes of a rank that has joined the transfers of its action.
func (e *engine) settled(r int32, k TimeKind) outcome {
	if e.proceed(r, k) {
		return goOn
	}
	return blocked
}

// send is a blocking send, synchronous or not. Only a detached one returns before its transfer has ended.
func (e *engine) send(r int32, rk *rank, a *trace.Action) (outcome, error) {
	rk.serial = false
	if err := e.postAndJoin(r, a.Peer, e.label(a), a.X[0], a.Kind == trace.KindSsend); err != nil {
		return goOn, err
	}
	return e.settled(r, TimeSend), nil
}

// postAndJoin pays what a blocking send costs, posts it and joins its transfer unless it is detached.
func (e *engine) postAndJoin(r, peer int32, l label, size int64, synchronous bool) error {
	e.pay(r, e.costs.sendOverhead(r, size, synchronous))
	id, err := e.postSend(r, peer, l, size, synchronous)
	if err == nil && (synchronous || !e.costs.protocol.Detached(size)) {
		e.join(r, id, sender)
	}
	return err
}

// recv is a blocking receive. One of unknown size first probes for its message.
func (e *engine) recv(r int32, rk *rank, a *trace.Action) (outcome, error) {
	rk.serial = false
	id, err := e.receive(r, a)
	if id < 0 || err != nil {
		return parkedHere, err
	}
	e.join(r, id, receiver)
	return e.settled(r, TimeRecv), nil
}

// receive posts the receive of an action and returns the message, -1 while the rank is parked.
func (e *engine) receive(r int32, a *trace.Action) (int32, error) {
	switch wild := isWild(a.Peer, a.Tag); {
	case wild && a.Peer != trace.AnySource && e.checkPeer(a.Peer) != nil:
		return -1, e.checkPeer(a.Peer)
	case a.X[0] < 0:
		// It probes, and receives what it has found.
		id, err := e.lookFor(r, a)
		if id < 0 || err != nil {
			return -1, err
		}
		m := &e.matcher.messages[id]
		return e.postRecv(r, m.src, m.label(), m.size)
	case !wild:
		return e.postRecv(r, a.Peer, e.label(a), a.X[0])
	case !e.comeToTime(r):
		return -1, nil
	}
	return e.postWild(r, a.Peer, e.label(a), a.X[0])
}

// postIsend posts a nonblocking send that has been paid and returns its request.
func (e *engine) postIsend(r, peer int32, l label, size int64, synchronous bool) (request, error) {
	id, err := e.postSend(r, peer, l, size, synchronous)
	if err != nil || !synchronous && e.costs.protocol.Detached(size) {
		return completeRequest, err
	}
	return requestOf(id, sender), nil
}

// isend posts a nonblocking send and keeps its request in the slot that the action names. The start of a persistent
// one costs what a blocking send does.
func (e *engine) isend(r int32, a *trace.Action) error {
	slot, err := e.slots.free(&e.ranks[r], a.Req)
	if err != nil {
		return err
	}
	if a.Kind == trace.KindStart {
		e.pay(r, e.costs.sendOverhead(r, a.X[0], false))
	} else {
		e.pay(r, e.costs.isendOverhead(r, a.X[0]))
	}
	*slot, err = e.postIsend(r, a.Peer, e.label(a), a.X[0], a.Kind == trace.KindIssend)
	return err
}

// irecv posts a nonblocking receive and keeps its request. A receive from any source, or of unknown
// size, may park the rank until the event loop has come to its clock.
func (e *engine) irecv(r int32, a *trace.Action) (outcome, error) {
	slot, err := e.slots.free(&e.ranks[r], a.Req)
	if err != nil {
		return goOn, err
	}
	id, err := e.receive(r, a)
	if id < 0 || err != nil {
		return parkedHere, err
	}
	*slot = requestOf(id, receiver)
	return goOn, nil
}

// exchange is a nonblocking receive, a blocking send and the wait for the receive, whose overhead comes last.
func (e *engine) exchange(r int32, rk *rank, a *trace.Action) (outcome, error) {
	rk.serial = false
	id, err := e.postRecv(r, a.Peer, e.label(a), a.X[1])
	if err != nil {
		return goOn, err
	}
	if err := e.postAndJoin(r, a.Peer, e.label(a), a.X[0], false); err != nil {
		return goOn, err
	}
	e.join(r, id, receiver)
	return e.settled(r, TimeExchange), nil
}

// sendrecv is a nonblocking send, a nonblocking receive and the wait for both. With itself a rank does it in no time.
func (e *engine) sendrecv(r int32, rk *rank, a *trace.Action) (outcome, error) {
	source, tag := a.Source()
	if a.Peer == r && source == r {
		return goOn, nil
	}
	rk.serial = true
	return e.both(r, a, source, label{tag, e.label(a).comm}, false)
}

// both is a nonblocking send, a receive from source and the wait for both. The time is that of an exchange.
func (e *engine) both(r int32, a *trace.Action, source int32, l label, synchronous bool) (outcome, error) {
	e.pay(r, e.costs.isendOverhead(r, a.X[0]))
	q, err := e.postIsend(r, a.Peer, e.label(a), a.X[0], synchronous)
	if err != nil {
		return goOn, err
	}
	id, err := e.postRecv(r, source, l, a.X[1])
	if err != nil {
		return goOn, err
	}
	e.finish(r, &q)
	e.join(r, id, receiver)
	return e.settled(r, TimeExchange), nil
}

// wait waits for the request in a slot.
func (e *engine) wait(r int32, rk *rank, n int32) (outcome, error) {
	slot, err := e.slots.at(rk, n)
	if err != nil {
		return goOn, err
	}
	if *slot < noRequest {
		return e.complete(r, rk, slot), nil
	}
	rk.serial = false
	e.finish(r, slot)
	return e.settled(r, TimeWait), nil
}

// doLocal executes the actions that concern no other rank.
func (e *engine) doLocal(r int32, rk *rank, a *trace.Action) (outcome, error) {
	switch a.Kind {
	case trace.KindFlops:
		if !e.options.SimulateComputation {
			return goOn, nil
		}
		return e.flops(r, rk, a), nil
	case trace.KindSleep:
		seconds := e.costs.sleepTime(a.Seconds())
		if !(seconds >= 0) {
			return goOn, fmt.Errorf("%v seconds, want a number >= 0", seconds)
		}
		if rk.clock += seconds; rk.clock > maxTime {
			return goOn, errTooLate
		}
		e.charge(r, TimeSleep)
	case trace.KindPhase:
		// Phases may lie inside each other, and begin in one step and end in another.
		if int(a.Sym) >= e.accounts.phases {
			return goOn, fmt.Errorf("phase %d out of [0,%d)", a.Sym, e.accounts.phases)
		}
		e.accounts.phase(r, a.Sym, a.Flags&trace.FlagEnd != 0, rk.clock)
		if e.observers != nil {
			e.notifyMark(r, a)
		}
	case trace.KindStep:
		// The begin of a step is noted before anything else sees it: times up to here are of the step before.
		if parts := e.progress.step(a.X[0], rk.clock); parts != nil {
			e.accounts.addSpent(parts[:e.accounts.width()], r, rk.clock)
			if e.meter != nil {
				e.meter.addParts(parts, r)
			}
		}
		if e.costs.random != nil {
			e.costs.random.begin(r, a.X[0])
		}
		if e.observers != nil {
			e.notifySpent(r, false)
			e.notifyMark(r, a)
		}
		if e.repeats != nil {
			return stepBegun, nil
		}
	case trace.KindNull:
		// A message to or from nobody. Those that have a request are complete at once.
		switch trace.Kind(a.X[1]) {
		case trace.KindIsend, trace.KindIssend, trace.KindIrecv, trace.KindStart:
			slot, err := e.slots.free(rk, a.Req)
			if err != nil {
				return goOn, err
			}
			*slot = completeRequest
		}
	case trace.KindFile:
		return goOn, e.file(r, rk, a)
	case trace.KindNone, trace.KindProbed, trace.KindMark:
	default:
		return goOn, errUnsupported
	}
	return goOn, nil
}
