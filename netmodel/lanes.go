package netmodel

import "math"

// entry is the planned start of a flow's bandwidth phase.
type entry struct {
	date float64 // seconds
	flow int32
}

// numLanes is how many increasing sequences lanes tells apart. Routes have few
// distinct latencies, and latency phases of one length mostly begin, thus end, in
// order of date.
const numLanes = 4

// lanes queues events beside an agenda, in a few sequences of increasing dates: an
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
