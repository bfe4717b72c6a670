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
	matching
	ranks [][]int32 // steps
}

func newCutter(t *table, families []trace.CommFamily, ranks [][]int32) *cutter {
	return &cutter{newMatching(t, families, len(ranks)), ranks}
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

func (c *cutter) count(rank int, s *step, sent, received map[place]int, operations map[place][]int) {
	out, in, operation := c.ends(rank, s)
	if out != (place{}) {
		sent[out]++
	}
	if in != (place{}) {
		received[in]++
	}
	if operation != (place{}) {
		if operations[operation] == nil {
			operations[operation] = make([]int, len(c.ranks))
		}
		operations[operation][rank]++
	}
}

// first returns the first step of a rank that lacks its other side.
func (c *cutter) first(rank int, steps []int32, sent, received map[place]int, operations map[place][]int) int {
	sends, receives, done := map[place]int{}, map[place]int{}, map[place]int{}
	for i, n := range steps {
		out, in, operation := c.ends(rank, &c.table.steps[n])
		if out != (place{}) {
			if sends[out]++; sends[out] > received[out] {
				return i
			}
		}
		if in != (place{}) {
			if receives[in]++; receives[in] > sent[in] {
				return i
			}
		}
		if operation != (place{}) {
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
