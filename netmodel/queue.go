package netmodel

import "math"

// entry is one planned event: the start or the end of a flow's bandwidth phase.
type entry struct {
	date float64 // seconds
	flow int32
}

// before orders events by date, and equal dates by flow, so that the order in
// which they come out does not depend on how the queue is laid out.
func (a entry) before(b entry) bool {
	return a.date < b.date || a.date == b.date && a.flow < b.flow
}

// eventHeap is an indexed 4-ary min-heap with at most one event per flow, whose
// date can be moved in place. Rates change some three times per message, hence
// the index: lazy deletion was measured at twice the cost.
type eventHeap struct {
	entries []entry
	pos     []int32 // by flow: its index in entries, -1 if it has none
}

// grow makes room for flows 0 to n-1.
func (h *eventHeap) grow(n int) {
	for len(h.pos) < n {
		h.pos = append(h.pos, -1)
	}
}

// top returns the date of the first event, +Inf if there is none.
func (h *eventHeap) top() float64 {
	if len(h.entries) == 0 {
		return math.Inf(1)
	}
	return h.entries[0].date
}

// set plans the event of flow at date, or moves it there.
func (h *eventHeap) set(flow int32, date float64) {
	e := entry{date, flow}
	i := int(h.pos[flow])
	if i < 0 {
		h.entries = append(h.entries, e)
		h.up(len(h.entries)-1, e)
		return
	}
	if date < h.entries[i].date {
		h.up(i, e)
	} else {
		h.down(i, e)
	}
}

// pop removes the first event and returns its flow.
func (h *eventHeap) pop() int32 {
	flow := h.entries[0].flow
	h.pos[flow] = -1
	last := len(h.entries) - 1
	e := h.entries[last]
	h.entries = h.entries[:last]
	if last > 0 {
		h.down(0, e)
	}
	return flow
}

// up puts e at index i or above.
func (h *eventHeap) up(i int, e entry) {
	for i > 0 {
		parent := (i - 1) >> 2
		if !e.before(h.entries[parent]) {
			break
		}
		h.entries[i] = h.entries[parent]
		h.pos[h.entries[i].flow] = int32(i)
		i = parent
	}
	h.entries[i] = e
	h.pos[e.flow] = int32(i)
}

// down puts e at index i or below.
func (h *eventHeap) down(i int, e entry) {
	n := len(h.entries)
	for {
		first := 4*i + 1
		if first >= n {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, n); c++ {
			if h.entries[c].before(h.entries[least]) {
				least = c
			}
		}
		if !h.entries[least].before(e) {
			break
		}
		h.entries[i] = h.entries[least]
		h.pos[h.entries[i].flow] = int32(i)
		i = least
	}
	h.entries[i] = e
	h.pos[e.flow] = int32(i)
}

// numLanes is how many increasing sequences lanes tells apart. Routes have few
// distinct latencies, and latency phases of one length mostly begin, thus end, in
// order of date; so do transfers of one size that do not share links.
const numLanes = 8

// lanes queues events beside a heap, in a few sequences of increasing dates: an
// event goes to the one whose last event it follows most closely, and there are no
// moves. Equal dates come out in the order in which they went in, lane by lane.
type lanes struct {
	next  float64           // date of the first event of all lanes, +Inf if there is none
	front [numLanes]float64 // dates; +Inf if the lane is empty
	back  [numLanes]float64 // dates; -Inf if the lane is empty
	lane  [numLanes]laneRing
}

// laneRing is a ring buffer of events in order of date.
type laneRing struct {
	buf  []laneEntry // the length is a power of two
	head int
	size int
}

// laneEntry is an event in a lane. number tells those of one flow apart.
type laneEntry struct {
	date   float64
	flow   int32
	number int32
}

func newLanes() lanes {
	q := lanes{next: math.Inf(1)}
	for i := range q.lane {
		q.front[i], q.back[i] = math.Inf(1), math.Inf(-1)
	}
	return q
}

// find returns the lane for an event, or -1 if it precedes the last of every lane.
func (q *lanes) find(date float64) int {
	best, gap := -1, math.Inf(1)
	for i, last := range q.back {
		if d := date - last; d >= 0 && (best < 0 || d < gap) {
			best, gap = i, d
		}
	}
	return best
}

// push queues e, or reports false if it precedes the last event of every lane.
func (q *lanes) push(e laneEntry) bool {
	i := q.find(e.date)
	if i < 0 {
		return false
	}
	q.append(i, e)
	return true
}

