package replay

import (
	"errors"
	"slices"

	"reprise/trace"
)

// This file tells observers what happens in a replay; engine.observe sets them up. It has two layers. The engine calls
// its methods notify... where something happens, if there are observers. They are not inlined, so that a replay without
// observers pays for the test alone. They feed the event log, which gets everything, and call the methods of observers.
// These pass the event to each observer that has a function for it and asks for the rank and the step (observer.go).

// observers are those of a replay, but for its event log. Before the engine calls them, it tests that its pointer to
// them is not nil and that one of them wants the rank in question.
type observers struct {
	engine *engine
	list   []observer

	// Ranges that hold all ranks of which an observer wants
	now      rankRange // times or messages, in its steps
	followed rankRange // the further way of messages that they receive, in its steps and after them
	acting   rankRange // actions, in its steps
	mayAct   rankRange // actions, in any step

	busy  []bool        // by rank: it is in a busy wait that has seen nothing
	sums  []float64     // scratch of Observer.Spent; nil: nobody wants it
	ended []Transferred // for Observer.Transferred, of capacity maxTransferred; 0: nobody wants it
}

// observer is an Observer with its state.
type observer struct {
	Observer
	acts     bool      // it wants actions
	messages bool      // it wants messages
	ranks    rankRange // that it asks for
	now      rankRange // the same in its steps, else empty
	followed rankRange // the same in its steps and after them, else empty
	passed   []bool    // by rank from ranks.first on: it has come to EndStep; nil: all steps are wanted
	left     int       // ranks that have not
	open     []bool    // by rank: an action has begun and not ended
}

// noKernel is the kernel of time outside calls of kernels.
const noKernel = -1

// maxTransferred is how many transfers Observer.Transferred gets at once: the memory that an observer
// uses for each of them does not fit in the processor's caches beside that of the engine, nor does its code.
const maxTransferred = 64

// observe begins to notify the observers of a replay, first of what is under way: at the begin of a run that is only
// the time in MPI_Init.
func (e *engine) observe(o *Options) error {
	list := o.Observers
	if e.meter != nil && e.meter.hosts != nil {
		list = append(slices.Clip(list), e.meter.observer())
	}
	if len(list) == 0 {
		return nil
	}
	// Each observer is prepared for its ranks, its steps and the functions that it has.
	os := &observers{engine: e, busy: make([]bool, len(e.ranks))}
	var carried carriedFuncs
	for _, hooks := range list {
		if hooks.Log != nil {
			switch {
			case e.log != nil:
				return errors.New("two observers with an event log, want at most one")
			case o.Resume != nil:
				return errors.New("the paths of ranks begin where the run does, not at a checkpoint")
			case hooks.Log.Err() != nil:
				return hooks.Log.Err()
			}
			e.log = hooks.Log
		}
		if hooks.Carried != nil {
			carried = append(carried, hooks.Carried)
		}
		if hooks.Spent != nil {
			os.sums = make([]float64, e.accounts.width())
		}
		if hooks.Transferred != nil {
			os.ended = make([]Transferred, 0, maxTransferred)
		}
		h := observer{Observer: hooks, ranks: rankRange{hooks.FirstRank, int32(len(e.ranks))}}
		if hooks.EndRank > 0 {
			h.ranks.end = hooks.EndRank
		}
		if h.acts = hooks.ActionBegins != nil || hooks.ActionEnds != nil; h.acts {
			h.open = make([]bool, len(e.ranks))
		}
		h.messages = hooks.SendPosted != nil || hooks.ReceivePosted != nil || hooks.Merged != nil ||
			hooks.Started != nil || hooks.Ended != nil || hooks.Released != nil
		if hooks.EndStep > 0 {
			h.left = int(h.ranks.end - h.ranks.first)
			h.passed = make([]bool, h.left)
		}
		// Steps from the first on, or further ones of a checkpoint that lies behind it.
		if h.passed == nil || h.FirstStep <= 0 || o.Resume != nil && int64(e.progress.last) >= h.FirstStep {
			h.now, h.followed = h.ranks, h.ranks
		}
		os.list = append(os.list, h)
	}
	// Then all that is open is reported: messages first, then the ranks. The network is asked for no more
	// than somebody wants.
	os.joinRanges()
	e.observers, e.waitObservers = os, make([]waitObserver, len(e.ranks))
	os.notifyMessages()
	if carried != nil {
		e.network.Watch(carried)
	}
	if e.log != nil || cap(os.ended) > 0 {
		e.network.Summarize()
	}
	for i := range e.ranks {
		// At the begin of a run a rank is in the sleep of Options.Network.InitTime.
		r, rk := int32(i), &e.ranks[i]
		e.waitObservers[r] = waitObserver{rk.charged, noTime}
		fresh := rk.charged <= e.costs.sleepTime(e.options.InitTime)
		if fresh {
			if e.log != nil {
				e.log.Spend(r, int32(TimeSleep), 0, rk.charged)
			}
			os.timePasses(r, TimeSleep, noKernel, 0, rk.charged)
		}
		if os.sums != nil && fresh {
			clear(os.sums)
			os.spent(r, 0, false)
		} else {
			e.notifySpent(r, false)
		}
		for p := range e.accounts.phases {
			if begun := e.accounts.begun(r, uint16(p)); begun != noTime {
				os.marked(r, &trace.Action{Kind: trace.KindPhase, Sym: uint16(p)}, begun)
			}
		}
		if a := e.underWay(r); a != nil && os.acting.has(r) {
			os.beginAction(r, a)
		}
	}
	return nil
}

