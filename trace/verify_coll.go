package trace

import (
	"errors"
	"fmt"
)

// disagreeing returns the first place where a rank's collective operations are not those
// of rank 0, or where ranks say in one what does not agree; nil if there is none.
func (v *verifier) disagreeing() (*Fault, error) {
	sum := uint64(0)
	for i := range v.ranks {
		if v.ranks[i].colls != v.ranks[0].colls {
			return v.t.traceCollectives(int32(i))
		}
		sum += v.ranks[i].counts
	}
	if sum != 0 {
		return v.t.traceCounts()
	}
	return nil, nil
}

// traceCollectives goes through the collective operations of rank 0 and another
// rank, which differ.
func (t *Trace) traceCollectives(rank int32) (*Fault, error) {
	if t.file == nil {
		return nil, fmt.Errorf("%s: rank %d does not call the collective operations that rank 0 calls; %w", t.frames.name, rank, errStream)
	}
	cursors, err := t.Cursors([]int32{0, rank}, CursorOptions{})
	if err != nil {
		return nil, err
	}
	zero, other := &actionReader{c: &cursors[0]}, &actionReader{c: &cursors[1]}
	for {
		x, y := nextCollective(zero), nextCollective(other)
		if err := errors.Join(zero.err, other.err); err != nil {
			return nil, err
		}
		if x != nil && y != nil && collectiveKey(x) == collectiveKey(y) {
			continue
		}
		return &Fault{Rank: rank, Step: other.step, Action: other.actions + 1,
			Text: fmt.Sprintf("%s where rank 0 has %s", collectiveText(y), collectiveText(x))}, nil
	}
}

// nextCollective returns the next collective operation, nil at the end.
func nextCollective(r *actionReader) *Action {
	for {
		if a := r.next(); a == nil || a.Kind == KindCollective {
			return a
		}
	}
}

func collectiveText(a *Action) string {
	if a == nil {
		return "no more collective operation"
	}
	return fmt.Sprintf("%v with root %d", CollectiveKind(a.Sym), a.Peer)
}

// traceCounts goes through the collective operations of all ranks, which are the same, and
// returns the first where their counts do not agree.
func (t *Trace) traceCounts() (*Fault, error) {
	if t.file == nil {
		return nil, fmt.Errorf("%s: the counts of a collective operation do not agree; %w", t.frames.name, errStream)
	}
	cursors, err := t.Cursors(nil, CursorOptions{})
	if err != nil {
		return nil, err
	}
	readers, calls := make([]actionReader, len(cursors)), make([]Collective, len(cursors))
	for r := range readers {
		readers[r].c = &cursors[r]
	}
	for {
		for r := range readers {
			a := nextCollective(&readers[r])
			if err := readers[r].err; err != nil {
				return nil, err
			}
			if a == nil {
				panic("trace: the counts of collective operations agree after all")
			}
			calls[r] = a.Collective(&cursors[r])
		}
		if r, text := disagreement(calls); text != "" {
			return &Fault{Rank: int32(r), Step: readers[r].step, Action: readers[r].actions + 1, Text: text}, nil
		}
	}
}
