package maxmin

import "math/big"

// Progressive filling in 300 bits, as a judge where the two solvers differ: what
// the reference takes from a constraint's usage it loses digits by, if penalties of 1 and of
// 1e-6 meet there, as in SimGrid.

// exactVariable is an enabled variable.
type exactVariable struct {
	id    uint32
	max   *big.Float
	level *big.Float // nil until it is fixed
}

// exactBits is the precision, in which levels that differ by exactlySame are equal.
const exactBits = 300

var exactlySame = wide(1e-60)

func wide(x float64) *big.Float { return new(big.Float).SetPrec(exactBits).SetFloat64(x) }

// exactLevels returns the levels of all variables of s, which has no FATPIPEs, by id.
func exactLevels(s *System) map[uint32]float64 {
	var variables []*exactVariable
	byID := map[uint32]*exactVariable{}
	for id := range s.variables {
		if s.variables[id].stage != disabled {
			v := &exactVariable{id: uint32(id), max: wide(s.variables[id].maxLevel)}
			variables, byID[v.id] = append(variables, v), v
		}
	}
	for exactStep(s, variables, byID) {
	}
	levels := map[uint32]float64{}
	for _, v := range variables {
		levels[v.id], _ = v.level.Float64()
	}
	return levels
}

// exactStep raises the level until a constraint is full or a variable has its maximum, and fixes
// what that concerns. It is false if all are fixed.
func exactStep(s *System, variables []*exactVariable, byID map[uint32]*exactVariable) bool {
	full := map[uint32]*big.Float{} // levels at which constraints are
	var first *big.Float
	for c := range s.constraints {
		if level := exactFull(s, uint32(c), byID); level != nil {
			full[uint32(c)] = level
			first = lower(first, level)
		}
	}
	rising := false
	for _, v := range variables {
		if v.level == nil {
			rising, first = true, lower(first, v.max)
		}
	}
	reached := func(level *big.Float) bool {
		over := new(big.Float).Sub(level, first)
		return over.Cmp(new(big.Float).Mul(first, exactlySame)) <= 0
	}
	for _, v := range variables {
		if v.level != nil {
			continue
		}
		fix := reached(v.max)
		for _, e := range s.sharedElements(v.id) {
			fix = fix || reached(full[e.constraint])
		}
		if fix {
			v.level = first
		}
	}
	return rising
}

// exactFull returns the level at which constraint c is full, nil if all its variables are fixed.
func exactFull(s *System, c uint32, byID map[uint32]*exactVariable) *big.Float {
	rest, usage := wide(s.constraints[c].capacity), wide(0)
	for e := s.constraints[c].head; e != none; e = s.elements[e].next {
		v, u := byID[s.variableOf(e)], wide(s.elements[e].usage)
		if v.level == nil {
			usage.Add(usage, u)
		} else {
			rest.Sub(rest, u.Mul(u, v.level))
		}
	}
	if usage.Sign() == 0 {
		return nil
	}
	return rest.Quo(rest, usage)
}

// lower returns the lower of two levels, of which the first may be nil.
func lower(a, b *big.Float) *big.Float {
	if a == nil || b.Cmp(a) < 0 {
		return b
	}
	return a
}
