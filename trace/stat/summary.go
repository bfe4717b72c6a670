package stat

import "slices"

// summary is what one call of a block does, as polynomials in its algebra.
//
// A phase is the index of one, or -1-d for the phase that was the d-th innermost
// when the block was called. Slots that the block does not touch are absent from
// outs.
type summary struct {
	algebra *algebra
	counts  []countTerm
	amounts []amountTerm
	runs    []runTerm
	sites   []site
	outs    map[int32][]pendingOp
	phases  phaseStack
	code    *formulas // once compiled
}

// stateless reports that a call leaves phases and slots as they are.
func (s *summary) stateless() bool { return len(s.runs) == 0 && s.outs == nil && s.phases.neutral() }

// idle reports that a call changes and counts nothing.
func (s *summary) idle() bool { return s.stateless() && len(s.counts) == 0 && len(s.amounts) == 0 }

// countTerm adds value to a counter of a phase; term: as floating point.
type countTerm struct {
	phase int32
	count counter
	term  bool
	value poly
	f     formula // of value, in the code; so in the following
}

// amountTerm adds times * float64frombits(bits) to a counter of a phase.
type amountTerm struct {
	phase       int32
	count       counter
	times, bits poly
	f           [2]formula
}

// runTerm says that the operation that was pending in a slot when the block was
// called runs, in a phase, if factor is 1.
type runTerm struct {
	slot, phase int32
	guarded     bool
	factor      poly
	f           formula
}

// site is a Define whose operation may be pending.
type site struct {
	body    int
	guarded bool
	args    []poly
	f       []formula
}

// pendingOp is an operation that is pending in a slot if factor is 1: that of
// sites[site], or the one that was when the block was called.
type pendingOp struct {
	site   int
	factor poly
	f      formula
}

// Sites of operations that were pending when the block was called: their factor
// holds for a block that was called with such a one.
const (
	entryGuarded = -1
	entryFree    = -2
)

// phaseStack is what a block does to the open phases: it leaves popped of its
// caller's and has opened others, innermost last.
type phaseStack struct {
	popped int
	open   []int32
}

func (s *phaseStack) neutral() bool { return s.popped == 0 && len(s.open) == 0 }

// resolve translates a phase of a callee to one of the block.
func (s *phaseStack) resolve(phase int32) int32 {
	if phase >= 0 {
		return phase
	}
	d := int(-1 - phase)
	if d < len(s.open) {
		return s.open[len(s.open)-1-d]
	}
	return int32(-1 - (s.popped + d - len(s.open)))
}

func (s *phaseStack) leave() {
	if n := len(s.open); n > 0 {
		s.open = slices.Clone(s.open[:n-1])
		return
	}
	s.popped++
}

func (s *phaseStack) enter(phases ...int32) { s.open = append(slices.Clone(s.open), phases...) }