// carriedFuncs is the netmodel.Watcher that calls Observer.Carried.
type carriedFuncs []func(message int32, from, to, rate, alone float64, link int32)

// Carried implements netmodel.Watcher.
func (list carriedFuncs) Carried(message int32, from, to, rate, alone float64, link int32) {
	for _, f := range list {
		f(message, from, to, rate, alone, link)
	}
}

// joinRanges sets the ranges of all observers together.
func (os *observers) joinRanges() {
	os.now, os.followed, os.acting, os.mayAct = rankRange{}, rankRange{}, rankRange{}, rankRange{}
	for i := range os.list {
		o := &os.list[i]
		if o.messages || o.TimePasses != nil {
			os.now = os.now.join(o.now)
		}
		if o.messages {
			os.followed = os.followed.join(o.followed)
		}
		if o.acts {
			os.acting, os.mayAct = os.acting.join(o.now), os.mayAct.join(o.ranks)
		}
	}
}

// underWay returns the action that rank r is in the middle of, nil if there is none.
func (e *engine) underWay(r int32) *trace.Action {
	rk := &e.ranks[r]
	pos := int(rk.pos)
	switch {
	case rk.stage != stageFresh || rk.collective:
	case rk.waits > 0:
		pos-- // it goes on with the action after the one that blocks it
	default:
		return nil
	}
	return e.action(r, pos)
}

// notifyMessages reports the messages of which something is left.
func (os *observers) notifyMessages() {
	e := os.engine
	// The lists tell which sides of a message are posted: a message in no list has both, unless it is free.
	const sent, received = 1, 2
	sides := make([]uint8, len(e.matcher.messages))
	for id := range sides {
		if e.matcher.messages[id].flags&msgAlias == 0 {
			sides[id] = sent | received
		}
	}
	for id := e.matcher.free; id >= 0; id = e.matcher.after[id] {
		sides[id] = 0
	}
	for r := range e.ranks {
		for id := e.ranks[r].sends.head; id >= 0; id = e.matcher.after[id] {
			sides[id] = sent
		}
		for id := e.ranks[r].recvs.head; id >= 0; id = e.matcher.after[id] {
			sides[id] = received
		}
	}
	for i, s := range sides {
		id, m := int32(i), &e.matcher.messages[i]
		if s&sent != 0 {
			os.sendPosted(id, m, m.size, m.at)
		}
		if s&received != 0 {
			os.receivePosted(id, m.dst, m.src, m.tag, m.size, m.at)
		}
		if s != 0 && m.flags&msgStarted != 0 {
			os.started(id, m.at)
		}
		if s != 0 && m.flags&msgEnded != 0 {
			os.messageEnded(id, m, e.now)
		}
	}
}

