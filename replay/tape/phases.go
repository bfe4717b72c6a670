package tape

// phaseStack is the open phases of a rank, the innermost last.
type phaseStack struct{ open []int32 }

// innermost returns the phase that began last, -1 if none is open.
func (s *phaseStack) innermost() int32 {
	if len(s.open) == 0 {
		return -1
	}
	return s.open[len(s.open)-1]
}

// begin opens a phase, unless it is open.
func (s *phaseStack) begin(phase int32) {
	for _, p := range s.open {
		if p == phase {
			return
		}
	}
	s.open = append(s.open, phase)
}

// end closes a phase, wherever it is.
func (s *phaseStack) end(phase int32) {
	for i, p := range s.open {
		if p == phase {
			s.open = append(s.open[:i], s.open[i+1:]...)
			return
		}
	}
}
