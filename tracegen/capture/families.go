package capture

import (
	"fmt"
	"slices"

	"reprise/trace"
)

// families are the communicators of the run as families of the trace, which are partitions of its ranks.
// Communicators that have no rank in common share a family, and so do those of the same ranks that did not live at
// the same time.
type families struct {
	parts  []partition // family n+1; family 0 is the world
	index  []int32     // by communicator of the run
	ranks  int
	extra  map[operations]int32 // families of operations that cannot have that of their communicator
	selves int32                // the family in which each rank is alone; 0: none needs it
}

// operations are those of a communicator that have a family of their own: the rooted ones of an intercommunicator
// with one root, or its nth persistent operation, whose starts ranks order differently.
type operations struct {
	comm int
	root int32 // rank of the world; 0 if nth is set
	nth  int64 // 0 if root is meant
}

// partition is a family: communicators without a common rank.
type partition struct {
	name   string
	groups [][]int32 // their ranks, in order
	taken  []bool
}

// packed is how many families are searched for a place: those that were added last. It bounds the time of programs
// that make communicators all along.
const packed = 64

func newFamilies(comms []communicator, ranks int) *families {
	f := &families{index: make([]int32, len(comms)), ranks: ranks, extra: map[operations]int32{}}
	last := map[string]int{} // by ranks: the communicator that had them last
	for id := alone + 1; id < len(comms); id++ {
		c := &comms[id]
		key := fmt.Sprint(c.members, c.others)
		before, again := last[key]
		last[key] = id
		for rank, call := range c.begun { // the one before it must have been freed on all ranks
			freed, ok := comms[before].freed[rank]
			again = again && ok && freed <= call
		}
		if again {
			f.index[id] = f.index[before]
		} else {
			f.index[id] = f.place(slices.Concat(c.members, c.others))
		}
	}
	return f
}

// place returns a family with a group of these ranks, which it adds.
func (f *families) place(ranks []int32) int32 {
	n := -1
	for i := max(0, len(f.parts)-packed); i < len(f.parts) && n < 0; i++ {
		if !slices.ContainsFunc(ranks, func(r int32) bool { return f.parts[i].taken[r] }) {
			n = i
		}
	}
	if n < 0 {
		n = len(f.parts)
		f.parts = append(f.parts, partition{name: fmt.Sprintf("comm%d", n+1), taken: make([]bool, f.ranks)})
	}
	for _, r := range ranks {
		f.parts[n].taken[r] = true
	}
	f.parts[n].groups = append(f.parts[n].groups, ranks)
	return 1 + int32(n)
}

// apart returns the family of operations that have one of their own, with these ranks in this order. All ranks name
// it alike, whichever comes first.
func (f *families) apart(o operations, ranks []int32) int32 {
	n, ok := f.extra[o]
	if !ok {
		n = f.place(ranks)
		f.extra[o] = n
	}
	return n
}

// of returns the family of a communicator's messages. Those of a rank to itself are the world's.
func (f *families) of(comm int) int32 { return f.index[comm] }

// ofAll returns the family of operations of all ranks of a communicator. For MPI_COMM_SELF that is the family in
// which each rank is alone.
func (f *families) ofAll(comm int) int32 {
	if comm != alone {
		return f.index[comm]
	}
	if f.selves == 0 {
		p := partition{name: "self", taken: make([]bool, f.ranks)}
		for r := range f.ranks {
			p.groups, p.taken[r] = append(p.groups, []int32{int32(r)}), true
		}
		f.parts = append(f.parts, p)
		f.selves = int32(len(f.parts))
	}
	return f.selves
}

// list returns the families for the header. Ranks without a communicator are in a group of their own, in which no
// operation takes place.
func (f *families) list() []trace.CommFamily {
	list := []trace.CommFamily{{Name: "world", Groups: []trace.Group{{Stride: 1, Count: int32(f.ranks)}}}}
	for _, p := range f.parts {
		var groups []trace.Group
		for _, ranks := range p.groups {
			groups = append(groups, group(ranks))
		}
		var rest []int32
		for r, taken := range p.taken {
			if !taken {
				rest = append(rest, int32(r))
			}
		}
		if len(rest) > 0 {
			groups = append(groups, group(rest))
		}
		list = append(list, trace.CommFamily{Name: p.name, Groups: groups})
	}
	return list
}

// group returns ranks as a group, by a rule if they follow one.
func group(ranks []int32) trace.Group {
	stride := int32(1)
	if len(ranks) > 1 {
		stride = ranks[1] - ranks[0]
	}
	for i, r := range ranks {
		if r != ranks[0]+int32(i)*stride {
			return trace.Group{Ranks: ranks}
		}
	}
	return trace.Group{Start: ranks[0], Stride: stride, Count: int32(len(ranks))}
}
