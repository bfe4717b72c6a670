package replay

import (
	"fmt"

	"reprise/trace"
)

// Slots of requests are numbered by the trace, small numbers first, so that nearly all ranks have theirs in the
// rank itself. A request names a message and the side that the rank holds; that side keeps the message alive
// until the request is completed or let go of (MPI 3.1, section 3.7).

// A request is what a slot holds: noRequest, completeRequest, one side of a
// message as (id+1)<<1 | side, or ^n, the open collective operation n.
type request = int32

const (
	noRequest       request = 0
	completeRequest request = 1 // a detached send, or a message to nobody: complete, but not yet waited for
)

// side is the end of a message that a rank holds.
type side uint8

const (
	sender side = iota
	receiver
)

// requestOf returns the request of one side of a message.
func requestOf(message int32, s side) request { return (message+1)<<1 | request(s) }

// requestSlots knows the requests of ranks that have more of them than inlineRequests. The
// others are with the ranks (rank.reqs).
type requestSlots struct {
	overflow [][]request // by rank.overflow
}

// at returns slot n of a rank, which must be in [0, trace.MaxRequests).
func (s *requestSlots) at(rk *rank, n int32) (*request, error) {
	if uint32(n) < inlineRequests {
		return &rk.reqs[n], nil
	}
	if uint32(n) >= trace.MaxRequests {
		return nil, fmt.Errorf("request slot %d out of [0,%d)", n, trace.MaxRequests)
	}
	if rk.overflow == 0 {
		s.overflow = append(s.overflow, nil)
		rk.overflow = int32(len(s.overflow) - 1)
	}
	more := &s.overflow[rk.overflow]
	for int(n-inlineRequests) >= len(*more) {
		*more = append(*more, noRequest)
	}
	return &(*more)[n-inlineRequests], nil
}

// free returns slot n of a rank for a new request.
func (s *requestSlots) free(rk *rank, n int32) (*request, error) {
	slot, err := s.at(rk, n)
	if err == nil && *slot != noRequest {
		return nil, fmt.Errorf("request slot %d is taken: its request was not waited for", n)
	}
	return slot, err
}

// finish makes rank r wait for a request of a message, which leaves its slot.
func (e *engine) finish(r int32, slot *request) {
	q := *slot
	*slot = noRequest
	if q > completeRequest {
		e.join(r, q>>1-1, side(q&1))
	}
}

// freeRequest takes a request of rank r out of its slot without waiting for it.
func (e *engine) freeRequest(r, n int32) error {
	slot, err := e.slots.at(&e.ranks[r], n)
	if err != nil {
		return err
	}
	q := *slot
	if q < noRequest {
		return fmt.Errorf("request slot %d is of a collective operation, which must be waited for", n) // as MPI says
	}
	*slot = noRequest
	if q > completeRequest {
		e.matcher.release(e.matcher.resolve(q>>1 - 1))
	}
	return nil
}

// join makes rank r wait for the end of a message of which it holds one side; if
// the transfer has ended, it only pays what completing it costs.
func (e *engine) join(r, id int32, s side) {
	// A receive with a wildcard whose send came as another message leads to that.
	m, rk := &e.matcher.messages[id], &e.ranks[r]
	if m.flags&msgAlias != 0 {
		id = e.matcher.resolve(id)
		m = &e.matcher.messages[id]
	}
	if m.flags&msgEnded == 0 {
		m.flags |= msgSendWait << s
		rk.waits++
		return
	}
	if s == receiver || m.ofWindow() {
		if overhead := e.costs.recvOverhead(r, m); rk.serial {
			e.pay(r, overhead)
		} else {
			rk.after += overhead
		}
	}
	e.matcher.release(id)
}

// proceed reports whether rank r can go on at once; if not, it is blocked until
// the transfers that it joined have ended, and the time is charged to k.
func (e *engine) proceed(r int32, k TimeKind) bool {
	rk := &e.ranks[r]
	if rk.waits > 0 {
		rk.charge = k
		return false
	}
	if rk.after > 0 {
		e.pay(r, rk.after)
		rk.after = 0
	}
	return true
}
