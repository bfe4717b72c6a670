package capture

import (
	"maps"

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
	lags     []int             // by rank
	open     []map[opened]bool // by rank
	ended    []int             // by rank: of a drain
}

// opened is what a rank has under way: a request, or accesses to a rank in a window.
type opened struct {
	request      int32
	family, peer int32 // of a window
	window       int64 // its number, from 1
}

// progress is how many operations of a group each of its ranks has come to.
type progress struct {
	most int
	done map[int32]int
}

func newAbreast(m matching, ranks int) *abreast {
	a := &abreast{matching: m, channels: map[place]*[2]int{}, groups: map[place]*progress{}, lags: make([]int, ranks),
		open: make([]map[opened]bool, ranks), ended: make([]int, ranks)}
	for rank := range a.open {
		a.open[rank] = map[opened]bool{}
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
		a.open[rank][opened{request: s.request}] = true
	case trace.KindAccess:
		a.open[rank][s.accessed()] = true
	case trace.KindIaccess:
		a.open[rank][s.accessed()] = true
		a.open[rank][opened{request: s.request}] = true
	case trace.KindSync:
		a.sync(rank, s)
	case trace.KindWait, trace.KindFree:
		delete(a.open[rank], opened{request: s.request})
	case trace.KindWaitAll:
		maps.DeleteFunc(a.open[rank], func(o opened, _ bool) bool { return o.window == 0 })
	case trace.KindComplete:
		a.complete(rank, a.table.lists[s.slots])
	}
}

// complete counts a wait for any of some requests, of which there are as many as requests.
func (a *abreast) complete(rank int, slots []int64) {
	if a.ended[rank]++; a.ended[rank] == len(slots) {
		a.ended[rank] = 0
		for _, slot := range slots {
			delete(a.open[rank], opened{request: int32(slot)})
		}
	}
}

func (s *step) accessed() opened {
	return opened{family: s.family, peer: int32(s.args[argPeer]), window: 1 + s.args[argTag]}
}

// sync opens and ends accesses. A lock on all ranks opens none: programs have it all the time.
func (a *abreast) sync(rank int, s *step) {
	switch at := s.accessed(); s.sync {
	case trace.SyncLockShared, trace.SyncLockExclusive, trace.SyncStart:
		a.open[rank][at] = true
	case trace.SyncUnlock, trace.SyncComplete, trace.SyncFlush, trace.SyncFlushLocal, trace.SyncFence, trace.SyncUnlockAll,
		trace.SyncFree:
		maps.DeleteFunc(a.open[rank], func(o opened, _ bool) bool {
			return o.window == at.window && o.family == at.family && (o.peer == at.peer || at.peer == trace.AllRanks)
		})
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
