package stat

import (
	"encoding/binary"
	"slices"

	"reprise/trace"
)

// rankStates is what the calls so far have left in each rank: open phases and
// pending operations.
type rankStates struct {
	of      []int32 // by rank: configuration
	configs []config
	index   map[string]int32
	slots   int
	pending []int32 // by rank and slot: operation, if the configuration has one
	ops     []operation
	unused  []int32 // numbers of operations that no rank has any more
}

// config is a state without the operations' identity. Configuration 0: nothing.
type config struct {
	phases        []int32 // open, innermost last
	guarded, free uint32  // slots, by bit
}

// operation is a pending operation of one or more ranks: what its body counts, and
// how often it has run without being counted yet.
type operation struct {
	counts []countValue
	ranks  int64
	runs   int64
	phase  int32 // of the runs
}

// countValue is a term of a summary, evaluated; a phase below 0 is relative.
type countValue struct {
	phase int32
	count counter
	int   int64
	float float64
}

func newRankStates(h *trace.Header) *rankStates {
	s := &rankStates{of: make([]int32, h.Ranks), index: map[string]int32{}, slots: h.Pollables}
	s.pending = make([]int32, h.Ranks*h.Pollables)
	s.intern(config{})
	return s
}

func (s *rankStates) intern(c config) int32 {
	key := binary.LittleEndian.AppendUint32(nil, c.guarded)
	key = binary.LittleEndian.AppendUint32(key, c.free)
	for _, p := range c.phases {
		key = binary.LittleEndian.AppendUint32(key, uint32(p))
	}
	id, ok := s.index[string(key)]
	if !ok {
		id = int32(len(s.configs))
		c.phases = slices.Clone(c.phases)
		s.configs = append(s.configs, c)
		s.index[string(key)] = id
	}
	return id
}

// holds reports whether an operation is pending in a slot, guarded or not.
func (c *config) holds(slot int32, guarded bool) bool {
	if guarded {
		return c.guarded>>slot&1 != 0
	}
	return c.free>>slot&1 != 0
}

// phase returns the phase that a relative one is, -1 for none.
func (c *config) phase(p int32) int32 {
	if p >= 0 {
		return p
	}
	if i := len(c.phases) + int(p); i >= 0 {
		return c.phases[i]
	}
	return -1
}

// newOperation stores an operation that ranks have pending.
func (s *rankStates) newOperation(counts []countValue, ranks int64) int32 {
	if n := len(s.unused); n > 0 {
		id := s.unused[n-1]
		s.unused = s.unused[:n-1]
		s.ops[id] = operation{counts: counts, ranks: ranks}
		return id
	}
	s.ops = append(s.ops, operation{counts: counts, ranks: ranks})
	return int32(len(s.ops) - 1)
}