// enterStep begins and ends what observer i observes, as one of its ranks comes to a step.
func (os *observers) enterStep(i int, r int32, step int64) {
	o := &os.list[i]
	if o.followed == (rankRange{}) && step >= o.FirstStep {
		o.now, o.followed = o.ranks, o.ranks
		alone := &observers{engine: os.engine, list: os.list[i : i+1]}
		alone.notifyMessages()
		for r := o.ranks.first; o.acts && r < o.ranks.end; r++ {
			if !os.acting.has(r) {
				os.busy[r] = false // no other observer has an open action for the busy wait
			}
			if a := os.engine.underWay(r); a != nil {
				alone.actionBegins(r, a)
			}
		}
		os.joinRanges()
	}
	// Once all its ranks have come to the last step, the observer is told nothing more of them.
	if at := r - o.ranks.first; step >= o.EndStep && !o.passed[at] {
		o.passed[at] = true
		if o.left--; o.left == 0 {
			o.now = rankRange{}
			os.joinRanges()
		}
	}
}

// Actions.

// comesTo: a rank comes to an action, or goes on with it. The turns of a busy wait that has seen nothing are one
// action.
func (os *observers) comesTo(r int32, a *trace.Action) {
	rk := &os.engine.ranks[r]
	if !os.acting.has(r) || rk.stage != stageFresh || rk.collective {
		return
	}
	turn := a.Kind == trace.KindPoll && a.Flags&trace.FlagSpin != 0
	switch a.Kind {
	case trace.KindCompute, trace.KindNone, trace.KindMark:
		turn = true
	}
	if !turn || !os.busy[r] {
		os.beginAction(r, a)
	}
}

// beginAction ends the action of a rank and begins the next one, if that can take time.
func (os *observers) beginAction(r int32, a *trace.Action) {
	os.endAction(r)
	switch a.Kind {
	case trace.KindNone, trace.KindProbed, trace.KindMark, trace.KindStep, trace.KindPhase, trace.KindAfter, trace.KindBeside:
		return
	}
	os.actionBegins(r, a)
}

// actionBegins tells the observers of an action of a rank. Its time is that up to which the rank was
// charged: so the times of actions lie end to end.
func (os *observers) actionBegins(r int32, a *trace.Action) {
	at := os.engine.ranks[r].charged
	for i := range os.list {
		o := &os.list[i]
		if !o.acts || !o.now.has(r) {
			continue
		}
		if o.open[r] = true; o.ActionBegins != nil {
			o.ActionBegins(r, *a, at)
		}
	}
}

// endAction ends the action of a rank, if it is in one.
func (os *observers) endAction(r int32) {
	at := os.engine.ranks[r].charged
	os.busy[r] = false
	for i := range os.list {
		o := &os.list[i]
		if o.open == nil || !o.open[r] {
			continue
		}
		if o.open[r] = false; o.ActionEnds != nil {
			o.ActionEnds(r, at)
		}
	}
}

// Times and messages. The methods of the engine are not inlined: their callers are hot.

// notifyTime: rank r has spent time on a kernel, or noKernel.
//
//go:noinline
func (e *engine) notifyTime(r int32, k TimeKind, kernel int32, from, to float64) {
	if os := e.observers; os.now.has(r) {
		os.timePasses(r, k, kernel, from, to)
	}
	if e.log != nil {
		account := int32(k)
		if kernel != noKernel {
			account = int32(numKinds) + kernel
		}
		e.log.Spend(r, account, from, to)
	}
}

// notifyQueued: a kernel runs in a queue of the device of rank r.
//
//go:noinline
func (e *engine) notifyQueued(r, queue, kernel int32, from, to float64) {
	for i := range e.observers.list {
		if o := &e.observers.list[i]; o.Queued != nil && o.now.has(r) {
			o.Queued(r, queue, kernel, from, to)
		}
	}
	if d := &e.devices; e.log != nil {
		e.log.Queued(r, queue, int32(numKinds)+int32(len(d.kernels))*(1+queue)+kernel, from, to)
	}
}

