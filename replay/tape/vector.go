package tape

// Hop is where a path comes to a step.
type Hop struct {
	Before *Hop // nil: none
	Rank   int32
	At     float64 // s
}

// vectors are what paths consist of: of each component its seconds, then its amount; and where
// they came to a step last.
type vectors struct {
	width  int       // components that there is room for
	values []float64 // 2 * width of each vector
	last   []*Hop    // nil: nowhere
	goOn   []int32   // how many records and points go on from it, while paths are added up
	free   []int32   // those that nobody goes on from
}

// newVectors returns the one of a path on which there is nothing, number 0 until nobody goes on from it.
func newVectors() vectors { return vectors{last: make([]*Hop, 1), goOn: make([]int32, 1)} }

// at returns the values of a vector.
func (v *vectors) at(id int32) []float64 { return v.values[int(id)*2*v.width:][:2*v.width] }

// collect finds the vectors that nobody goes on from.
func (v *vectors) collect() {
	v.free = v.free[:0]
	for id, n := range v.goOn {
		if n == 0 {
			v.free = append(v.free, int32(id))
			v.last[id] = nil
		}
	}
}

// take returns a vector for one who goes on from a vector: that one for the last of them, for others
// a copy.
func (v *vectors) take(id int32) int32 {
	switch v.goOn[id] {
	case 1:
		return id
	case many: // perhaps more: counts of records end there
	default:
		v.goOn[id]--
	}
	return v.copyOf(id)
}

// copyOf returns a vector like another.
func (v *vectors) copyOf(id int32) int32 {
	n := len(v.free) - 1
	if n < 0 {
		v.last, v.goOn = append(v.last, v.last[id]), append(v.goOn, 0)
		v.values = append(v.values, v.at(id)...)
		return int32(len(v.last) - 1)
	}
	other := v.free[n]
	v.free = v.free[:n]
	v.last[other] = v.last[id]
	copy(v.at(other), v.at(id))
	return other
}

// spend adds to a component of a vector.
func (v *vectors) spend(id int32, component int, seconds, amount float64) {
	if component >= v.width {
		v.widen(component + 1)
	}
	at := v.values[2*(int(id)*v.width+component):][:2]
	at[0] += seconds
	at[1] += amount
}

// widen makes room for so many components, and some more.
//
//go:noinline
func (v *vectors) widen(components int) {
	wide := vectors{width: components + components/4}
	wide.values = make([]float64, 2*wide.width*len(v.last))
	for id := range v.last {
		copy(wide.at(int32(id)), v.at(int32(id)))
	}
	v.width, v.values = wide.width, wide.values
}
