package replay

import "reprise/trace"

// observe has an observer told what happens from now on, first of all what is open: of a
// replay that begins only the time that it takes to begin.
func (e *engine) observe(to Observer) {
	if to == nil {
		return
	}
	spared := sparedBy(to)
	w := &watch{engine: e, to: to, actions: !spared.Actions, ranks: make([]watchedRank, len(e.ranks))}
	e.watch = w
	e.network.Watch(to, spared.Parts)
	w.tellMessages()
	for r := range e.ranks {
		w.begin(int32(r))
	}
}

// begin tells what rank r is in the middle of: first of all in the sleep that
// Options.Network.InitTime asks for.
func (w *watch) begin(r int32) {
	e, rk := w.engine, &w.engine.ranks[r]
	w.ranks[r] = watchedRank{looked: noTime, message: noMessage, kernel: noKernel, spends: TimeSleep}
	if rk.charged > e.costs.sleepTime(e.options.InitTime) {
		w.ranks[r].told = rk.charged
	}
	for p := range e.accounts.phases {
		if begun := e.accounts.begun(r, uint16(p)); begun != noTime {
			w.to.Marked(r, trace.Action{Kind: trace.KindPhase, Sym: uint16(p)}, begun)
		}
	}
	if a := e.underWay(r); a != nil {
		w.beginAction(r, a)
		seen := &w.ranks[r]
		seen.spends, seen.kernel = timeOf(a)
		switch {
		case rk.waits > 0:
			seen.spends = TimeOverhead
		case rk.collective && rk.stage != stageFresh:
			seen.spends = TimeCompute
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

// tellMessages tells of the messages of which something is left.
func (w *watch) tellMessages() {
	e := w.engine
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
			w.to.SendPosted(id, m.src, m.dst, m.tag, m.size, m.at)
		}
		if s&received != 0 {
			w.to.ReceivePosted(id, m.dst, m.src, m.tag, m.size, m.at)
		}
		if s != 0 && m.flags&msgStarted != 0 {
			w.to.Started(id, m.at)
		}
		if s != 0 && m.flags&msgEnded != 0 {
			w.to.Ended(id, e.now)
		}
	}
}
