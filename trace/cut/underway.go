package cut

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"reprise/internal/textutil"
	"reprise/trace"
)

// underWay holds the operations that some ranks have begun and others have not ended at a mark. A part that began
// or ended there would have one side of a message, request or collective operation, and its replay would wait for
// the other side for ever.
type underWay struct {
	// Messages: those sent less those received, of each channel where that is not 0.
	t        *trace.Trace
	comm     bool // messages match within their communicator
	channels map[channel]int64
	wild     map[int32]int64 // by rank: receives with wildcards
	// Collective operations of each communicator, requests and epochs of windows that are open.
	calls    map[group]map[int32]int64 // by rank
	requests []map[int32]request       // by rank and slot
	epochs   map[epoch]bool
}

// channel is what messages are matched by. The family is 0 where messages match over all communicators.
type channel struct {
	from, to, tag int32
	family        uint16
}

// beside is the slot that stands for the actions beside a rank.
const beside = -1

// request is one that has begun.
type request struct {
	what  string // in an error
	loose bool   // it may have been completed: a replay decides
}

// group is a communicator: 1 + its family, 0 for all ranks, and which of its groups.
type group struct{ comm, group int32 }

// newUnderWay returns what is under way at the beginning of a trace: nothing.
func newUnderWay(t *trace.Trace) *underWay {
	h := t.Header()
	return &underWay{t: t, comm: h.Communicators, channels: map[channel]int64{}, wild: map[int32]int64{},
		calls:  map[group]map[int32]int64{},
		epochs: map[epoch]bool{}, requests: make([]map[int32]request, h.Ranks)}
}

// message counts a message at one side of its channel: n is 1 for the sender and -1 for the receiver. A channel
// whose sides agree is deleted, so that memory only grows with what is under way.
func (u *underWay) message(from, to, tag int32, family uint16, n int64) {
	if !u.comm {
		family = 0
	}
	key := channel{from, to, tag, family}
	if u.channels[key] += n; u.channels[key] == 0 {
		delete(u.channels, key)
	}
}

// see notes an action of a rank. Messages are counted, not compared: that sizes agree is for package verify.
func (u *underWay) see(rank int32, a *trace.Action, c *trace.Cursor) {
	if comm, all := a.Together(); all {
		u.call(rank, comm)
	}
	switch a.Kind {
	case trace.KindSend, trace.KindSsend, trace.KindIsend, trace.KindIssend, trace.KindStart:
		u.message(rank, a.Peer, a.Tag, a.Sym, 1)
	case trace.KindRecv, trace.KindIrecv:
		if a.Peer == trace.AnySource || a.Tag == trace.AnyTag {
			u.wild[rank]++
		} else {
			u.message(a.Peer, rank, a.Tag, a.Sym, -1)
		}
	case trace.KindExchange, trace.KindSyncExchange:
		u.message(rank, a.Peer, a.Tag, a.Sym, 1)
		u.message(a.Peer, rank, a.Tag, a.Sym, -1)
	case trace.KindSendrecv:
		u.message(rank, a.Peer, a.Tag, a.Sym, 1)
		source, tag := a.Source()
		u.message(source, rank, tag, a.Sym, -1)
	case trace.KindSync:
		if a.SyncKind().Collective() {
			break
		}
		// A lock of either kind is ended by an unlock.
		e := epoch{rank, a.Tag, a.Peer, a.Sym, a.SyncKind()}
		if e.begin == trace.SyncLockExclusive {
			e.begin = trace.SyncLockShared
		}
		begin, ends := begins[e.begin]
		switch {
		case e.begin == trace.SyncFlush || e.begin == trace.SyncFlushLocal:
		case ends:
			e.begin = begin
			delete(u.epochs, e)
		default:
			u.epochs[e] = true
		}
	}

	// Requests: those of a message to nobody, too.
	// A KindNull has the kind of the message that it stands for in X[1].
	kind := a.Kind
	if kind == trace.KindNull {
		kind = trace.Kind(a.X[1])
	}
	switch kind {
	case trace.KindIsend, trace.KindIssend, trace.KindIrecv, trace.KindStart, trace.KindIcollective, trace.KindIaccess:
		if u.requests[rank] == nil {
			u.requests[rank] = map[int32]request{}
		}
		what := kind.String()
		if kind == trace.KindIcollective {
			what = "i" + trace.CollectiveKind(a.Sym).String()
		}
		u.requests[rank][a.Req] = request{what: what}
	case trace.KindBeside:
		if u.requests[rank] == nil {
			u.requests[rank] = map[int32]request{}
		}
		u.requests[rank][beside] = request{}
	case trace.KindWait, trace.KindFree:
		delete(u.requests[rank], a.Req)
	case trace.KindWaitAll:
		clear(u.requests[rank])
	case trace.KindComplete:
		for _, slot := range c.Requests(a.X[0]) {
			if trace.Completion(a.Sym) == trace.CompleteAll {
				delete(u.requests[rank], slot)
				// Waitany and its like complete some request, but only a replay tells which one.
			} else if r, open := u.requests[rank][slot]; open {
				u.requests[rank][slot] = request{r.what, true}
			}
		}
	}
}

