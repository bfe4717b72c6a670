package trace

import "slices"

// This file goes through actions where no replay is wanted, in listings, checks and counts: ActionReader through
// those of a rank, Trace.Walk through those of all ranks. Hit and Late are rules that answer polls. Program.Visit
// goes through the items of blocks instead.

// ActionReader yields the actions of a rank one by one, with polls answered by a rule that needs no clock. It is
// for checks and comparisons, not for the inner loop of a replay.
type ActionReader struct {
	// The actions' source, and how its polls are answered.
	cursor  *Cursor
	rule    PollAnswers
	step    int
	actions int64
	lines   int64 // of the last action
	index   int64 // of the last action
	next    int64
	err     error

	// Actions that were read ahead: buf[at:] is still to come. A Fill that ends with a poll ends the buffer, too.
	buf []Action
	at  int
}

// NewActionReader returns a reader of what c yields. Step is that of c's options until the first step begins.
func NewActionReader(c *Cursor, rule PollAnswers, step int) ActionReader {
	return ActionReader{cursor: c, rule: rule, step: step}
}

// Cursor returns the cursor that is read.
func (r *ActionReader) Cursor() *Cursor { return r.cursor }

// Step returns the step of the last action.
func (r *ActionReader) Step() int { return r.step }

// Actions returns how many lines a listing has for the actions before the last one, without markers.
func (r *ActionReader) Actions() int64 { return r.actions }

// Index returns how many actions, but for steps, came before the last one; at the end, how many there were.
func (r *ActionReader) Index() int64 { return r.index }

// Err returns the error that ended the actions, nil at the end of the stream.
func (r *ActionReader) Err() error { return r.err }

// Next returns the next action that is not a step, nil at the end or after an error. It is valid until the next call.
func (r *ActionReader) Next() *Action {
	r.actions, r.lines, r.index = r.actions+r.lines, 0, r.next
	for {
		if r.at == len(r.buf) {
			if r.err != nil {
				return nil
			}
			if r.buf == nil {
				r.buf = make([]Action, 64)
			}
			var n int
			n, r.err = r.cursor.Fill(r.buf[:cap(r.buf)])
			if r.buf, r.at = r.buf[:n], 0; n == 0 {
				return nil
			}
			// A poll, which is the last of them, is answered at once.
			if r.err == nil && r.buf[n-1].Asks() {
				var hit bool
				if hit, r.err = r.rule.Answer(&r.buf[n-1]); r.err == nil {
					r.cursor.Answer(hit)
				}
			}
		}
		a := &r.buf[r.at]
		r.at++
		if a.Kind != KindStep {
			r.lines = a.Lines()
			r.next++
			return a
		}
		r.step = int(a.X[0])
	}
}

// Lines returns how many lines a listing has for an action; a marker's is not counted.
func (a *Action) Lines() int64 {
	switch a.Kind {
	case KindProbed, KindPhase, KindMark, KindStep, KindRound:
		return 0
	// Listings show the three calls that these stand for.
	case KindExchange, KindSyncExchange:
		return 3
	}
	return 1
}

// PollAnswers decides polls where no clock does: in listings, checks and counts.
type PollAnswers interface {
	// Answer says whether the poll a, a KindPoll, finds its message, or what a KindAsk asks for.
	Answer(a *Action) (bool, error)
	// Finish is called at the end of a rank's stream. It reports what the rule still expected.
	Finish() error
}

// Hit lets each poll find its message: the fewest polls and chunks.
type Hit struct{}

// Answer is always true.
func (Hit) Answer(*Action) (bool, error) { return true, nil }

// Finish expects nothing.
func (Hit) Finish() error { return nil }

// Late lets a poll find its message only when the rank has nothing else to do: the most polls and chunks.
type Late struct{}

// Answer is true for polls with FlagSpin.
func (Late) Answer(a *Action) (bool, error) { return a.Flags&FlagSpin != 0, nil }

// Finish expects nothing.
func (Late) Finish() error { return nil }

// Walk takes ranks through their actions side by side, a chunk of the file at a time, so that few
// chunks are held.
type Walk struct {
	Options CursorOptions
	Rule    PollAnswers // of polls; nil: Hit
	// See is called for each action of a rank, and says whether more of it is wanted.
	See func(r *ActionReader, a *Action) (more bool, err error)
	// End, if set, is called when a rank has no more actions, or none that can be read: r.Err says
	// why, and an error of End is that of the walk. Without it the walk ends with r.Err.
	End func(r *ActionReader) error
	// Passed, if set, is called after each rank that has come to the end of a chunk, with the number of such ranks.
	Passed func(c *Chunk, ranks int) error
}

