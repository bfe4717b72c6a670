package replay

import "reprise/trace"

// What happens in a replay is told to the tapes of paths, of which there are none if nobody asks
// for paths, and to the watch, which is nil if nobody observes. Nothing else is told if told is
// false. None of these methods is inlined: their callers are hot.

// tellTime tells what rank r has spent its time on, a kernel or noKernel.
//
//go:noinline
func (e *engine) tellTime(r int32, k TimeKind, kernel int32, from, to float64) {
	if w := e.watch; w != nil && w.heeds(r) {
		w.timePasses(r, k, kernel, from, to)
	}
	if e.tapes != nil {
		account := int32(k)
		if kernel != noKernel {
			account = int32(numKinds) + kernel
		}
		e.tapes.Spend(r, account, from, to)
	}
}

// tellWaited tells that a message has ended the wait of a rank, since a time.
//
//go:noinline
func (e *engine) tellWaited(r, message int32, since float64, rk *rank) {
	if w := e.watch; w != nil && w.heeds(r) {
		w.waited(r, message, since, rk)
	}
	if e.tapes != nil {
		e.tapes.Release(r, message, since, rk.clock)
	}
}

// waited tells that a message has ended the wait of a rank, since a time.
//
//go:noinline
func (w *watch) waited(r, message int32, since float64, rk *rank) {
	w.timePasses(r, rk.charge, noKernel, since, rk.clock)
	w.released(r, message, since, rk.clock)
}

// timePasses tells what a rank has spent its time on, if any has passed.
//
//go:noinline
func (w *watch) timePasses(r int32, k TimeKind, kernel int32, from, to float64) {
	if to <= from {
		return
	}
	if w.times != nil {
		w.times.TimePasses(r, k, kernel, from, to)
	}
	if w.near(r) {
		w.narrow.TimePasses(r, k, kernel, from, to)
	}
}

// tellSpent tells what rank r has spent its time on by now, when it is over perhaps.
//
//go:noinline
func (e *engine) tellSpent(r int32, over bool) {
	if e.watch == nil || e.watch.spent == nil {
		return
	}
	sums, at := e.watch.sums, e.ranks[r].clock
	clear(sums)
	e.accounts.addSpent(sums, r, at)
	e.watch.spent.Spent(r, at, sums, over)
}

// tellSend tells that a send is posted, and that its transfer has started if it has.
//
//go:noinline
func (w *watch) tellSend(id int32, m *message, size int64, at, start float64) {
	w.sendPosted(id, m, size, at)
	if m.flags&msgStarted != 0 {
		w.started(id, start)
	}
}

// sendPosted tells that a send is posted.
func (w *watch) sendPosted(id int32, m *message, size int64, at float64) {
	if w.messages != nil {
		w.messages.SendPosted(id, m.src, m.dst, m.tag, size, at)
	}
	if w.near(m.src) || w.near(m.dst) {
		w.narrow.SendPosted(id, m.src, m.dst, m.tag, size, at)
	}
}

// tellReceive tells that a receive is posted: of a message which is in a list of posts if no send
// for it has been, and otherwise has the time of that.
func (e *engine) tellReceive(id, dst, src, tag int32, room int64) {
	if w := e.watch; w != nil && w.heeds(dst) {
		w.receivePosted(id, dst, src, tag, room, e.ranks[dst].clock)
	}
	if e.tapes != nil {
		if m := &e.matcher.messages[id]; m.flags&msgStarted == 0 && e.ranks[dst].clock >= m.at {
			e.tapes.Post(id, dst)
		}
	}
}

// receivePosted tells that a receive is posted.
//
//go:noinline
func (w *watch) receivePosted(id, dst, src, tag int32, room int64, at float64) {
	if w.messages != nil {
		w.messages.ReceivePosted(id, dst, src, tag, room, at)
	}
	if w.near(dst) {
		w.narrow.ReceivePosted(id, dst, src, tag, room, at)
	}
}

// tellMerge tells that a send and a receive are one message.
func (e *engine) tellMerge(send, receive int32) {
	if e.tapes != nil {
		e.tapes.Merge(send, receive, e.matcher.messages[send].flags&msgStarted != 0)
	}
	if w := e.watch; w != nil && w.follows(e.matcher.messages[send].dst) {
		w.merged(send, receive)
	}
}

// merged tells that a send and a receive are one message.
func (w *watch) merged(send, receive int32) {
	if w.messages != nil {
		w.messages.Merged(send, receive)
	}
	if w.part.follows(w.engine.matcher.messages[send].dst) {
		w.narrow.Merged(send, receive)
	}
}

// started tells when the transfer of a message starts.
//
//go:noinline
func (w *watch) started(id int32, at float64) {
	if w.messages != nil {
		w.messages.Started(id, at)
	}
	if w.part.follows(w.engine.matcher.messages[id].dst) {
		w.narrow.Started(id, at)
	}
}

// tellEnd tells that the transfer of a message ends now, before the message does.
//
//go:noinline
func (e *engine) tellEnd(id int32) {
	m := &e.matcher.messages[id]
	if w := e.watch; w != nil {
		w.transferred(id, m, e.now)
	}
	if e.tapes != nil && (m.flags&(msgSendWait|msgRecvWait|msgNotify) != 0 || m.ofWindow()) {
		s := e.network.Summary(id)
		e.tapes.End(id, s.From, e.now).Set(m.src, m.dst, s.Link, s.Bytes, s.Alone)
	}
}

// transferred tells that the transfer of a message ends, and what became of it.
//
//go:noinline
func (w *watch) transferred(id int32, m *message, now float64) {
	if w.summing != nil {
		s := w.engine.network.Summary(id)
		t := w.summing.next() // which is written as it is to be, not copied
		t.Src, t.Dst, t.At = m.src, m.dst, now
		t.From, t.Bytes, t.Alone, t.Factor, t.Link = s.From, s.Bytes, s.Alone, w.engine.network.Factor(id), s.Link
	}
	if w.follows(m.dst) {
		w.ended(id, m, now)
	}
}

// ended tells that the transfer of a message ends.
func (w *watch) ended(id int32, m *message, now float64) {
	if w.messages != nil {
		w.messages.Ended(id, now)
	}
	if w.part.follows(m.dst) {
		w.narrow.Ended(id, now)
	}
}

// released tells that a message has ended a wait of a rank, since a time.
func (w *watch) released(r, id int32, since, at float64) {
	if w.messages != nil {
		w.messages.Released(r, id, since, at)
	}
	if w.near(r) {
		w.narrow.Released(r, id, since, at)
	}
}

// tellMark tells that rank r comes to the mark of a step or phase.
//
//go:noinline
func (e *engine) tellMark(r int32, mark *trace.Action) {
	at := e.ranks[r].clock
	switch {
	case e.tapes == nil:
	case mark.Kind == trace.KindStep:
		e.tapes.Step(r, at)
	default:
		e.tapes.Phase(r, mark.Sym, mark.Flags&trace.FlagEnd != 0)
	}
	if e.watch != nil {
		e.watch.marked(r, mark, at)
	}
}

// marked tells that a rank comes to a mark.
func (w *watch) marked(r int32, mark *trace.Action, at float64) {
	if w.wide != nil {
		w.wide.Marked(r, *mark, at)
	}
	if w.narrow != nil && w.part.has(r) {
		w.narrow.Marked(r, *mark, at)
		if mark.Kind == trace.KindStep {
			w.narrowStep(r, mark.X[0])
		}
	}
}
