package timeline

// openPhase is a phase that a rank is in.
type openPhase struct {
	phase uint16
	begin float64
}

// beginPhase begins a phase, unless the rank is in it.
func (rk *rank) beginPhase(phase uint16, at float64) {
	if rk.inPhase(phase) < 0 {
		rk.phases = append(rk.phases, openPhase{phase, at})
	}
}

// inPhase returns which of the open phases a phase is, -1 if none.
func (rk *rank) inPhase(phase uint16) int {
	for i := range rk.phases {
		if rk.phases[i].phase == phase {
			return i
		}
	}
	return -1
}

// endPhase ends a phase. Those that have begun within it end, and begin anew.
func (r *Recorder) endPhase(rank int32, rk *rank, phase uint16, at float64) {
	i := rk.inPhase(phase)
	if i < 0 {
		return
	}
	if rk.meets(rk.phases[i].begin, at) {
		r.showPhases(rank, rk)
	}
	again := rk.shown - 1 // those before it, from i on, have been shown
	for ; rk.shown > i; rk.shown-- {
		r.to.PhaseEnds(rank, at)
	}
	rk.phases = append(rk.phases[:i], rk.phases[i+1:]...)
	for j := i; j < again; j++ {
		rk.phases[j].begin = at
	}
}

// showPhases tells the sink of the open phases that it has not been told of.
func (r *Recorder) showPhases(rank int32, rk *rank) {
	for ; rk.shown < len(rk.phases); rk.shown++ {
		p := &rk.phases[rk.shown]
		r.to.PhaseBegins(rank, int(p.phase), p.begin)
	}
}
