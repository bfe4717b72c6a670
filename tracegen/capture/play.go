package capture

import (
	"fmt"

	"reprise/trace"
)

// play goes through the steps of all ranks without times, as far as each can go: what threads did at
// once must come to its end in the one order that the trace has.
type play struct {
	matching
	ranks    [][]int32 // steps
	at       []int
	begun    []bool // what the step of a rank begins has begun
	messages map[place]*[2]int64
	groups   map[place]map[int32]int64 // operations that each rank has come to
	members  map[place]int             // ranks of a group, by the place of its operations that concern no window
	slots    []map[int32][]need        // by rank: what its requests need
	now      [][]need                  // by rank: what the step needs
}

// need is what must have happened: so many messages sent or received on a channel, or ranks come to
// an operation.
type need struct {
	place
	side  int
	count int64
}

// rendezvous is from how many bytes on a send waits for its receive in SMPI, if nothing else is said.
const rendezvous = 65536

func newPlay(m matching, ranks [][]int32) *play {
	p := &play{matching: m, ranks: ranks, at: make([]int, len(ranks)), begun: make([]bool, len(ranks)),
		messages: map[place]*[2]int64{},
		groups:   map[place]map[int32]int64{}, members: map[place]int{}, slots: make([]map[int32][]need,
			len(ranks)), now: make([][]need, len(ranks))}
	for rank := range p.slots {
		p.slots[rank] = map[int32][]need{}
	}
	for family, groups := range m.groups {
		for _, g := range groups {
			p.members[place{kind: ofOperations, family: int32(family), from: g}]++
		}
	}
	return p
}

// run returns what a rank waits for that cannot come.
func (p *play) run() error {
	for moved := true; moved; {
		moved = false
		for rank := range p.ranks {
			for p.at[rank] < len(p.ranks[rank]) && p.step(rank) {
				p.at[rank]++
				p.begun[rank] = false
				moved = true
			}
		}
	}
	for rank, at := range p.at {
		if at < len(p.ranks[rank]) {
			s := &p.table.steps[p.ranks[rank][at]]
			return fmt.Errorf("threads called MPI at once (MPI_THREAD_MULTIPLE), and what rank %d did has no order in which it ends: it would wait for ever in action %d (%v)", rank, at+1, s.kind)
		}
	}
	return nil
}

// step begins the step of a rank, if it has not begun, and reports whether it has come to its end.
func (p *play) step(rank int) bool {
	s := &p.table.steps[p.ranks[rank][p.at[rank]]]
	if !p.begun[rank] {
		p.begun[rank] = true
		p.now[rank] = p.begin(rank, s)
	}
	switch s.kind {
	case trace.KindWait:
		if !p.all(p.slots[rank][s.request]) {
			return false
		}
		delete(p.slots[rank], s.request)
	case trace.KindWaitAll:
		for _, needs := range p.slots[rank] {
			if !p.all(needs) {
				return false
			}
		}
		clear(p.slots[rank])
	case trace.KindComplete:
		open := false
		for _, slot := range p.table.lists[s.slots] {
			needs, ok := p.slots[rank][int32(slot)]
			if ok && p.all(needs) {
				delete(p.slots[rank], int32(slot))
				return true
			}
			open = open || ok
		}
		return !open
	case trace.KindFree:
		delete(p.slots[rank], s.request)
	case trace.KindIsend, trace.KindIssend, trace.KindStart, trace.KindIrecv, trace.KindIcollective:
		p.slots[rank][s.request] = p.now[rank]
	default:
		return p.all(p.now[rank])
	}
	return true
}

// begin posts what a step posts, and returns what it needs.
func (p *play) begin(rank int, s *step) (needs []need) {
	out, in, operation := p.ends(rank, s)
	if out != (place{}) {
		c := p.channel(out)
		c[0]++
		if s.kind == trace.KindSsend || s.kind == trace.KindIssend || s.args[argBytes] >= rendezvous &&
			s.kind != trace.KindSendrecv {
			needs = append(needs, need{out, 1, c[0]})
		}
	}
	if in != (place{}) {
		c := p.channel(in)
		c[1]++
		needs = append(needs, need{in, 0, c[1]})
	}
	if s.kind == trace.KindProbe {
		in := place{ofMessages, s.family, int32(s.args[argPeer]), int32(rank), s.args[argTag]}
		needs = append(needs, need{in, 0, p.channel(in)[1] + 1})
	}
	if operation != (place{}) {
		done := p.groups[operation]
		if done == nil {
			done = map[int32]int64{}
			p.groups[operation] = done
		}
		done[int32(rank)]++
		needs = append(needs, need{operation, 0, done[int32(rank)]})
		switch s.collective {
		case trace.CollBcast, trace.CollScatter, trace.CollScatterv, trace.CollReduce, trace.CollGather, trace.CollGatherv,
			trace.CollScan, trace.CollExscan:
			needs = nil // who waits for whom is the algorithm's
		}
	}
	return needs
}

func (p *play) channel(at place) *[2]int64 {
	c := p.messages[at]
	if c == nil {
		c = new([2]int64)
		p.messages[at] = c
	}
	return c
}

// all reports whether everything that is needed has happened.
func (p *play) all(needs []need) bool {
	for i := range needs {
		n := &needs[i]
		if n.kind != ofOperations && n.kind != ofWindows {
			if p.channel(n.place)[n.side] < n.count {
				return false
			}
			continue
		}
		done := p.groups[n.place]
		if len(done) < p.members[place{kind: ofOperations, family: n.family, from: n.from}] {
			return false
		}
		for _, count := range done {
			if count < n.count {
				return false
			}
		}
	}
	return true
}
