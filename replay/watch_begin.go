package replay

import (
	"errors"

	"reprise/trace"
)

// observe has an observer told what happens from now on, first of all what is open: of a
// replay that begins only the time that it takes to begin.
func (e *engine) observe(o *Options) error {
	if o.Observer == nil {
		return nil
	}
	asked := whatIsAsked(o.Observer)
	if asked.tapes != nil && o.Resume != nil {
		return errors.New("the paths of ranks begin where the run does, not at a checkpoint")
	}
	if asked.tapes != nil && asked.tapes.Err() != nil {
		return asked.tapes.Err()
	}
	e.told, e.tapes, e.lookouts = true, asked.tapes, make([]lookout, len(e.ranks))
	if asked.wide != nil || asked.narrow != nil {
		e.watch = newWatch(e, asked.wide, asked.narrow)
		e.watch.beginPart(o.Resume != nil && int64(e.progress.last) >= e.watch.part.from)
		e.watch.tellMessages()
	}
	e.listen()
	for r := range e.ranks {
		e.tellBegin(int32(r))
	}
	return nil
}

func newWatch(e *engine, wide Observer, narrow Narrow) *watch {
	w := &watch{engine: e, wide: wide, narrow: narrow, ranks: make([]watchedRank, len(e.ranks))}
	if wide != nil {
		spared := sparedBy(wide)
		w.wideActs = !spared.Actions
		if !spared.Messages {
			w.messages = wide
		}
		if !spared.Times {
			w.times = wide
		}
		w.heedsAll = w.messages != nil || w.times != nil
		w.spent = accountingOf(wide)
		if to := summingOf(wide); to != nil {
			w.summing = newSumming(to)
		}
		w.sums = make([]float64, e.accounts.width())
	}
	if narrow != nil {
		w.narrowActs = !sparedBy(narrow).Actions
		w.part = newPart(narrow)
	}
	return w
}

// listen has the network keep what there is to tell of transfers.
func (e *engine) listen() {
	w := e.watch
	if w != nil && w.wide != nil && !sparedBy(w.wide).Carried {
		e.network.Watch(w.wide)
	}
	if e.tapes != nil || w != nil && w.summing != nil {
		e.network.Summarize()
	}
}

// tellBegin tells what rank r is in the middle of: first of all in the sleep that
// Options.Network.InitTime asks for.
func (e *engine) tellBegin(r int32) {
	rk := &e.ranks[r]
	e.lookouts[r] = lookout{rk.charged, noTime}
	fresh := rk.charged <= e.costs.sleepTime(e.options.InitTime)
	if fresh && e.tapes != nil {
		e.tapes.Spend(r, int32(TimeSleep), 0, rk.charged)
	}
	if fresh && e.watch != nil {
		e.watch.timePasses(r, TimeSleep, noKernel, 0, rk.charged)
	}
	switch {
	case e.watch == nil:
		return
	case e.watch.spent == nil:
	case fresh:
		clear(e.watch.sums)
		e.watch.spent.Spent(r, 0, e.watch.sums, false)
	default:
		e.tellSpent(r, false)
	}
	for p := range e.accounts.phases {
		if begun := e.accounts.begun(r, uint16(p)); begun != noTime {
			e.watch.marked(r, &trace.Action{Kind: trace.KindPhase, Sym: uint16(p)}, begun)
		}
	}
	if a := e.underWay(r); a != nil && e.watch.acts(r) {
		e.watch.beginAction(r, a)
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
			w.sendPosted(id, m, m.size, m.at)
		}
		if s&received != 0 {
			w.receivePosted(id, m.dst, m.src, m.tag, m.size, m.at)
		}
		if s != 0 && m.flags&msgStarted != 0 {
			w.started(id, m.at)
		}
		if s != 0 && m.flags&msgEnded != 0 {
			w.ended(id, m, e.now)
		}
	}
}