// call notes that a rank calls an operation on a communicator: 1 + its family, or 0.
// The number of calls of each member is kept, as members need not be in step with each other.
func (u *underWay) call(rank, comm int32) {
	g := group{comm: comm}
	if g.comm > 0 {
		g.group = u.t.Program().Group(int(g.comm)-1, rank)
	}
	if u.calls[g] == nil {
		u.calls[g] = map[int32]int64{}
	}
	u.calls[g][rank]++
}

// epoch is what a rank has begun in a window with a peer, or all ranks, and not ended.
type epoch struct {
	rank, window, peer int32
	family             uint16
	begin              trace.SyncKind
}

// begins has, for each synchronisation that ends something, the one that begins it.
var begins = map[trace.SyncKind]trace.SyncKind{trace.SyncWait: trace.SyncPost, trace.SyncComplete: trace.SyncStart,
	trace.SyncUnlock:    trace.SyncLockShared,
	trace.SyncUnlockAll: trace.SyncLockAll}

// mostNamed bounds how many operations an error names.
const mostNamed = 4

// check returns an error that names what is under way at a mark, nil if nothing is. The order of the list does not
// depend on that of maps. The error names a few of them and says how many more there are.
func (u *underWay) check(m Mark) error {
	var list []string
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }

	// Messages. A receive from anybody takes one that is left over.
	left := maps.Clone(u.wild)
	channels := slices.SortedFunc(maps.Keys(u.channels), func(a, b channel) int {
		return slices.Compare([]int32{a.from, a.to, a.tag, int32(a.family)}, []int32{b.from, b.to, b.tag, int32(b.family)})
	})
	for _, key := range channels {
		// Wildcard receives of the destination may take what is left of several channels.
		n := u.channels[key]
		if n > 0 {
			taken := min(n, left[key.to])
			left[key.to] -= taken
			n -= taken
		}
		where := fmt.Sprintf("from rank %d to rank %d with tag %d", key.from, key.to, key.tag)
		switch {
		case n > 0:
			say("%s %s sent and not received", textutil.Counted(n, "message"), where)
		case n < 0:
			say("%s %s received and not sent", textutil.Counted(-n, "message"), where)
		}
	}
	for _, rank := range slices.Sorted(maps.Keys(left)) {
		if left[rank] > 0 {
			say("rank %d receives %s from anybody that nobody sent", rank, textutil.Counted(left[rank], "message"))
		}
	}

	// Collective operations: the members of a communicator have called as many as its first.
	h := u.t.Header()
	groups := slices.SortedFunc(maps.Keys(u.calls), func(a, b group) int {
		return slices.Compare([]int32{a.comm, a.group}, []int32{b.comm, b.group})
	})
	for _, g := range groups {
		calls, name := u.calls[g], "of all ranks"
		members := trace.Group{Stride: 1, Count: int32(h.Ranks)}
		if g.comm > 0 {
			members, name = h.CommFamilies[g.comm-1].Groups[g.group], "of communicator "+h.CommFamilies[g.comm-1].Name
		}
		for i := range members.Len() {
			if r, first := members.Member(i), members.Member(0); calls[r] != calls[first] {
				say("rank %d has called %s %s, rank %d %d", first, textutil.Counted(calls[first], "operation"), name, r, calls[r])
				break
			}
		}
	}

	// Epochs of windows.
	words := map[trace.SyncKind]string{trace.SyncPost: "post for", trace.SyncStart: "start with",
		trace.SyncLockShared: "lock of", trace.SyncLockAll: "lock of"}
	windows := len(list)
	for e := range u.epochs {
		with := fmt.Sprintf("rank %d", e.peer)
		if e.peer == trace.AllRanks {
			with = "all ranks"
		}
		say("the %s %s by rank %d in window %d has not ended", words[e.begin], with, e.rank, e.window)
	}
	slices.Sort(list[windows:])

	// Requests.
	for rank := range u.requests {
		for _, slot := range slices.Sorted(maps.Keys(u.requests[rank])) {
			if r := u.requests[rank][slot]; slot == beside {
				say("rank %d has not waited for the actions beside it", rank)
			} else if !r.loose {
				say("request %d of rank %d, of an %s, is open", slot, rank, r.what)
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	more := ""
	if n := len(list); n > mostNamed {
		list, more = list[:mostNamed], fmt.Sprintf("; and %d more", n-mostNamed)
	}
	return fmt.Errorf("mark %v: not all is done there that has begun: %s%s: cut elsewhere", m, strings.Join(list, "; "), more)
}
