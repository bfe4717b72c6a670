package verify

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"reprise/internal/textutil"
	"reprise/trace"
)

// This file checks that the ranks of a communicator call the same collective operations with counts that agree:
// rankCheck.collective sums up the calls of a rank, verifier.disagreeing compares the sums and finds the first
// difference.

// calls sums up the collective operations of a rank on a communicator. Which call differs from those of another rank
// is found by reading the trace again.
type calls struct {
	hash   uint64 // of what all must say alike, in order
	count  int64
	group  int32 // of the communicator; -1: all ranks
	member int   // which of it the rank is
	size   int   // of it
}

// commMask returns which bits of the family of a message tell its communicator from others.
func commMask(h *trace.Header) uint16 {
	if h.Communicators {
		return 1<<16 - 1
	}
	return 0
}

// collective notes an operation that all ranks of its communicator call, if the action is one. It adds to two sums. The
// hash covers what all ranks must say alike, in order; it compares each rank with the first of the communicator. The
// sum of counts compares counts that differ from rank to rank: see trace.Collective.Agreement.
func (r *rankCheck) collective(a *trace.Action) {
	comm, all := a.Together()
	if !all {
		return
	}
	c := r.on(comm)
	c.hash = chained(c.hash, collectiveKey(a))
	if a.Operates() {
		call := a.Collective(r.c.Cursor())
		r.counts += call.Agreement(c.group, c.count, c.member, c.size)
	}
	c.count++
}

// on returns what the rank has called on a communicator.
func (r *rankCheck) on(comm int32) *calls {
	c := r.calls[comm]
	switch {
	case c != nil:
		return c
	case comm == 0:
		c = &calls{group: -1, member: int(r.rank), size: r.h.Ranks}
	default:
		group := r.program.Group(int(comm-1), r.rank)
		members := &r.h.CommFamilies[comm-1].Groups[group]
		c = &calls{group: group, member: members.Find(r.rank), size: members.Len()}
	}
	r.calls[comm] = c
	return c
}

// collectiveKey is what all ranks must say alike in a collective operation.
// The highest bits tell operations of windows and files, and nonblocking ones, from the others.
func collectiveKey(a *trace.Action) uint64 {
	switch a.Kind {
	case trace.KindSync:
		return 1<<62 | uint64(a.X[0])<<32 | uint64(uint32(a.Tag))
	case trace.KindFile:
		return 1<<61 | uint64(a.X[1])
	}
	key := uint64(a.Sym)<<40 | uint64(a.Operator())<<32 | uint64(uint32(a.Peer))
	if a.Kind == trace.KindIcollective {
		key |= 1 << 63
	}
	return key | uint64(a.Flags&flagBeside)<<53
}

// flagBeside is set here for an operation beside its rank, which goes with such operations of the other ranks only.
const flagBeside = 1 << 7

// members is a communicator: all ranks, or a group of a family.
type members struct {
	trace.Group
	comm int32 // 1 + family; 0: all ranks
}

// communicators calls f for all on which there are calls, until it finds a fault.
func (v *verifier) communicators(f func(m *members) *Fault) *Fault {
	used := map[int32]bool{}
	for i := range v.ranks {
		for comm := range v.ranks[i].calls {
			used[comm] = true
		}
	}
	h := v.t.Header()
	for _, comm := range slices.Sorted(maps.Keys(used)) {
		groups := []trace.Group{{Stride: 1, Count: int32(h.Ranks)}}
		if comm > 0 {
			groups = h.CommFamilies[comm-1].Groups
		}
		for _, g := range groups {
			if fault := f(&members{g, comm}); fault != nil {
				return fault
			}
		}
	}
	return nil
}

// disagreeing returns the first place where the collective operations of a rank are not those of the first rank of its
// communicator, or where the counts of ranks do not agree in one; nil if there is none.
func (v *verifier) disagreeing() *Fault {
	// First that all ranks call the same operations: only then can counts be compared call by call.
	fault := v.communicators(func(m *members) *Fault {
		for i := range m.Len() {
			r := m.Member(i)
			first, other := v.ranks[m.Member(0)].on(m.comm), v.ranks[r].on(m.comm)
			if first.hash != other.hash || first.count != other.count {
				return traceCollectives(v.t, m, r)
			}
		}
		return nil
	})
	if fault != nil {
		return fault
	}
	// Then that their counts agree, over all communicators at once.
	sum := uint64(0)
	for i := range v.ranks {
		sum += v.ranks[i].counts
	}
	if sum == 0 {
		return nil
	}
	if fault = v.communicators(v.traceCounts); fault == nil {
		panic("verify: the counts of collective operations agree after all")
	}
	return fault
}

