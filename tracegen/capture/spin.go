package capture

import "slices"

// idleAtMost is how long, in nanoseconds and in the mean, who only waits takes from one question
// to the next; a single one may take longer by chance. Beyond, it is work.
const idleAtMost = 20e3

// missed is a test or a probe that found nothing. If the next call is the same one, the rank
// only waits, and how often it asks is the recording machine's: the test counts for nothing,
// nor does the time up to the next. Else the trace has it.
type missed struct {
	event
	held bool
	step *step // nil: one that adds nothing
}

// hold notes a call that found nothing.
func (t *translator) hold(e *event, s *step) {
	t.miss.event.proc, t.miss.event.comm = e.proc, e.comm
	t.miss.ranks = append(t.miss.ranks[:0], e.ranks...)
	t.miss.tags = append(t.miss.tags[:0], e.tags...)
	t.miss.requests = append(t.miss.requests[:0], e.requests...)
	t.miss.held, t.miss.step = true, s
}

// spins reports whether a call asks again what the one before has asked in vain.
func (t *translator) spins(e *event) bool {
	m := &t.miss
	if !m.held {
		return false
	}
	here := t.v.sites.times[site{before: t.at.before, after: t.s.key}]
	if mean := here.mean(); mean > idleAtMost && (here.n > 1 || mean > 10*idleAtMost) {
		return false
	}
	return m.proc == e.proc && m.comm == e.comm && slices.Equal(m.ranks, e.ranks) && slices.Equal(m.tags, e.tags) &&
		slices.EqualFunc(m.requests, e.requests, func(a, b request) bool { return a.number == b.number && a.persistent == b.persistent })
}

// settleMiss adds a test that was held, unless it is asked again.
func (t *translator) settleMiss(again bool) {
	if t.miss.held && !again && t.miss.step != nil {
		t.add(*t.miss.step)
	}
	t.miss.held = false
}
