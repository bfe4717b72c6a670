package maxmin

// fillKey orders the constraints of a large filling by the level at which they saturate.
type fillKey struct {
	level float64
	state int32 // index in workingSet.states
}

func (k fillKey) before(other fillKey) bool {
	return k.level < other.level || k.level == other.level && k.state < other.state
}

// fillByHeap is fill's loop for many constraints. Keys are brought up to date when they
// reach the top: while variables are fixed at the lowest level, the level at which a
// constraint saturates never falls.
func (s *System) fillByHeap() {
	a := &s.set
	a.heap = a.heap[:0]
	for i := unshared + 1; i < len(a.states); i++ {
		a.heap = append(a.heap, a.key(int32(i)))
	}
	for i := len(a.heap)/2 - 1; i >= 0; i-- {
		a.siftDown(i)
	}
	for a.rising > 0 {
		top := a.heap[0].state
		if a.states[top].rising == 0 {
			a.dropTop()
			continue
		}
		if k := a.key(top); k.level > a.heap[0].level {
			a.heap[0] = k
			a.siftDown(0)
			if a.heap[0].state != top {
				continue
			}
		}
		s.fillConstraint(&a.states[top])
	}
}

// key returns the level at which the constraint of state i saturates now.
func (a *workingSet) key(i int32) fillKey {
	r := &a.states[i]
	return fillKey{max(0, r.remaining) / r.usage, i}
}

func (a *workingSet) dropTop() {
	last := len(a.heap) - 1
	a.heap[0] = a.heap[last]
	a.heap = a.heap[:last]
	if last > 0 {
		a.siftDown(0)
	}
}

func (a *workingSet) siftDown(i int) {
	k := a.heap[i]
	for {
		c := 2*i + 1
		if c >= len(a.heap) {
			break
		}
		if c+1 < len(a.heap) && a.heap[c+1].before(a.heap[c]) {
			c++
		}
		if !a.heap[c].before(k) {
			break
		}
		a.heap[i] = a.heap[c]
		i = c
	}
	a.heap[i] = k
}
