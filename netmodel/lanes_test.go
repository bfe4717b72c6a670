package netmodel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLanes: what comes out in order was put in, and next is the first date.
func TestLanes(t *testing.T) {
	q := newLanes()
	r := rand.New(rand.NewPCG(3, 4))
	queued := []float64{}
	for i := range 10000 {
		if e := (entry{date: float64(i/2 + r.IntN(8)), flow: int32(i)}); q.push(e) {
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
		if !q.push(entry{date: float64(100 - i)}) {
			t.Fatalf("lane %d refused a date before the others", i)
		}
	}
	if q.push(entry{date: 1}) {
		t.Error("taken by a lane that ends later")
	}
}

// TestLanesBestFit: an event follows the last one before it, so that sequences keep
// apart.
func TestLanesBestFit(t *testing.T) {
	q := newLanes()
	for i := range 100 {
		q.push(entry{date: float64(i)})
		q.push(entry{date: float64(1000 + i)})
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
