package maxmin

import "reprise/internal/keyheap"

// fillByHeap is fill's loop for many constraints. Keys are brought up to date when they
// reach the top: while variables are fixed at the lowest level, the level at which a
// constraint saturates never falls.
func (s *System) fillByHeap() {
	a := &s.set
	a.heap = a.heap[:0]
	for i := unshared + 1; i < len(a.states); i++ {
		a.heap = append(a.heap, a.key(int32(i)))
	}
	a.heap.Init()
	for a.rising > 0 {
		top := a.heap[0].ID
		if a.states[top].rising == 0 {
			a.heap.Pop()
			continue
		}
		if k := a.key(top); k.Key > a.heap[0].Key {
			a.heap.SetFirst(k)
			if a.heap[0].ID != top {
				continue
			}
		}
		s.fillConstraint(&a.states[top])
	}
}

// key returns the level at which the constraint of state i saturates now.
func (a *workingSet) key(i int32) keyheap.Item {
	r := &a.states[i]
	return keyheap.Item{Key: max(0, r.remaining) / r.usage, ID: i}
}
