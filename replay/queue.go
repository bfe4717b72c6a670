package replay

import "math"

// queue holds at most one event per rank, the date at which the rank goes on,
// ordered by date and then by rank. It is a 4-ary heap that knows where each
// rank's event is, so that an event can be moved when a share of a processor
// changes.
type queue struct {
	events []event
	place  []int32 // of each rank's event in events; -1: none
}

type event struct {
	date float64 // seconds
	rank int32
}

func (e event) before(f event) bool {
	return e.date < f.date || (e.date == f.date && e.rank < f.rank)
}

func newQueue(ranks int) queue {
	q := queue{place: make([]int32, ranks)}
	for i := range q.place {
		q.place[i] = -1
	}
	return q
}

// next returns the date of the first event, +Inf if there is none.
func (q *queue) next() float64 {
	if len(q.events) == 0 {
		return math.Inf(1)
	}
	return q.events[0].date
}

// set gives rank an event at date, instead of the one it has.
func (q *queue) set(rank int32, date float64) {
	i := int(q.place[rank])
	if i < 0 {
		i = len(q.events)
		q.events = append(q.events, event{})
		q.place[rank] = int32(i)
	}
	q.settle(i, event{date, rank})
}

// pop removes the first event and returns its rank.
func (q *queue) pop() int32 {
	rank := q.events[0].rank
	q.place[rank] = -1
	last := q.events[len(q.events)-1]
	q.events = q.events[:len(q.events)-1]
	if len(q.events) > 0 {
		q.settle(0, last)
	}
	return rank
}

// settle puts ev where it belongs, starting from the hole i.
func (q *queue) settle(i int, ev event) {
	i = q.up(i, ev)
	i = q.down(i, ev)
	q.events[i] = ev
	q.place[ev.rank] = int32(i)
}

// up moves the hole i towards the root, past the events that ev precedes.
func (q *queue) up(i int, ev event) int {
	for i > 0 {
		parent := (i - 1) / 4
		if !ev.before(q.events[parent]) {
			break
		}
		q.put(i, q.events[parent])
		i = parent
	}
	return i
}

// down moves the hole i away from the root, past the events that precede ev.
func (q *queue) down(i int, ev event) int {
	for {
		first := 4*i + 1
		if first >= len(q.events) {
			return i
		}
		least := first
		for c := first + 1; c < min(first+4, len(q.events)); c++ {
			if q.events[c].before(q.events[least]) {
				least = c
			}
		}
		if !q.events[least].before(ev) {
			return i
		}
		q.put(i, q.events[least])
		i = least
	}
}

func (q *queue) put(i int, ev event) {
	q.events[i] = ev
	q.place[ev.rank] = int32(i)
}
