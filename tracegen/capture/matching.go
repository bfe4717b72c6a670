package capture

import (
	"fmt"
	"maps"
	"slices"

	"reprise/trace"
)

// This file follows the steps of all ranks together, by what matches (matching.ends): cut drops the steps that a
// killed program left without their other side, abreast finds moments at which nothing is under way, play finds
// ranks that would wait for ever.

// matching finds the steps of several ranks that belong together: the two ends of a message, and the calls of an
// operation.
type matching struct {
	table   *table
	groups  [][]int32   // by family and rank: the rank's group
	members [][][]int32 // by family and group: its ranks
}

// place is where a message or an operation belongs: a channel, or a group of a family. Messages or operations of one
// place match in their order. The zero place is none.
type place struct {
	kind             placeKind
	family, from, to int32 // ranks of the world; of an operation: the group, 0
	tag              int64 // of a message; the number of a window
}

// placeKind says what the events of a place are.
type placeKind uint8

// Kinds of places. The zero kind is that of no place.
const (
	ofMessages   placeKind = 1 + iota
	ofOperations           // collective
	ofPosts                // of windows: MPI_Win_post, which MPI_Win_start waits for
	ofCompletes            // of windows: MPI_Win_complete, which MPI_Win_wait waits for
	ofWindows              // collective ones of a window: fences, and its making and freeing
)

// newMatching returns a matching for ranks with these families.
func newMatching(t *table, families []trace.CommFamily, ranks int) matching {
	m := matching{table: t}
	for i := range families {
		// Both directions are needed: of a rank the group, of a group the ranks.
		groups, members := make([]int32, ranks), make([][]int32, len(families[i].Groups))
		for g := range members {
			for k := range families[i].Groups[g].Len() {
				rank := families[i].Groups[g].Member(k)
				groups[rank] = int32(g)
				members[g] = append(members[g], rank)
			}
		}
		m.groups, m.members = append(m.groups, groups), append(m.members, members)
	}
	return m
}

// ends returns where a step of a rank sends to and receives from, and the operation that it is.
func (m *matching) ends(rank int, s *step) (out, in, operation place) {
	own, peer := int32(rank), int32(s.args[argPeer])
	switch s.kind {
	case trace.KindSend, trace.KindSsend, trace.KindIsend, trace.KindIssend, trace.KindStart:
		out = place{ofMessages, s.family, own, peer, s.args[argTag]}
	case trace.KindRecv, trace.KindIrecv:
		in = place{ofMessages, s.family, peer, own, s.args[argTag]}
	case trace.KindSendrecv:
		out = place{ofMessages, s.family, own, peer, s.args[argTag]}
		in = place{ofMessages, s.family, int32(s.args[argSource]), own, s.args[argSent]}
	case trace.KindCollective, trace.KindIcollective:
		operation = place{kind: ofOperations, family: s.family, from: m.groups[s.family][rank]}
	case trace.KindSync:
		window := s.args[argTag]
		switch {
		// Fences, and the making and freeing of a window, take all ranks of the window's group, like
		// collective operations.
		case s.sync.Collective():
			operation = place{kind: ofWindows, family: s.family, from: m.groups[s.family][rank], tag: window}
		case s.sync == trace.SyncPost:
			out = place{ofPosts, s.family, own, peer, window}
		case s.sync == trace.SyncStart:
			in = place{ofPosts, s.family, peer, own, window}
		case s.sync == trace.SyncComplete:
			out = place{ofCompletes, s.family, own, peer, window}
		case s.sync == trace.SyncWait:
			in = place{ofCompletes, s.family, peer, own, window}
		}
	}
	return out, in, operation
}

// ledger counts what ranks have done.
type ledger struct {
	matching
	messages   [2]map[place]int        // on each channel: sent (side 0), and received (side 1)
	operations map[place]map[int32]int // of each group: how many each of its ranks has come to
}

// newLedger returns a ledger in which no rank has done anything.
func newLedger(m matching) ledger {
	return ledger{m, [2]map[place]int{{}, {}}, map[place]map[int32]int{}}
}

// add counts a step of a rank, and returns its ends.
func (l *ledger) add(rank int, s *step) (out, in, operation place) {
	out, in, operation = l.ends(rank, s)
	if out != (place{}) {
		l.messages[0][out]++
	}
	if in != (place{}) {
		l.messages[1][in]++
	}
	if operation != (place{}) {
		if l.operations[operation] == nil {
			l.operations[operation] = map[int32]int{}
		}
		l.operations[operation][int32(rank)]++
	}
	return out, in, operation
}

