package capture

import (
	"fmt"
	"slices"
	"strings"

	"reprise/trace"
)

// window is one of a rank: the trace names it by a family and a number, which are the same for
// all of its ranks since they make and free windows in the same order.
type window struct {
	family, number   int32
	origins, targets []int32 // ranks of the world: of the last MPI_Win_post and MPI_Win_start
}

// numbers are those of a family's windows.
type numbers struct{ taken []bool }

// take returns the lowest number that is free.
func (n *numbers) take() int32 {
	i := slices.Index(n.taken, false)
	if i < 0 {
		i = len(n.taken)
		n.taken = append(n.taken, false)
	}
	n.taken[i] = true
	return int32(i)
}

// oneSided adds an access or a synchronisation.
func (t *translator) oneSided(e *event) error {
	id := t.own.of[e.comm]
	if id < 0 {
		return fmt.Errorf("a window of a communicator that not all of its ranks have made: %w", errUnfinished)
	}
	if e.window >= len(t.windows) {
		t.addWindow(id)
	}
	w := &t.windows[e.window]
	if kind, ok := e.proc.known().does.(trace.AccessKind); ok {
		return t.access(e, w, kind)
	}
	sync, _ := e.proc.known().does.(trace.SyncKind) // of MPI_Win_lock none, as it has two
	s := step{form: form{kind: trace.KindSync, family: w.family, sync: sync}}
	s.args[argTag], s.args[argBytes] = int64(w.number), e.assertions
	ranks := []int32{trace.AllRanks}
	switch e.proc {
	case procWinlock:
		s.sync = trace.SyncLockExclusive
		if e.shared {
			s.sync = trace.SyncLockShared
		}
	case procWinpost:
		w.origins = slices.Clone(e.members)
		ranks = w.origins
	case procWinstart:
		w.targets = slices.Clone(e.members)
		ranks = w.targets
	case procWincomplete:
		ranks, w.targets = w.targets, nil
	case procWintest:
		if !e.flag {
			t.hold(e, nil)
			return nil
		}
		ranks, w.origins = w.origins, nil
	case procWinwait:
		ranks, w.origins = w.origins, nil
	case procWinfree:
		t.numbers[w.family].taken[w.number] = false
	}
	if len(e.ranks) > 0 {
		if e.ranks[0] == procNull {
			return nil
		}
		peer, _, err := t.peerOf(e, e.ranks[0])
		if err != nil {
			return err
		}
		ranks = []int32{int32(peer)}
	}
	for _, rank := range ranks {
		s.args[argPeer] = int64(rank)
		t.add(s)
	}
	return nil
}

// addWindow numbers the next window of the rank, of a communicator.
func (t *translator) addWindow(comm int) {
	family := t.families.of(comm)
	if comm == alone {
		family = t.families.alone()
	}
	n := t.numbers[family]
	if n == nil {
		n = &numbers{}
		t.numbers[family] = n
	}
	t.windows = append(t.windows, window{family: family, number: n.take()})
}

// access adds an access; none if its target is MPI_PROC_NULL.
func (t *translator) access(e *event, w *window, kind trace.AccessKind) error {
	if e.ranks[0] == procNull {
		t.nothing(e.request)
		return nil
	}
	peer, _, err := t.peerOf(e, e.ranks[0])
	if err != nil {
		return err
	}
	s := step{form: form{kind: trace.KindAccess, family: w.family, access: kind}}
	s.args[argPeer], s.args[argTag] = peer, int64(w.number)
	one := e.of[anySide]
	if !one.stated {
		one.count = 1 // of what has no count
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
	return nil
}

// file adds an access to a file. One that is not blocking takes its time where it begins: its
// request is complete.
func (t *translator) file(e *event) error {
	name := e.proc.String()
	s := step{form: form{kind: trace.KindFile, file: trace.FileRead}}
	if strings.Contains(name, "write") {
		s.file = trace.FileWrite
	}
	s.together = strings.Contains(name, "_all") || strings.Contains(name, "_ordered")
	switch id := t.own.of[e.comm]; {
	case id == alone:
		s.family = t.families.alone()
	case id >= 0:
		s.family = t.families.of(id)
	}
	s.args[argBytes] = e.of[anySide].count * e.of[anySide].size
	if e.status.found && e.status.bytes >= 0 {
		s.args[argBytes] = e.status.bytes
	}
	t.add(s)
	t.nothing(e.request)
	return nil
}