// notifyWaited: a message has ended the wait of a rank.
//
//go:noinline
func (e *engine) notifyWaited(r, message int32, since float64, rk *rank) {
	if os := e.observers; os.now.has(r) {
		os.timePasses(r, rk.charge, noKernel, since, rk.clock)
		os.released(r, message, since, rk.clock)
	}
	if e.log != nil {
		e.log.Release(r, message, since, rk.clock)
	}
}

// timePasses: a rank has spent time on something, if any has passed.
//
//go:noinline
func (os *observers) timePasses(r int32, k TimeKind, kernel int32, from, to float64) {
	if to <= from {
		return
	}
	for i := range os.list {
		if o := &os.list[i]; o.TimePasses != nil && o.now.has(r) {
			o.TimePasses(r, k, kernel, from, to)
		}
	}
}

// released: a message has ended a wait of a rank.
//
//go:noinline
func (os *observers) released(r, id int32, since, at float64) {
	for i := range os.list {
		if o := &os.list[i]; o.Released != nil && o.now.has(r) {
			o.Released(r, id, since, at)
		}
	}
}

// notifySpent: the sums of rank r are these by now, at the end of its time perhaps.
//
//go:noinline
func (e *engine) notifySpent(r int32, over bool) {
	os := e.observers
	if os.sums == nil {
		return
	}
	at := e.ranks[r].clock
	clear(os.sums)
	e.accounts.addSpent(os.sums, r, at)
	os.spent(r, at, over)
}

// spent hands sums of a rank, which are in os.sums, to those who want them.
func (os *observers) spent(r int32, at float64, over bool) {
	for i := range os.list {
		if o := &os.list[i]; o.Spent != nil {
			o.Spent(r, at, os.sums, over)
		}
	}
}

// notifySend: a send is posted, and its transfer has started perhaps.
//
//go:noinline
func (os *observers) notifySend(id int32, m *message, size int64, at, start float64) {
	os.sendPosted(id, m, size, at)
	if m.flags&msgStarted != 0 {
		os.started(id, start)
	}
}

// sendPosted reports a send to those who observe one of its ranks.
func (os *observers) sendPosted(id int32, m *message, size int64, at float64) {
	for i := range os.list {
		if o := &os.list[i]; o.SendPosted != nil && (o.now.has(m.src) || o.now.has(m.dst)) {
			o.SendPosted(id, m.src, m.dst, m.tag, size, at)
		}
	}
}

// notifyReceive: a receive is posted. Its message is in a list of posts if its send has not been posted,
// and otherwise has the time of that.
func (e *engine) notifyReceive(id, dst, src, tag int32, room int64) {
	if os := e.observers; os.now.has(dst) {
		os.receivePosted(id, dst, src, tag, room, e.ranks[dst].clock)
	}
	if e.log != nil {
		if m := &e.matcher.messages[id]; m.flags&msgStarted == 0 && e.ranks[dst].clock >= m.at {
			e.log.Post(id, dst)
		}
	}
}

// receivePosted reports a receive to those who observe its rank.
//
//go:noinline
func (os *observers) receivePosted(id, dst, src, tag int32, room int64, at float64) {
	for i := range os.list {
		if o := &os.list[i]; o.ReceivePosted != nil && o.now.has(dst) {
			o.ReceivePosted(id, dst, src, tag, room, at)
		}
	}
}

// notifyMerge: a send and a receive are one message.
func (e *engine) notifyMerge(send, receive int32) {
	m := &e.matcher.messages[send]
	if e.log != nil {
		e.log.Merge(send, receive, m.flags&msgStarted != 0)
	}
	for i := range e.observers.list {
		if o := &e.observers.list[i]; o.Merged != nil && o.followed.has(m.dst) {
			o.Merged(send, receive)
		}
	}
}

// started: the transfer of a message starts.
//
//go:noinline
func (os *observers) started(id int32, at float64) {
	for i := range os.list {
		if o := &os.list[i]; o.Started != nil && o.followed.has(os.engine.matcher.messages[id].dst) {
			o.Started(id, at)
		}
	}
}

