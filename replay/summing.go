package replay

// summing is what an observer is to be told of messages, many at once: what each of them takes
// beside the engine does not fit in the processor's caches, nor does its code.
type summing struct {
	to    Summing
	sent  []Sent
	ended []Transferred
}

// maxSummed is how many messages are told at once.
const maxSummed = 64

func newSumming(to Summing) *summing {
	return &summing{to, make([]Sent, 0, maxSummed), make([]Transferred, 0, maxSummed)}
}

// send notes a send that is posted.
func (s *summing) send(m *message, size int64) {
	if s.sent = append(s.sent, Sent{m.src, m.dst, size}); len(s.sent) == maxSummed {
		s.tellSent()
	}
}

// end notes a transfer that has ended.
func (s *summing) end(t Transferred) {
	if s.ended = append(s.ended, t); len(s.ended) == maxSummed {
		s.tellEnded()
	}
}

// tellSent tells what is noted of sends.
//
//go:noinline
func (s *summing) tellSent() {
	s.to.Sent(s.sent)
	s.sent = s.sent[:0]
}

// tellEnded tells what is noted of transfers.
//
//go:noinline
func (s *summing) tellEnded() {
	s.to.Transferred(s.ended)
	s.ended = s.ended[:0]
}

// tellRest tells what is left when a replay is over.
func (e *engine) tellRest() {
	if e.watch != nil && e.watch.summing != nil {
		e.watch.summing.tellSent()
		e.watch.summing.tellEnded()
	}
}
