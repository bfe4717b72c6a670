package trace

import (
	"fmt"
	"slices"
)

// Families packs the communicators of a program into families of a header, which are partitions of its ranks:
// communicators without a common rank share a family.
type Families struct {
	ranks  int
	parts  []partition // family n+1; family 0 is the world
	selves int32       // the family in which each rank is alone; 0: none needs it
}

// partition is a family: communicators without a common rank.
type partition struct {
	name   string
	groups [][]int32 // their ranks, in order
	taken  []bool
}

// packed is how many families, those added last, are searched for room. It bounds the time for programs that go on making
// communicators.
const packed = 64

// NewFamilies returns families of so many ranks: the world alone.
func NewFamilies(ranks int) *Families { return &Families{ranks: ranks} }

// Place returns a family with a group of these ranks, which it adds and keeps.
func (f *Families) Place(ranks []int32) int32 {
	last := max(0, len(f.parts)-packed)
	n := last + slices.IndexFunc(f.parts[last:], func(p partition) bool {
		// A partition has room if none of the ranks is in one of its groups.
		return !slices.ContainsFunc(ranks, func(r int32) bool { return p.taken[r] })
	})
	if n < last {
		n = len(f.parts)
		f.parts = append(f.parts, partition{name: fmt.Sprintf("comm%d", n+1), taken: make([]bool, f.ranks)})
	}
	for _, r := range ranks {
		f.parts[n].taken[r] = true
	}
	f.parts[n].groups = append(f.parts[n].groups, ranks)
	return 1 + int32(n)
}

// Selves returns the family in which each rank is alone. Most programs never need it, so the first call makes it.
func (f *Families) Selves() int32 {
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

// Any reports whether there are families besides the world.
func (f *Families) Any() bool { return len(f.parts) > 0 }

// List returns the families for the header. Ranks without a communicator are in a group of their own, in which no operation
// takes place.
func (f *Families) List() []CommFamily {
	list := []CommFamily{{Name: "world", Groups: []Group{{Stride: 1, Count: int32(f.ranks)}}}}
	for _, p := range f.parts {
		var rest []int32
		for r, taken := range p.taken {
			if !taken {
				rest = append(rest, int32(r))
			}
		}
		family := CommFamily{Name: p.name}
		for _, ranks := range append(slices.Clip(p.groups), rest) {
			if len(ranks) > 0 {
				family.Groups = append(family.Groups, GroupOf(ranks))
			}
		}
		list = append(list, family)
	}
	return list
}
