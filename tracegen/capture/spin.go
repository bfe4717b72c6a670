package capture

import "slices"

// idleAtMost is how long, in nanoseconds and in the mean, who only waits takes from one question
// to the next; a single one may take longer by chance. Beyond, it is work.
const idleAtMost = 20e3

// spin is a number of questions, tests and probes, that followed each other at once and found nothing.
// If one of them is asked again, the rank only waits, and how often it asks is the recording
// machine's: then what ends the wait counts alone, and nothing between the questions is work.
// Of a wait that other work ends, the trace has each question as it was asked last; of questions
// that are asked once, all.
type spin struct {
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

// asking ends a spin that a call does not go on with: as it is no question, or comes late.
func (t *translator) asking(e *event) {
	if !e.proc.asks() {
		t.spin.found = 0
	}
	if len(t.spin.asked) == 0 {
		return
	}
	here := t.v.sites.times[site{before: t.at.before, after: t.s.key}]
	mean, n := here.mean(), int64(1) // a single time may be long by chance, and so may all in which the rank lost its processor
	if here.kept > 0 {
		mean, n = here.keptSum/float64(here.kept), here.kept
	}
	if !e.proc.asks() || mean > idleAtMost && (n > 1 || mean > 10*idleAtMost) {
		t.leaveSpin(false)
		return
	}
	if _, ok := t.spin.last[e.question()]; ok {
		t.spin.again = true
	}
}

// hold notes a question that has found nothing.
func (t *translator) hold(e *event, s *step) {
	p, q := &t.spin, e.question()
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

// leaveSpin puts down what counts of a spin: if a question has found something, nothing of a wait.
func (t *translator) leaveSpin(found bool) {
	held, again := t.spin.asked, t.spin.again
	if len(held) == 0 {
		return
	}
	now := t.pause
	t.spin.asked = held[:0]
	t.pause = pause{}
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

func (p *pause) add(q pause) {
	p.mean += q.mean
	p.variance += q.variance
	p.real += q.real
}
