package netmodel

import "math/big"

// The textbook's filling in 300 bits, as a judge where the two solvers differ: what
// the reference takes from a link's usage it loses digits by, if penalties of 1 and of
// 1e-6 meet there, as in SimGrid.

// exactFlow is a flow in its bandwidth phase.
type exactFlow struct {
	id    uint32
	max   *big.Float
	level *big.Float // nil until it is fixed
}

// exactBits is the precision, in which sameLevel are equal.
const exactBits = 300

var sameLevel = wide(1e-60)

func wide(x float64) *big.Float { return new(big.Float).SetPrec(exactBits).SetFloat64(x) }

// exactLevels returns the levels of all flows of n, which has no FATPIPEs, by id.
func exactLevels(n *Network) map[uint32]float64 {
	var flows []*exactFlow
	byID := map[uint32]*exactFlow{}
	for id := range n.flows {
		if n.flows[id].since != noDate {
			f := &exactFlow{id: uint32(id), max: wide(n.flows[id].maxLevel)}
			flows, byID[f.id] = append(flows, f), f
		}
	}
	for exactStep(n, flows, byID) {
	}
	levels := map[uint32]float64{}
	for _, f := range flows {
		levels[f.id], _ = f.level.Float64()
	}
	return levels
}

// exactStep raises the level until a link is full or a flow has its maximum, and fixes
// what that concerns. It is false if all are fixed.
func exactStep(n *Network, flows []*exactFlow, byID map[uint32]*exactFlow) bool {
	full := map[uint32]*big.Float{} // levels at which links are
	var first *big.Float
	for l := range n.links {
		if level := exactFull(n, uint32(l), byID); level != nil {
			full[uint32(l)] = level
			first = lower(first, level)
		}
	}
	rising := false
	for _, f := range flows {
		if f.level == nil {
			rising, first = true, lower(first, f.max)
		}
	}
	reached := func(level *big.Float) bool {
		over := new(big.Float).Sub(level, first)
		return over.Cmp(new(big.Float).Mul(first, sameLevel)) <= 0
	}
	for _, f := range flows {
		if f.level != nil {
			continue
		}
		fix := reached(f.max)
		for _, s := range n.sharedSlots(f.id) {
			fix = fix || reached(full[s.link])
		}
		if fix {
			f.level = first
		}
	}
	return rising
}

// exactFull returns the level at which link l is full, nil if all its flows are fixed.
func exactFull(n *Network, l uint32, byID map[uint32]*exactFlow) *big.Float {
	rest, usage := wide(n.links[l].capacity), wide(0)
	for s := n.links[l].head; s != none; s = n.slots[s].next {
		f, u := byID[n.flowOf(s)], wide(n.slots[s].usage)
		if f.level == nil {
			usage.Add(usage, u)
		} else {
			rest.Sub(rest, u.Mul(u, f.level))
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
