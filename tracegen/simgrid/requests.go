package simgrid

import (
	"fmt"
	"slices"

	"reprise/trace"
)

// This file keeps the pending requests of a rank, by the messages that its wait lines name.

// key is how a wait line names a message.
type key struct{ src, dst, tag int32 }

// requests are the pending requests of a rank with their slots, oldest first. A test makes its request the newest.
type requests struct {
	list []pendingRequest // list[:gone] is no longer pending
	gone int
	free []int32 // slots below used that are free, the last freed on top
	used int32
}

// pendingRequest is a request with the message that it is of.
type pendingRequest struct {
	key
	slot int32
}

// add makes a request pending and returns its slot.
func (q *requests) add(k key) (int32, error) {
	slot := q.used
	if n := len(q.free); n > 0 {
		slot = q.free[n-1]
		q.free = q.free[:n-1]
	} else if q.used == trace.MaxRequests {
		return 0, fmt.Errorf("more than %d requests are pending", trace.MaxRequests)
	} else {
		q.used++
	}
	q.push(pendingRequest{k, slot})
	return slot, nil
}

// oldest returns the slot of the oldest request of a key. It takes the request away if end is set, as a wait does;
// a test makes it the newest, as in SMPI whether the test succeeds or not. It takes as long as there are older
// ones, which are few in most programs, however many are younger.
func (q *requests) oldest(k key, end bool) (int32, bool) {
	pending := q.list[q.gone:]
	for i, r := range pending {
		if r.key != k {
			continue
		}
		copy(pending[1:i+1], pending)
		q.gone++
		if end {
			q.free = append(q.free, r.slot)
		} else {
			q.push(r)
		}
		return r.slot, true
	}
	return 0, false
}

// newest returns the slot of the newest request, and takes it away if end is set.
func (q *requests) newest(end bool) (int32, bool) {
	last := len(q.list) - 1
	if last < q.gone {
		return 0, false
	}
	slot := q.list[last].slot
	if end {
		q.list = q.list[:last]
		q.free = append(q.free, slot)
	}
	return slot, true
}

// has reports whether a request of a key is pending.
func (q *requests) has(k key) bool {
	return slices.ContainsFunc(q.list[q.gone:], func(r pendingRequest) bool { return r.key == k })
}

// push appends a request to the list, after letting go of what is no longer pending if that is half of it.
func (q *requests) push(r pendingRequest) {
	if q.gone > len(q.list)/2 {
		q.list = append(q.list[:0], q.list[q.gone:]...)
		q.gone = 0
	}
	q.list = append(q.list, r)
}

// forgetAll takes all requests away, and frees their slots.
func (q *requests) forgetAll() { q.list, q.gone, q.free, q.used = q.list[:0], 0, q.free[:0], 0 }

// ending returns what follows the last line of a rank, as SimGrid has it: of
// requests of one key all but the newest are let go, and the rest is waited for.
func (q *requests) ending() []trace.Action {
	pending := q.list[q.gone:]
	if len(pending) == 0 {
		return nil
	}
	// The last index of each key wins.
	newest := make(map[key]int, len(pending))
	for i, r := range pending {
		newest[r.key] = i
	}
	var list []trace.Action
	for i, r := range pending {
		if newest[r.key] != i {
			list = append(list, trace.Action{Kind: trace.KindFree, Req: r.slot})
		}
	}
	return append(list, trace.Action{Kind: trace.KindWaitAll})
}
