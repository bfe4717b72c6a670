package maxmin

import "math"

// This file moves variables between clocks (takeOver, letGo, survey), and makes constraints quiet or loud; clocks.go
// calls it.

// headroom is the ratio of clocks.above to the level when it is set: a small rise then changes no quiet constraint.
const headroom = 1.02

// quietPart: a constraint without own variables becomes quiet if its load is below this part of its capacity. A level
// below this part of its clocks.above lowers that.
const quietPart = 0.9

// raiseAbove sets clocks.above of c, whose level has grown or fallen far, and the loads of quiet constraints by it.
func (s *System) raiseAbove(c uint32, level float64) {
	k := s.clocks
	rise := float64(level*headroom) - k.above[c]
	k.above[c] = level * headroom
	for _, u := range k.users[c] {
		if u.by != c {
			continue
		}
		for _, e := range s.sharedElements(s.variableOf(u.element)) {
			if k.quiet[e.constraint] {
				k.loads[e.constraint].frozen += float64(e.usage * rise)
				s.wait(e.constraint)
			}
		}
	}
}

// makeLoud ends that c is quiet: its load is computed exactly from now on.
func (s *System) makeLoud(c uint32) {
	k := s.clocks
	k.quiet[c] = false
	for _, u := range k.users[c] {
		if u.by < away {
			k.pairs[u.by].add(c, u.usage, 1)
		}
	}
	s.survey(c, math.Inf(1))
}

// makeQuiet keeps only an upper bound of the load of constraint c, which has no own variables.
func (s *System) makeQuiet(c uint32) {
	k := s.clocks
	k.quiet[c] = true
	frozen := 0.0
	for _, u := range k.users[c] {
		switch u.by {
		case away:
		case noClock:
			frozen += float64(u.usage * s.variables[s.variableOf(u.element)].level)
		default:
			frozen += float64(u.usage * k.above[u.by])
			k.pairs[u.by].add(c, -u.usage, -1)
		}
	}
	k.loads[c].frozen = frozen
}

// takeOver moves the variables on c whose level is above that of c to its clock, and reports whether there were any.
func (s *System) takeOver(c uint32) bool {
	k, on := s.clocks, &s.constraints[c]
	limit := math.Inf(-1)
	if on.bottleneck > 0 {
		limit = max(0, (on.capacity-k.loads[c].frozen)/k.of[c].own) * (1 + levelTolerance)
	}
	over, kept := s.survey(c, limit)
	level := 0.0
	for n := -1; n != len(over); {
		n = len(over)
		usage := k.of[c].own
		for _, m := range over {
			usage += m.usage
		}
		level = max(0, (on.capacity-kept)/usage)
		above := over[:0]
		for _, m := range over {
			if m.level > level*(1+levelTolerance) {
				above = append(above, m)
			} else {
				kept += float64(m.level * m.usage)
			}
		}
		over = above
	}
	if len(over) == 0 {
		return false
	}
	if on.bottleneck > 0 {
		s.spread(c, level)
	} else {
		s.setClock(c, level)
	}
	for _, m := range over {
		id := s.variableOf(m.id)
		s.assign(id, int16(s.placeOf(m.id)))
	}
	k.loads[c].highest = level
	return true
}

// letGo takes the own variables of c whose maximum is below a level from its clock, and reports whether there were any.
func (s *System) letGo(c uint32, level float64) (some bool) {
	k := &s.clocks.of[c]
	k.lowest = math.Inf(1)
	for _, u := range s.clocks.users[c] {
		if u.by != c {
			continue
		}
		id := s.variableOf(u.element)
		if most := s.variables[id].maxLevel; most < level {
			s.assign(id, noElement)
			some = true
		} else {
			k.lowest = min(k.lowest, most)
		}
	}
	return some
}

// survey computes own, frozen and highest of c anew. Of the variables on c that are not its own it returns those above
// a level (over, valid until the next survey), and the load of those that are not above it (below).
func (s *System) survey(c uint32, above float64) (over []mover, below float64) {
	k := s.clocks
	own, frozen, highest := 0.0, 0.0, 0.0
	over = k.over[:0]
	for _, u := range k.users[c] {
		var level float64
		switch u.by {
		case c:
			own += u.usage
			continue
		case away:
			continue
		case noClock:
			level = s.variables[s.variableOf(u.element)].level
		default:
			level = k.level[u.by]
		}
		highest = max(highest, level)
		load := float64(u.usage * level)
		frozen += load
		if level > above {
			over = append(over, mover{u.element, level, u.usage})
		} else {
			below += load
		}
	}
	k.over = over
	of, l := &k.of[c], &k.loads[c]
	of.age, of.own, of.floor = 0, own, smallUsage*own
	l.frozen, l.highest = frozen, highest
	return over, below
}
