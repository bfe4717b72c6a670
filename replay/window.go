package replay

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"reprise/trace"
)

// One-sided communication. An access to memory of another rank is a transfer that the rank which
// makes it, its origin, starts from its call on: the target has no part in it. A get or an
// operation that fetches has one back. What synchronises a window waits for such transfers, or
// for messages of 0 bytes that ranks send each other for that: both go the way of all messages
// (transfer.go), under labels of their own.
//
// This file plays accesses and what waits for them, epoch.go what synchronises ranks, all of a group
// together or two of them, turns.go accesses between fences, lock.go locks.

// windows knows what of each window is under way.
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

// windowPart is what is known of the memory of a rank, and of what that rank does in the window.
// A window that is freed leaves its part to the next one of its number.
type windowPart struct {
	key windowKey

	// Transfers that nobody has waited for: to this memory, of any origin, and those back to this
	// rank from accesses of its own. A fence of this rank waits for them, or before that whatever
	// the origin waits with.
	open []openAccess

	targets []int32 // ranks to whose memory this one has begun transfers since its last fence, once each
	epochs  int32   // of locks, and of starts, that this rank is in
	held    []int32 // targets that it has locked, with a lock that is held there
	lock    windowLock
	guard   windowLock // of the list open (turns.go)
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
	channelPost              // from who posts to who starts
	channelComplete          // from who completes to who waits
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
	// In an epoch of locks or starts, or with a request, the access begins at once. id is the transfer that
	// is waited for, first the one that begins now: for an operation that fetches with operands these are
	// two, of which the second follows at the end of the first. The list is that of the rank to whose memory,
	// or to which, the bytes come.
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
	if err := e.launchTransfer(r, first, rk.clock); err != nil {
		return goOn, err
	}
	return goOn, nil
}

// newTransfer returns a transfer of a window between two ranks, which one side holds.
func (e *engine) newTransfer(a *trace.Action, src, dst int32, size int64, c channel) int32 {
	id, m := e.matcher.newMessage(src, dst, windowLabel(a.Sym, a.Tag, c), 0)
	m.size, m.refs, m.flags = size, 1, msgDetached
	return id
}

// launchTransfer starts a transfer that rank r begins at a time: both sides of it are posted.
func (e *engine) launchTransfer(r, id int32, at float64) error {
	m := &e.matcher.messages[id]
	m.at = at
	if e.costs.noisyNetwork() {
		e.costs.random.post(r, id)
	}
	if err := e.start(id, at); err != nil {
		return err
	}
	if e.log != nil {
		e.log.Post(id, r)
	}
	if e.observers != nil {
		e.observers.notifyTransfer(id, m, at)
	}
	return nil
}

// flush waits for the accesses of rank r to the memory of a target in a window, or of all.
func (e *engine) flush(r int32, rk *rank, family uint16, window, target int32, k TimeKind) outcome {
	// What comes back to the rank is in the list of its own memory, what goes to a target in that of the target.
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

// joinOpen makes rank r wait for those of the accesses that are open in a part that are chosen. It
// is one end of them.
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

// transferEnds does what the end of a message of a window is for, beside that ranks wait for it.
func (e *engine) transferEnds(id int32) error {
	m := &e.matcher.messages[id]
	switch c := m.channel(); c {
	case channelFetch:
		return e.follow(e.matcher.after[id], id)
	case channelShared, channelExclusive:
		return e.requestLock(&e.partOf(m, m.dst).lock, lockRequest{e.matcher.after[id], c == channelExclusive},
			cause{message: id})
	case channelUnlock:
		return e.releaseLock(&e.partOf(m, m.dst).lock, cause{message: id})
	}
	return nil
}

// follow starts the transfer of a message at the end of another one.
func (e *engine) follow(id, other int32) error {
	m := &e.matcher.messages[id]
	m.at = e.now
	if e.costs.noisyNetwork() {
		e.costs.random.post(m.dst, id)
	}
	if err := e.start(id, e.now); err != nil {
		return err
	}
	if e.log != nil {
		e.log.Follow(id, other)
	}
	if e.observers != nil {
		e.observers.notifyTransfer(id, m, e.now)
	}
	return nil
}
