package maxmin

// part translates a part of the system into a reference and back, for solveAll and solveComponent. An entry of its
// arrays by variable and by constraint is valid if it points to an entry that names that variable or constraint, so
// nothing is cleared between uses.
type part struct {
	reference    reference
	variables    []uint32 // by index in the reference: variable id
	constraints  []uint32 // by index in the reference: constraint
	variableAt   []int32  // by variable id: index in the reference
	constraintAt []int32  // by constraint: index in the reference
}

// solveAll computes all shares anew by the reference.
func (s *System) solveAll() {
	s.beginPart()
	for id := range s.variables {
		if s.variables[id].stage != disabled {
			s.addToPart(uint32(id))
		}
	}
	s.stats.Variables += int64(len(s.part.variables))
	s.solvePart()
}

// solveComponent computes by the reference the shares of all variables that are tied, over any number of common
// constraints, to one that changed. The local solver leaves to it what a mixed FATPIPE is involved in.
func (s *System) solveComponent() {
	s.beginPart()
	for _, id := range s.set.variables {
		s.addToPart(id)
	}
	s.abandon()
	for _, id := range s.enabled {
		if s.variables[id].stage != disabled { // it may have left again
			s.addToPart(id)
		}
	}
	for _, c := range s.freedMixed {
		s.addVariablesOf(c)
	}
	p := &s.part
	for i := 0; i < len(p.variables); i++ {
		for k, to := s.allElements(p.variables[i]); k < to; k++ {
			if c := s.elements[k].constraint; p.addConstraint(c, s.constraints[c].capacity, s.isFatpipe(c)) {
				s.addVariablesOf(c)
			}
		}
	}
	s.stats.Components++
	s.stats.Variables += int64(len(p.variables))
	s.solvePart()
}

// beginPart empties the part.
func (s *System) beginPart() {
	p := &s.part
	p.variables, p.constraints = p.variables[:0], p.constraints[:0]
	p.reference.reset()
	if p.constraintAt == nil {
		p.constraintAt = make([]int32, len(s.constraints))
	}
	for len(p.variableAt) < len(s.variables) {
		p.variableAt = append(p.variableAt, 0)
	}
}

// addToPart adds variable id, unless it is there.
func (s *System) addToPart(id uint32) {
	p := &s.part
	if at := int(p.variableAt[id]); at < len(p.variables) && p.variables[at] == id {
		return
	}
	p.variableAt[id] = int32(len(p.variables))
	p.variables = append(p.variables, id)
}

func (s *System) addVariablesOf(c uint32) {
	for k := s.constraints[c].head; k != none; k = s.elements[k].next {
		s.addToPart(s.variableOf(k))
	}
}

// addConstraint adds constraint c and reports whether it was new.
func (p *part) addConstraint(c uint32, capacity float64, fatpipe bool) bool {
	if at := int(p.constraintAt[c]); at < len(p.constraints) && p.constraints[at] == c {
		return false
	}
	p.constraintAt[c] = p.reference.addConstraint(capacity, fatpipe)
	p.constraints = append(p.constraints, c)
	return true
}

// solvePart computes the shares of the part's variables, which must be all those on their constraints.
func (s *System) solvePart() {
	p := &s.part
	for _, id := range p.variables {
		s.addToReference(id)
	}
	p.reference.solve(s.opts.Precision, !s.opts.Reference)
	for i, id := range p.variables {
		s.setResult(id, &p.reference.variables[i])
	}
	s.touched = p.variables
	for _, c := range p.constraints {
		s.constraints[c].load = s.loadOf(c)
	}
}

// addToReference adds variable id to the reference.
func (s *System) addToReference(id uint32) {
	p, v := &s.part, &s.params[id]
	p.reference.variables = append(p.reference.variables, refVariable{penalty: v.penalty, bound: v.bound,
		firstElement: int32(len(p.reference.elements)), constraint: -1})
	for k, to := s.allElements(id); k < to; k++ {
		c := s.elements[k].constraint
		p.addConstraint(c, s.constraints[c].capacity, s.isFatpipe(c))
		p.reference.use(p.constraintAt[c], s.elements[k].usage)
	}
}

// setResult gives variable id its share and its bottleneck. FATPIPEs are nobody's
// bottleneck: what happens on a mixed one is always solved here.
func (s *System) setResult(id uint32, r *refVariable) {
	v := &s.variables[id]
	s.dropBottleneck(id, v)
	if r.constraint >= 0 && !s.isFatpipe(s.part.constraints[r.constraint]) {
		c := s.part.constraints[r.constraint]
		v.bottleneck = s.elementOn(id, c)
		s.constraints[c].bottleneck++
	}
	s.setShare(id, r.share)
}

// loadOf computes the load of constraint c from its variables.
func (s *System) loadOf(c uint32) float64 {
	load := 0.0
	for k := s.constraints[c].head; k != none; k = s.elements[k].next {
		load += float64(s.Level(s.variableOf(k)) * s.elements[k].usage)
	}
	return load
}
