// Package keyheap is a binary heap of numbers with keys, as times or levels ([Heap]): the smallest key is first, and of
// equal keys the smallest number, so that the order does not depend on the history of the heap.
//
// Package eventqueue has the queue for entries that are there all the time and change their keys often.
package keyheap

// Item is a number and what it is ordered by.
type Item struct {
	Key float64
	ID  int32
}

func (a Item) before(b Item) bool { return a.Key < b.Key || a.Key == b.Key && a.ID < b.ID }

// Heap is a heap; its first item is at index 0. The zero value is empty.
type Heap []Item

// Init puts items that were appended in any order in the order of a heap.
func (h Heap) Init() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i, nil)
	}
}

// Push adds an item.
func (h *Heap) Push(x Item) { h.PushAt(x, nil) }

// Pop removes the first item and returns it.
func (h *Heap) Pop() Item {
	first := (*h)[0]
	h.RemoveAt(0, nil)
	return first
}

// SetFirst replaces the first item.
func (h Heap) SetFirst(x Item) {
	h[0] = x
	h.down(0, nil)
}

// PushAt is Push, and keeps the index of each item in places, by its number.
func (h *Heap) PushAt(x Item, places []int32) {
	*h = append(*h, x)
	h.up(len(*h)-1, places)
}

// SetAt changes the key of the item at an index of a heap with places.
func (h Heap) SetAt(i int, key float64, places []int32) {
	h[i].Key = key
	if i > 0 && h[i].before(h[(i-1)/2]) {
		h.up(i, places)
	} else {
		h.down(i, places)
	}
}

// RemoveAt removes the item at an index; places may be nil if the heap has none.
func (h *Heap) RemoveAt(i int, places []int32) {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	if i == last {
		return
	}
	(*h)[i].ID = x.ID
	h.SetAt(i, x.Key, places)
}

// up and down move the item at an index to where it belongs.
func (h Heap) up(i int, places []int32) {
	x := h[i]
	for i > 0 {
		above := (i - 1) / 2
		if !x.before(h[above]) {
			break
		}
		h[i] = h[above]
		if places != nil {
			places[h[i].ID] = int32(i)
		}
		i = above
	}
	h[i] = x
	if places != nil {
		places[x.ID] = int32(i)
	}
}

func (h Heap) down(i int, places []int32) {
	x := h[i]
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1].before(h[c]) {
			c++
		}
		if !h[c].before(x) {
			break
		}
		h[i] = h[c]
		if places != nil {
			places[h[i].ID] = int32(i)
		}
		i = c
	}
	h[i] = x
	if places != nil {
		places[x.ID] = int32(i)
	}
}
