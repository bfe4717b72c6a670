package cut

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"reprise/internal/textutil"
	"reprise/trace"
)

// underWay holds the operations that ranks have begun together and not ended at a mark. A part of a
// trace that began or ended there would have one side of a message, request or collective operation,
// and a replay of it would wait for ever for the other one.
type underWay struct {
	t        *trace.Trace
	comm     bool // messages match within their communicator
	channels map[channel]*[2]int64
	wild     map[int32]int64           // by rank: receives with wildcards
	calls    map[group]map[int32]int64 // by rank
	requests []map[int32]string        // by rank and slot
	loose    []map[int32]bool          // likewise: of those that may have been completed
	epochs   map[epoch]bool
}

// channel is what messages are matched by.
type channel struct {
	from, to, tag int32
	family        uint16
}

// group is a communicator: 1 + its family, 0 for all ranks, and which of its groups.
type group struct{ comm, group int32 }

func newUnderWay(t *trace.Trace) *underWay {
	h := t.Header()
	return &underWay{t: t, comm: h.Communicators, channels: map[channel]*[2]int64{}, wild: map[int32]int64{},
		calls:  map[group]map[int32]int64{},
		epochs: map[epoch]bool{}, requests: make([]map[int32]string, h.Ranks), loose: make([]map[int32]bool, h.Ranks)}
}

func (u *underWay) message(from, to, tag int32, family uint16, side int) {
	if !u.comm {
		family = 0
	}
	key := channel{from, to, tag, family}
	c := u.channels[key]
	if c == nil {
		c = new([2]int64)
		u.channels[key] = c
	}
	c[side]++
	if c[0] == c[1] {
		delete(u.channels, key)
	}
}

// see notes an action of a rank.
func (u *underWay) see(rank int32, a *trace.Action, c *trace.Cursor) {
	switch a.Kind {
	case trace.KindSend, trace.KindSsend, trace.KindIsend, trace.KindIssend, trace.KindStart:
		u.message(rank, a.Peer, a.Tag, a.Sym, 0)
	case trace.KindRecv, trace.KindIrecv:
		if a.Peer == trace.AnySource || a.Tag == trace.AnyTag {
			u.wild[rank]++
		} else {
			u.message(a.Peer, rank, a.Tag, a.Sym, 1)
		}
	case trace.KindExchange, trace.KindSyncExchange:
		u.message(rank, a.Peer, a.Tag, a.Sym, 0)
		u.message(a.Peer, rank, a.Tag, a.Sym, 1)
	case trace.KindSendrecv:
		u.message(rank, a.Peer, a.Tag, a.Sym, 0)
		source, tag := a.Source()
		u.message(source, rank, tag, a.Sym, 1)
	case trace.KindCollective, trace.KindIcollective:
		u.call(rank, a.Comm())
	case trace.KindFile:
		if _, collective := a.FileKind(); collective {
			u.call(rank, int32(a.Sym)+1)
		}
	case trace.KindSync:
		if a.SyncKind().Collective() {
			u.call(rank, int32(a.Sym)+1)
			break
		}
		u.sync(rank, a)
	}
	u.request(rank, a, c)
}

// call notes that a rank calls an operation on a communicator: 1 + its family, or 0.
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

// begins says what ends what.
var begins = map[trace.SyncKind]trace.SyncKind{trace.SyncWait: trace.SyncPost, trace.SyncComplete: trace.SyncStart,
	trace.SyncUnlock:    trace.SyncLockShared,
	trace.SyncUnlockAll: trace.SyncLockAll}

// sync notes what begins and ends in a window.
func (u *underWay) sync(rank int32, a *trace.Action) {
	e := epoch{rank, a.Tag, a.Peer, a.Sym, a.SyncKind()}
	switch e.begin {
	case trace.SyncLockExclusive:
		e.begin = trace.SyncLockShared
	case trace.SyncFlush, trace.SyncFlushLocal:
		return
	}
	if begin, ends := begins[e.begin]; ends {
		e.begin = begin
		delete(u.epochs, e)
		return
	}
	u.epochs[e] = true
}

// open lists what has begun in windows.
func (u *underWay) open() (list []string) {
	words := map[trace.SyncKind]string{trace.SyncPost: "post for", trace.SyncStart: "start with",
		trace.SyncLockShared: "lock of", trace.SyncLockAll: "lock of"}
	for e := range u.epochs {
		with := fmt.Sprintf("rank %d", e.peer)
		if e.peer == trace.AllRanks {
			with = "all ranks"
		}
		list = append(list, fmt.Sprintf("the %s %s by rank %d in window %d has not ended", words[e.begin], with, e.rank,
			e.window))
	}
	slices.Sort(list)
	return list
}

