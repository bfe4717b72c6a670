package capture

import (
	"slices"
	"strings"

	"reprise/trace"
)

// This file translates accesses to windows (translator.oneSided) and to files (translator.file), for translate.go.

// window is a window of a rank. The trace names it by a family and a number. All ranks of a window use the same
// ones, as they make and free windows in the same order (MPI 4.1, section 12.2).
type window struct {
	family, number   int32
	origins, targets []int32 // ranks of the world: of the last MPI_Win_post and MPI_Win_start
}

// oneSided adds an access or a synchronisation.
func (t *translator) oneSided(e *event) {
	id := t.comm(e, "a window of a communicator")
	if e.window >= len(t.windows) { // the call makes it: its number is the lowest that is free in the family
		family := t.families.ofAll(id)
		taken := t.numbers[family]
		n := slices.Index(taken, false)
		if n < 0 {
			n = len(taken)
			taken = append(taken, false)
		}
		taken[n] = true
		t.numbers[family] = taken
		t.windows = append(t.windows, window{family: family, number: int32(n)})
	}
	// An access is one action; a synchronisation may be several, one for each rank of the group that it names.
	w := &t.windows[e.window]
	if kind, ok := e.proc.known().does.(trace.AccessKind); ok {
		t.access(e, w, kind)
		return
	}
	sync, _ := e.proc.known().does.(trace.SyncKind) // of MPI_Win_lock none, as it has two
	s := step{form: form{kind: trace.KindSync, family: w.family, sync: sync}}
	s.args[argTag], s.args[argBytes] = int64(w.number), e.assertions
	// Fences, and locks and flushes of all ranks, name no rank.
	ranks := []int32{trace.AllRanks}
	switch e.proc {
	case procWinlock:
		s.sync = trace.SyncLockExclusive
		if e.shared {
			s.sync = trace.SyncLockShared
		}
	// The groups of MPI_Win_post and MPI_Win_start are kept, as the calls that end their epochs name none.
	case procWinpost:
		w.origins = slices.Clone(e.members)
		ranks = w.origins
	case procWinstart:
		w.targets = slices.Clone(e.members)
		ranks = w.targets
	case procWincomplete:
		ranks, w.targets = w.targets, nil
	case procWinwait, procWintest:
		if e.proc == procWintest && !e.flag {
			t.hold(e, nil)
			return
		}
		ranks, w.origins = w.origins, nil
	case procWinfree:
		t.numbers[w.family][w.number] = false
	}
	if len(e.ranks) > 0 { // a lock, or a flush, of one rank
		if e.ranks[0] == procNull {
			return
		}
		peer, _ := t.peerOf(e, e.ranks[0])
		ranks = []int32{int32(peer)}
	}
	for _, rank := range ranks {
		s.args[argPeer] = int64(rank)
		t.add(s)
	}
}

// access adds an access; none if its target is MPI_PROC_NULL.
func (t *translator) access(e *event, w *window, kind trace.AccessKind) {
	if e.ranks[0] == procNull {
		t.nothing(e.request)
		return
	}
	peer, _ := t.peerOf(e, e.ranks[0])
	s := step{form: form{kind: trace.KindAccess, family: w.family, access: kind}}
	s.args[argPeer], s.args[argTag] = peer, int64(w.number)
	// Bytes to the target, and back from it. MPI_Get_accumulate states both directions; the other procedures have
	// one count, which holds for what is sent and for what comes back.
	one := e.of[anySide]
	if !one.stated {
		one.count = 1 // MPI_Fetch_and_op and MPI_Compare_and_swap have no count
	}
	out, back := one.count*one.size, one.count*one.size
	if kind == trace.AccessGetAccumulate {
		out, back = e.of[sends].bytes(0), e.of[receives].bytes(0)
	}
	switch {
	case kind == trace.AccessGet, e.noOp && kind.Fetches():
		s.args[argReceived] = back
	case kind.Fetches():
		s.args[argBytes], s.args[argReceived] = out, back
	default:
		s.args[argBytes] = out
	}
	if e.request.number > 0 {
		s.kind, s.request = trace.KindIaccess, t.take(e.request)
	}
	t.add(s)
}

// file adds an access to a file. A nonblocking one takes its time where it begins, so its request needs no wait.
func (t *translator) file(e *event) {
	// The names of MPI's procedures tell the direction, and whether the call is collective.
	name := e.proc.String()
	s := step{form: form{kind: trace.KindFile, file: trace.FileRead}}
	if strings.Contains(name, "write") {
		s.file = trace.FileWrite
	}
	s.together = strings.Contains(name, "_all") || strings.Contains(name, "_ordered")
	if id := t.own[e.comm].of; id >= 0 {
		s.family = t.families.ofAll(id)
	}
	s.args[argBytes] = e.of[anySide].count * e.of[anySide].size
	if e.status.found && e.status.bytes >= 0 {
		s.args[argBytes] = e.status.bytes
	}
	t.add(s)
	t.nothing(e.request)
}
