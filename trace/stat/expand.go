package stat

import (
	"math"

	"reprise/trace"
)

// This file counts by expanding a trace to actions (expand): where what ranks do depends on when their requests are
// complete, structure alone does not tell.

// rules answer polls, by Options.Late.
var rules = map[bool]trace.PollAnswers{false: trace.Hit{}, true: trace.Late{}}

// expander counts actions.
type expander struct {
	*tally
	h     *trace.Header
	rule  trace.PollAnswers
	open  [][]int32 // by rank: the open phases, the innermost last
	phase int32     // of the rank at hand
	err   error
}

// expand counts the flat actions of all ranks.
func expand(t *trace.Trace, rule trace.PollAnswers) (*tally, error) {
	h := t.Header()
	e := expander{tally: newTally(h), h: h, rule: rule, open: make([][]int32, h.Ranks)}
	err := t.Walk(trace.Walk{Rule: rule, See: func(r *trace.ActionReader, a *trace.Action) (bool, error) {
		open := &e.open[r.Cursor().Rank()]
		if a.Kind == trace.KindPhase {
			if a.Flags&trace.FlagEnd == 0 {
				*open = append(*open, int32(a.Sym))
			} else if n := len(*open); n > 0 {
				*open = (*open)[:n-1]
			}
			return true, nil
		}
		if e.phase = -1; len(*open) > 0 {
			e.phase = (*open)[len(*open)-1]
		}
		e.action(a)
		return true, e.err
	}})
	return e.tally, err
}

func (e *expander) add(c counter, n int64) {
	sum := &e.ints[e.at(e.phase, c)]
	if *sum += n; *sum < 0 {
		e.err = errTotals
	}
}

func (e *expander) amount(c counter, value float64) { e.floats[e.at(e.phase, c)] += value }

func (e *expander) send(c counter, bytes int64) {
	e.add(c, 1)
	e.add(countBytes+c, bytes)
}

func (e *expander) action(a *trace.Action) {
	switch a.Kind {
	case trace.KindProbed, trace.KindRound:
	case trace.KindAsk: // as trace cat lists them; a rank that waits for any has asked for the last one if for none before
		asked := 0
		for _, slot := range a.X {
			if slot >= 0 {
				asked++
			}
		}
		hit, _ := e.rule.Answer(a)
		switch m := trace.Completion(a.Sym); {
		case m == trace.CompleteAny && (hit || int(a.Tag) == asked-1), hit && m == trace.TestAll:
			e.add(countComplete+counter(m), 1)
		case m == trace.CompleteAny:
		case hit:
			e.add(countTest, 1)
		default:
			e.add(countMiss, 1)
		}
	case trace.KindPoll:
		if hit, _ := e.rule.Answer(a); hit {
			e.add(countIprobe, 1)
		} else {
			e.add(countMiss, 1)
		}
	case trace.KindCompute, trace.KindLaunch:
		calls := e.kernels[a.Sym]
		e.add(calls, 1)
		for i, term := range e.h.Kernels[a.Sym].Flops {
			v := 1.0
			for d, pow := range term.Pow {
				for range pow {
					v *= float64(a.X[d])
				}
			}
			e.amount(calls+counter(1+i), v)
		}
	case trace.KindFlops:
		e.add(countFlops, 1)
		e.amount(countFlops, a.Flops())
	case trace.KindSleep:
		e.add(countSleep, 1)
		e.amount(countSleep, a.Seconds())
	case trace.KindExchange:
		e.add(countIrecv, 1)
		e.send(countSend, a.X[0])
		e.add(countWait, 1)
	case trace.KindSyncExchange:
		e.send(countIssend, a.X[0])
		e.add(countRecv, 1)
		e.add(countWait, 1)
	case trace.KindComplete:
		e.add(countComplete+counter(a.Sym), 1)
	case trace.KindAccess, trace.KindIaccess:
		c, bytes := countAccess+counter(a.AccessKind()), a.X[0]
		if a.Kind == trace.KindIaccess {
			c = countIaccess + counter(a.AccessKind())
		}
		if bytes == 0 {
			bytes = a.X[1]
		}
		e.add(c, 1)
		e.add(countMoved+c-countAccess, bytes)
	case trace.KindFile:
		c := countFile + counter(a.X[1])
		if a.X[2] != 0 {
			c = countFileAll + counter(a.X[1])
		}
		e.add(c, 1)
		e.add(countMoved+c-countAccess, a.X[0])
	case trace.KindQueue:
		e.add(countQueue+counter(a.X[0]), 1)
	case trace.KindSync:
		e.add(countSync+counter(a.X[0]), 1)
	case trace.KindSend, trace.KindSsend, trace.KindIsend, trace.KindIssend, trace.KindSendrecv, trace.KindStart:
		e.send(kindCounts[a.Kind], a.X[0])
	case trace.KindCollective, trace.KindIcollective:
		c := countCollective + counter(a.Sym)
		if a.Kind == trace.KindIcollective {
			c = countIcollective + counter(a.Sym)
		}
		e.add(c, 1)
		if trace.CollectiveKind(a.Sym).Reduces() {
			e.amount(c, math.Float64frombits(uint64(a.X[2])))
		}
	default:
		e.add(kindCounts[a.Kind], 1)
	}
}

// kindCounts are the counters of kinds that are one action each.
var kindCounts = map[trace.Kind]counter{trace.KindSend: countSend, trace.KindSsend: countSsend, trace.KindIsend: countIsend, trace.KindIssend: countIssend,
	trace.KindSendrecv: countSendrecv, trace.KindRecv: countRecv, trace.KindIrecv: countIrecv, trace.KindWait: countWait, trace.KindTest: countTest,
	trace.KindWaitAll: countWaitAll, trace.KindFree: countFree, trace.KindIprobe: countProbe, trace.KindNull: countNull, trace.KindStart: countStart, trace.KindProbe: countBlocked,
	trace.KindAfter: countAfter, trace.KindBeside: countBeside}
