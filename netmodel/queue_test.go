package netmodel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestEventHeap compares the heap with sorting, moves included.
func TestEventHeap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var h eventHeap
		n := 1 + r.IntN(100)
		h.grow(n)
		want := make([]entry, n)
		for i := range want {
			want[i] = entry{float64(r.IntN(20)), int32(i)} // many equal dates
		}
		for _, i := range r.Perm(n) {
			h.set(int32(i), float64(r.IntN(20)))
		}
		for _, i := range r.Perm(n) {
			h.set(int32(i), want[i].date)
		}
		slices.SortFunc(want, func(a, b entry) int {
			if a.before(b) {
				return -1
			}
			return 1
		})
		for _, e := range want {
			if date, id := h.top(), h.pop(); date != e.date || id != e.flow {
				t.Fatalf("got flow %d at %v, want flow %d at %v", id, date, e.flow, e.date)
			}
		}
		if !math.IsInf(h.top(), 1) {
			t.Fatal("not empty")
		}
	}
}

// TestEndQueue compares the queue with the smallest of a table of dates, while
// events come, move and go.
func TestEndQueue(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		const flows = 40
		q := newEndQueue()
		q.grow(flows)
		var dates [flows]float64
		for i := range dates {
			dates[i] = math.Inf(1)
		}
		now := 0.0
		for range 3000 {
			if id := r.IntN(flows); r.IntN(3) > 0 {
				dates[id] = now + []float64{1, 2, 50 * r.Float64(), float64(r.IntN(5))}[r.IntN(4)]
				q.set(int32(id), dates[id])
			}
			first := slices.Min(dates[:])
			if q.top() != first {
				t.Fatalf("first at %v, want %v", q.top(), first)
			}
			if r.IntN(3) == 0 && !math.IsInf(first, 1) {
				now = first
				id := q.pop()
				if dates[id] != first {
					t.Fatalf("flow %d of %v came out at %v", id, dates[id], first)
				}
				dates[id] = math.Inf(1)
			}
		}
		for i := range q.lanes.lane {
			if n := len(q.lanes.lane[i].buf); n > 4*flows {
				t.Errorf("lane %d has room for %d events of %d flows", i, n, flows)
			}
		}
	}
}

// TestLanes: what comes out in order was put in, and next is the first date.
func TestLanes(t *testing.T) {
	q := newLanes()
	r := rand.New(rand.NewPCG(3, 4))
	queued := []float64{}
	for i := range 10000 {
		if e := (laneEntry{date: float64(i/2 + r.IntN(8)), flow: int32(i)}); q.push(e) {
			queued = append(queued, e.date)
		}
		if i%3 == 2 {
			slices.Sort(queued)
			if q.next != queued[0] {
				t.Fatalf("step %d: next %v, want %v", i, q.next, queued[0])
			}
			limit := queued[0]
			for k := range q.lane {
				for ; q.front[k] <= limit; queued = queued[1:] {
					if q.pop(k).date != limit {
						t.Fatalf("step %d: a lane is not in order", i)
					}
				}
			}
			q.findNext()
		}
	}
}

// TestLanesFull: a date before the last of every lane is not taken.
func TestLanesFull(t *testing.T) {
	q := newLanes()
	for i := range numLanes {
		if !q.push(laneEntry{date: float64(100 - i)}) {
			t.Fatalf("lane %d refused a date before the others", i)
		}
	}
	if q.push(laneEntry{date: 1}) {
		t.Error("taken by a lane that ends later")
	}
}

// TestLanesBestFit: an event follows the last one before it, so that sequences keep
// apart.
func TestLanesBestFit(t *testing.T) {
	q := newLanes()
	for i := range 100 {
		q.push(laneEntry{date: float64(i)})
		q.push(laneEntry{date: float64(1000 + i)})
	}
	used := 0
	for i := range q.lane {
		if q.lane[i].size > 0 {
			used++
		}
	}
	if used != 2 {
		t.Errorf("two sequences in %d lanes", used)
	}
}
