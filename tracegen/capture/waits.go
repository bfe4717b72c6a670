package capture

import (
	"math"
	"slices"

	"reprise/trace"
)

// This file takes the timing of the recording machine out of waits: spin of polling in vain, drain of MPI_Waitany
// and MPI_Waitsome.

// idleAtMost is the longest mean time, in nanoseconds, from one question to the next of a rank that only waits. A
// single time may be longer by chance; a longer mean is work.
const idleAtMost = 20e3

// spin is a sequence of questions, tests and probes, that followed each other at once and found nothing.
//
// If one of them is asked again, the rank only waits, and the number of its questions depends on the timing of the
// recording machine. Then the call that ends the wait is in the trace alone, and no time between the questions is work.
// If the wait ends as the rank turns to other work, the trace has each question once, where it was asked last.
//
// Questions that are asked once each are all in the trace, with the times between them.
type spin struct {
	// The questions since the last step, each with the place where it was asked last.
	asked  []asked
	last   map[uint64]int64 // by question: when it was asked last
	number int64            // of questions
	again  bool             // one was asked twice
	first  pause            // before the first
	found  uint64           // the last probe that found a message that is still there: its record
}

// asked is a question, and its step if the trace may have it.
type asked struct {
	number int64
	step   *step
	before pause
}

// pause is a computation that is not put down yet, in flop.
type pause struct {
	mean, variance, real float64
}

// asks reports whether a procedure asks for what has happened, and does not wait for it.
func (p procedureNumber) asks() bool {
	switch p {
	case procTest, procTestall, procTestany, procTestsome, procRequestgetstatus, procIprobe, procImprobe, procWintest,
		procParrived:
		return true
	}
	return false
}

// question returns what a call asks, whatever the answer.
func (e *event) question() uint64 {
	// The hash leaves out the answer, and so the counts that an answer brings.
	h := uint64(e.proc)
	add := func(v int64) { h = (h ^ uint64(v)) * 0x9E3779B97F4A7C15 }
	add(int64(e.comm))
	add(int64(e.window))
	for i := range e.ranks {
		add(int64(e.ranks[i]))
		add(int64(e.tags[i]))
	}
	for _, r := range e.requests {
		if add(r.number); r.persistent {
			add(-1)
		}
	}
	return h
}

// asking ends the spin if a call does not continue it: the call is no question, or comes after work.
func (t *translator) asking(e *event) {
	if !e.proc.asks() {
		t.spin.found = 0
	}
	if len(t.spin.asked) == 0 {
		return
	}
	// The mean of the site decides, as a single time may be long by chance, and so may all in which the rank lost its
	// processor.
	here := t.v.sites.of(between(t.before, t.s.key))
	mean, n := here.mean(), int64(1)
	if here.kept > 0 {
		mean, n = here.keptSum/float64(here.kept), here.kept
	}
	// Work between two questions ends the spin. A site that was passed once must be far above the limit.
	if !e.proc.asks() || mean > idleAtMost && (n > 1 || mean > 10*idleAtMost) {
		t.leaveSpin(false)
		return
	}
	if _, ok := t.spin.last[e.question()]; ok {
		t.spin.again = true
	}
}

// hold notes a question that has found nothing, with its step, if the trace may have it. A question that was asked
// before moves to the end of the list, which is sorted by when each question was asked last.
func (t *translator) hold(e *event, s *step) {
	p, q := &t.spin, e.question()
	// The time so far belongs to the question, and may turn out to be idle.
	before := t.pause
	t.pause = pause{}
	if len(p.asked) == 0 {
		p.first, p.again, p.last = before, false, map[uint64]int64{}
	}
	if number, ok := p.last[q]; ok {
		p.again = true
		i, _ := slices.BinarySearchFunc(p.asked, number, func(a asked, number int64) int { return int(a.number - number) })
		p.asked = slices.Delete(p.asked, i, i+1)
	}
	p.number++
	p.last[q] = p.number
	p.asked = append(p.asked, asked{p.number, s, before})
}

