package path

// entry is an amount of one component, of those that are numbered as they appear. Entries are
// copied a lot.
type entry struct {
	component int32
	seconds   float64
	amount    float64 // calls, messages or bytes
}

// recent is how many entries a path has apart from its vector.
const recent = 6

// composition is what a path consists of: a vector of all components, which others may share,
// and the latest entries. A copy is another path: hold and drop count who shares the vector.
type composition struct {
	vector int32 // of vectors; noVector: all 0
	number int32 // of entries
	late   [recent]entry
}

const noVector = -1

// vectors are the vectors of compositions: of a component its seconds, then its amount.
type vectors struct {
	width  int // components
	values []float64
	shares []int32 // by vector: how many compositions have it
	free   []int32
}

// hold counts one more composition with a vector.
func (v *vectors) hold(id int32) {
	if id != noVector {
		v.shares[id]++
	}
}

// drop counts one less.
func (v *vectors) drop(id int32) {
	if id == noVector {
		return
	}
	if v.shares[id]--; v.shares[id] == 0 {
		v.free = append(v.free, id)
	}
}

// at returns the values of a vector.
func (v *vectors) at(id int32) []float64 { return v.values[int(id)*2*v.width:][:2*v.width] }

// own returns a vector like id that is nobody else's, in place of it.
func (v *vectors) own(id int32) int32 {
	if id != noVector && v.shares[id] == 1 {
		return id
	}
	var own int32
	if last := len(v.free) - 1; last >= 0 {
		own = v.free[last]
		v.free = v.free[:last]
	} else {
		own = int32(len(v.shares))
		v.shares = append(v.shares, 0)
		v.values = append(v.values, make([]float64, 2*v.width)...)
	}
	v.shares[own] = 1
	if id == noVector {
		clear(v.at(own))
	} else {
		copy(v.at(own), v.at(id))
		v.drop(id)
	}
	return own
}

// widen makes room for as many components.
func (v *vectors) widen(components int) {
	if components <= v.width {
		return
	}
	width := max(32, 2*v.width, components)
	values := make([]float64, 2*width*len(v.shares))
	for id := range v.shares {
		copy(values[id*2*width:], v.at(int32(id)))
	}
	v.width, v.values = width, values
}

// add adds to a component of a composition.
func (v *vectors) add(c *composition, component int32, seconds, amount float64) {
	for i := range c.late[:c.number] {
		if e := &c.late[i]; e.component == component {
			e.seconds += seconds
			e.amount += amount
			return
		}
	}
	if c.number == recent {
		v.settle(c)
	}
	c.late[c.number] = entry{component, seconds, amount}
	c.number++
}

// settle adds the latest entries to the vector.
func (v *vectors) settle(c *composition) {
	c.vector = v.own(c.vector)
	values := v.at(c.vector)
	for _, e := range c.late[:c.number] {
		values[2*e.component] += e.seconds
		values[2*e.component+1] += e.amount
	}
	c.number = 0
}

// become makes a composition that of another one.
func (v *vectors) become(c, other *composition) {
	v.hold(other.vector)
	v.drop(c.vector)
	*c = *other
}

// forget makes a composition empty, so that its vector can be another's.
func (v *vectors) forget(c *composition) {
	v.drop(c.vector)
	c.vector, c.number = noVector, 0
}
