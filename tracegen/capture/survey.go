package capture

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"reprise/internal/textutil"
	"reprise/trace"
)

// This file surveys a rank's calls (newSurvey), stage 1 of a merge, and assigns messages that are left to receives
// that were not seen to end (merger.answer).

// survey holds the facts of a rank's calls that the translation of earlier calls, or of other ranks, needs: the
// communicators that the rank makes, the messages that its receives got where their arguments leave that open,
// and its sites.
type survey struct {
	// What the stages behind the survey ask of it. Numbers of communicators and requests are the rank's own.
	events    int64
	creations []creation
	freed     map[int]int64 // communicators, by the rank's number, to the call that freed it
	finds     map[instance]status
	open      map[instance]struct{} // receives that have not been seen to end
	receives  map[int64]bool        // persistent requests that receive
	withdrawn bool                  // a send was cancelled
	refused   map[string]int64

	sharedWindows int64 // made: loads and stores there are not seen

	// Of matched probes: whether other messages were asked for between the probe and its receive (type early).
	taken   int64           // how often messages were asked for
	probed  map[int64]int64 // by message of a matched probe that is not received: taken then
	early   map[int64]early // messages of matched probes that others were received before
	split   map[int]bool    // communicators, by the rank's number, whose operations were under way while others were
	plans   persistent      // collective operations
	levels  map[int64]bool  // of MPI_Pcontrol
	kernels map[used]bool
	sites   sites
}

// creation is a call that makes a communicator.
type creation struct {
	call    int64 // its number on the rank
	proc    procedureNumber
	parent  int  // number of the rank's communicator
	strange bool // it is of a call that is not recorded, or so is its parent
	*made
}

// instance is one start of a request; start is 0 for a request that is not persistent.
type instance struct {
	persistent    bool
	number, start int64
}

// starts counts how often persistent requests were started.
type starts map[int64]int64

// instance returns the instance of a request that was started last.
func (s starts) instance(r request) instance {
	if !r.persistent {
		return instance{number: r.number}
	}
	return instance{true, r.number, s[r.number]}
}

// newSurvey reads a stream, and again where sites are several places.
func newSurvey(s *stream) (*survey, error) {
	v := &survey{freed: map[int]int64{}, finds: map[instance]status{}, open: map[instance]struct{}{},
		receives: map[int64]bool{}, refused: map[string]int64{}, probed: map[int64]int64{}, early: map[int64]early{},
		split: map[int]bool{}, plans: newPersistent(), levels: map[int64]bool{}, kernels: map[used]bool{},
		sites: sites{numbers: map[site]int32{}, depths: map[site]int{}}}
	started := starts{}
	if s.head.Multiple != 0 {
		s.rewind()
		if err := s.order(); err != nil {
			return nil, err
		}
	}
	before := uint64(0)
	for e, err := range s.events() {
		if err != nil {
			return nil, err
		}
		v.events++
		// A site is the pair of this record and the one before.
		v.sites.add(between(before, s.key), e.gap, e.lost)
		before = s.key
		if err := v.note(e, started); err != nil {
			return nil, fmt.Errorf("%s: call %d (%v): %w", s.name, v.events, e.called, err)
		}
	}
	return v, v.sites.part(s)
}

// note adds the facts of a call. It counts the starts of persistent requests in started.
func (v *survey) note(e *event, started starts) error {
	frees := e.proc == procCommfree || e.proc == procCommdisconnect
	switch {
	// Calls that the trace cannot have are counted by name; the user decides whether it is made without them.
	case e.proc == procKernel:
		v.kernels[e.kernel.used] = true
	case e.proc.known().refused:
		v.refused[e.called.String()]++
	case e.strange && !frees:
		v.refused[e.called.String()+" on a communicator of a call that is not recorded"]++
	case e.proc == procWinallocateshared:
		v.sharedWindows++
	}
	if e.request.number > 0 && e.proc.collective() && e.proc.known().blocking {
		v.split[e.comm] = true
	}
	v.plans.add(e)
	switch {
	// Communicators, phases and requests: what later calls, or other ranks, refer to.
	case e.made != nil:
		if e.comm < 0 && !e.strange {
			return errors.New("a communicator without parent")
		}
		v.creations = append(v.creations, creation{v.events, e.proc, e.comm, e.strange, e.made})
	case frees && e.comm >= 0:
		v.freed[e.comm] = v.events
	case e.proc == procPcontrol:
		v.levels[e.code] = true
	case e.proc == procStart, e.proc == procStartall:
		for _, r := range e.requests {
			started[r.number]++
			if plan, ok := v.plans.plans[r.number]; ok {
				v.plans.follow(plan.comm, plan.nth)
			}
			if v.receives[r.number] {
				v.open[started.instance(r)] = struct{}{}
			}
		}
	case e.proc == procIrecv && !e.strange:
		v.open[instance{number: e.request.number}] = struct{}{}
	case e.proc == procRecvinit && !e.strange:
		v.receives[e.request.number] = true
	case e.proc == procRequestfree, e.proc == procCancel:
		if r := e.requests[0]; r.status.wild || r.status.bytes >= 0 || r.cancelled { // it was looked at
			v.find(r, started)
		}
	}
	// A message of a matched probe that is not received before other messages are asked for is an early one.
	switch e.proc {
	case procMrecv, procImrecv:
		at, ok := v.probed[e.message]
		if delete(v.probed, e.message); ok && at != v.taken {
			v.early[e.message] = early{e.of[anySide].count * e.of[anySide].size, e.status, instance{number: e.request.number}}
		}
		v.taken++
	case procMprobe, procImprobe:
		if e.message > 0 {
			v.taken++
			v.probed[e.message] = v.taken
		}
	case procRecv, procIrecv, procSendrecv, procSendrecvreplace, procStart, procStartall:
		v.taken++
	}
	for _, i := range e.ended {
		if i >= len(e.requests) {
			return fmt.Errorf("request %d of %d has ended", i, len(e.requests))
		}
		v.find(e.requests[i], started)
	}
	return nil
}

