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

// lane is a ring buffer of events in order of date.
type lane struct {
	buf  []entry // the length is a power of two
	head int
	size int
}

func (l *lane) front() entry { return l.buf[l.head] }
func (l *lane) last() entry  { return l.buf[(l.head+l.size-1)&(len(l.buf)-1)] }

func (l *lane) push(e entry) {
	if l.size == len(l.buf) {
		l.double()
	}
	l.buf[(l.head+l.size)&(len(l.buf)-1)] = e
	l.size++
}

func (l *lane) pop() entry {
	e := l.buf[l.head]
	l.head = (l.head + 1) & (len(l.buf) - 1)
	l.size--
	return e
}

func (l *lane) double() {
	wide := make([]entry, max(16, 2*len(l.buf)))
	for i := range l.size {
		wide[i] = l.buf[(l.head+i)&(len(l.buf)-1)]
	}
	l.buf, l.head = wide, 0
}

// numLanes is how many increasing sequences lanes tells apart: routes have few
// distinct latencies, and the latency phases of one length mostly begin, thus
// end, in order of date.
const numLanes = 8

// lanes queues the starts of bandwidth phases beside the heap. A start goes to
// the first lane that it does not precede; there are no moves.
type lanes struct {
	lane [numLanes]lane
	next float64 // date of the first event of all lanes, +Inf if there is none
}

// push queues e, or reports false if it precedes the last event of every lane.
func (q *lanes) push(e entry) bool {
	for i := range q.lane {
		l := &q.lane[i]
		if l.size == 0 || !e.before(l.last()) {
			l.push(e)
			q.next = min(q.next, e.date)
			return true
		}
	}
	return false
}

// findNext sets next after events have been taken.
func (q *lanes) findNext() {
	q.next = math.Inf(1)
	for i := range q.lane {
		if q.lane[i].size > 0 {
			q.next = min(q.next, q.lane[i].front().date)
		}
	}
}
