package capture

import (
	"fmt"
	"slices"
)

// communicator is one of the run, with its members as ranks of the world, in the order of their ranks in it.
type communicator struct {
	members []int32
	others  []int32 // of an intercommunicator, the second group

	// By member, others included: the call that made it, and the one that freed it, 0 for none.
	begun, freed map[int32]int64
}

// The communicators that every rank has. That of a rank alone has no list of members.
const (
	world = iota
	alone
)

// rankComms are the communicators of a rank by its own numbers. A rank numbers them in the order in which it makes
// them, from 2 on, behind MPI_COMM_WORLD and MPI_COMM_SELF.
type rankComms struct {
	of                    []int     // the communicator of the run, -1 if that is not known
	sources, destinations [][]int32 // neighbours, as ranks of the communicator
	topologies            []topology
}

// add gives a communicator that the rank makes its number. It is not known yet which one of the run it is.
func (rc *rankComms) add(c *creation) {
	rc.of, rc.topologies = append(rc.of, -1), append(rc.topologies, c.topology)
	rc.sources, rc.destinations = append(rc.sources, c.sources), append(rc.destinations, c.destinations)
}

// resolver finds out which communicators of ranks are the same. No record says so, but the calls that make a
// communicator are collective: each rank of the parent comes to them in one order (MPI 4.1, section 7.4.2), so that the
// nth of one rank is the nth of the others.
type resolver struct {
	surveys []*survey
	comms   []communicator
	ranks   []rankComms
	next    []int            // creation of each rank that is looked at
	calls   []map[string]int // by rank: how often it has come to a meeting of a name
	waiting map[string]*meeting
	order   []string // of waiting, so that communicators are numbered the same in each run
}

// meeting is a creation to which some of its ranks have come.
type meeting struct {
	arrived map[int32]*creation
	want    []int32 // the ranks that must come
}

// resolve matches the creations of all ranks. With partial, a creation to which not all ranks come makes no
// communicator, and else it is an error.
func resolve(surveys []*survey, partial bool) ([]communicator, []rankComms, error) {
	n := len(surveys)
	everybody := make([]int32, n)
	for i := range everybody {
		everybody[i] = int32(i)
	}
	r := &resolver{surveys: surveys, comms: []communicator{{members: everybody}, {}}, ranks: make([]rankComms, n),
		next: make([]int, n), calls: make([]map[string]int, n), waiting: map[string]*meeting{}}
	for i := range r.ranks {
		r.calls[i] = map[string]int{}
		r.ranks[i] = rankComms{of: []int{world, alone}, sources: make([][]int32, 2), destinations: make([][]int32, 2),
			topologies: make([]topology, 2)}
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
	if partial {
		for rank, s := range surveys { // communicators that are made from one that is not known
			for i := r.next[rank]; i < len(s.creations); i++ {
				if c := &s.creations[i]; !c.none {
					r.ranks[rank].add(c)
				}
			}
		}
		return r.comms, r.ranks, nil
	}
	for _, key := range r.order {
		m := r.waiting[key]
		for _, rank := range m.want {
			if m.arrived[rank] != nil {
				continue
			}
			for _, there := range m.want {
				if c := m.arrived[there]; c != nil {
					return r.comms, r.ranks, fmt.Errorf("rank %d: call %d (%v) waits for rank %d, which does not make it", there,
						c.call, c.proc, rank)
				}
			}
		}
	}
	return r.comms, r.ranks, nil
}

// parent returns the communicator of the run that a creation is made from, -1 if it is not known yet.
func (r *resolver) parent(rank int32, c *creation) int {
	if of := r.ranks[rank].of; c.parent >= 0 && c.parent < len(of) {
		return of[c.parent]
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
	r.next[rank]++
	if !c.none {
		r.ranks[rank].add(c)
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
	case byGroup:
		name, want = fmt.Sprint("group", parent, c.members), c.members
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
	for _, rank := range m.want {
		c := m.arrived[rank]
		if c == nil {
			return fmt.Errorf("rank %d makes a communicator with ranks that make another one", rank)
		}
		if c.none || r.ranks[rank].of[c.local] >= 0 {
			continue
		}
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
		for _, rank := range slices.Concat(made.members, made.others) {
			other := m.arrived[rank] // nil for a rank of a damaged list, too
			if other == nil || other.none || r.ranks[rank].of[other.local] >= 0 {
				return fmt.Errorf("call %d (%v) made a communicator with rank %d, which has made another one", c.call, c.proc,
					rank)
			}
			if other.size != len(made.members) && other.size != len(made.others) {
				return fmt.Errorf("rank %d: call %d (%v) made a communicator of %d ranks, which rank %d has %d in", rank, other.call,
					other.proc, other.size, made.members[0], len(made.members))
			}
			r.ranks[rank].of[other.local] = len(r.comms)
			made.begun[rank] = other.call
			if freed, ok := r.surveys[rank].freed[other.local]; ok {
				made.freed[rank] = freed
			}
		}
		r.comms = append(r.comms, made)
	}
	for _, rank := range m.want {
		if c := m.arrived[rank]; !c.none && r.ranks[rank].of[c.local] < 0 {
			return fmt.Errorf("rank %d: call %d (%v) made a communicator of %d ranks that its first one does not know", rank,
				c.call, c.proc, c.size)
		}
	}
	return nil
}

// peers returns the ranks of the world that a member names by 0, 1 and so on: of an intercommunicator, the other
// group. For MPI_COMM_SELF it returns nil.
func (c *communicator) peers(own int32) []int32 {
	if len(c.others) > 0 && slices.Contains(c.members, own) {
		return c.others
	}
	return c.members
}

// peer returns the rank of the world that a rank means by a rank of a communicator.
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
