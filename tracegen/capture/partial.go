package capture

import (
	"errors"
	"fmt"

	"reprise/internal/textutil"
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

// warnOfEnds says which ranks did not come to their end, and what is not certain of them.
func (m *merger) warnOfEnds() {
	var list []string
	for rank, s := range m.streams {
		err := s.complete()
		if err == nil {
			continue
		}
		text := fmt.Sprintf("rank %d: %v", rank, err)
		if s.unsummed > 0 {
			text += fmt.Sprintf(", and the last %s of its recording have no checksum", textutil.Count(s.unsummed, "byte"))
		}
		if s.torn {
			text += ", and its last checksum is not whole"
		}
		list = append(list, text)
	}
	m.warnOf(list)
}

// warnOfCuts says what the ranks lose of what they did.
func (m *merger) warnOfCuts(before, after [][]int32) {
	var list []string
	for rank := range before {
		if n := len(before[rank]) - len(after[rank]); n > 0 {
			list = append(list, fmt.Sprintf("rank %d: the last %d of %s are dropped, as other ranks have not recorded their side", rank, n, textutil.Count(len(before[rank]), "action")))
		}
	}
	m.warnOf(list)
}

// mostWarnings bounds how many ranks are told of.
const mostWarnings = 10

// warnOf warns of ranks, a line each, of the first ones.
func (m *merger) warnOf(ranks []string) {
	if more := len(ranks) - mostWarnings; more > 0 {
		ranks = append(ranks[:mostWarnings], fmt.Sprintf("so it is with %s more", textutil.Count(more, "rank")))
	}
	m.summary.Warnings = append(m.summary.Warnings, ranks...)
}
