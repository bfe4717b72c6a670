package eventlog

import "slices"

// phaseStack is the open phases of a rank, the innermost last: of most programs a few.
type phaseStack struct {
	open   [6]uint16
	number uint16   // of them
	deeper []uint16 // behind them
}

// innermost returns the phase that began last, -1 if none is open.
func (s *phaseStack) innermost() int32 {
	switch {
	case len(s.deeper) > 0:
		return int32(s.deeper[len(s.deeper)-1])
	case s.number > 0:
		return int32(s.open[s.number-1])
	}
	return -1
}

// begin opens a phase, unless it is open.
func (s *phaseStack) begin(phase uint16) {
	for _, p := range s.open[:s.number] {
		if p == phase {
			return
		}
	}
	switch {
	case int(s.number) < len(s.open):
		s.open[s.number] = phase
		s.number++
	case !slices.Contains(s.deeper, phase):
		s.deeper = append(s.deeper, phase)
	}
}

// end closes a phase, wherever it is.
func (s *phaseStack) end(phase uint16) {
	if top := int(s.number) - 1; len(s.deeper) == 0 && top >= 0 && top < len(s.open) && s.open[top] == phase {
		s.number--
		return
	}
	s.remove(phase)
}

// remove closes a phase that is not the innermost.
//
//go:noinline
func (s *phaseStack) remove(phase uint16) {
	if i := slices.Index(s.deeper, phase); i >= 0 {
		s.deeper = slices.Delete(s.deeper, i, i+1)
		return
	}
	i := slices.Index(s.open[:s.number], phase)
	if i < 0 {
		return
	}
	copy(s.open[i:], s.open[i+1:s.number])
	if s.number--; len(s.deeper) > 0 {
		s.open[s.number] = s.deeper[0]
		s.number++
		s.deeper = slices.Delete(s.deeper, 0, 1)
	}
}
