package replay

import "reprise/trace"

// watch tells observers what happens that is not told otherwise (tell.go): of actions where ranks
// come to them. An engine has none if nobody observes.
type watch struct {
	engine     *engine
	wide       Observer // of all ranks; nil: none
	narrow     Narrow   // of the ranks [first, end); nil: none
	first, end int32    // none before narrow's first step, and after its last
	part       part     // of the run, for narrow
	wideActs   bool     // whether they are told of actions
	narrowActs bool
	ranks      []watchedRank

	messages Observer   // wide, if it is told of messages; else nil
	times    Observer   // wide, if it is told of times; else nil
	heedsAll bool       // whether wide is told of messages or times
	spent    Accounting // wide, if it is told of sums of times; else nil
	sums     []float64  // handed to spent
	summing  *summing   // for wide, if it is told of messages many at once; else nil
}

// near reports whether a narrow observer is told of a rank.
func (w *watch) near(r int32) bool { return r >= w.first && r < w.end }

// heeds reports whether somebody is told of the times and messages of a rank. It is asked before what
// would tell of them is called.
func (w *watch) heeds(r int32) bool { return w.heedsAll || w.near(r) }

// acts reports whether somebody is told of the actions of a rank.
func (w *watch) acts(r int32) bool { return w.wideActs || w.narrowActs && w.near(r) }

// mayAct reports whether somebody is told of the actions of a rank now, or when it comes to a step.
func (w *watch) mayAct(r int32) bool { return w.wideActs || w.narrowActs && w.part.has(r) }

// watchedRank is what a watch knows of a rank.
type watchedRank struct {
	open       bool // an action has begun and not ended, of which wide is told
	narrowOpen bool // likewise of which narrow is told
	busy       bool // it is a busy wait that has seen nothing
}

// noKernel is the kernel of time that none is called in.
const noKernel = -1

// comesTo tells that a rank comes to an action, or goes on with it.
func (w *watch) comesTo(r int32, a *trace.Action) {
	rk, seen := &w.engine.ranks[r], &w.ranks[r]
	if w.acts(r) && rk.stage == stageFresh && !rk.collective && !(seen.busy && isTurn(a)) {
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
	at, seen := w.engine.ranks[r].charged, &w.ranks[r]
	if seen.open = w.wideActs; w.wideActs {
		w.wide.ActionBegins(r, *a, at)
	}
	if seen.narrowOpen = w.narrowActs && w.near(r); seen.narrowOpen {
		w.narrow.ActionBegins(r, *a, at)
	}
}

// endAction tells that the action of a rank ends, if it is in one.
func (w *watch) endAction(r int32) {
	at, was := w.engine.ranks[r].charged, w.ranks[r]
	w.ranks[r] = watchedRank{}
	if was.open {
		w.wide.ActionEnds(r, at)
	}
	if was.narrowOpen {
		w.narrow.ActionEnds(r, at)
	}
}

// isTurn reports whether an action can be part of a busy wait.
func isTurn(a *trace.Action) bool {
	switch a.Kind {
	case trace.KindCompute, trace.KindNone, trace.KindMark:
		return true
	}
	return a.Kind == trace.KindPoll && a.Flags&trace.FlagSpin != 0
}