// notifyEnd: the transfer of a message ends now, before the message does.
//
//go:noinline
func (e *engine) notifyEnd(id int32) {
	m, os := &e.matcher.messages[id], e.observers
	if cap(os.ended) > 0 {
		n := len(os.ended)
		if n == maxTransferred {
			os.flushTransferred()
			n = 0
		}
		os.ended = os.ended[:n+1]
		s, t := e.network.Summary(id), &os.ended[n] // which is written in place, not copied
		t.Src, t.Dst, t.At = m.src, m.dst, e.now
		t.From, t.Bytes, t.Alone, t.Factor, t.Link = s.From, s.Bytes, s.Alone, e.network.Factor(id), s.Link
	}
	if os.followed.has(m.dst) {
		os.messageEnded(id, m, e.now)
	}
	if e.log != nil && (m.flags&(msgSendWait|msgRecvWait|msgNotify) != 0 || m.ofWindow()) {
		s := e.network.Summary(id)
		e.log.End(id, s.From, e.now).Set(m.src, m.dst, s.Link, s.Bytes, s.Alone)
	}
}

// flushTransferred hands the transfers that have ended to the observers.
//
//go:noinline
func (os *observers) flushTransferred() {
	for i := range os.list {
		if o := &os.list[i]; o.Transferred != nil && len(os.ended) > 0 {
			o.Transferred(os.ended)
		}
	}
	os.ended = os.ended[:0]
}

// messageEnded reports the end of a transfer to those who follow messages to its receiver.
func (os *observers) messageEnded(id int32, m *message, now float64) {
	for i := range os.list {
		if o := &os.list[i]; o.Ended != nil && o.followed.has(m.dst) {
			o.Ended(id, now)
		}
	}
}

// notifyMark: rank r comes to the mark of a step or phase.
//
//go:noinline
func (e *engine) notifyMark(r int32, mark *trace.Action) {
	at := e.ranks[r].clock
	switch {
	case e.log == nil:
	case mark.Kind == trace.KindStep:
		e.log.Step(r, at)
	default:
		e.log.Phase(r, mark.Sym, mark.Flags&trace.FlagEnd != 0)
	}
	e.observers.marked(r, mark, at)
}

// marked reports a mark in all steps; the mark of a step may begin or end what an observer observes.
func (os *observers) marked(r int32, mark *trace.Action, at float64) {
	for i := range os.list {
		o := &os.list[i]
		if !o.ranks.has(r) {
			continue
		}
		if o.Marked != nil {
			o.Marked(r, *mark, at)
		}
		if o.passed != nil && mark.Kind == trace.KindStep {
			os.enterStep(i, r, mark.X[0])
		}
	}
}

// notifyTransfer: a transfer of a window starts, both sides of which are posted.
func (os *observers) notifyTransfer(id int32, m *message, at float64) {
	if !os.now.has(m.src) && !os.now.has(m.dst) {
		return
	}
	os.sendPosted(id, m, m.size, at)
	os.receivePosted(id, m.dst, m.src, m.tag, m.size, at)
	os.started(id, at)
}

// waitObserver knows when a rank began to probe for a message in a busy wait or a blocking probe, so that Released can
// say since when it has waited.
type waitObserver struct {
	begun  float64 // when it began to probe, seconds
	looked float64 // when the first of these probes looked; noTime if that follows from begun
}

// beginsToLook: a rank begins to probe for a message.
func (e *engine) beginsToLook(r int32) { e.waitObservers[r] = waitObserver{e.ranks[r].clock, noTime} }

// looks: the first probe of a rank looks. Not inlined: its caller is a hot loop.
//
//go:noinline
func (e *engine) looks(r int32) { e.waitObservers[r].looked = e.ranks[r].clock }

// probed: a message that a probe of a rank has seen has released it, unless its first probe could see it.
func (e *engine) probed(r, id int32) {
	w := &e.waitObservers[r]
	if w.looked == noTime {
		w.looked = w.begun + e.prober.cost
	}
	if e.visible(id) <= w.looked {
		return
	}
	if e.log != nil {
		e.log.See(r, id)
	}
	if os := e.observers; os.now.has(r) {
		os.released(r, id, w.looked, e.ranks[r].clock)
	}
}
