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
// order of date.
const numLanes = 4

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
	buf  []entry // the length is a power of two
	head int
	size int
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
func (q *lanes) push(e entry) bool {
	i := q.find(e.date)
	if i < 0 {
		return false
	}
	q.append(i, e)
	return true
}

func (q *lanes) append(i int, e entry) {
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
func (q *lanes) pop(i int) entry {
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

// findNext sets next.
func (q *lanes) findNext() {
	q.next = q.front[0]
	for _, date := range q.front[1:] {
		if date < q.next {
			q.next = date
		}
	}
}

func (l *laneRing) double() {
	wide := make([]entry, max(16, 2*len(l.buf)))
	for i := range l.size {
		wide[i] = l.buf[(l.head+i)&(len(l.buf)-1)]
	}
	l.buf, l.head = wide, 0
}