// find notes the status of a request that has ended, or is let go of.
func (v *survey) find(r request, started starts) {
	// Only a request that was known to receive is taken from the open ones. A cancelled one that is not there
	// was a send.
	i := started.instance(r)
	_, receives := v.open[i]
	delete(v.open, i)
	v.withdrawn = v.withdrawn || r.cancelled && !receives
	if _, noted := v.finds[i]; noted {
		return // of a persistent one that is not under way, or of one that was looked at before
	}
	if r.status.wild || r.status.bytes >= 0 || r.cancelled {
		found := r.status
		found.found = !r.cancelled
		v.finds[i] = found
	} else if r.persistent {
		v.finds[i] = status{found: true, bytes: -1}
	}
}

// unended is a receive that the recording does not show to end: it was freed while it was under way, cancelled
// and not completed, or still there in MPI_Finalize. If a message is left that no other receive got, this one got
// it; else the trace has no action for it.
type unended struct {
	instance
	comm        int // of the run
	source, tag int32

	family int32
	peers  []int32 // of the communicator, as ranks of the world; nil for the rank alone
}

// answer gives the messages that are left over to receives that were not seen to end. It translates all ranks once
// more, before the translation that counts: the messages sent less those received are left.
func (m *merger) answer() {
	if m.o.Partial || !slices.ContainsFunc(m.surveys, func(v *survey) bool { return len(v.open) > 0 }) {
		return
	}
	// A send adds a message to its channel, and a receive takes one away.
	left, sizes := map[place]int{}, map[place]map[int64]int{} // messages by channel; and by their bytes
	count := func(p place, bytes int64, n int) {
		left[p] += n
		if sizes[p] == nil {
			sizes[p] = map[int64]int{}
		}
		sizes[p][bytes] += n
	}
	open := make([][]unended, len(m.streams))
	matching := newMatching(m.table, m.families.List(), len(m.streams))
	for rank := range m.streams {
		t := m.translator(rank, func(step int32) {
			s := &m.table.steps[step]
			out, in, _ := matching.ends(rank, s)
			count(out, s.args[argBytes], 1)
			received := argBytes
			if s.kind == trace.KindSendrecv {
				received = argReceived
			}
			count(in, s.args[received], -1)
		})
		// With a list to put them in, the translator looks for receives that never ended.
		t.open = &open[rank]
		textutil.Check(t.translate())
	}
	// Steps that send or receive nothing were counted under the zero place.
	delete(left, place{})
	rest := make([][]place, len(open)) // by receiver, a channel for each message that is left
	for p, n := range left {
		for range min(n, len(open[p.to])) {
			rest[p.to] = append(rest[p.to], p)
		}
	}
	for rank, list := range open {
		// The map has no order, and the result must not depend on it.
		slices.SortFunc(rest[rank], func(a, b place) int {
			return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.tag, b.tag), cmp.Compare(a.family, b.family))
		})
		for i, u := range list {
			// The receive counts as never answered, unless it is given a message below.
			delete(m.surveys[rank].open, u.instance)
			m.surveys[rank].finds[u.instance] = status{}
			list[i].peers = m.comms[max(u.comm, 0)].peers(int32(rank))
			list[i].family = m.families.index[max(u.comm, 0)]
		}
		for k, i := range assign(list, rest[rank], int32(rank)) {
			if i < 0 {
				continue
			}
			// Which of the messages of a channel is left is not known: the one of the fewest bytes is taken.
			p := rest[rank][k]
			bytes := int64(mostCount)
			for size, n := range sizes[p] {
				if n > 0 {
					bytes = min(bytes, size)
				}
			}
			sizes[p][bytes]--
			m.surveys[rank].finds[list[i].instance] = status{found: true, wild: true, source: list[i].from(&p, int32(rank)),
				tag: int32(p.tag), bytes: bytes}
		}
	}
}

// assign gives as many receives as possible a message that is left, and returns the receive of each message, -1 for
// none. It finds a maximum matching of a bipartite graph by augmenting paths (Kuhn's algorithm): a receive that could
// take another message makes way.
func assign(list []unended, rest []place, rank int32) (receive []int) {
	receive = slices.Repeat([]int{-1}, len(rest))
	var seen []bool
	var give func(i int) bool
	give = func(i int) bool {
		for k := range rest {
			if seen[k] || list[i].comm < 0 || list[i].from(&rest[k], rank) < 0 {
				continue
			}
			seen[k] = true
			if receive[k] < 0 || give(receive[k]) {
				receive[k] = i
				return true
			}
		}
		return false
	}
	for i := range list {
		seen = make([]bool, len(rest))
		give(i)
	}
	return receive
}

// from returns the sender, as a rank of the communicator, of a message that the receive can get; -1 for any other.
func (u *unended) from(p *place, rank int32) int32 {
	// The receive names its source by a rank of its communicator, the channel by a rank of the world.
	source := int32(slices.Index(u.peers, p.from))
	if u.peers == nil && p.from == rank {
		source = 0
	}
	if p.family != u.family || p.tag < 0 || u.tag != anyTag && int64(u.tag) != p.tag ||
		u.source != anyRank && u.source != source {
		return -1
	}
	return source
}
