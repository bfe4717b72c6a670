package simgrid

import (
	"math"

	"reprise/trace"
)

// parse turns the fields behind the rank into an action; it is false for lines
// that mean nothing. Mistakes are left in the fields.
func (s *stream) parse(f *fields, t *Trace, a *trace.Action) bool {
	verb := f.next()
	*a = trace.Action{}
	switch string(verb) {
	case "compute":
		a.Kind, a.X[0] = trace.KindFlops, trace.FloatArg(f.amount("amount"))
	case "sleep":
		a.Kind, a.X[0] = trace.KindSleep, trace.FloatArg(f.amount("duration"))
	case "send":
		a.Kind = trace.KindSend
		t.sent(f, a)
	case "isend":
		a.Kind = trace.KindIsend
		t.sent(f, a)
		s.begin(f, a, key{s.rank, a.Peer, a.Tag})
	case "recv":
		a.Kind = trace.KindRecv
		t.received(f, a)
	case "irecv":
		a.Kind = trace.KindIrecv
		t.received(f, a)
		s.begin(f, a, key{a.Peer, s.rank, a.Tag})
	case "sendRecv":
		t.sendrecv(f, a)
	case "wait":
		return s.wait(f, t, a)
	case "test":
		return s.test(f, t, a)
	case "waitall":
		a.Kind = trace.KindWaitAll
		s.forgetAll()
	case "init":
		t.checkInit(f)
		return false
	case "finalize", "comm_size", "comm_split", "comm_dup", "location":
		return false
	case "":
		f.failf("action is missing")
	default:
		s.collective(f, t, string(verb), a)
	}
	return true
}

// Constants of SimGrid's text, for receives.
const (
	anySource     = -555
	anyTag        = -444
	anySourceWait = anySource - 1 // how a wait names a receive from any source
)

// sent parses "PEER TAG COUNT [TYPE]" of a send.
func (t *Trace) sent(f *fields, a *trace.Action) {
	a.Peer = t.rank(f, "peer")
	a.Tag = tag(f)
	a.X[0] = f.size(f.integer("count", 0, maxBytes), t.defaultSize)
}

// received parses "PEER TAG COUNT [TYPE]" of a receive, which may have wildcards and
// need not know its size.
func (t *Trace) received(f *fields, a *trace.Action) {
	if f.takes("-555") {
		a.Peer = trace.AnySource
	} else {
		a.Peer = t.rank(f, "peer")
	}
	a.Tag = wildTag(f)
	a.X[0] = f.size(f.integer("count", -1, maxBytes), t.defaultSize)
}

// rank parses the number of a rank.
func (t *Trace) rank(f *fields, what string) int32 {
	return int32(f.integer(what, 0, int64(t.ranks-1)))
}

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
func (t *Trace) sendrecv(f *fields, a *trace.Action) {
	a.Kind = trace.KindSendrecv
	out := f.integer("sent count", 0, maxBytes)
	a.Peer = t.rank(f, "destination")
	in := f.integer("received count", 0, maxBytes)
	a.X[2] = int64(t.rank(f, "source"))
	a.X[0] = f.size(out, t.defaultSize)
	a.X[1] = f.size(in, t.defaultSize)
}

// begin makes the request of an action pending.
func (s *stream) begin(f *fields, a *trace.Action, k key) {
	if f.err == nil {
		a.Req, f.err = s.add(k)
	}
}

// wait parses "SRC DST TAG". It is false if no such request is pending.
func (s *stream) wait(f *fields, t *Trace, a *trace.Action) (ok bool) {
	a.Kind = trace.KindWait
	if k := t.key(f); f.err == nil {
		a.Req, ok = s.requests.wait(k)
	}
	return ok
}

// test is wait for a test.
func (s *stream) test(f *fields, t *Trace, a *trace.Action) (ok bool) {
	a.Kind = trace.KindTest
	if k := t.key(f); f.err == nil {
		a.Req, ok = s.requests.test(k)
	}
	return ok
}

// key parses "SRC DST TAG", which name a message.
func (t *Trace) key(f *fields) key {
	source := f.integer("source", anySourceWait, int64(t.ranks-1))
	switch {
	case source == anySourceWait:
		source = trace.AnySource
	case source < 0 && source != anySource:
		f.failf("source %d out of [0,%d]", source, t.ranks-1)
	}
	return key{int32(source), t.rank(f, "destination"), wildTag(f)}
}
