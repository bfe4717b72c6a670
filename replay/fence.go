package replay

import "reprise/trace"

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
	syncFlushed                  // has waited for its own accesses (epoch.go)
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
