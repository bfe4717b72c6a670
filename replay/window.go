package replay

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"reprise/trace"
)

// One-sided communication: this file plays accesses (MPI_Put, MPI_Get and others: access) and what synchronises ranks
// (MPI_Win_fence, start, post and others: sync); lock.go plays locks, and accesses between fences.
//
// An access to memory of another rank, the target, is a transfer that its origin starts in the call: the target has no
// part in it. A get, or an operation that fetches, has a transfer back. Synchronisation waits for such transfers, or
// for messages of 0 bytes that ranks send each other. Both are messages as all others (message.go), with labels of
// their own.

// windows is the state of all windows.
type windows struct {
	at    map[windowKey]int32 // places in parts
	parts []windowPart
	runs  []syncRun // by rank; nil before the first

	numAccesses, numBytes int64
}

// windowKey names the memory of a rank in a window.
type windowKey struct {
	family       uint16
	window, rank int32
}

// windowPart is the state of the memory of a rank in a window, and of what that rank does there. A window that is freed
// leaves its part to the next window of its number.
type windowPart struct {
	key windowKey

	// Transfers that no rank has waited for yet: to this memory, of any origin, and back to this rank from accesses of
	// its own. A fence of this rank waits for them, unless their origin has waited for them before.
	open []openAccess

	targets []int32 // ranks to whose memory this one has begun transfers since its last fence, once each
	epochs  int32   // of locks, and of starts, that this rank is in
	held    []int32 // targets that it has locked, with a lock that is held there
	lock    windowLock
	guard   windowLock // of the list open (lock.go)
	memory  windowLock // for operations that fetch, one after the other
}

// openAccess is a transfer of an access.
type openAccess struct{ message, origin int32 }

// part returns the place of the memory of a rank in a window.
func (w *windows) part(family uint16, window, rank int32) int32 {
	key := windowKey{family, window, rank}
	n, ok := w.at[key]
	if !ok {
		if w.at == nil {
			w.at = map[windowKey]int32{}
		}
		n = int32(len(w.parts))
		w.at[key] = n
		w.parts = append(w.parts, windowPart{key: key})
	}
	return n
}

// Labels of the messages of windows: the window and what the message is for stand in the tag.
const (
	commWindow = 1 << 13 // beside 1 + the family

	windowTags  = math.MinInt32 + 2 // the first one
	channelBits = 3
)

// channel is what a message of a window is for.
type channel int32

const (
	channelAccess    channel = iota
	channelPost              // MPI_Win_post to MPI_Win_start
	channelComplete          // MPI_Win_complete to MPI_Win_wait
	channelShared            // asks for a lock
	channelExclusive         // likewise
	channelGrant             // grants a lock
	channelUnlock            // gives it back
	channelFetch             // an access whose end starts the transfer back
)

// windowLabel returns the label of the messages of a window that are for c. The family and the bit
// commWindow keep them apart from those of the program and of collective operations.
func windowLabel(family uint16, window int32, c channel) label {
	return label{windowTags + window<<channelBits + int32(c), commWindow | (family + 1)}
}

// ofWindow reports whether a message is of a window.
func (m *message) ofWindow() bool { return m.comm&commWindow != 0 }

// channel returns what a message of a window is for.
func (m *message) channel() channel { return channel((m.tag - windowTags) & (1<<channelBits - 1)) }

// partOf returns the part of a rank in the window of a message.
func (e *engine) partOf(m *message, rank int32) *windowPart {
	w := &e.windows
	return &w.parts[w.part(m.comm&^commWindow-1, (m.tag-windowTags)>>channelBits, rank)]
}

// checkWindow checks what a source may have got wrong in an action of one of so many kinds.
func checkWindow(a *trace.Action, kind int64, kinds int) error {
	if uint64(kind) >= uint64(kinds) || uint32(a.Tag) >= trace.MaxWindows || a.Sym > familyMask {
		return fmt.Errorf("kind %d, window %d of family %d: there is no such thing", kind, a.Tag, a.Sym)
	}
	return nil
}

// access begins an access of rank r.
func (e *engine) access(r int32, rk *rank, a *trace.Action) (outcome, error) {
	kind, out, back := a.AccessKind(), a.X[0], a.X[1]
	if err := errors.Join(checkWindow(a, a.X[2], trace.NumAccesses), e.checkPost(a.Peer, out),
		e.checkPost(a.Peer, back)); err != nil {
		return goOn, err
	}
	var slot *request
	if a.Kind == trace.KindIaccess {
		var err error
		if slot, err = e.slots.free(rk, a.Req); err != nil {
			return goOn, err
		}
		*slot = completeRequest
	}
	// Outside of any epoch of locks or starts the access is between two fences, where SMPI has accesses take turns.
	between := slot == nil && e.windows.parts[e.windows.part(a.Sym, a.Tag, r)].epochs == 0 // fences
	if between && rk.collective {
		return e.accessInTurn(r, rk, a)
	}
	e.windows.numAccesses++
	e.windows.numBytes += max(out, back)
	there := kind != trace.AccessGet && (out > 0 || !kind.Fetches())
	copied := kind == trace.AccessPut || kind == trace.AccessGet || !there
	if a.Peer == r && copied { // within the own memory
		return goOn, nil
	}
	if between {
		return e.accessInTurn(r, rk, a)
	}
	// In an epoch of locks or starts, or with a request, the access begins at once. id is the transfer that is waited
	// for, first the one that begins now. They differ for an operation that fetches and has operands: there id starts
	// when first ends. The transfer is in the list of the rank that gets the bytes, or in whose memory they go.
	own, target := e.windows.part(a.Sym, a.Tag, r), e.windows.part(a.Sym, a.Tag, a.Peer)
	id, first, holder := int32(-1), int32(-1), own
	switch {
	case kind.Fetches() && a.Peer != r:
		id = e.newTransfer(a, a.Peer, r, back, channelAccess)
		e.pay(r, e.costs.isendOverhead(r, back))
		if there {
			first = e.newTransfer(a, r, a.Peer, out, channelFetch)
			e.matcher.after[first] = id
			e.matcher.messages[first].refs = 0
			e.pay(r, e.costs.isendOverhead(r, out))
		}
	default:
		id, holder = e.newTransfer(a, r, a.Peer, out, channelAccess), target
		e.pay(r, e.costs.isendOverhead(r, out))
	}
	if first < 0 {
		first = id
	}
	list := &e.windows.parts[holder].open
	*list = append(*list, openAccess{id, r})
	if begun := &e.windows.parts[own].targets; holder == target && !slices.Contains(*begun, a.Peer) {
		*begun = append(*begun, a.Peer)
	}
	m := &e.matcher.messages[id]
	if slot != nil {
		m.refs++
		s := receiver
		if m.dst != r {
			s = sender
		}
		*slot = requestOf(id, s)
	}
	return goOn, e.launchTransfer(first, cause{-1, r}, rk.clock)
}

