package extrapolate

import (
	"fmt"
	"math"
	"slices"

	"reprise/trace"
)

// This file reads recordings: each rank's actions as numbers of events (readRecording).

// signature is what two actions must have in common to be of one place of the program: all but peers, sizes and
// other numbers.
type signature struct {
	kind  trace.Kind
	null  trace.Kind // of an action to MPI_PROC_NULL: what it would be
	sym   int32      // family of messages, kernel, marker, collective operation, completion
	slot  uint8      // operator, or kind of an access
	comm  int32      // of a collective operation
	sizes int64      // of its elements
	tag   int32      // 0 where it is a number
	of    trace.Kind // of a wait, a test or a free: the operation of its request
}

// makesRequest reports whether an action begins a request.
func (s *signature) makesRequest() bool {
	kind := s.kind
	if kind == trace.KindNull {
		kind = s.null
	}
	switch kind {
	case trace.KindIsend, trace.KindIssend, trace.KindIrecv, trace.KindStart, trace.KindIcollective, trace.KindIaccess:
		return true
	}
	return false
}

// Numbers of an event, which may differ from rank to rank.
const (
	numTag = iota // where it is not part of the signature; root of a collective operation
	numA          // bytes, count sent, or the first dimension of a kernel
	numB
	numC
	numD
	numNumbers
)

// noPeer is the peer of an event without one.
const noPeer = math.MinInt32

// event is an action of a rank with all of its numbers. Requests are named by how many events ago they were made.
type event struct {
	signature
	peers   [2]int32 // that is sent to or received from, and of a sendrecv the source
	numbers [numNumbers]int64
	lists   [2]int32 // counts by rank, as numbers of lists
	posts   int32    // the list of its requests, as events ago
}

// gap is the computation before an event.
type gap struct{ mean, spread float64 }

// recording is a trace of the family, expanded.
type recording struct {
	name    string
	header  *trace.Header
	ranks   int
	grid    grid
	events  []event // different ones
	numbers map[event]int32
	lists   [][]int64 // from 1
	named   map[string]int32
	gaps    []gap // different ones, the first is none
	streams []stream
}

// stream is what a rank does: numbers of events, and of the computations before them.
type stream struct {
	events, gaps []int32
	steps        []int32         // where each step of the recording begins
	newest       map[int32]int32 // by event that completes any of some requests: how many events ago the last was made
}

// numberOf returns the number of a thing of a name, which it keeps in a list.
func numberOf[N comparable, T any](numbers map[N]int32, list *[]T, name N, thing T) int32 {
	n, ok := numbers[name]
	if !ok {
		n = int32(len(*list))
		numbers[name], *list = n, append(*list, thing)
	}
	return n
}

// list returns the number of a list, which it keeps.
func (r *recording) list(values []int64) int32 {
	return numberOf(r.named, &r.lists, fmt.Sprint(values), values)
}

// readRecording expands a trace.
func readRecording(t *trace.Trace) (*recording, error) {
	h := t.Header()
	if h.Pollables > 0 {
		return nil, fmt.Errorf("%s: polls whose answers a replay gives are not extrapolated", t.Name())
	}
	r := &recording{name: t.Name(), header: h, ranks: h.Ranks, numbers: map[event]int32{}, lists: make([][]int64, 1),
		named: map[string]int32{}, gaps: make([]gap, 1), streams: make([]stream, h.Ranks)}
	cursors, err := t.Cursors(nil, trace.CursorOptions{Markers: true})
	if err != nil {
		return nil, err
	}
	gaps := map[gap]int32{{}: 0}
	steps := 0
	for rank := range cursors {
		if err := r.read(&cursors[rank], &r.streams[rank], gaps); err != nil {
			return nil, fmt.Errorf("%s: rank %d: %w", t.Name(), rank, err)
		}
		steps = max(steps, len(r.streams[rank].steps))
	}
	for rank := range r.streams { // of the steps in which a rank does nothing at last
		s := &r.streams[rank]
		s.steps = append(s.steps, slices.Repeat([]int32{int32(len(s.events)) - 1}, steps-len(s.steps))...)
	}
	return r, nil
}

// posted is a request under way: the event that made it.
type posted struct {
	slot int32
	at   int32
}

