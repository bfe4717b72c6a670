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
}

// partition is a family: a communicator for some of the ranks.
type partition struct {
	name  string
	comms []int // with ranks that are in no other one
	taken []bool
}

// packed bounds the families that are looked at for a place: those that were added last.
const packed = 64

func newFamilies(comms []communicator, ranks int) *families {
	f := &families{index: make([]int32, len(comms)), ranks: ranks}
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
		f.index[id] = 1 + int32(f.place(id, c))
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

// place returns the family of a communicator.
func (f *families) place(id int, c *communicator) int {
	ranks := slices.Concat(c.members, c.others)
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
	f.parts[n].comms = append(f.parts[n].comms, id)
	return n
}

func (f *families) of(comm int) int32 { return f.index[comm] }

// list returns the families for the header: ranks without a communicator are in a group of
// their own, of which nobody calls.
func (f *families) list(comms []communicator) []trace.CommFamily {
	list := []trace.CommFamily{{Name: "world", Groups: []trace.Group{{Stride: 1, Count: int32(f.ranks)}}}}
	for _, p := range f.parts {
		var groups []trace.Group
		for _, id := range p.comms {
			groups = append(groups, group(slices.Concat(comms[id].members, comms[id].others)))
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
