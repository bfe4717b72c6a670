package replay

import "reprise/trace"

// watch tells an Observer what happens that is not told otherwise (tell.go): of time where it is
// charged, and of actions where ranks come to them. An engine has none if nobody observes.
type watch struct {
	engine  *engine
	to      Observer
	actions bool // whether they are told
	ranks   []watchedRank
}

// watchedRank is what a watch knows of a rank.
type watchedRank struct {
	open bool // an action has begun and not ended, if actions are told
	busy bool // it is a busy wait that has seen nothing
}

// noKernel is the kernel of time that none is called in.
const noKernel = -1

// passes tells on what a rank has spent its time, if any has passed. Not inlined: its callers are
// hot.
//
//go:noinline
func (w *watch) passes(r int32, k TimeKind, kernel int32, from, to float64) {
	if to > from {
		w.to.TimePasses(r, k, kernel, from, to)
	}
}

// comesTo tells that a rank comes to an action, or goes on with it.
func (w *watch) comesTo(r int32, a *trace.Action) {
	rk, seen := &w.engine.ranks[r], &w.ranks[r]
	if rk.stage == stageFresh && !rk.collective && !(seen.busy && isTurn(a)) {
		w.beginAction(r, a)
	}
}

// beginAction tells that a rank begins an action, unless that is nothing.
func (w *watch) beginAction(r int32, a *trace.Action) {
	w.endAction(r)
	switch a.Kind {
	case trace.KindNone, trace.KindProbed, trace.KindMark, trace.KindStep, trace.KindPhase:
		return
	}
	w.ranks[r].open = true
	w.to.ActionBegins(r, *a, w.engine.ranks[r].charged)
}

// endAction tells that the action of a rank ends, if it is in one.
func (w *watch) endAction(r int32) {
	seen := &w.ranks[r]
	if seen.open {
		w.to.ActionEnds(r, w.engine.ranks[r].charged)
	}
	*seen = watchedRank{}
}

// isTurn reports whether an action can be part of a busy wait.
func isTurn(a *trace.Action) bool {
	switch a.Kind {
	case trace.KindCompute, trace.KindNone, trace.KindMark:
		return true
	}
	return a.Kind == trace.KindPoll && a.Flags&trace.FlagSpin != 0
}

// Carried implements netmodel.Summarizer.
func (w *watch) Carried(id int32, from, bytes, alone float64, link int32) {
	now := w.engine.now
	if now <= from {
		return
	}
	rate := bytes / (now - from)
	if alone > 0 && rate > alone*asAlone {
		rate = alone
	}
	w.to.Carried(id, from, now, rate, alone, link)
}

// asAlone is the share of its rate alone from which on a transfer was alone: times are rounded.
const asAlone = 1 - 1e-9