// request notes which requests are open.
func (u *underWay) request(rank int32, a *trace.Action, c *trace.Cursor) {
	kind := a.Kind
	if kind == trace.KindNull {
		kind = trace.Kind(a.X[1])
	}
	switch kind {
	case trace.KindIsend, trace.KindIssend, trace.KindIrecv, trace.KindStart, trace.KindIcollective, trace.KindIaccess:
		if u.requests[rank] == nil {
			u.requests[rank], u.loose[rank] = map[int32]string{}, map[int32]bool{}
		}
		u.requests[rank][a.Req] = kind.String()
		if kind == trace.KindIcollective {
			u.requests[rank][a.Req] = "i" + trace.CollectiveKind(a.Sym).String()
		}
		delete(u.loose[rank], a.Req)
	case trace.KindWait, trace.KindFree:
		delete(u.requests[rank], a.Req)
	case trace.KindWaitAll:
		clear(u.requests[rank])
	case trace.KindComplete:
		for _, slot := range c.Requests(a.X[0]) {
			if trace.Completion(a.Sym) == trace.CompleteAll {
				delete(u.requests[rank], slot)
			} else if u.loose[rank] != nil {
				u.loose[rank][slot] = true
			}
		}
	}
}

// check returns what is under way at a mark, nil if nothing is.
func (u *underWay) check(m Mark) error {
	var list []string
	list = append(list, u.messages()...)
	list = append(list, u.operations()...)
	list = append(list, u.open()...)
	for rank := range u.requests {
		for _, slot := range slices.Sorted(maps.Keys(u.requests[rank])) {
			if !u.loose[rank][slot] {
				list = append(list, fmt.Sprintf("request %d of rank %d, of an %s, is open", slot, rank, u.requests[rank][slot]))
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
	return fmt.Errorf("mark %v: not all is done there that has begun: %s%s: cut elsewhere", m, strings.Join(list, "; "),
		more)
}

// mostNamed bounds what an error names.
const mostNamed = 4

func (u *underWay) messages() (list []string) {
	left := maps.Clone(u.wild)
	keys := slices.SortedFunc(maps.Keys(u.channels), func(a, b channel) int {
		return slices.Compare([]int32{a.from, a.to, a.tag, int32(a.family)}, []int32{b.from, b.to, b.tag, int32(b.family)})
	})
	for _, key := range keys {
		c := u.channels[key]
		n := c[0] - c[1]
		if n > 0 { // who receives from anybody may have it
			taken := min(n, left[key.to])
			left[key.to] -= taken
			n -= taken
		}
		where := fmt.Sprintf("from rank %d to rank %d with tag %d", key.from, key.to, key.tag)
		switch {
		case n > 0:
			list = append(list, fmt.Sprintf("%s %s sent and not received", textutil.Counted(n, "message"), where))
		case n < 0:
			list = append(list, fmt.Sprintf("%s %s received and not sent", textutil.Counted(-n, "message"), where))
		}
	}
	for _, rank := range slices.Sorted(maps.Keys(left)) {
		if left[rank] > 0 {
			list = append(list, fmt.Sprintf("rank %d receives %s from anybody that nobody sent", rank,
				textutil.Counted(left[rank], "message")))
		}
	}
	return list
}

func (u *underWay) operations() (list []string) {
	h := u.t.Header()
	keys := slices.SortedFunc(maps.Keys(u.calls), func(a, b group) int {
		return slices.Compare([]int32{a.comm, a.group}, []int32{b.comm, b.group})
	})
	for _, g := range keys {
		calls, name := u.calls[g], "of all ranks"
		members := trace.Group{Stride: 1, Count: int32(h.Ranks)}
		if g.comm > 0 {
			members, name = h.CommFamilies[g.comm-1].Groups[g.group], "of communicator "+h.CommFamilies[g.comm-1].Name
		}
		for i := range members.Len() {
			if r, first := members.Member(i), members.Member(0); calls[r] != calls[first] {
				list = append(list, fmt.Sprintf("rank %d has called %s %s, rank %d %d", first,
					textutil.Counted(calls[first], "operation"), name, r, calls[r]))
				break
			}
		}
	}
	return list
}
