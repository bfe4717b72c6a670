package maxmin

// pairs are the usages of other constraints by the own variables of one, in an open hash table of their numbers.
type pairs struct {
	usages []float64
	to     []uint32 // the other constraints
	more   []pairMore
	slots  []int32 // 1 + index in usages; 0: free
	empty  int     // pairs without variables
	dead   uint32  // in place of the constraint of an empty pair: index of a load that nobody reads
}

// pairMore is the part of a pair that spread does not read.
type pairMore struct {
	count int32   // of the variables
	floor float32 // of the usage, below which it is summed anew
}

// add adds usage and count to the pair with a constraint, and reports whether its usage has lost digits.
func (p *pairs) add(constraint uint32, usage float64, count int32) (lost bool) {
	if 2*len(p.to) >= len(p.slots) || p.empty > 4+len(p.to)/8 {
		p.rebuild()
	}
	i := p.find(constraint)
	p.usages[i] += usage
	m := &p.more[i]
	if m.count == 0 {
		p.empty--
	}
	m.floor = max(m.floor, float32(smallUsage*p.usages[i]))
	if m.count += count; m.count == 0 {
		p.usages[i], m.floor, p.to[i] = 0, 0, p.dead
		p.empty++
	}
	return p.usages[i] < float64(m.floor)
}

// find returns the index of the pair with a constraint, a new one perhaps.
func (p *pairs) find(constraint uint32) int32 {
	mask := uint32(len(p.slots) - 1)
	for at := constraint * 0x9e3779b1 >> 7 & mask; ; at = (at + 1) & mask {
		i := p.slots[at] - 1
		if i < 0 {
			p.usages, p.to, p.more = append(p.usages, 0), append(p.to, constraint), append(p.more, pairMore{})
			p.slots[at] = int32(len(p.to))
			p.empty++
			return int32(len(p.to) - 1)
		}
		if p.to[i] == constraint {
			return i
		}
	}
}

// set sets the usage of a pair.
func (p *pairs) set(constraint uint32, usage float64) {
	i := p.find(constraint)
	p.usages[i], p.more[i].floor = usage, float32(smallUsage*usage)
}

func (p *pairs) clear() {
	p.usages, p.to, p.more, p.empty = p.usages[:0], p.to[:0], p.more[:0], 0
	clear(p.slots)
}

// rebuild drops the pairs without variables and makes room for as many as there are.
func (p *pairs) rebuild() {
	n := 0
	for i, m := range p.more {
		if m.count > 0 {
			p.usages[n], p.to[n], p.more[n] = p.usages[i], p.to[i], m
			n++
		}
	}
	p.usages, p.to, p.more, p.empty = p.usages[:n], p.to[:n], p.more[:n], 0
	size := max(8, len(p.slots))
	for size < 3*n+4 {
		size *= 2
	}
	if size != len(p.slots) {
		p.slots = make([]int32, size)
	} else {
		clear(p.slots)
	}
	mask := uint32(size - 1)
	for i, c := range p.to {
		at := c * 0x9e3779b1 >> 7 & mask
		for p.slots[at] != 0 {
			at = (at + 1) & mask
		}
		p.slots[at] = int32(i + 1)
	}
}
