package netmodel

// fillKey orders the links of a large filling by the level at which they saturate.
type fillKey struct {
	level float64
	room  int32 // index in solver.rooms
}

func (k fillKey) before(other fillKey) bool {
	return k.level < other.level || k.level == other.level && k.room < other.room
}

// fillByHeap is fill's loop for many links. Keys are brought up to date when they
// reach the top: while flows are fixed at the lowest level, the level at which a
// link saturates never falls.
func (n *Network) fillByHeap() {
	a := &n.local
	a.heap = a.heap[:0]
	for i := nowhere + 1; i < len(a.rooms); i++ {
		a.heap = append(a.heap, a.key(int32(i)))
	}
	for i := len(a.heap)/2 - 1; i >= 0; i-- {
		a.siftDown(i)
	}
	for a.rising > 0 {
		top := a.heap[0].room
		if a.rooms[top].rising == 0 {
			a.dropTop()
			continue
		}
		if k := a.key(top); k.level > a.heap[0].level {
			a.heap[0] = k
			a.siftDown(0)
			if a.heap[0].room != top {
				continue
			}
		}
		n.fillLink(&a.rooms[top])
	}
}

// key returns the level at which the link of room i saturates now.
func (a *solver) key(i int32) fillKey {
	r := &a.rooms[i]
	return fillKey{max(0, r.rest) / r.usage, i}
}

func (a *solver) dropTop() {
	last := len(a.heap) - 1
	a.heap[0] = a.heap[last]
	a.heap = a.heap[:last]
	if last > 0 {
		a.siftDown(0)
	}
}

func (a *solver) siftDown(i int) {
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
