package capture

import (
	"fmt"
	"slices"
)

// communicator is one of the run, with its members as ranks of the world.
type communicator struct {
	members []int32
	others  []int32 // of an intercommunicator
	maker   procedureNumber

	// By member, others included: the call that made it, and the one that freed it, 0 for none.
	begun, freed map[int32]int64
}

// The communicators that every rank has. That of a rank alone has no list of members.
const (
	world = iota
	alone
)

// rankComms are the communicators of a rank by its own numbers, as indices of those of the
// run; neighbours by the same.
type rankComms struct {
	of                    []int
	sources, destinations [][]int32
	topologies            []topology
}

// add gives a communicator that the rank makes a number there; which one of the run it is, is not known yet.
func (rc *rankComms) add(c *creation) {
	rc.of, rc.topologies = append(rc.of, -1), append(rc.topologies, c.topology)
	rc.sources, rc.destinations = append(rc.sources, c.sources), append(rc.destinations, c.destinations)
}

// resolver finds out which communicators of ranks are the same.
type resolver struct {
	surveys []*survey
	comms   []communicator
	ranks   []rankComms
	next    []int            // creation of each rank that is looked at
	calls   []map[string]int // by rank: how often it has come to a meeting of a name
	waiting map[string]*meeting
	order   []string // of waiting
}

// meeting is a creation that some of its ranks have come to.
type meeting struct {
	arrived map[int32]*creation
	want    []int32
}

// resolve matches the creations of all ranks. With partial, a creation that not all
// have come to is none.
func resolve(surveys []*survey, partial bool) ([]communicator, []rankComms, error) {
	n := len(surveys)
	everybody := make([]int32, n)
	for i := range everybody {
		everybody[i] = int32(i)
	}
	r := &resolver{surveys: surveys, comms: []communicator{{members: everybody}, {}}, ranks: make([]rankComms, n),
		next: make([]int, n), waiting: map[string]*meeting{}}
	r.calls = make([]map[string]int, n)
	for i := range r.ranks {
		r.calls[i] = map[string]int{}
		r.ranks[i] = rankComms{of: []int{world, alone}, sources: make([][]int32, 2), destinations: make([][]int32, 2),
			topologies: make([]topology, 2)}
	}
	for moved := true; moved; {
		moved = false
		for rank := range surveys {
			for r.advance(int32(rank)) {
				moved = true
			}
		}
		if err := r.meet(&moved); err != nil {
			return nil, nil, err
		}
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
	return r.comms, r.ranks, r.stuck()
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
	if c.strange || c.none && (c.proc == procCommcreategroup || c.proc == procCommcreatefromgroup) {
		return true // nothing is done with it; who is not of the group need not call
	}
	key, want := r.key(rank, c, parent)
	m := r.waiting[key]
	if m == nil {
		m = &meeting{arrived: map[int32]*creation{}, want: want}
		r.waiting[key] = m
		r.order = append(r.order, key)
	}
	m.arrived[rank] = c
	return true
}

// key names the meeting of a creation, and its ranks: those of the parent, in the order of
// calls; or those that the call itself names.
func (r *resolver) key(rank int32, c *creation, parent int) (string, []int32) {
	switch {
	case c.proc == procCommcreategroup, c.proc == procCommcreatefromgroup:
		return r.ordered(rank, fmt.Sprint("group", parent, c.members)), c.members
	case c.proc == procIntercommcreate, c.proc == procIntercommcreatefromgroups:
		a, b := c.members, c.others
		if slices.Compare(a, b) > 0 {
			a, b = b, a
		}
		return r.ordered(rank, fmt.Sprint("inter", a, b)), slices.Concat(a, b)
	case parent == alone:
		return r.ordered(rank, fmt.Sprint("alone", rank)), []int32{rank}
	}
	p := &r.comms[parent]
	return r.ordered(rank, fmt.Sprint("comm", parent)), slices.Concat(p.members, p.others)
}

// ordered tells the meetings of one name apart by their order on the rank.
func (r *resolver) ordered(rank int32, name string) string {
	r.calls[rank][name]++
	return fmt.Sprint(name, " ", r.calls[rank][name])
}

// meet ends the meetings that all have come to.
func (r *resolver) meet(moved *bool) error {
	left := r.order[:0]
	for _, key := range r.order {
		m := r.waiting[key]
		if len(m.arrived) < len(m.want) {
			left = append(left, key)
			continue
		}
		delete(r.waiting, key)
		*moved = true
		if err := r.end(m); err != nil {
			return err
		}
	}
	r.order = left
	return nil
}

// end gives the communicators of a meeting their numbers.
func (r *resolver) end(m *meeting) error {
	for _, rank := range m.want {
		c := m.arrived[rank]
		if c == nil {
			return fmt.Errorf("rank %d makes a communicator with ranks that make another one", rank)
		}
		if c.none || r.ranks[rank].of[c.local] >= 0 {
			continue
		}
		members, others := c.members, c.others
		if c.proc == procCommidup || c.proc == procCommidupwithinfo {
			parent := r.parent(rank, c)
			if members, others = r.comms[parent].members, r.comms[parent].others; parent == alone {
				members = []int32{rank}
			}
		}
		if members == nil {
			continue // its first member has them
		}
		if err := r.add(m, c, communicator{members: members, others: others, maker: c.proc}); err != nil {
			return err
		}
	}
	for _, rank := range m.want {
		if c := m.arrived[rank]; !c.none && r.ranks[rank].of[c.local] < 0 {
			return fmt.Errorf("rank %d: call %d (%v) made a communicator of %d ranks that its first one does not know", rank,
				c.call, c.proc, c.size)
		}
	}
	return nil
}

// add adds a communicator, for all of its ranks.
func (r *resolver) add(m *meeting, by *creation, c communicator) error {
	id := len(r.comms)
	c.begun, c.freed = map[int32]int64{}, map[int32]int64{}
	for _, rank := range slices.Concat(c.members, c.others) {
		other := m.arrived[rank] // nil for a rank of a damaged list, too
		if other == nil || other.none || r.ranks[rank].of[other.local] >= 0 {
			return fmt.Errorf("call %d (%v) made a communicator with rank %d, which has made another one", by.call, by.proc,
				rank)
		}
		if other.size != len(c.members) && other.size != len(c.others) {
			return fmt.Errorf("rank %d: call %d (%v) made a communicator of %d ranks, which rank %d has %d in", rank, other.call,
				other.proc, other.size, c.members[0], len(c.members))
		}
		r.ranks[rank].of[other.local] = id
		c.begun[rank] = other.call
		if freed, ok := r.surveys[rank].freed[other.local]; ok {
			c.freed[rank] = freed
		}
	}
	r.comms = append(r.comms, c)
	return nil
}

// stuck returns what a rank waits for that has creations left.
func (r *resolver) stuck() error {
	for _, key := range r.order {
		m := r.waiting[key]
		for _, rank := range m.want {
			if m.arrived[rank] != nil {
				continue
			}
			for _, there := range m.want {
				if c := m.arrived[there]; c != nil {
					return fmt.Errorf("rank %d: call %d (%v) waits for rank %d, which does not make it", there, c.call, c.proc, rank)
				}
			}
		}
	}
	return nil
}

// peers returns those with which a rank has to do, as ranks of the world; nil for itself alone.
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
