package simgrid

import (
	"bytes"
	"math"

	"reprise/trace"
)

// parse turns the fields behind the rank into an action; it is false for lines that mean nothing. Mistakes are left in
// the fields. Most lines are messages, waits and computations, whose numbers are read at once where they are plain
// digits (see message, exchange, named); the general way is for all others, and finds the mistakes.
func (s *stream) parse(f *fields, t *Trace, a *trace.Action) bool {
	return s.act(f, t, f.next(), a)
}

// act parses the fields behind a verb. It calls itself with the verb of today of another spelling.
func (s *stream) act(f *fields, t *Trace, verb []byte, a *trace.Action) bool {
	*a = trace.Action{}
	switch string(verb) {
	case "compute":
		a.Kind, a.X[0] = trace.KindFlops, trace.FloatArg(f.amount("amount"))
	case "sleep":
		a.Kind, a.X[0] = trace.KindSleep, trace.FloatArg(f.amount("duration"))
	case "send":
		a.Kind = trace.KindSend
		s.sent(f, t, a)
	case "isend":
		a.Kind = trace.KindIsend
		s.sent(f, t, a)
		s.begin(f, a, key{s.rank, a.Peer, a.Tag})
	case "recv":
		a.Kind = trace.KindRecv
		s.received(f, t, a)
	case "irecv":
		a.Kind = trace.KindIrecv
		s.received(f, t, a)
		s.begin(f, a, key{a.Peer, s.rank, a.Tag})
	case "sendRecv":
		s.sendrecv(f, t, a)
	case "wait":
		return s.wait(f, t, a, trace.KindWait)
	case "test":
		return s.wait(f, t, a, trace.KindTest)
	case "waitall":
		a.Kind = trace.KindWaitAll
		s.forgetAll()
	case "init":
		// In SimGrid it depends on the order of execution which of several init lines counts.
		if size := initSize(f); size != t.defaultSize {
			names := map[int64]string{1: "bytes", 8: "doubles"}
			f.failf("counts mean %s by this init and %s by that of rank %d: all must agree", names[size],
				names[t.defaultSize], t.ranks-1)
		}
		return false
	case "finalize", "comm_size", "location":
		return false
	case "comm_split", "comm_dup":
		f.note(commLine, "%s", verb)
		return false
	case "":
		f.failf("action is missing")
	default:
		switch {
		case !oldSpelling(string(verb)):
		case s.old(t):
			return s.act(f, t, bytes.ToLower(verb), a)
		default:
			f.failf("action %q is a spelling of SimGrid before 3.20; %s", verb, t.otherForm())
		}
		s.collective(f, t, string(verb), a)
	}
	return f.odd != toNobody
}

// Constants of SimGrid's text.
const (
	anySource     = -555
	anyTag        = -444
	anySourceWait = anySource - 1 // how a wait names a receive from any source
	undefined     = -333          // how SMPI since 3.29 writes that source, and no destination
	procNull      = -666          // no partner, and so no message
)

// message parses "PEER TAG COUNT [TYPE]" if these are the numbers of a rank, of a tag and
// of a size, as nearly all are.
func (t *Trace) message(f *fields, a *trace.Action) bool {
	var n [3]int64
	if begin := f.at; !f.naturals(n[:]) || n[0] >= int64(t.ranks) || n[1] > math.MaxInt32 || n[2] > maxBytes {
		f.at = begin
		return false
	}
	a.Peer, a.Tag, a.X[0] = int32(n[0]), int32(n[1]), t.size(f, n[2])
	return true
}

// sent parses "PEER TAG COUNT [TYPE]" of a send.
func (s *stream) sent(f *fields, t *Trace, a *trace.Action) {
	if s.old(t) {
		t.untagged(f, a, 0)
		return
	}
	if t.message(f, a) {
		return
	}
	if n := f.special(undefined, procNull); n != 0 {
		f.note(toNobody, "to %d", n)
		return
	}
	a.Peer = t.rank(f, "peer")
	a.Tag = tag(f)
	if f.text[f.at] == '\n' {
		f.failf("count is missing behind peer and tag; %s", t.otherForm())
	}
	a.X[0] = t.size(f, f.integer("count", 0, maxBytes))
}

// received parses "PEER TAG COUNT [TYPE]" of a receive, which may have wildcards and
// need not know its size.
func (s *stream) received(f *fields, t *Trace, a *trace.Action) {
	if s.old(t) {
		t.untagged(f, a, -1)
		return
	}
	if t.message(f, a) {
		return
	}
	switch f.special(anySource, undefined, procNull) {
	case 0:
		a.Peer = t.rank(f, "peer")
	case procNull:
		f.note(toNobody, "from %d", procNull)
		return
	default:
		a.Peer = trace.AnySource
	}
	a.Tag = wildTag(f)
	if f.text[f.at] == '\n' {
		f.failf("count is missing behind peer and tag; %s", t.otherForm())
	}
	a.X[0] = t.size(f, f.integer("count", -1, maxBytes))
}

// rank parses the number of a rank.
func (t *Trace) rank(f *fields, what string) int32 {
	return int32(f.integer(what, 0, int64(t.ranks-1)))
}

// tag parses a tag. The least numbers are left out, since trace.AnyTag is one of them.
func tag(f *fields) int32 { return int32(f.integer("tag", math.MinInt32+2, math.MaxInt32)) }

// wildTag parses a tag of a receive.
func wildTag(f *fields) int32 {
	n := tag(f)
	if n == anyTag {
		return trace.AnyTag
	}
	return n
}

