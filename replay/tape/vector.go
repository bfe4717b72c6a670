package tape

// Hop is where a path comes to a step.
type Hop struct {
	Before *Hop // nil: none
	Rank   int32
	At     float64 // s
}

// vectors are what paths consist of: of each component its seconds, then its amount; and where
// they came to a step last. The first one is that of nothing.
type vectors struct {
	width  int // components
	values []float64
	last   []*Hop // nil: nowhere
}

// at returns the values of a vector.
func (v *vectors) at(id int32) []float64 { return v.values[int(id)*2*v.width:][:2*v.width] }

// add adds a vector like one of others, which may be narrower, and returns its number.
func (v *vectors) add(others *vectors, id int32) int32 {
	n, like := len(v.last), others.at(id)
	v.last = append(v.last, others.last[id])
	v.values = append(v.values, like...)
	for range 2*v.width - len(like) {
		v.values = append(v.values, 0)
	}
	return int32(n)
}

// spend adds to a component of a vector.
func (v *vectors) spend(id, component int32, seconds, amount float64) {
	at := v.values[2*(int(id)*v.width+int(component)):][:2]
	at[0] += seconds
	at[1] += amount
}

// empty forgets all vectors, and makes room for a number of them with so many components.
func (v *vectors) empty(number, width int) {
	v.width = width
	if room := (number + 1) * 2 * width; cap(v.values) < room {
		v.values = make([]float64, 0, room+room/4)
	}
	clear(v.last)
	v.values, v.last = v.values[:2*width], append(v.last[:0], nil)
	clear(v.values)
}
