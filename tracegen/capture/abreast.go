package capture

import (
	"reprise/trace"
)

// abreast follows all ranks through their steps, and knows who lags behind others: which sends
// that have been received, receives of what was sent, and operations that others have come to
// they have still to do, and which of their requests are open. Where nobody lags nothing is
// under way: that is a cut.
type abreast struct {
	matching
	members  [][][]int32 // by family and group
	channels map[place]*[2]int
	groups   map[place]*progress
	lags     []int                // by rank
	open     []map[int32]struct{} // by rank: requests
	ended    []int                // by rank: of a drain
}

// progress is how many operations of a group each of its ranks has come to.
type progress struct {
	most int
	done map[int32]int
}

func newAbreast(m matching, ranks int) *abreast {
	a := &abreast{matching: m, channels: map[place]*[2]int{}, groups: map[place]*progress{}, lags: make([]int, ranks), open: make([]map[int32]struct{}, ranks), ended: make([]int, ranks)}
	for rank := range a.open {
		a.open[rank] = map[int32]struct{}{}
	}
	for _, groups := range m.groups {
		var members [][]int32
		for rank, g := range groups {
			for int(g) >= len(members) {
				members = append(members, nil)
			}
			members[g] = append(members[g], int32(rank))
		}
		a.members = append(a.members, members)
	}
	return a
}

// behind reports whether a rank has something to do before there can be a cut.
func (a *abreast) behind(rank int) bool { return a.lags[rank] > 0 || len(a.open[rank]) > 0 }

// even reports whether this is a cut.
func (a *abreast) even() bool {
	for rank := range a.lags {
		if a.behind(rank) {
			return false
		}
	}
	return true
}

// step has a rank do a step.
func (a *abreast) step(rank int, s *step) {
	out, in, operation := a.ends(rank, s)
	if out != (place{}) {
		a.message(out, 0, rank, int(out.to))
	}
	if in != (place{}) {
		a.message(in, 1, rank, int(in.from))
	}
	if operation != (place{}) {
		a.operation(operation, int32(rank))
	}
	switch s.kind {
	case trace.KindIsend, trace.KindIssend, trace.KindIrecv, trace.KindStart, trace.KindIcollective:
		a.open[rank][s.request] = struct{}{}
	case trace.KindWait, trace.KindFree:
		delete(a.open[rank], s.request)
	case trace.KindWaitAll:
		clear(a.open[rank])
	case trace.KindComplete:
		a.complete(rank, a.table.lists[s.slots])
	}
}

// complete counts a wait for any of some requests, of which there are as many as requests.
func (a *abreast) complete(rank int, slots []int64) {
	if a.ended[rank]++; a.ended[rank] == len(slots) {
		a.ended[rank] = 0
		for _, slot := range slots {
			delete(a.open[rank], int32(slot))
		}
	}
}

// message counts that a rank has sent (side 0) or received (side 1) what another one receives
// or sends.
func (a *abreast) message(p place, side, rank, other int) {
	c := a.channels[p]
	if c == nil {
		c = new([2]int)
		a.channels[p] = c
	}
	if c[side] < c[1-side] {
		a.lags[rank]--
	} else {
		a.lags[other]++
	}
	c[side]++
}

func (a *abreast) operation(p place, rank int32) {
	g := a.groups[p]
	if g == nil {
		g = &progress{done: map[int32]int{}}
		a.groups[p] = g
	}
	if g.done[rank]++; g.done[rank] <= g.most {
		a.lags[rank]--
		return
	}
	g.most++
	for _, other := range a.members[p.family][p.from] {
		if other != rank {
			a.lags[other]++
		}
	}
}