func (q *lanes) append(i int, e laneEntry) {
	l := &q.lane[i]
	if l.size == len(l.buf) {
		l.double()
	}
	l.buf[(l.head+l.size)&(len(l.buf)-1)] = e
	l.size++
	q.back[i] = e.date
	if l.size == 1 {
		q.front[i] = e.date
		q.next = min(q.next, e.date)
	}
}

// pop removes the first event of lane i. The caller updates next.
func (q *lanes) pop(i int) laneEntry {
	l := &q.lane[i]
	e := l.buf[l.head]
	l.head = (l.head + 1) & (len(l.buf) - 1)
	if l.size--; l.size > 0 {
		q.front[i] = l.buf[l.head].date
	} else {
		q.front[i], q.back[i] = math.Inf(1), math.Inf(-1)
	}
	return e
}

// findNext sets next and returns the lane that it is in.
func (q *lanes) findNext() int {
	first := 0
	for i := 1; i < numLanes; i++ {
		if q.front[i] < q.front[first] {
			first = i
		}
	}
	q.next = q.front[first]
	return first
}

func (l *laneRing) double() {
	wide := make([]laneEntry, max(16, 2*len(l.buf)))
	for i := range l.size {
		wide[i] = l.buf[(l.head+i)&(len(l.buf)-1)]
	}
	l.buf, l.head = wide, 0
}

// endQueue holds the planned ends of bandwidth phases, one per flow at most: in
// lanes as long as they come in order, else, and when they move, in the heap. An
// event that has left its lane stays there as a dead entry until it comes to the
// front. On exchanges with few conflicts, nine of ten ends never see the heap.
type endQueue struct {
	heap    eventHeap
	lanes   lanes
	nextIn  int     // the lane with the first event of all lanes
	number  int32   // of the last lane entry
	numbers []int32 // by flow: of its live lane entry, 0 if it has none
}

func newEndQueue() endQueue { return endQueue{lanes: newLanes()} }

// grow makes room for flows 0 to n-1.
func (q *endQueue) grow(n int) {
	q.heap.grow(n)
	for len(q.numbers) < n {
		q.numbers = append(q.numbers, 0)
	}
}

// top returns the date of the first event, +Inf if there is none.
func (q *endQueue) top() float64 { return min(q.lanes.next, q.heap.top()) }

// set plans the event of flow at date, or moves it there.
func (q *endQueue) set(flow int32, date float64) {
	if q.heap.pos[flow] >= 0 {
		q.heap.set(flow, date)
		return
	}
	if dead := q.numbers[flow]; dead != 0 {
		q.numbers[flow] = 0
		if l := &q.lanes.lane[q.nextIn]; l.size > 0 && l.buf[l.head].number == dead {
			q.findNext()
		}
	}
	i := q.lanes.find(date)
	if i < 0 {
		q.heap.set(flow, date)
		return
	}
	if l := &q.lanes.lane[i]; l.size == len(l.buf) {
		q.purge(i)
	}
	q.number = q.number%math.MaxInt32 + 1
	q.numbers[flow] = q.number
	q.lanes.append(i, laneEntry{date, flow, q.number})
	if q.lanes.next == date {
		q.findNext()
	}
}

// purge removes the dead entries of lane i, so that they take no more room than
// the others.
func (q *endQueue) purge(i int) {
	l := &q.lanes.lane[i]
	for range l.size {
		if e := q.lanes.pop(i); q.numbers[e.flow] == e.number {
			q.lanes.append(i, e)
		}
	}
	if l.size > len(l.buf)/2 {
		l.double()
	}
}

// findNext finds the first event of all lanes, and removes the dead entries before
// it.
func (q *endQueue) findNext() {
	for {
		q.nextIn = q.lanes.findNext()
		l := &q.lanes.lane[q.nextIn]
		if l.size == 0 {
			return
		}
		if e := &l.buf[l.head]; q.numbers[e.flow] == e.number {
			return
		}
		q.lanes.pop(q.nextIn)
	}
}

// pop removes the first event and returns its flow.
func (q *endQueue) pop() int32 {
	if q.heap.top() < q.lanes.next {
		return q.heap.pop()
	}
	e := q.lanes.pop(q.nextIn)
	q.numbers[e.flow] = 0
	q.findNext()
	return e.flow
}
