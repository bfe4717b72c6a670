package capture

import (
	"fmt"
	"slices"

	"reprise/trace"
)

// This file finds the communicators of the run (resolve) and packs them into families of the trace (families),
// stage 2 of a merge.

// communicator is a communicator of the run. Its members are ranks of the world, in the order of their ranks in it.
type communicator struct {
	members []int32
	others  []int32 // of an intercommunicator, the second group

	// By member, others included: the call that made it, and the one that freed it, 0 for none.
	begun, freed map[int32]int64
}

// The communicators that every rank has: MPI_COMM_WORLD and MPI_COMM_SELF, which has no list of members.
const (
	world = iota
	alone
)

// rankComm is a communicator of a rank. A rank numbers them in the order in which it makes them, from 2 on, behind
// MPI_COMM_WORLD and MPI_COMM_SELF.
type rankComm struct {
	of    int // the communicator of the run, -1 if that is not known
	*made     // as the rank sees it
}

// resolver finds out which communicators of different ranks are the same. No record says so, but the calls that make a
// communicator are collective: all ranks of the parent make them in one order (MPI 4.1, section 7.4.2), so that the
// nth call of one rank belongs to the nth call of each other rank.
type resolver struct {
	surveys []*survey
	comms   []communicator
	ranks   [][]rankComm     // by rank and its own number
	next    []int            // creation of each rank that is looked at
	calls   []map[string]int // by rank: how often it has come to a meeting of a name
	waiting map[string]*meeting
	order   []string // of waiting, so that communicators are numbered the same in each run
}

// meeting is a call that makes a communicator, to which some of its ranks have come.
type meeting struct {
	arrived map[int32]*creation
	want    []int32 // the ranks that must come
}

// resolve matches the calls of all ranks that make communicators. If not all ranks come to such a call, it makes
// no communicator with partial, and without partial it is an error.
func resolve(surveys []*survey, partial bool) ([]communicator, [][]rankComm, error) {
	n := len(surveys)
	// The two communicators that every rank has need no meeting: they are numbers 0 and 1 of the run and of each rank.
	everybody := make([]int32, n)
	for i := range everybody {
		everybody[i] = int32(i)
	}
	r := &resolver{surveys: surveys, comms: []communicator{{members: everybody}, {}}, ranks: make([][]rankComm, n),
		next: make([]int, n), calls: make([]map[string]int, n), waiting: map[string]*meeting{}}
	for i := range r.ranks {
		r.calls[i] = map[string]int{}
		r.ranks[i] = []rankComm{{world, &made{}}, {alone, &made{}}}
	}
	// Ranks go on from creation to creation, as far as they can. A meeting to which all have come gives its
	// communicator a number, which lets ranks go on to creations that have it as their parent.
	for moved := true; moved; {
		moved = false
		for rank := range surveys {
			for r.advance(int32(rank)) {
				moved = true
			}
		}
		left := r.order[:0]
		// Meetings are ended in the order in which they began, which does not depend on the order of a map.
		for _, key := range r.order {
			m := r.waiting[key]
			if len(m.arrived) < len(m.want) {
				left = append(left, key)
				continue
			}
			delete(r.waiting, key)
			moved = true
			if err := r.end(m); err != nil {
				return nil, nil, err
			}
		}
		r.order = left
	}
	// Nobody can go on. Meetings that are left wait for ranks whose recording ended before.
	if partial {
		for rank, s := range surveys { // communicators that are made from one that is not known
			for i := r.next[rank]; i < len(s.creations); i++ {
				if c := &s.creations[i]; !c.none {
					r.ranks[rank] = append(r.ranks[rank], rankComm{-1, c.made})
				}
			}
		}
		return r.comms, r.ranks, nil
	}
	// The error names a rank that waits, its call, and a rank that it waits for.
	for _, key := range r.order {
		m := r.waiting[key]
		waits := slices.IndexFunc(m.want, func(rank int32) bool { return m.arrived[rank] != nil })
		missing := slices.IndexFunc(m.want, func(rank int32) bool { return m.arrived[rank] == nil })
		if waits >= 0 && missing >= 0 {
			c := m.arrived[m.want[waits]]
			return r.comms, r.ranks, fmt.Errorf("rank %d: call %d (%v) waits for rank %d, which does not make it",
				m.want[waits], c.call, c.proc, m.want[missing])
		}
	}
	return r.comms, r.ranks, nil
}

// parent returns the communicator of the run that a creation is made from, -1 if it is not known yet.
func (r *resolver) parent(rank int32, c *creation) int {
	if own := r.ranks[rank]; c.parent >= 0 && c.parent < len(own) {
		return own[c.parent].of
	}
	return -1
}