// leaveSpin adds the steps and the time of a spin. If a rank only waited and found what it asked for, it adds no
// step, and only the time before the first question.
func (t *translator) leaveSpin(found bool) {
	held, again := t.spin.asked, t.spin.again
	if len(held) == 0 {
		return
	}
	now := t.pause
	t.spin.asked = held[:0]
	t.pause = pause{}
	// A rank that only waited has worked before its first question alone.
	if again {
		t.pause = t.spin.first
	}
	for _, a := range held {
		if !again {
			t.pause.add(a.before)
		}
		if a.step != nil && !(again && found) {
			t.add(*a.step)
		}
	}
	if !(again && found) {
		t.pause.add(now)
	}
}

// add adds a computation to those that are not written yet.
func (p *pause) add(q pause) {
	p.mean += q.mean
	p.variance += q.variance
	p.real += q.real
}

// drain is a set of requests that the rank waits for with MPI_Waitany or MPI_Waitsome until none is left, without
// another call of MPI meanwhile. The order in which they end depends on the recording machine. So the trace has as
// many waits for any, or some, of them as there are requests, with the same work between each two; where
// MPI_Waitsome has ended several at once, the last waits find none left. If another call comes in between, the
// trace has a wait for each request that was chosen.
type drain struct {
	slots []int64 // ascending
	left  int     // requests that have not ended
	kind  trace.Completion
	steps []int32 // of the trace, if it turns out to be no drain
	each  int     // computations put down before it
}

// mostDrained is how many requests a completion of the trace may have.
const mostDrained = 1 << 16

// pending returns the slots of the requests of a call that the trace has, ascending; nil if one of the requests
// has several slots.
func (t *translator) pending(e *event) (slots []int64) {
	for _, r := range e.requests {
		at, ok := t.slots[t.started.instance(r)]
		switch {
		case !ok || r.number == 0 || at.none:
		case len(at.rest) > 0:
			return nil
		default:
			slots = append(slots, int64(at.number))
		}
	}
	slices.Sort(slots)
	return slots
}

// draining begins or continues a drain with a call, or ends one to which the call does not belong.
func (t *translator) draining(e *event) {
	// A drain goes on while each call waits for exactly the requests that the calls before have left.
	waits := (e.proc == procWaitany || e.proc == procWaitsome) && len(e.ended) > 0
	if d := t.drain; d != nil && !(waits && d.continues(t.pending(e))) {
		t.undrain()
	}
	if waits && t.drain == nil {
		if slots := t.pending(e); len(slots) > 1 && len(slots) <= mostDrained {
			t.settle()
			t.drain = &drain{slots: slots, left: len(slots), each: len(t.each), kind: trace.CompleteAny}
		}
	}
	if t.drain != nil && e.proc == procWaitsome {
		t.drain.kind = trace.CompleteSome
	}
}

// continues reports whether the pending requests are those that the drain has left.
func (d *drain) continues(pending []int64) bool {
	return len(pending) == d.left && !slices.ContainsFunc(pending, func(slot int64) bool {
		_, found := slices.BinarySearch(d.slots, slot)
		return !found
	})
}

// undrain puts down the steps that were kept for what turned out to be no drain.
func (t *translator) undrain() {
	d := t.drain
	if d == nil {
		return
	}
	t.drain = nil
	// The kept steps are written as they were recorded.
	for _, step := range d.steps {
		t.put(step)
	}
}

// drained ends a drain whose last request has ended. The computations between its waits, and their variances, are
// shared out evenly over these waits.
func (t *translator) drained() {
	d := t.drain
	if d == nil || d.left > 0 {
		return
	}
	t.drain = nil
	// All computations between the first and the last wait are added up, with their variances.
	var work pause
	for _, n := range d.steps {
		if s := &t.table.steps[n]; s.kind == trace.KindFlops {
			spread := math.Float64frombits(uint64(s.args[argSpread]))
			work.add(pause{mean: math.Float64frombits(uint64(s.args[argPeer])), variance: float64(spread * spread)})
		}
	}
	for _, v := range t.each[d.each:] {
		work.real += v
	}
	t.each = t.each[:d.each]
	between := float64(len(d.slots) - 1)
	one := step{form: form{kind: trace.KindComplete, completion: d.kind, slots: t.table.list(d.slots)}}
	for i := range d.slots {
		if i > 0 {
			t.pause = pause{math.Round(work.mean / between), work.variance / between, math.Round(work.real / between)}
		}
		t.add(one)
	}
}
