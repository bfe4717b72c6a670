package trace

// ActionReader yields the actions of a rank one by one, with polls answered by a rule
// that needs no clock. It is for checks and comparisons, not for the inner loop of a
// replay.
type ActionReader struct {
	cursor  *Cursor
	rule    PollAnswers
	step    int
	actions int64
	err     error

	buf  []Action
	at   int
	last *Action
}

// NewActionReader returns a reader of what c yields. Step is that of c's options until
// the first step begins.
func NewActionReader(c *Cursor, rule PollAnswers, step int) ActionReader {
	return ActionReader{cursor: c, rule: rule, step: step}
}

// Cursor returns the cursor that is read.
func (r *ActionReader) Cursor() *Cursor { return r.cursor }

// Step returns the step of the last action.
func (r *ActionReader) Step() int { return r.step }

// Actions returns how many lines a listing has for the actions before the last one,
// without markers.
func (r *ActionReader) Actions() int64 { return r.actions }

// Err returns the error that ended the actions, nil at the end of the stream.
func (r *ActionReader) Err() error { return r.err }

// Next returns the next action that is not a step, nil at the end or after an error. It is
// valid until the next call.
func (r *ActionReader) Next() *Action {
	if r.last != nil {
		r.actions += r.last.Lines()
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
func (r *ActionReader) fill() bool {
	if n := len(r.buf); n > 0 && r.buf[n-1].Kind == KindPoll {
		arrived, err := r.rule.Answer(&r.buf[n-1])
		if r.err = err; err != nil {
			return false
		}
		r.cursor.Answer(arrived)
	}
	if r.buf == nil {
		r.buf = make([]Action, 64)
	}
	var n int
	n, r.err = r.cursor.Fill(r.buf[:cap(r.buf)])
	r.buf, r.at = r.buf[:n], 0
	return r.err == nil && n > 0
}

// Lines returns how many lines a listing has for an action; a marker's is not counted.
func (a *Action) Lines() int64 {
	switch a.Kind {
	case KindProbed, KindPhase, KindMark, KindStep:
		return 0
	case KindExchange, KindSyncExchange:
		return 3
	}
	return 1
}
