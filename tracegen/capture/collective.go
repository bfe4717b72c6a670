package capture

import (
	"errors"
	"fmt"

	"reprise/trace"
)

// collective adds a collective operation, which r, if it is a request, completes.
func (t *translator) collective(e *event, r request) error {
	kind, ok := e.proc.known().does.(trace.CollectiveKind)
	if !ok {
		return errors.New("a call that cannot be translated")
	}
	id := t.own.of[e.comm]
	switch {
	case id < 0:
		return fmt.Errorf("a communicator that not all of its ranks have made: %w", errUnfinished)
	case id == alone, len(t.comms[id].members) == 1 && len(t.comms[id].others) == 0:
		t.nothing(r)
		return nil
	}
	var s step
	if len(t.comms[id].others) > 0 {
		joins, err := false, error(nil)
		if s, joins, err = t.twoGroups(e, kind); err != nil || !joins {
			t.nothing(r)
			return err
		}
	} else {
		s = t.oneGroup(e, kind)
	}
	waits := r.number == 0 && t.split[id]
	if waits { // of all ranks, as it is of one
		t.ours--
		r.number = t.ours
	}
	if r.number != 0 {
		s.kind, s.request = trace.KindIcollective, t.take(r)
	}
	t.add(s)
	if waits {
		t.release(r, trace.KindWait)
	}
	return nil
}

// oneGroup returns a collective operation of a communicator.
func (t *translator) oneGroup(e *event, kind trace.CollectiveKind) step {
	id := t.own.of[e.comm]
	s := step{form: form{kind: trace.KindCollective, collective: kind, family: t.families.of(id)}}
	if e.nth > 0 && t.crossed[id] {
		s.family = t.families.ofPlan(id, e.nth, t.comms[id].members)
	}
	if kind.Rooted() {
		s.args[argPeer] = int64(e.ranks[0])
	}
	if kind.Reduces() {
		s.operator = trace.Operator(e.operator)
	}
	out, in := e.of[sends], e.of[receives]
	if c := e.of[anySide]; c.stated {
		out, in = c, c
	} else if c.size > 0 {
		in.size = c.size // of MPI_Reduce_scatter, whose type is that of both sides
	}
	t.directions(&s, out, in, len(t.comms[id].members), t.s.comms[e.comm].rank)
	if kind.Spans() {
		s.args[argTag] = e.span
		if s.recvSize == 1 && in.size != 1 {
			s.args[argTag] *= in.size
		}
	}
	return s
}

// directions says what the rank, me of so many, sends and receives. Where it is only known to
// others, as what the root receives is to the root, it is what the rank itself says, or nothing.
func (t *translator) directions(s *step, out, in counted, ranks, me int) {
	kind := s.collective
	if !out.stated {
		out = in.as(kind.SendsPerRank(), me, ranks)
	}
	if !in.stated {
		in = out.as(kind.RecvsPerRank(), me, ranks)
	}
	if kind.Sends() {
		s.sendSize, s.args[argBytes], s.lists[0] = t.direction(out, kind.SendsPerRank(), ranks)
	}
	if kind.Receives() {
		s.recvSize, s.args[argReceived], s.lists[1] = t.direction(in, kind.RecvsPerRank(), ranks)
	}
}

// as returns what one direction says of the other one, if that is not stated.
func (c counted) as(perRank bool, me, ranks int) counted {
	other := counted{stated: true, size: c.size, sizes: c.sizes, count: c.count, counts: c.counts}
	switch {
	case perRank && c.counts == nil:
		other.counts = make([]int64, ranks) // only the root knows
	case !perRank && c.counts != nil && me < len(c.counts):
		other.count, other.counts = c.counts[me], nil
	}
	return other
}

// direction returns the size of an element, and a count or the number of a list of counts.
func (t *translator) direction(c counted, perRank bool, ranks int) (size, count int64, list int32) {
	size = c.size
	bytes := size < 1 || size > trace.MaxElementSize || c.sizes != nil
	if bytes {
		size = 1
	}
	if !perRank {
		if bytes {
			return size, c.count * c.size, 0
		}
		return size, c.count, 0
	}
	values := make([]int64, ranks)
	for i := range values {
		switch {
		case c.counts == nil: // each as many, as in MPI_Reduce_scatter_block
			values[i] = c.count
		default:
			values[i] = c.counts[i]
		}
		if c.sizes != nil {
			values[i] *= c.sizes[i]
		} else if bytes {
			values[i] *= c.size
		}
	}
	return size, 0, t.table.list(values)
}
