package stat

import (
	"math"
	"testing"

	"reprise/internal/tracetest"
	"reprise/trace"
)

// expand counts the flat actions of all ranks.
func expand(t *testing.T, tr *trace.Trace, late bool) *tally {
	t.Helper()
	cursors := tracetest.Must(tr.Cursors(nil, trace.CursorOptions{}))
	e := expander{tally: newTally(tr.Header()), h: tr.Header(), rule: trace.Hit{}}
	if late {
		e.rule = trace.Late{}
	}
	for i := range cursors {
		e.open, e.phase = nil, -1
		r := trace.NewActionReader(&cursors[i], e.rule, 0)
		for a := r.Next(); a != nil; a = r.Next() {
			e.action(a)
		}
		if r.Err() != nil {
			t.Fatal(r.Err())
		}
	}
	return e.tally
}

// expander counts the actions of a rank.
type expander struct {
	*tally
	h     *trace.Header
	rule  trace.PollAnswers
	open  []int32
	phase int32
}

func (e *expander) add(c counter, n int64) {
	e.ints[e.at(e.phase, c)] += n
}

func (e *expander) amount(c counter, value float64) { e.floats[e.at(e.phase, c)] += value }

func (e *expander) send(c counter, bytes int64) {
	e.add(c, 1)
	e.add(countBytes+c, bytes)
}

func (e *expander) action(a *trace.Action) {
	switch a.Kind {
	case trace.KindPhase:
		e.mark(a)
	case trace.KindProbed:
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
	trace.KindWaitAll: countWaitAll, trace.KindFree: countFree, trace.KindIprobe: countProbe, trace.KindNull: countNull, trace.KindStart: countStart, trace.KindProbe: countBlocked}

func (e *expander) mark(a *trace.Action) {
	if a.Flags&trace.FlagEnd == 0 {
		e.open = append(e.open, int32(a.Sym))
	} else if n := len(e.open); n > 0 {
		e.open = e.open[:n-1]
	}
	e.phase = -1
	if n := len(e.open); n > 0 {
		e.phase = e.open[n-1]
	}
}