// sendrecv parses "SCOUNT DST RCOUNT SRC STYPE RTYPE"; its tag is 0.
func (s *stream) sendrecv(f *fields, t *Trace, a *trace.Action) {
	a.Kind = trace.KindSendrecv
	if s.old(t) {
		f.failf("action %q is not one of SimGrid before 3.20; %s", "sendRecv", t.otherForm())
		return
	}
	// The line names the partners by rank, or as actors in texts of SimGrid 3.20 to 3.29.
	first := s.firstOf(t, pairLines)
	if t.exchange(f, a, first) {
		return
	}
	out := f.integer("sent count", 0, maxBytes)
	a.Peer = t.numbered(f, "destination", first)
	in := f.integer("received count", 0, maxBytes)
	if n := f.special(anySource, undefined); n != 0 {
		f.failf("source %d: sendRecv from any source is not supported", n)
	}
	a.X[2] = int64(t.numbered(f, "source", first))
	a.X[0] = t.size(f, out)
	a.X[1] = t.size(f, in)
}

// exchange parses what sendrecv does if it is digits, as nearly all are.
func (t *Trace) exchange(f *fields, a *trace.Action, first int64) bool {
	var n [4]int64
	begin, last := f.at, first+int64(t.ranks-1)
	if !f.naturals(n[:]) || n[0] > maxBytes || n[2] > maxBytes || min(n[1], n[3]) < first || max(n[1], n[3]) > last {
		f.at = begin
		return false
	}
	a.Peer, a.X[2] = int32(n[1]-first), n[3]-first
	a.X[0] = t.size(f, n[0])
	a.X[1] = t.size(f, n[2])
	return true
}

// numbered parses the number of a rank where that of rank 0 is first.
func (t *Trace) numbered(f *fields, what string, first int64) int32 {
	return int32(f.integer(what, first, first+int64(t.ranks-1)) - first)
}

// begin makes the request of an action pending.
func (s *stream) begin(f *fields, a *trace.Action, k key) {
	if f.err == nil && f.odd != toNobody {
		a.Req, f.err = s.add(k)
	}
}

// wait parses "SRC DST TAG" of a wait or a test. It is false if no such request is pending.
func (s *stream) wait(f *fields, t *Trace, a *trace.Action, kind trace.Kind) (ok bool) {
	a.Kind = kind
	verb := kind.String()
	if s.old(t) { // of the newest pending request, which a wait ends
		if !f.done() {
			f.failf("%s names a request; %s", verb, t.otherForm())
			return false
		}
		if a.Req, ok = s.requests.newest(kind == trace.KindWait); !ok {
			f.note(idleLine, "%s", verb)
		}
		return ok
	}
	from := f.at
	if k, some := s.named(f, t, verb); some {
		if kind == trace.KindWait {
			a.Req, ok = s.requests.wait(k)
		} else {
			a.Req, ok = s.requests.test(k)
		}
		if !ok {
			f.note(s.idle(t, k), "%s%s", verb, f.text[from:f.at])
		}
	}
	return ok
}

// named parses "SRC DST TAG", which name a message, of a wait or a test. It is false at a mistake, and
// where one of the two is nobody, so that there is nothing to wait for.
func (s *stream) named(f *fields, t *Trace, verb string) (k key, ok bool) {
	var n [3]int64
	if begin := f.at; f.naturals(n[:]) && n[2] <= math.MaxInt32 {
		first := s.firstOf(t, waitLines)
		src, dst := n[0]-first, n[1]-first
		if min(src, dst) >= 0 && max(src, dst) < int64(t.ranks) {
			return key{int32(src), int32(dst), int32(n[2])}, true
		}
		f.at = begin
	}
	if f.done() {
		f.failf("%s names no request: want source, destination and tag, which SimGrid before 3.20 wrote of none, and before 3.31 not of tests; %s", verb, t.otherForm())
		return k, false
	}
	src := f.integer("source", math.MinInt32, math.MaxInt32)
	dst := f.integer("destination", math.MinInt32, math.MaxInt32)
	tag := wildTag(f)
	if f.err != nil || dst == undefined || dst == procNull || src == procNull {
		return k, false
	}
	first := s.firstOf(t, waitLines)
	if k, ok = messageKey(src, dst, tag, first, int64(t.ranks)); !ok {
		f.failf("source %d or destination %d out of [%d,%d]", src, dst, first, first+int64(t.ranks-1))
	}
	return k, ok
}

// messageKey returns the key of a message by the numbers in a wait, where that of rank 0 is
// first. It is false for numbers that no rank has. A source of -555 names no request in
// SimGrid, but in texts that name actors it does.
func messageKey(src, dst int64, tag int32, first, ranks int64) (key, bool) {
	dst -= first
	switch {
	case src == anySourceWait, src == undefined, src == anySource && first > 0:
		src = trace.AnySource
	case src != anySource:
		if src -= first; src < 0 || src >= ranks {
			return key{}, false
		}
	}
	return key{int32(src), int32(dst), tag}, dst >= 0 && dst < ranks
}

// idle returns how a wait is odd whose key is that of no pending request: it may be, if its
// numbers were those of the other numbering.
func (s *stream) idle(t *Trace, k key) odd {
	shift := int32(1)
	if t.first(waitLines) == 0 {
		shift = -1
	}
	if k.dst += shift; k.src >= 0 {
		k.src += shift
	}
	if s.has(k) {
		return otherLine
	}
	return idleLine
}
