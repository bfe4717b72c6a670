package capture

import (
	"errors"

	"reprise/trace"
)

// errUnfinished is what a call lacks that others did not come to answer: where not all
// ranks have come to their end, the rank ends before it.
var errUnfinished = errors.New("what it needs did not happen")

// cutter cuts what ranks did before their program was killed to what goes together: each
// operation of all ranks of a communicator, each message sent and received.
type cutter struct {
	table    *table
	families []trace.CommFamily
	groups   [][]int32 // by family and rank: the rank's group
	ranks    [][]int32 // steps
}

// place is where a message or an operation belongs: a channel, or a group of a family.
type place struct {
	family, from, to int32 // of an operation: the group, -1
	tag              int64
}

func newCutter(t *table, families []trace.CommFamily, ranks [][]int32) *cutter {
	c := &cutter{table: t, families: families, ranks: ranks}
	for i := range families {
		groups := make([]int32, len(ranks))
		for g := range families[i].Groups {
			for m := range families[i].Groups[g].Len() {
				groups[families[i].Groups[g].Member(m)] = int32(g)
			}
		}
		c.groups = append(c.groups, groups)
	}
	return c
}

// cut cuts until nothing is left that lacks its other side.
func (c *cutter) cut() {
	for again := true; again; {
		again = false
		sent, received, operations := map[place]int{}, map[place]int{}, map[place][]int{}
		for rank, steps := range c.ranks {
			for _, n := range steps {
				c.count(rank, &c.table.steps[n], sent, received, operations)
			}
		}
		for rank, steps := range c.ranks {
			if n := c.first(rank, steps, sent, received, operations); n < len(steps) {
				c.ranks[rank], again = steps[:n], true
			}
		}
	}
}

// ends returns where a step sends to and receives from, and the operation that it is.
func (c *cutter) ends(rank int, s *step) (out, in, operation place) {
	own, peer := int32(rank), int32(s.args[argPeer])
	switch s.kind {
	case trace.KindSend, trace.KindSsend, trace.KindIsend, trace.KindIssend:
		out = place{s.family, own, peer, s.args[argTag]}
	case trace.KindRecv, trace.KindIrecv:
		in = place{s.family, peer, own, s.args[argTag]}
	case trace.KindSendrecv:
		out = place{s.family, own, peer, s.args[argTag]}
		in = place{s.family, int32(s.args[argSource]), own, s.args[argSent]}
	case trace.KindCollective, trace.KindIcollective:
		operation = place{family: s.family, from: c.groups[s.family][rank], to: -1}
	}
	return out, in, operation
}

func (c *cutter) count(rank int, s *step, sent, received map[place]int, operations map[place][]int) {
	out, in, operation := c.ends(rank, s)
	none := place{}
	if out != none {
		sent[out]++
	}
	if in != none {
		received[in]++
	}
	if operation != none {
		if operations[operation] == nil {
			operations[operation] = make([]int, len(c.ranks))
		}
		operations[operation][rank]++
	}
}

// first returns the first step of a rank that lacks its other side.
func (c *cutter) first(rank int, steps []int32, sent, received map[place]int, operations map[place][]int) int {
	sends, receives, done := map[place]int{}, map[place]int{}, map[place]int{}
	none := place{}
	for i, n := range steps {
		out, in, operation := c.ends(rank, &c.table.steps[n])
		if out != none {
			if sends[out]++; sends[out] > received[out] {
				return i
			}
		}
		if in != none {
			if receives[in]++; receives[in] > sent[in] {
				return i
			}
		}
		if operation != none {
			done[operation]++
			for other, group := range c.groups[operation.family] {
				if group == operation.from && operations[operation][other] < done[operation] {
					return i
				}
			}
		}
	}
	return len(steps)
}