// read expands a rank.
func (r *recording) read(c *trace.Cursor, s *stream, gaps map[gap]int32) error {
	var open []posted
	s.newest = map[int32]int32{}
	step, pause := -1, gap{}
	put := func(e event) {
		s.events = append(s.events, numberOf(r.numbers, &r.events, e, e))
		s.gaps = append(s.gaps, numberOf(gaps, &r.gaps, pause, pause))
		pause = gap{}
	}
	// take removes the requests of these slots, nil for all, and returns how many events ago they were made.
	take := func(slots []int32, keep bool) (ago []int64) {
		for i := 0; i < len(open); i++ {
			if p := open[i]; slots == nil || slices.Contains(slots, p.slot) {
				ago = append(ago, int64(len(s.events))-int64(p.at))
				if !keep {
					open = slices.Delete(open, i, i+1)
					i--
				}
			}
		}
		return ago
	}
	reader := trace.NewActionReader(c, trace.Hit{}, 0)
	for a := reader.Next(); a != nil; a = reader.Next() {
		for ; step < reader.Step(); step++ {
			s.steps = append(s.steps, int32(len(s.events)))
		}
		e := event{signature: signature{kind: a.Kind}, peers: [2]int32{noPeer, noPeer}}
		x := a.X
		switch a.Kind {
		case trace.KindFlops:
			pause.mean += a.Flops()
			pause.spread = math.Sqrt(float64(pause.spread*pause.spread) + float64(a.Spread()*a.Spread()))
			continue
		case trace.KindNone, trace.KindProbed, trace.KindPhase: // markers begin and end phases
			continue
		case trace.KindCompute:
			e.sym = int32(a.Sym)
			copy(e.numbers[numA:], x[:])
		case trace.KindAsk, trace.KindRound:
			return fmt.Errorf("polls of requests, whose outcome decides what follows, have no rule that could be extrapolated")
		case trace.KindAfter, trace.KindBeside:
			return fmt.Errorf("actions beside a rank, and what they wait for, have no rule that could be extrapolated")
		case trace.KindSleep:
			e.numbers[numA] = x[0]
		case trace.KindMark:
			e.sym = int32(a.Sym)
			args, vectors := r.header.Markers[a.Sym].VectorArgs()
			if vectors != 0 || numA+args > numNumbers {
				return fmt.Errorf("marker %q has more than numbers, or more than %d", r.header.Markers[a.Sym].Text, numNumbers-numA)
			}
			copy(e.numbers[numA:], c.MarkArgs(a))
		case trace.KindWait, trace.KindTest, trace.KindFree:
			ago := take([]int32{a.Req}, a.Kind == trace.KindTest)
			if len(ago) == 0 { // of a request that may have ended
				continue
			}
			// A completion has the peer of what it completes, so that completions of several requests are told apart.
			e.posts = r.list(ago)
			of := &r.events[s.events[int64(len(s.events))-ago[0]]]
			e.peers, e.of, e.null, e.tag, e.sym = of.peers, of.kind, of.null, of.tag, of.sym
		case trace.KindWaitAll:
			e.posts = r.list(take(nil, false))
		case trace.KindComplete:
			e.sym = int32(a.Sym)
			ago := take(c.Requests(x[0]), trace.Completion(a.Sym) != trace.CompleteAll)
			if trace.Completion(a.Sym) != trace.CompleteAll && len(ago) > 0 {
				// Those that ended in the recording are not known: the list is relative to the newest request.
				newest := slices.Min(ago)
				s.newest[int32(len(s.events))] = int32(newest)
				for i := range ago {
					ago[i] -= newest
				}
			}
			e.posts = r.list(ago)
		case trace.KindCollective, trace.KindIcollective:
			call := a.Collective(c)
			e.sym, e.slot, e.comm, e.sizes = int32(a.Sym), uint8(a.Operator()), a.Comm(), x[3]
			e.numbers = [numNumbers]int64{int64(a.Peer), call.Send, call.Recv, x[2]}
			for i, sums := range [2][]int64{call.SendSums, call.RecvSums} {
				if sums != nil {
					values := make([]int64, len(sums)-1)
					for k := range values {
						values[k] = sums[k+1] - sums[k]
					}
					e.lists[i] = r.list(values)
				}
			}
		default: // with a peer
			e.sym, e.tag, e.peers[0] = int32(a.Sym), a.Tag, a.Peer
			e.numbers[numA] = x[0]
			switch a.Kind {
			case trace.KindNull:
				e.null, e.peers[0] = trace.Kind(x[1]), noPeer
			case trace.KindSendrecv:
				source, tag := a.Source()
				e.peers[1], e.numbers[numB], e.numbers[numC] = source, x[1], int64(tag)
			case trace.KindExchange, trace.KindSyncExchange:
				e.numbers[numB] = x[1]
			case trace.KindAccess, trace.KindIaccess:
				e.slot, e.numbers[numB] = uint8(a.AccessKind()), x[1]
			case trace.KindSync:
				e.slot, e.numbers[numA] = uint8(a.SyncKind()), x[1]
			case trace.KindFile:
				e.slot = trace.FileSlot(a.FileKind())
				e.peers[0] = noPeer
			}
			if e.peers[0] < 0 { // any, or none
				e.numbers[numD], e.peers[0] = int64(e.peers[0]), noPeer
			}
		}
		if e.makesRequest() {
			open = slices.DeleteFunc(open, func(p posted) bool { return p.slot == a.Req }) // it had ended
			open = append(open, posted{a.Req, int32(len(s.events))})
		}
		put(e)
	}
	if err := reader.Err(); err != nil {
		return err
	}
	put(event{signature: signature{kind: trace.KindNone}, peers: [2]int32{noPeer, noPeer}})
	return nil
}
