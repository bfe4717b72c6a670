package verify

import (
	"errors"
	"fmt"

	"reprise/trace"
)

// disagreeing returns the first place where a rank's collective operations are not those
// of rank 0, or where ranks say in one what does not agree; nil if there is none.
func (v *verifier) disagreeing() (*Fault, error) {
	sum := uint64(0)
	for i := range v.ranks {
		if r, zero := &v.ranks[i], &v.ranks[0]; r.colls != zero.colls || r.calls != zero.calls {
			return traceCollectives(v.t, int32(i))
		}
		sum += v.ranks[i].counts
	}
	if sum != 0 {
		return traceCounts(v.t)
	}
	return nil, nil
}

// traceCollectives goes through the collective operations of rank 0 and another
// rank, which differ.
func traceCollectives(t *trace.Trace, rank int32) (*Fault, error) {
	if t.IsStream() {
		return nil, fmt.Errorf("%s: rank %d does not call the collective operations that rank 0 calls; %w", t.Name(), rank, errStream)
	}
	cursors, err := t.Cursors([]int32{0, rank}, trace.CursorOptions{})
	if err != nil {
		return nil, err
	}
	zero, other := trace.NewActionReader(&cursors[0], trace.Hit{}, 0), trace.NewActionReader(&cursors[1], trace.Hit{}, 0)
	for {
		x, y := nextCollective(&zero), nextCollective(&other)
		if err := errors.Join(zero.Err(), other.Err()); err != nil {
			return nil, err
		}
		if x != nil && y != nil && collectiveKey(x) == collectiveKey(y) {
			continue
		}
		return &Fault{Rank: rank, Step: other.Step(), Action: other.Actions() + 1,
			Text: fmt.Sprintf("%s where rank 0 has %s", collectiveText(y), collectiveText(x))}, nil
	}
}

// nextCollective returns the next collective operation, nil at the end.
func nextCollective(r *trace.ActionReader) *trace.Action {
	for {
		if a := r.Next(); a == nil || a.Kind == trace.KindCollective {
			return a
		}
	}
}

func collectiveText(a *trace.Action) string {
	if a == nil {
		return "no more collective operation"
	}
	text := fmt.Sprintf("%v with root %d", trace.CollectiveKind(a.Sym), a.Peer)
	if o := trace.Operator(a.Tag); o != trace.NoOperator {
		text += fmt.Sprintf(" by %v", o)
	}
	return text
}

// traceCounts goes through the collective operations of all ranks, which are the same, and
// returns the first where their counts do not agree.
func traceCounts(t *trace.Trace) (*Fault, error) {
	if t.IsStream() {
		return nil, fmt.Errorf("%s: the counts of a collective operation do not agree; %w", t.Name(), errStream)
	}
	cursors, err := t.Cursors(nil, trace.CursorOptions{})
	if err != nil {
		return nil, err
	}
	readers, calls := make([]trace.ActionReader, len(cursors)), make([]trace.Collective, len(cursors))
	for r := range readers {
		readers[r] = trace.NewActionReader(&cursors[r], trace.Hit{}, 0)
	}
	for {
		for r := range readers {
			a := nextCollective(&readers[r])
			if err := readers[r].Err(); err != nil {
				return nil, err
			}
			if a == nil {
				panic("verify: the counts of collective operations agree after all")
			}
			calls[r] = a.Collective(&cursors[r])
		}
		if r, text := trace.Disagreement(calls); text != "" {
			return &Fault{Rank: int32(r), Step: readers[r].Step(), Action: readers[r].Actions() + 1, Text: text}, nil
		}
	}
}
