package trace

// actionReader yields the actions of a rank one by one, with polls answered by a
// rule that needs no clock. It is for checks that are not the inner loop of a
// replay.
type actionReader struct {
	c       *Cursor
	late    bool // answer polls as Late does, else as Hit
	step    int  // of the last action
	actions int64
	err     error

	buf  []Action
	at   int
	last *Action
}

// next returns the next action that is not a step, nil at the end or after an
// error. It is valid until the next call; actions counts the lines that a listing
// has for those before it.
func (r *actionReader) next() *Action {
	if r.last != nil {
		r.actions += lines(r.last)
	}
	for r.last = nil; r.last == nil; {
		if r.at == len(r.buf) && !r.fill() {
			return nil
		}
		a := &r.buf[r.at]
		r.at++
		if a.Kind == KindStep {
			r.step = int(a.X[0])
			continue
		}
		r.last = a
	}
	return r.last
}

// fill reads the next actions; false if there are none.
func (r *actionReader) fill() bool {
	if n := len(r.buf); n > 0 && r.buf[n-1].Kind == KindPoll {
		r.c.Answer(!r.late || r.buf[n-1].Flags&FlagSpin != 0)
	}
	if r.buf == nil {
		r.buf = make([]Action, 64)
	}
	var n int
	n, r.err = r.c.Fill(r.buf[:cap(r.buf)])
	r.buf, r.at = r.buf[:n], 0
	return r.err == nil && n > 0
}

// lines returns how many lines a listing has for an action; a marker's is not
// counted.
func lines(a *Action) int64 {
	switch a.Kind {
	case KindProbed, KindPhase, KindMark, KindStep:
		return 0
	case KindExchange, KindSyncExchange:
		return 3
	}
	return 1
}