// Walk goes through what all ranks do.
func (t *Trace) Walk(w Walk) error {
	cursors, err := t.Cursors(nil, w.Options)
	if err != nil {
		return err
	}
	// One buffer serves all ranks, as each turn uses up what it has read: a buffer for each of
	// thousands of ranks would be larger than the chunks.
	if w.Rule == nil {
		w.Rule = Hit{}
	}
	shared := make([]Action, 512) // a rank's turn ends when it has taken all that it has read
	readers, done := make([]ActionReader, len(cursors)), make([]bool, len(cursors))
	for i := range cursors {
		readers[i] = NewActionReader(&cursors[i], w.Rule, w.Options.From)
		readers[i].buf = shared[:0]
	}
	// In each round, all ranks do what is theirs in one chunk; after the last chunk, what they do at the end.
	for chunk := cursors[0].win; ; chunk = chunk.next {
		for i := range readers {
			r := &readers[i]
			for !done[i] && (r.cursor.win == chunk || r.at < len(r.buf)) {
				a, more := r.Next(), false
				if a != nil {
					more, err = w.See(r, a)
				}
				if err == nil && !more {
					done[i], r.cursor.win = true, nil // lets go of the chunks
					err = r.err
					if w.End != nil {
						err = w.End(r)
					}
				}
				if err != nil {
					return err
				}
			}
			if chunk != nil && w.Passed != nil {
				if err := w.Passed(chunk, i+1); err != nil {
					return err
				}
			}
		}
		if chunk == nil {
			return nil
		}
	}
}

// Visit calls f with every item of the blocks that are defined, and with those of their loops and conditions. Items
// must not be changed. A block that several blocks call is visited once.
func (p *Program) Visit(f func(*Item)) {
	for i := range p.blocks {
		visitItems(p.blocks[i].Items, f)
	}
}

// visitItems calls f with the items of a list, an item before its body.
func visitItems(list []Item, f func(*Item)) {
	for i := range list {
		f(&list[i])
		visitItems(list[i].Body, f)
	}
}

// Polls reports whether a rank may ask whether a message has come: a block has a recorded probe, or defines a
// pollable operation with a guard. Operations without a guard, such as HPL's long broadcasts, run at their first
// poll, whatever has arrived.
func (p *Program) Polls() bool {
	polls := false
	p.Visit(func(it *Item) {
		polls = polls || it.Op == OpDefine && len(it.Guard) > 0 || it.Op == OpIprobe
	})
	return polls
}

// PollsAhead reports whether a rank may ask between other work whether a message has come, so that the answer decides
// what it does next. Ranks that poll only until the message is there do the same whatever the answers.
func (p *Program) PollsAhead() bool {
	ahead := false
	p.Visit(func(it *Item) { ahead = ahead || it.Op == OpPoll || it.Op == OpUntil || it.Op == OpIprobe })
	return ahead && p.Polls()
}

// Has reports whether a block has an item of one of the operations.
func (p *Program) Has(ops ...Op) bool {
	has := false
	p.Visit(func(it *Item) { has = has || slices.Contains(ops, it.Op) })
	return has
}

// Requests returns how many request slots the blocks that are defined use, by the largest.
func (p *Program) Requests() int {
	most := -1
	p.Visit(func(it *Item) {
		switch it.Op {
		// Waits name the slots of these. A slot that is named by a wait alone holds no request.
		case OpIsend, OpIssend, OpIrecv, OpIaccess:
			most = max(most, int(it.Req))
		}
	})
	return most + 1
}

// Called returns which of so many kernels the blocks that are defined call, and which collective operations.
func (p *Program) Called(kernels int) (called []bool, collectives [NumCollectives]bool) {
	called = make([]bool, kernels)
	p.Visit(func(it *Item) {
		switch it.Op {
		case OpCompute, OpLaunch:
			called[it.Sym] = true
		case OpCollective: // a nonblocking one has an algorithm of its own
			collectives[it.Sym] = true
		}
	})
	return called, collectives
}