// cut drops the last steps of ranks whose program was killed, until each message that is left is sent and
// received, and each operation has all ranks of its communicator. A step that is dropped may take the other side
// from another step, which is then dropped in the next round.
func cut(m matching, ranks [][]int32) {
	for again := true; again; {
		again = false
		// First all that is left is counted, on every channel and in every group.
		all := newLedger(m)
		for rank, steps := range ranks {
			for _, n := range steps {
				all.add(rank, &m.table.steps[n])
			}
		}
		// A rank ends before its first step whose number on a channel, or in a group, another side has not reached.
		for rank, steps := range ranks {
			own := newLedger(m)
			n := slices.IndexFunc(steps, func(n int32) bool {
				out, in, operation := own.add(rank, &m.table.steps[n])
				// The nth send of a channel needs at least n receives there, and the other way round. The nth
				// operation of a group needs n of each of its ranks.
				if out != (place{}) && own.messages[0][out] > all.messages[1][out] ||
					in != (place{}) && own.messages[1][in] > all.messages[0][in] {
					return true
				}
				return operation != (place{}) && slices.ContainsFunc(m.members[operation.family][operation.from],
					func(other int32) bool {
						return all.operations[operation][other] < own.operations[operation][int32(rank)]
					})
			})
			if n >= 0 {
				ranks[rank], again = steps[:n], true
			}
		}
	}
}

// abreast follows all ranks through their steps. A rank lags if it still has to do a send that has been received, a
// receive of a message that was sent, or an operation that others have come to. abreast also knows the open requests.
// If no rank lags and no request is open, nothing is under way: that is a cut.
type abreast struct {
	ledger
	most  map[place]int     // operations of a group that its first rank has come to
	lags  []int             // by rank: how many steps others wait for
	open  []map[opened]bool // by rank
	ended []int             // by rank: waits of the drain that it is in
}

// opened is what a rank has under way: a request, or accesses to a rank in a window.
type opened struct {
	request      int32
	family, peer int32 // of a window
	window       int64 // its number, from 1
}

// newAbreast returns all ranks at the begin of their steps.
func newAbreast(m matching, ranks int) *abreast {
	a := &abreast{ledger: newLedger(m), most: map[place]int{}, lags: make([]int, ranks), open: make([]map[opened]bool, ranks),
		ended: make([]int, ranks)}
	for rank := range a.open {
		a.open[rank] = map[opened]bool{}
	}
	return a
}

// behind reports whether a rank has something to do before there can be a cut.
func (a *abreast) behind(rank int) bool { return a.lags[rank] > 0 || len(a.open[rank]) > 0 }

// step has a rank do a step.
func (a *abreast) step(rank int, s *step) {
	// The counts come first: they already include this step where they are compared below.
	out, in, operation := a.add(rank, s)
	// message notes who is behind now: the rank has done a side of a message that another rank has the other side of.
	message := func(p place, side int, other int32) {
		// The other rank came first if it has done at least as many: then this rank has caught up by one.
		// Otherwise the other rank now lags by one more.
		if a.messages[side][p] <= a.messages[1-side][p] {
			a.lags[rank]--
		} else {
			a.lags[other]++
		}
	}
	if out != (place{}) && out != in { // both sides of a message to itself are done at once
		message(out, 0, out.to)
	}
	if in != (place{}) && out != in {
		message(in, 1, in.from)
	}
	switch {
	case operation == (place{}):
	// The first rank to come to an operation makes all others of the group lag, until each has come to it.
	case a.operations[operation][int32(rank)] <= a.most[operation]: // another rank has come to it before
		a.lags[rank]--
	default:
		a.most[operation]++
		for _, other := range a.members[operation.family][operation.from] {
			if other != int32(rank) {
				a.lags[other]++
			}
		}
	}
	// Requests, and epochs and accesses of windows, are open until the step that completes them.
	open := a.open[rank]
	at := opened{family: s.family, peer: int32(s.args[argPeer]), window: 1 + s.args[argTag]} // of accesses
	switch s.kind {
	case trace.KindIrecv, trace.KindIcollective: // where no rank lags, the messages of open sends have been received
		open[opened{request: s.request}] = true
	case trace.KindAccess:
		open[at] = true
	case trace.KindIaccess:
		open[at], open[opened{request: s.request}] = true, true
	case trace.KindSync:
		switch s.sync { // a lock on all ranks opens none: programs hold it all the time
		case trace.SyncLockShared, trace.SyncLockExclusive, trace.SyncStart:
			open[at] = true
		case trace.SyncUnlock, trace.SyncComplete, trace.SyncFlush, trace.SyncFlushLocal, trace.SyncFence,
			trace.SyncUnlockAll, trace.SyncFree:
			maps.DeleteFunc(open, func(o opened, _ bool) bool {
				return o.window == at.window && o.family == at.family && (o.peer == at.peer || at.peer == trace.AllRanks)
			})
		}
	case trace.KindWait, trace.KindFree:
		delete(open, opened{request: s.request})
	case trace.KindWaitAll:
		maps.DeleteFunc(open, func(o opened, _ bool) bool { return o.window == 0 })
	case trace.KindComplete: // a drain, which has as many waits as requests; with the last one, all have ended
		slots := a.table.lists[s.slots]
		if a.ended[rank]++; a.ended[rank] == len(slots) {
			a.ended[rank] = 0
			for _, slot := range slots {
				delete(open, opened{request: int32(slot)})
			}
		}
	}
}

// play goes through the steps of all ranks without times, each as far as it can go. It checks that calls of
// threads that were under way at once all end in the one order that the trace has.
type play struct {
	ledger
	ranks [][]int32 // steps
	at    []int
	begun []bool             // whether the step of a rank, which may have to wait, has begun
	slots []map[int32][]need // by rank: the needs of its requests
	now   [][]need           // by rank: those of the step
}