// advance has a rank come to its next creation, and reports whether it could.
func (r *resolver) advance(rank int32) bool {
	s := r.surveys[rank]
	if r.next[rank] == len(s.creations) {
		return false
	}
	c := &s.creations[r.next[rank]]
	parent := r.parent(rank, c)
	if parent < 0 && !c.strange {
		return false
	}
	// The rank's own number is given at once, as later records count with it; that of the run follows when
	// all ranks have come.
	r.next[rank]++
	if !c.none {
		r.ranks[rank] = append(r.ranks[rank], rankComm{-1, c.made})
	}
	byGroup := c.proc == procCommcreategroup || c.proc == procCommcreatefromgroup
	if c.strange || c.none && byGroup {
		return true // no call uses it; ranks outside of the group need not make it
	}
	// The meeting has a name, and the ranks of the parent, or those that the call itself names. Meetings of one name
	// are told apart by their order on each rank.
	var name string
	var want []int32
	switch {
	// These procedures are collective over the group that they name, not over the parent (MPI 4.1, section 7.4.2).
	case byGroup:
		name, want = fmt.Sprint("group", parent, c.members), c.members
	// Each group names itself first. The lesser list goes first in the name, so that both groups meet under one.
	case c.proc == procIntercommcreate, c.proc == procIntercommcreatefromgroups:
		a, b := c.members, c.others
		if slices.Compare(a, b) > 0 {
			a, b = b, a
		}
		name, want = fmt.Sprint("inter", a, b), slices.Concat(a, b)
	case parent == alone:
		name, want = fmt.Sprint("alone", rank), []int32{rank}
	default:
		p := &r.comms[parent]
		name, want = fmt.Sprint("comm", parent), slices.Concat(p.members, p.others)
	}
	r.calls[rank][name]++
	key := fmt.Sprint(name, " ", r.calls[rank][name])
	m := r.waiting[key]
	if m == nil {
		m = &meeting{arrived: map[int32]*creation{}, want: want}
		r.waiting[key] = m
		r.order = append(r.order, key)
	}
	m.arrived[rank] = c
	return true
}

// end gives the communicators of a meeting their numbers. MPI_Comm_split makes several; the first member of each has
// the list of its members.
func (r *resolver) end(m *meeting) error {
	// A rank that is in no list of members would use a communicator that the run does not have.
	for _, rank := range m.want {
		c := m.arrived[rank]
		if c == nil {
			return fmt.Errorf("rank %d makes a communicator with ranks that make another one", rank)
		}
		if c.none || r.ranks[rank][c.local].of >= 0 {
			continue
		}
		// The first rank of a new communicator that the loop meets creates it for all of its members.
		made := communicator{members: c.members, others: c.others, begun: map[int32]int64{}, freed: map[int32]int64{}}
		if c.proc == procCommidup || c.proc == procCommidupwithinfo { // whose records cannot ask for the members yet
			parent := r.parent(rank, c)
			if made.members, made.others = r.comms[parent].members, r.comms[parent].others; parent == alone {
				made.members = []int32{rank}
			}
		}
		if made.members == nil {
			continue
		}
		// All members must have made a communicator of this size in this meeting. Recordings may be damaged,
		// so this is checked.
		for _, rank := range slices.Concat(made.members, made.others) {
			other := m.arrived[rank] // nil for a rank of a damaged list, too
			if other == nil || other.none || r.ranks[rank][other.local].of >= 0 {
				return fmt.Errorf("call %d (%v) made a communicator with rank %d, which has made another one", c.call, c.proc,
					rank)
			}
			if other.size != len(made.members) && other.size != len(made.others) {
				return fmt.Errorf("rank %d: call %d (%v) made a communicator of %d ranks, which rank %d has %d in", rank, other.call,
					other.proc, other.size, made.members[0], len(made.members))
			}
			r.ranks[rank][other.local].of = len(r.comms)
			made.begun[rank] = other.call
			if freed, ok := r.surveys[rank].freed[other.local]; ok {
				made.freed[rank] = freed
			}
		}
		r.comms = append(r.comms, made)
	}
	for _, rank := range m.want {
		if c := m.arrived[rank]; !c.none && r.ranks[rank][c.local].of < 0 {
			return fmt.Errorf("rank %d: call %d (%v) made a communicator of %d ranks that its first one does not know", rank,
				c.call, c.proc, c.size)
		}
	}
	return nil
}

// peers returns, for ranks 0, 1 and so on as member own names them, the ranks of the world: for an
// intercommunicator those of the other group, for MPI_COMM_SELF nil.
func (c *communicator) peers(own int32) []int32 {
	if len(c.others) > 0 && slices.Contains(c.members, own) {
		return c.others
	}
	return c.members
}

// peer returns the rank of the world that rank own means by a rank of the communicator.
func (c *communicator) peer(own, rank int32) (int32, error) {
	members := c.peers(own)
	switch {
	case rank < 0 || members != nil && int(rank) >= len(members) || members == nil && rank != 0:
		return 0, fmt.Errorf("rank %d of a communicator of %d", rank, max(1, len(members)))
	case members == nil:
		return own, nil
	}
	return members[rank], nil
}

// families are the communicators of the run as families of the trace. Those of the same ranks that did not live at the same
// time share a family, too.
type families struct {
	*trace.Families
	// By communicator of the run, the family of its messages. Those of a rank to itself are the world's.
	index []int32
	extra map[operations]int32 // families of operations that cannot have that of their communicator
}

// operations names operations of a communicator that have a family of their own: the rooted ones of an
// intercommunicator with one root, or its nth persistent operation, if ranks start their persistent operations in
// different orders.
type operations struct {
	comm int
	root int32 // rank of the world; 0 if nth is set
	nth  int64 // 0 if root is meant
}

// apart returns the family of its own that operations have, in which the ranks are a group in this order. It is
// made by the first rank that asks.
func (f *families) apart(o operations, ranks []int32) int32 {
	n, ok := f.extra[o]
	if !ok {
		n = f.Place(ranks)
		f.extra[o] = n
	}
	return n
}

// ofAll returns the family of operations of all ranks of a communicator. For MPI_COMM_SELF that is the family in
// which each rank is alone.
func (f *families) ofAll(comm int) int32 {
	if comm != alone {
		return f.index[comm]
	}
	return f.Selves()
}
