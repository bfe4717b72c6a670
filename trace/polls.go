package trace

// PollAnswers decides polls where no clock does: in listings, checks and counts.
type PollAnswers interface {
	// Answer says whether the poll a, a KindPoll, finds its message.
	Answer(a *Action) (bool, error)
	// Finish is called at the end of a rank's stream. It reports what the rule
	// still expected.
	Finish() error
}

// Hit lets each poll find its message: the fewest polls and chunks.
type Hit struct{}

// Answer is always true.
func (Hit) Answer(*Action) (bool, error) { return true, nil }

// Finish expects nothing.
func (Hit) Finish() error { return nil }

// Late lets a poll find its message only when the rank has nothing else to do:
// the most polls and chunks.
type Late struct{}

// Answer is true for polls with FlagSpin.
func (Late) Answer(a *Action) (bool, error) { return a.Flags&FlagSpin != 0, nil }

// Finish expects nothing.
func (Late) Finish() error { return nil }