// newTransfer returns a transfer of a window between two ranks, which one side holds.
func (e *engine) newTransfer(a *trace.Action, src, dst int32, size int64, c channel) int32 {
	id, m := e.matcher.newMessage(src, dst, windowLabel(a.Sym, a.Tag, c), 0)
	m.size, m.refs, m.flags = size, 1, msgDetached
	return id
}

// launchTransfer starts a transfer at a time, as a rank does or another one ends: both sides of it are posted.
func (e *engine) launchTransfer(id int32, by cause, at float64) error {
	m := &e.matcher.messages[id]
	m.at = at
	r := by.rank
	if by.message >= 0 {
		r = m.dst
	}
	if e.costs.noisyNetwork() {
		e.costs.random.post(r, id)
	}
	if err := e.start(id, at); err != nil {
		return err
	}
	if e.log != nil {
		by.tell(e.log, id)
	}
	if e.observers != nil {
		e.observers.notifyTransfer(id, m, at)
	}
	return nil
}

// flush waits for the accesses of rank r to the memory of a target in a window, or of all.
func (e *engine) flush(r int32, rk *rank, family uint16, window, target int32, k TimeKind) outcome {
	// Transfers back to the rank are in the list of its own memory, those to a target in the list of the target.
	rk.serial = true
	own := e.windows.part(family, window, r)
	mine := func(o openAccess, m *message) bool { return o.origin == r }
	e.joinOpen(r, &e.windows.parts[own], func(o openAccess, m *message) bool {
		return o.origin == r && (target == trace.AllRanks || m.src == target)
	})
	if target != trace.AllRanks {
		e.joinOpen(r, &e.windows.parts[e.windows.part(family, window, target)], mine)
		return e.settled(r, k)
	}
	for _, t := range e.windows.parts[own].targets {
		e.joinOpen(r, &e.windows.parts[e.windows.part(family, window, t)], mine)
	}
	e.windows.parts[own].targets = e.windows.parts[own].targets[:0]
	return e.settled(r, k)
}

// joinOpen makes rank r wait for the chosen ones of the accesses that are open in a part. The rank is one end of them.
func (e *engine) joinOpen(r int32, part *windowPart, chosen func(openAccess, *message) bool) {
	// The list is filtered in place: those that are not chosen stay in their order.
	left := part.open[:0]
	for _, o := range part.open {
		m := &e.matcher.messages[o.message]
		if !chosen(o, m) {
			left = append(left, o)
			continue
		}
		s := receiver
		if m.dst != r {
			s = sender
		}
		e.join(r, o.message, s)
	}
	part.open = left
}

// transferEnds does what the end of a message of a window causes, besides letting ranks go on that wait for it.
func (e *engine) transferEnds(id int32) error {
	m := &e.matcher.messages[id]
	switch c := m.channel(); c {
	case channelFetch:
		return e.launchTransfer(e.matcher.after[id], cause{message: id}, e.now)
	case channelShared, channelExclusive:
		return e.requestLock(&e.partOf(m, m.dst).lock, lockRequest{e.matcher.after[id], c == channelExclusive},
			cause{message: id})
	case channelUnlock:
		return e.releaseLock(&e.partOf(m, m.dst).lock, cause{message: id})
	}
	return nil
}

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

// flushFirst carries on the wait for accesses with which an action begins, and reports whether it is over.
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

// hear waits for the message of 0 bytes that the peer of an action tells.
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
	turn    uint8 // of an access between fences (lock.go)
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
	call, run := syncCall(a), e.syncRun(r)
	kind := a.SyncKind()
	for {
		if run.phase == syncFresh || run.phase == syncWaiting {
			last := run.phase == syncWaiting || kind == trace.SyncCreate ||
				kind == trace.SyncFence && a.X[1]&trace.AssertNoPrecede != 0
			run.phase = syncOpening
			if last {
				run.phase = syncClosing
			}
			if err := e.callCollective(r, rk, &call); err != nil {
				return goOn, err
			}
		}
		if out, err := e.playSchedule(r, rk, &e.collectives.runs[r]); out != goOn || err != nil {
			return out, err
		}
		if run.phase == syncClosing {
			run.phase, rk.collective = syncFresh, false
			return goOn, nil
		}
		run.phase = syncWaiting
		rk.serial = true
		part := &e.windows.parts[e.windows.part(a.Sym, a.Tag, r)]
		for _, o := range part.open {
			e.join(r, o.message, receiver)
		}
		part.open, part.targets = part.open[:0], part.targets[:0]
		if e.settled(r, TimeCollective) != goOn {
			return parkedHere, nil
		}
	}
}
