package maxmin

// Share returns the share of a variable: 0 until the first Solve after Enable, and what it was after Disable.
func (s *System) Share(id uint32) float64 { return s.Level(id) / s.params[id].penalty }

// Penalty returns the penalty of a variable.
func (s *System) Penalty(id uint32) float64 { return s.params[id].penalty }

// MaxLevel returns the level that a variable has without others.
func (s *System) MaxLevel(id uint32) float64 { return s.variables[id].maxLevel }

// NumConstraints returns the number of constraints.
func (s *System) NumConstraints() int { return len(s.constraints) }

// Len returns one more than the largest number of a variable.
func (s *System) Len() int { return len(s.variables) }

// Shares returns the shares that the last Solve took from the reference and that are other ones now. A variable that
// Solve returned may be among them: then its share holds, not that level.
func (s *System) Shares() []Change { return s.shares }

// Touched returns the variables whose level, share or bottleneck the last Solve may have
// changed, beside those that it has returned. It is valid until the next change.
func (s *System) Touched() []uint32 { return s.touched }

// Stats returns the counts since New.
func (s *System) Stats() Stats { return s.stats }

// AppendConstraints appends the constraints that a variable uses, enabled or not.
func (s *System) AppendConstraints(list []int32, id uint32) []int32 {
	for i, to := s.allElements(id); i < to; i++ {
		list = append(list, int32(s.elements[i].constraint))
	}
	return list
}

// Uses reports whether a variable uses a constraint, enabled or not.
func (s *System) Uses(id uint32, constraint int32) bool {
	return s.elementOn(id, uint32(constraint)) != noElement
}

// Limit returns the constraint that limits a variable, -1 if none does: its bottleneck, or the first that it saturates.
func (s *System) Limit(id uint32) int32 {
	if v := &s.variables[id]; v.bottleneck >= 0 {
		return int32(s.bottleneckOf(id, v))
	}
	return s.saturated(id)
}

// saturated returns the first constraint that a variable saturates, -1 if there is none.
func (s *System) saturated(id uint32) int32 {
	v := &s.variables[id]
	for i, to := s.allElements(id); i < to; i++ {
		c, usage := s.elements[i].constraint, s.elements[i].usage
		if s.isFatpipe(c) {
			usage = s.fatUsage(c, usage, v.level)
		}
		if s.constraints[c].capacity*(1-levelTolerance) <= v.level*usage {
			return int32(c)
		}
	}
	return -1
}

// fatUsage returns the largest of a usage and those of the variables on FATPIPE c that have
// a level at least: a variable of a lower one is bounded elsewhere.
func (s *System) fatUsage(c uint32, usage, level float64) float64 {
	for e := s.constraints[c].head; e != none; e = s.elements[e].next {
		if s.variables[s.variableOf(e)].level >= level*(1-levelTolerance) {
			usage = max(usage, s.elements[e].usage)
		}
	}
	return usage
}
