package capture

import (
	"fmt"
	"slices"

	"reprise/trace"
)

// families are the communicators of the run as families of the trace, which are partitions
// of its ranks. Those that have no rank in common share a family, and so do those of the
// same ranks that did not live at the same time.
type families struct {
	parts []partition // but for the world, which is the first
	index []int32     // by communicator of the run
	ranks int

	rooted map[toRoot]int32 // the families of rooted operations of two groups
	plans  map[nthOf]int32  // those of persistent operations that ranks start in different orders
	selves int32            // the family in which each rank is alone; 0: none needs it
}

// toRoot names the rooted operations of an intercommunicator with one root.
type toRoot struct {
	comm int
	root int32 // of the world
}

// partition is a family: communicators without a common rank.
type partition struct {
	name   string
	groups [][]int32 // their ranks, in order
	taken  []bool
}

// packed bounds the families that are looked at for a place: those that were added last.
const packed = 64

func newFamilies(comms []communicator, ranks int) *families {
	f := &families{index: make([]int32, len(comms)), ranks: ranks, rooted: map[toRoot]int32{}, plans: map[nthOf]int32{}}
	last := map[string]int{} // the communicator that had these ranks last
	for id := alone + 1; id < len(comms); id++ {
		c := &comms[id]
		key := fmt.Sprint(c.members, c.others)
		before, again := last[key]
		last[key] = id
		if again && c.follows(&comms[before]) {
			f.index[id] = f.index[before]
			continue
		}
		f.index[id] = f.place(slices.Concat(c.members, c.others))
	}
	return f
}

// follows reports whether all ranks had freed another communicator when they made this one.
func (c *communicator) follows(other *communicator) bool {
	for rank, call := range c.begun {
		if freed, ok := other.freed[rank]; !ok || freed > call {
			return false
		}
	}
	return true
}

// place returns a family that has a communicator of ranks.
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

// ofRoot returns the family of the rooted operations of an intercommunicator: the root, which is
// rank 0 there, and the ranks of the other group.
func (f *families) ofRoot(comm int, root int32, others []int32) int32 {
	n, ok := f.rooted[toRoot{comm, root}]
	if !ok {
		n = f.place(append([]int32{root}, others...))
		f.rooted[toRoot{comm, root}] = n
	}
	return n
}

// ofPlan returns the family of the nth persistent operation of a communicator.
func (f *families) ofPlan(comm int, nth int64, members []int32) int32 {
	n, ok := f.plans[nthOf{comm, nth}]
	if !ok {
		n = f.place(members)
		f.plans[nthOf{comm, nth}] = n
	}
	return n
}

// alone returns the family in which each rank is alone, as in MPI_COMM_SELF.
func (f *families) alone() int32 {
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

func (f *families) of(comm int) int32 { return f.index[comm] }

// list returns the families for the header: ranks without a communicator are in a group of
// their own, of which nobody calls.
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
