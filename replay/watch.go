package replay

import "reprise/trace"

// watch tells an Observer what happens. An engine has none if nobody looks, and asks for it
// only where it costs nothing then: where ranks come to an action, where messages are
// posted, where transfers have ended. What time was spent on between two of these places
// follows from the action that the rank is in, so it is told afterwards (tell).
type watch struct {
	engine  *engine
	to      Observer
	actions bool // which are told
	ranks   []watchedRank
}

// watchedRank is what a watch knows of a rank.
type watchedRank struct {
	told    float64  // time up to which the rank's time has been told, seconds
	begun   float64  // of the action
	looked  float64  // when the first probe of the action looked; noTime if that follows from begun
	arrived float64  // end of the message
	message int32    // for which the rank has waited; noMessage: none
	kernel  int32    // what time is spent on that the rank does not wait in, noKernel: none
	spends  TimeKind // the same
	open    bool     // the action has not ended
	busy    bool     // it is a busy wait that has seen nothing
}

const (
	noKernel  = -1
	noMessage = -1
)

// comesTo tells that a rank comes to an action, or goes on with it.
func (w *watch) comesTo(r int32, a *trace.Action) {
	rk, seen := &w.engine.ranks[r], &w.ranks[r]
	w.tell(r)
	if rk.stage != stageFresh || rk.collective {
		return
	}
	if !seen.busy || !isTurn(a) {
		w.beginAction(r, a)
	}
	seen.spends, seen.kernel = timeOf(a)
}

// beginAction tells that a rank begins an action, unless that is nothing.
func (w *watch) beginAction(r int32, a *trace.Action) {
	w.closeAction(r)
	switch a.Kind {
	case trace.KindNone, trace.KindProbed, trace.KindMark, trace.KindStep, trace.KindPhase:
		return
	}
	seen := &w.ranks[r]
	seen.begun, seen.open = seen.told, true
	if w.actions {
		w.to.ActionBegins(r, *a, seen.begun)
	}
}

// endAction tells that the action of a rank ends, if it is in one.
func (w *watch) endAction(r int32) {
	w.tell(r)
	w.closeAction(r)
}

// closeAction is endAction for a rank whose time has been told.
func (w *watch) closeAction(r int32) {
	seen := &w.ranks[r]
	if seen.open && w.actions {
		w.to.ActionEnds(r, seen.told)
	}
	seen.open, seen.busy, seen.looked = false, false, noTime
}

// isTurn reports whether an action can be part of a busy wait.
func isTurn(a *trace.Action) bool {
	switch a.Kind {
	case trace.KindCompute, trace.KindNone, trace.KindMark:
		return true
	}
	return a.Kind == trace.KindPoll && a.Flags&trace.FlagSpin != 0
}

// timeOf returns what an action spends time on that it does not wait in, until spends says
// something else.
func timeOf(a *trace.Action) (k TimeKind, kernel int32) {
	switch a.Kind {
	case trace.KindCompute:
		return TimeCompute, int32(a.Sym)
	case trace.KindFlops:
		return TimeCompute, noKernel
	case trace.KindSleep:
		return TimeSleep, noKernel
	case trace.KindPoll, trace.KindIprobe, trace.KindTest:
		return TimePoll, noKernel
	case trace.KindRecv, trace.KindIrecv:
		if a.X[0] < 0 { // until it has found a message
			return TimePoll, noKernel
		}
	}
	return TimeOverhead, noKernel
}

// spends notes what a rank spends the time on from now on.
func (w *watch) spends(r int32, k TimeKind) {
	w.tell(r)
	w.ranks[r].spends, w.ranks[r].kernel = k, noKernel
}

// tell tells of the time of a rank that has been charged and not been told: first that in
// which it has waited for a message.
func (w *watch) tell(r int32) {
	if w.ranks[r].told != w.engine.ranks[r].charged {
		w.tellNow(r)
	}
}

// tellNow is tell where there is something to tell.
func (w *watch) tellNow(r int32) {
	rk, seen := &w.engine.ranks[r], &w.ranks[r]
	if seen.message != noMessage && seen.arrived > seen.told {
		since := seen.told
		w.timePasses(r, rk.charge, noKernel, seen.arrived)
		w.to.Released(r, seen.message, since, seen.arrived)
	}
	seen.message = noMessage
	w.timePasses(r, seen.spends, seen.kernel, rk.charged)
}

// timePasses tells of the time of a rank up to a time.
func (w *watch) timePasses(r int32, k TimeKind, kernel int32, to float64) {
	seen := &w.ranks[r]
	if to > seen.told {
		w.to.TimePasses(r, k, kernel, seen.told, to)
		seen.told = to
	}
}

// rest tells of the time of a rank for which the replay has been stopped.
func (w *watch) rest(r int32, k TimeKind) {
	w.tell(r)
	w.timePasses(r, k, noKernel, w.engine.ranks[r].clock)
}

// looks notes that a probe of a rank looks. Not inlined: its caller is a hot loop.
//
//go:noinline
func (w *watch) looks(r int32) {
	if l := &w.ranks[r].looked; *l == noTime {
		*l = w.engine.ranks[r].clock
	}
}

// polled notes what a probe of a busy wait has seen.
func (w *watch) polled(r int32, a *trace.Action, sees bool) {
	if w.ranks[r].busy = !sees; sees {
		w.probed(r, w.engine.findFirst(&w.engine.ranks[r], a.Peer, a.Tag))
	}
}

// probed tells that a message which a probe of a rank has seen has released it, unless its
// first probe could see it.
func (w *watch) probed(r, id int32) {
	w.tell(r)
	seen := &w.ranks[r]
	if seen.looked == noTime {
		seen.looked = seen.begun + w.engine.prober.cost
	}
	if w.engine.visible(id) > seen.looked {
		w.to.Released(r, id, seen.looked, w.engine.ranks[r].clock)
	}
}

// sent tells that a send was posted, and that its transfer has started if it has.
func (w *watch) sent(id int32, size int64, at, start float64) {
	m := &w.engine.matcher.messages[id]
	w.tell(m.src)
	w.to.SendPosted(id, m.src, m.dst, m.tag, size, at)
	if m.flags&msgStarted != 0 {
		w.to.Started(id, start)
	}
}

// receives tells that a receive is posted.
func (w *watch) receives(id, dst, src, tag int32, room int64) {
	w.tell(dst)
	w.to.ReceivePosted(id, dst, src, tag, room, w.engine.ranks[dst].clock)
}

// end ends transfers.
func (w *watch) end(done []int32) {
	e := w.engine
	for _, id := range done {
		m := e.matcher.messages[id]
		w.to.Ended(id, e.now)
		if m.flags&msgSendWait != 0 {
			w.arrives(m.src, id)
		}
		if m.flags&msgRecvWait != 0 {
			w.arrives(m.dst, id)
		}
		e.end(id, e.now)
		w.tell(m.src)
		w.tell(m.dst)
	}
}

// arrives notes that a message for which a rank waits has ended now, which is about to be
// brought to the rank.
func (w *watch) arrives(r, id int32) {
	w.tell(r)
	seen := &w.ranks[r]
	seen.message, seen.arrived = id, w.engine.now
}