// need is an event that must have happened before a step ends: a number of messages were sent (side 0) or received
// (side 1) on a channel, or every rank of a group has come to a number of its operations.
type need struct {
	place
	side  int
	count int
}

// rendezvous is the size, in bytes, from which on a send waits for its receive: the default of SimGrid's
// smpi/send-is-detached-thresh.
const rendezvous = 65536

// newPlay returns all ranks at the begin of the given steps.
func newPlay(m matching, ranks [][]int32) *play {
	n := len(ranks)
	p := &play{newLedger(m), ranks, make([]int, n), make([]bool, n), make([]map[int32][]need, n), make([][]need, n)}
	for rank := range p.slots {
		p.slots[rank] = map[int32][]need{}
	}
	return p
}

// run returns an error that names a rank that waits for ever, if one does.
func (p *play) run() error {
	// Each rank in turn goes through its steps as far as it can. Whether it can go on depends only on how many
	// operations other ranks have begun, so the order of the ranks does not matter.
	for moved := true; moved; {
		moved = false
		for rank := range p.ranks {
			for p.at[rank] < len(p.ranks[rank]) && p.step(rank) {
				p.at[rank]++
				p.begun[rank] = false
				moved = true
			}
		}
	}
	for rank, at := range p.at {
		if at < len(p.ranks[rank]) {
			s := &p.table.steps[p.ranks[rank][at]]
			return fmt.Errorf("threads called MPI at once (MPI_THREAD_MULTIPLE), and what rank %d did has no order in which it ends: it would wait for ever in action %d (%v)", rank, at+1, s.kind)
		}
	}
	return nil
}

// step begins the step of a rank, if it has not begun, and reports whether it has come to its end.
func (p *play) step(rank int) bool {
	// A step posts its side once, and may then have to be asked several times whether it has ended.
	s := &p.table.steps[p.ranks[rank][p.at[rank]]]
	if !p.begun[rank] {
		p.begun[rank] = true
		p.now[rank] = p.begin(rank, s)
	}
	switch s.kind {
	case trace.KindWait:
		if !p.all(p.slots[rank][s.request]) {
			return false
		}
		delete(p.slots[rank], s.request)
	case trace.KindWaitAll:
		for _, needs := range p.slots[rank] {
			if !p.all(needs) {
				return false
			}
		}
		clear(p.slots[rank])
	case trace.KindComplete:
		// A wait for any ends one request that has what it needs; it waits only while it has open requests without.
		open := false
		for _, slot := range p.table.lists[s.slots] {
			needs, ok := p.slots[rank][int32(slot)]
			if ok && p.all(needs) {
				delete(p.slots[rank], int32(slot))
				return true
			}
			open = open || ok
		}
		return !open
	case trace.KindFree:
		delete(p.slots[rank], s.request)
	case trace.KindIsend, trace.KindIssend, trace.KindStart, trace.KindIrecv, trace.KindIcollective:
		p.slots[rank][s.request] = p.now[rank]
	default:
		return p.all(p.now[rank])
	}
	return true
}

// begin posts what a step posts, and returns what it needs.
func (p *play) begin(rank int, s *step) (needs []need) {
	// A send waits for its receive if it is synchronous, or too large to be buffered. MPI_Sendrecv sends and
	// receives at once, so only its receive can hold it.
	out, in, operation := p.add(rank, s)
	if out != (place{}) && (s.kind == trace.KindSsend || s.kind == trace.KindIssend ||
		s.args[argBytes] >= rendezvous && s.kind != trace.KindSendrecv) {
		needs = append(needs, need{out, 1, p.messages[0][out]})
	}
	if in != (place{}) {
		needs = append(needs, need{in, 0, p.messages[1][in]})
	}
	// A probe needs a message beyond those that have been received.
	if s.kind == trace.KindProbe {
		in := place{ofMessages, s.family, int32(s.args[argPeer]), int32(rank), s.args[argTag]}
		needs = append(needs, need{in, 0, p.messages[1][in] + 1})
	}
	if operation != (place{}) {
		needs = append(needs, need{operation, 0, p.operations[operation][int32(rank)]})
		switch s.collective {
		case trace.CollBcast, trace.CollScatter, trace.CollScatterv, trace.CollReduce, trace.CollGather, trace.CollGatherv,
			trace.CollScan, trace.CollExscan:
			needs = nil // who waits for whom is the algorithm's
		}
	}
	return needs
}

// all reports whether everything that is needed has happened.
func (p *play) all(needs []need) bool {
	for i := range needs {
		// A message needs a count of the other side of its channel; an operation, the same count of every member.
		n := &needs[i]
		if n.kind != ofOperations && n.kind != ofWindows {
			if p.messages[n.side][n.place] < n.count {
				return false
			}
			continue
		}
		for _, rank := range p.members[n.family][n.from] {
			if p.operations[n.place][rank] < n.count {
				return false
			}
		}
	}
	return true
}
