package replay

// summing is what an observer is to be told of transfers, many at once: what each of them takes
// beside the engine does not fit in the processor's caches, nor does its code.
type summing struct {
	to    Summing
	ended []Transferred
}

// maxSummed is how many transfers are told at once.
const maxSummed = 64

func newSumming(to Summing) *summing { return &summing{to, make([]Transferred, 0, maxSummed)} }

// next returns a transfer that has ended, which the caller sets.
func (s *summing) next() *Transferred {
	n := len(s.ended)
	if n == maxSummed {
		s.tell()
		n = 0
	}
	s.ended = s.ended[:n+1]
	return &s.ended[n]
}

// tell tells what is noted of transfers.
//
//go:noinline
func (s *summing) tell() {
	s.to.Transferred(s.ended)
	s.ended = s.ended[:0]
}

// tellRest tells what is left when a replay is over.
func (e *engine) tellRest() {
	if e.watch != nil && e.watch.summing != nil {
		e.watch.summing.tell()
	}
}