// traceCollectives goes through the collective operations of the first rank of a communicator and of another one, which
// differ. The fault names the other rank, at its first operation that is not the first rank's.
func traceCollectives(t *trace.Trace, m *members, rank int32) *Fault {
	first := m.Member(0)
	if t.IsStream() {
		textutil.Stop(fmt.Errorf("%s: rank %d does not call the collective operations that rank %d calls; %w", t.Name(),
			rank, first, errStream))
	}
	cursors := textutil.Must(t.Cursors([]int32{first, rank}, trace.CursorOptions{}))
	zero, other := trace.NewActionReader(&cursors[0], trace.Hit{}, 0), trace.NewActionReader(&cursors[1], trace.Hit{}, 0)
	for {
		// Hashes differed, so that the loop ends: with operations that differ, or with the end of one rank.
		x, y := m.next(&zero), m.next(&other)
		textutil.Check(errors.Join(zero.Err(), other.Err()))
		if x != nil && y != nil && collectiveKey(x) == collectiveKey(y) {
			continue
		}
		return &Fault{Rank: rank, Step: other.Step(), Action: other.Actions() + 1,
			Text: fmt.Sprintf("%s where rank %d has %s", collectiveText(y), first, collectiveText(x))}
	}
}

// next returns the next operation of all ranks of the communicator, nil at the end.
func (m *members) next(r *trace.ActionReader) *trace.Action {
	beside := false // of the action before
	for a := r.Next(); ; a = r.Next() {
		if a == nil {
			return nil
		}
		if beside && a.Kind == trace.KindCollective {
			a.Flags |= flagBeside
		}
		beside = a.Kind == trace.KindBeside
		if comm, all := a.Together(); all && comm == m.comm {
			return a
		}
	}
}

// collectiveText names an operation in a fault; nil is the end of the rank.
func collectiveText(a *trace.Action) string {
	if a == nil {
		return "no more collective operation"
	}
	switch a.Kind {
	case trace.KindSync:
		return fmt.Sprintf("win_%v of window %d", a.SyncKind(), a.Tag)
	case trace.KindFile:
		kind, _ := a.FileKind()
		return kind.String() + "_all"
	}
	text := fmt.Sprintf("%v with root %d", trace.CollectiveKind(a.Sym), a.Peer)
	if a.Kind == trace.KindIcollective {
		text = "i" + text
	}
	if o := a.Operator(); o != trace.NoOperator {
		text += fmt.Sprintf(" by %v", o)
	}
	return text
}

// traceCounts goes through the collective operations on a communicator, which are the same for
// all its ranks, and returns the first where their counts do not agree.
func (v *verifier) traceCounts(m *members) *Fault {
	if v.t.IsStream() {
		textutil.Stop(fmt.Errorf("%s: the counts of a collective operation do not agree; %w", v.t.Name(), errStream))
	}
	ranks := make([]int32, m.Len())
	for i := range ranks {
		ranks[i] = m.Member(i)
	}
	cursors := textutil.Must(v.t.Cursors(ranks, trace.CursorOptions{}))
	readers, calls := make([]trace.ActionReader, len(cursors)), make([]trace.Collective, len(cursors))
	for r := range readers {
		readers[r] = trace.NewActionReader(&cursors[r], trace.Hit{}, 0)
	}
	for {
		for r := range readers {
			a := m.next(&readers[r])
			for a != nil && (a.Kind == trace.KindSync || a.Kind == trace.KindFile) { // they have no counts
				a = m.next(&readers[r])
			}
			textutil.Check(readers[r].Err())
			if a == nil {
				return nil
			}
			calls[r] = a.Collective(&cursors[r])
		}
		if r, text := trace.Disagreement(calls); text != "" {
			if m.comm > 0 {
				text += fmt.Sprintf(" (ranks of the communicator, of family %q)", v.t.Header().CommFamilies[m.comm-1].Name)
			}
			return &Fault{Rank: ranks[r], Step: readers[r].Step(), Action: readers[r].Actions() + 1, Text: text}
		}
	}
}
