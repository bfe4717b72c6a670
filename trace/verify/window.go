package verify

import (
	"fmt"
	"maps"
	"slices"

	"reprise/trace"
)

// This file checks the synchronisations of windows (rankCheck.sync) and that accesses go to windows that exist.

// windowKey names a window of a rank.
type windowKey struct {
	family uint16
	number int32
}

// window is what a rank has begun in a window and not ended. Peers are ranks.
// The keys are peers, of which each may have one such epoch at a time (MPI 4.1, section 12.5).
type window struct {
	locked           map[int32]bool // AllRanks: by a lock_all
	posted, accessed map[int32]bool // for whom it has posted, with whom it has started
}

// commOfWindow in the communicator of a channel says that it has no messages, but the posts of a window that starts
// wait for, or the completes that waits wait for. Its tag is twice the window's number, and 1 more for completes.
const commOfWindow = 1 << 15

// ofWindow reports whether a channel is one of a window's synchronisations.
func (k channelKey) ofWindow() bool { return k.comm&commOfWindow != 0 }

// exists returns the window of an action; without one it returns nil after a fault. In a part of a run the window
// may have been made before, so that it is added.
func (r *rankCheck) exists(a *trace.Action) *window {
	key := windowKey{a.Sym, a.Tag}
	w := r.windows[key]
	if w == nil && r.h.Part() != "" {
		return r.add(key)
	}
	if w == nil {
		r.fail("%s of window %d of family %q, which does not exist", verb(a), a.Tag, r.h.CommFamilies[a.Sym].Name)
	}
	return w
}

// add notes a window in which nothing has begun.
func (r *rankCheck) add(key windowKey) *window {
	if r.windows == nil {
		r.windows = map[windowKey]*window{}
	}
	w := &window{map[int32]bool{}, map[int32]bool{}, map[int32]bool{}}
	r.windows[key] = w
	return w
}

// verb is an action of a window, in a listing.
func verb(a *trace.Action) string {
	if a.Kind == trace.KindSync {
		return "win_" + a.SyncKind().String()
	}
	return a.AccessKind().String()
}

// sync checks what synchronises a window. The collective ones are compared between ranks, too, and posts and
// completes are matched like messages.
func (r *rankCheck) sync(a *trace.Action) {
	kind, key := a.SyncKind(), windowKey{a.Sym, a.Tag}
	r.collective(a)
	if kind == trace.SyncCreate {
		if r.windows[key] != nil {
			r.fail("window %d of family %q is created again before it is freed", a.Tag, r.h.CommFamilies[a.Sym].Name)
			return
		}
		r.add(key)
		return
	}
	w := r.exists(a)
	if w == nil {
		return
	}
	r.message(a)
	switch kind {
	case trace.SyncFree:
		if left := w.left(); left != "" {
			r.fail("window %d is freed, and %s", a.Tag, left)
		}
		delete(r.windows, key)
	case trace.SyncPost:
		r.begin(a, w.posted)
	case trace.SyncStart:
		r.begin(a, w.accessed)
	case trace.SyncWait:
		r.end(a, w.posted)
	case trace.SyncComplete:
		r.end(a, w.accessed)
	case trace.SyncLockShared, trace.SyncLockExclusive, trace.SyncLockAll:
		r.begin(a, w.locked)
	case trace.SyncUnlock, trace.SyncUnlockAll:
		r.end(a, w.locked)
	}
}

// begin notes that something with the peer of an action begins, which must not be under way.
func (r *rankCheck) begin(a *trace.Action, open map[int32]bool) {
	if open[a.Peer] {
		r.fail("%s of window %d with %s, which has not ended before", verb(a), a.Tag, named(a.Peer))
	}
	open[a.Peer] = true
}

// end notes that what begin has noted ends; it must have begun, except in a part of a run, where it may have
// begun before.
func (r *rankCheck) end(a *trace.Action, open map[int32]bool) {
	if !open[a.Peer] && r.h.Part() == "" {
		r.fail("%s of window %d with %s, which has not begun", verb(a), a.Tag, named(a.Peer))
	}
	delete(open, a.Peer)
}

// named names the peer of a synchronisation.
func named(rank int32) string {
	if rank == trace.AllRanks {
		return "all ranks"
	}
	return fmt.Sprintf("rank %d", rank)
}

// left says what has begun and not ended, "" if all has.
func (w *window) left() string {
	for _, open := range []struct {
		what string
		with map[int32]bool
	}{{"the lock of", w.locked}, {"the post for", w.posted}, {"the start with", w.accessed}} {
		if with := slices.Sorted(maps.Keys(open.with)); len(with) > 0 {
			return fmt.Sprintf("%s %s has not ended", open.what, named(with[0]))
		}
	}
	return ""
}
