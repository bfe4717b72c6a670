package stat

import (
	"errors"
	"fmt"
	"math"

	"reprise/trace"
)

// This file counts the actions themselves, one by one, of traces whose structure is no formula: phases that begin or end
// under a condition, formulas that are too long, blocks that never get to an operation which would fail.

// mostActions bounds the actions that are counted one by one: half an hour, or hours, of them.
const mostActions = 1 << 36

// idleTurns are the turns of a loop of nothing for which a cursor yields an action of no kind.
const idleTurns = 1 << 15

// expand counts the flat actions of all ranks, at most so many, and the steps.
func expand(t *trace.Trace, o Options, most int64) (*tally, int, error) {
	h := t.Header()
	cursors, err := t.Cursors(nil, trace.CursorOptions{Idle: true})
	if err != nil {
		return nil, 0, err
	}
	rule := trace.PollAnswers(trace.Hit{})
	if o.Late {
		rule = trace.Late{}
	}
	sum := newTally(h)
	ranks := make([]expander, len(cursors))
	for i := range ranks {
		ranks[i] = expander{tally: sum, h: h, c: &cursors[i], rule: rule, phase: -1, left: &most}
	}
	buf, steps, last := make([]trace.Action, 512), 0, -1
	for chunk := cursors[0].Chunk(); chunk != nil; chunk = chunk.Next() {
		for i := range ranks {
			for ranks[i].c.Chunk() == chunk {
				if err := ranks[i].fill(buf); err != nil {
					return nil, 0, err
				}
			}
		}
		for _, unit := range chunk.Units() {
			if unit.Step != last {
				last = unit.Step
				steps++
			}
		}
		if o.Progress != nil {
			o.Progress(steps)
		}
	}
	return sum, steps, nil
}

// expander counts the actions of a rank.
type expander struct {
	*tally
	h     *trace.Header
	c     *trace.Cursor
	rule  trace.PollAnswers
	open  []int32
	phase int32
	left  *int64 // actions that may still be counted
	over  bool
}

var errTotals = errors.New("totals exceed 64 bits")

// fill counts the next actions of the rank.
func (e *expander) fill(buf []trace.Action) error {
	n, err := e.c.Fill(buf)
	if err != nil {
		return err
	}
	for i := range buf[:n] {
		e.action(&buf[i])
	}
	if *e.left -= int64(n); *e.left < 0 {
		return fmt.Errorf("more than %d actions, which no formulas count", int64(mostActions))
	}
	if n > 0 && buf[n-1].Kind == trace.KindPoll {
		arrived, err := e.rule.Answer(&buf[n-1])
		if err != nil {
			return err
		}
		e.c.Answer(arrived)
		if arrived {
			e.add(countIprobe, 1)
		} else {
			e.add(countMiss, 1)
		}
	}
	if e.over {
		return errTotals
	}
	return nil
}

func (e *expander) add(c counter, n int64) {
	sum := &e.ints[e.at(e.phase, c)]
	e.over = e.over || n > math.MaxInt64-*sum
	*sum += n
}

func (e *expander) amount(c counter, value float64) { e.floats[e.at(e.phase, c)] += value }

func (e *expander) send(c counter, bytes int64) {
	e.add(c, 1)
	e.add(countBytes+c, bytes)
}

func (e *expander) action(a *trace.Action) {
	switch a.Kind {
	case trace.KindNone:
		*e.left -= idleTurns
	case trace.KindPhase:
		e.mark(a)
	case trace.KindStep, trace.KindProbed, trace.KindPoll:
	case trace.KindCompute:
		calls := e.counters.calls[a.Sym]
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
