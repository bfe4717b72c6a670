package maxmin

// pairs are the usages of other constraints by the own variables of one. spread reads usages and to from first to last;
// the table finds the place of one constraint there.
type pairs struct {
	usages []float64
	to     []uint32 // the other constraints; dead where the pair has no variables
	table  []entry  // open hash table, by constraint
	empty  int      // pairs without variables
	dead   uint32   // index of a load that nobody reads
}

// entry is one of the table: 16 bytes, so that a change of a pair touches one line of the processor's cache here,
// and one of usages.
type entry struct {
	constraint uint32
	index      int32   // 1 + index in usages; 0: the entry is free
	count      int32   // of the variables
	floor      float32 // of the usage, below which it is summed anew
}

// add adds usage and count to the pair with a constraint, and reports whether its usage has lost digits.
func (p *pairs) add(constraint uint32, usage float64, count int32) (lost bool) {
	if 4*len(p.to) >= 3*len(p.table) || p.empty > 4+len(p.to)/2 {
		p.rebuild()
	}
	m := find(p.table, constraint)
	if m.index == 0 {
		p.usages, p.to = append(p.usages, 0), append(p.to, p.dead)
		m.constraint, m.index = constraint, int32(len(p.to))
		p.empty++
	}
	u := &p.usages[m.index-1]
	*u += usage
	if m.count == 0 {
		p.to[m.index-1] = constraint
		p.empty--
	}
	m.floor = max(m.floor, float32(smallUsage**u))
	if m.count += count; m.count == 0 {
		*u, m.floor, p.to[m.index-1] = 0, 0, p.dead
		p.empty++
	}
	return *u < float64(m.floor)
}

// find returns the entry of a constraint in a table, or the free one that it would get.
func find(table []entry, constraint uint32) *entry {
	mask := uint32(len(table) - 1)
	for at := constraint * 0x9e3779b1 >> 7 & mask; ; at = (at + 1) & mask {
		if m := &table[at]; m.constraint == constraint || m.index == 0 {
			return m
		}
	}
}

// set sets the usage of a pair that has variables.
func (p *pairs) set(constraint uint32, usage float64) {
	m := find(p.table, constraint)
	p.usages[m.index-1], m.floor = usage, float32(smallUsage*usage)
}

func (p *pairs) clear() {
	p.usages, p.to, p.empty = p.usages[:0], p.to[:0], 0
	clear(p.table)
}

// rebuild drops the pairs without variables and makes room for as many as there are.
func (p *pairs) rebuild() {
	size := max(8, len(p.table))
	for size < 2*(len(p.to)-p.empty)+4 {
		size *= 2
	}
	kept := make([]entry, 0, 256) // on the stack, mostly
	for i, c := range p.to {
		if c != p.dead {
			p.usages[len(kept)] = p.usages[i]
			kept = append(kept, *find(p.table, c))
		}
	}
	if size > len(p.table) {
		p.table = make([]entry, size)
	} else {
		clear(p.table)
	}
	p.usages, p.to, p.empty = p.usages[:len(kept)], p.to[:len(kept)], 0
	for i, m := range kept {
		m.index, p.to[i] = int32(i+1), m.constraint
		*find(p.table, m.constraint) = m
	}
}
