package simgrid

import (
	"bytes"
	"math"
	"slices"
	"sync"

	"reprise/trace"
)

// This file turns a line of text into an action (stream.parse), by SimGrid's rules for verbs, ranks, tags,
// datatypes and counts.

// parse turns a line whose rank has been read into an action; ok is false for a line without one.
func (s *stream) parse(l *lines, t *Trace, a *trace.Action) (ok bool, err error) {
	if l.err == nil {
		ok = s.act(&l.fields, t, l.fields.next(), a)
	}
	if l.err != nil {
		return false, l.mistake()
	}
	if l.odd != notOdd {
		s.count(l)
	}
	return ok, nil
}

// act parses the fields behind a verb, and leaves a mistake in f.err. For an old spelling it calls itself with the
// new one.
func (s *stream) act(f *fields, t *Trace, verb []byte, a *trace.Action) bool {
	*a = trace.Action{}
	switch string(verb) {
	case "compute":
		a.Kind, a.X[0] = trace.KindFlops, trace.FloatArg(f.amount("amount"))
	case "sleep":
		a.Kind, a.X[0] = trace.KindSleep, trace.FloatArg(f.amount("duration"))
	case "send":
		a.Kind = trace.KindSend
		s.envelope(f, t, a, false)
	case "isend":
		a.Kind = trace.KindIsend
		s.envelope(f, t, a, false)
		s.begin(f, a, key{s.rank, a.Peer, a.Tag})
	case "recv":
		a.Kind = trace.KindRecv
		s.envelope(f, t, a, true)
	case "irecv":
		a.Kind = trace.KindIrecv
		s.envelope(f, t, a, true)
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

// envelope parses "PEER TAG COUNT [TYPE]" of a send, or of a receive, which may have wildcards and need not know its
// size. The old form has no tag.
func (s *stream) envelope(f *fields, t *Trace, a *trace.Action, receives bool) {
	least, nobody, direction := int64(0), []int{undefined, procNull}, "to"
	if receives {
		least, nobody, direction = -1, []int{anySource, undefined, procNull}, "from"
	}
	old := s.old(t)
	if old {
		nobody, direction = []int{anySource, undefined, procNull}, "with"
	}
	switch n := f.special(nobody...); {
	case n == 0:
		a.Peer = t.rank(f, "peer")
	case receives && n != procNull:
		a.Peer = trace.AnySource
	default:
		f.note(toNobody, "%s %d", direction, n)
		return
	}
	if old {
		if f.done() {
			f.failf("count is missing behind peer (SimGrid 3.18 and 3.19 left out the peer of a receive from any rank)")
		}
		// A third number is a datatype if it is the last and small enough; else the line has a tag.
		count := f.integer("count", least, maxBytes)
		if begin := f.at; f.left() > 1 || !f.done() && f.number("datatype") > lastOldType {
			f.failf("there is a tag before the count; %s", t.otherForm())
		} else {
			f.at = begin
		}
		a.X[0] = t.size(f, count)
		return
	}
	if a.Tag = tag(f); receives && a.Tag == anyTag {
		a.Tag = trace.AnyTag
	}
	if f.text[f.at] == '\n' {
		f.failf("count is missing behind peer and tag; %s", t.otherForm())
	}
	a.X[0] = t.size(f, f.integer("count", least, maxBytes))
}

// rank parses the number of a rank.
func (t *Trace) rank(f *fields, what string) int32 {
	return int32(f.integer(what, 0, int64(t.ranks-1)))
}

// tag parses a tag. The least numbers are left out, since trace.AnyTag is one of them.
func tag(f *fields) int32 { return int32(f.integer("tag", math.MinInt32+2, math.MaxInt32)) }

// wildTag parses a tag of a receive.
func wildTag(f *fields) int32 {
	if n := tag(f); n != anyTag {
		return n
	}
	return trace.AnyTag
}

// typeSizes are the bytes of SimGrid's datatypes by number, as version 3.32 sends
// them; 0 for those without content (MPI_LB and MPI_UB).
var typeSizes = [...]int64{
	8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8,
	8, 16, 16, 8, 8, 8, 16, 16, 4, 4, 8, 16, 8, 16, 16, 4, 2, 4, 8, 16, 32, 1, 8, 16, 32, 0, 0, 1, 8, 8,
}

// itemSize returns the bytes of the datatype in the next field, or the default if there is no field. Texts from before
// SimGrid 3.20 have numbers for seven datatypes, and -1 for all others, which have the default size.
func (t *Trace) itemSize(f *fields) int64 {
	if f.text[f.at] == '\n' {
		return t.defaultSize
	}
	if n, end := digits(f.text, f.at); end > 0 && n < int64(len(typeSizes)) && typeSizes[n] > 0 {
		if f.at = end; n > lastOldType && t.isOld() {
			return t.defaultSize
		}
		return typeSizes[n]
	}
	if f.takes("-1") {
		if t.isOld() {
			return t.defaultSize
		}
		f.note(derivedLine, "datatype -1")
		return 0
	}
	if field := f.next(); field != nil {
		f.failf("datatype %q is not known", field)
	}
	return t.defaultSize
}

// maxBytes bounds the size of a message, so that sums of sizes fit.
const maxBytes = 1 << 50

// size turns a count into bytes by the datatype in the next field, or by the default if there is none.
func (t *Trace) size(f *fields, count int64) int64 {
	size := t.itemSize(f)
	if count < 0 {
		return -1
	}
	if count*size > maxBytes { // at most maxBytes items of 32 bytes
		f.failf("%d items of %d bytes are too many", count, size)
	}
	return count * size
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
		if a.Req, ok = s.oldest(k, kind == trace.KindWait); !ok {
			// No such request is pending. One may be, if the numbers were those of the other numbering.
			why, shift := idleLine, int32(1)
			if t.numbers[waitLines]().found == 0 {
				shift = -1
			}
			if k.dst += shift; k.src >= 0 {
				k.src += shift
			}
			if s.has(k) {
				why = otherLine
			}
			f.note(why, "%s%s", verb, f.text[from:f.at])
		}
	}
	return ok
}

// named parses "SRC DST TAG", which name a message, of a wait or a test. It is false at a mistake, and
// where one of the two is nobody, so that there is nothing to wait for.
func (s *stream) named(f *fields, t *Trace, verb string) (k key, ok bool) {
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

// messageKey returns the key of a message by the numbers in a wait, where that of rank 0 is first. It is false for
// numbers that no rank has. A source of -555 names no request in SimGrid, but in texts that name actors it does.
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

// sums are running sums, from 0, of counts for ranks 0, 1, ... They never change, so
// that ranks which say the same share them.
type sums []int64

// recentSums are the last sums that were read, which the next rank often has too. The reader of ReadAhead and the
// caller of Fill may both read.
type recentSums struct {
	mu      sync.Mutex
	bySide  [2]sums
	scratch sums
}

// read parses a count for each of the ranks and returns their sums, or leaves a mistake in f.
func (c *recentSums) read(f *fields, ranks, side int, what string) sums {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := append(c.scratch[:0], 0)
	for range ranks {
		s = append(s, s[len(s)-1]+f.integer(what, 0, trace.MaxCount))
	}
	c.scratch = s
	if f.err == nil && !slices.Equal(s, c.bySide[side]) {
		c.bySide[side] = slices.Clone(s)
	}
	return c.bySide[side]
}

// sumLists are the sums that the actions of a rank name by number. Those given out
// with one Fill are forgotten with the next.
type sumLists struct {
	lists []sums
	first int64 // number of lists[0]
	given int64 // numbers below it were given out
}

// at returns sums by their number, nil if there are none.
func (l *sumLists) at(list int64) sums {
	if i := list - l.first; uint64(i) < uint64(len(l.lists)) {
		return l.lists[i]
	}
	return nil
}

// give notes that actions are given out.
func (l *sumLists) give(actions []trace.Action) {
	for i := range actions {
		a := &actions[i]
		if len(l.lists) == 0 || a.Kind != trace.KindCollective {
			continue
		}
		kind := trace.CollectiveKind(a.Sym)
		if kind.SendsPerRank() {
			l.given = max(l.given, a.X[0]+1)
		}
		if kind.RecvsPerRank() {
			l.given = max(l.given, a.X[1]+1)
		}
	}
}

// forget lets go of the sums that were given out.
func (l *sumLists) forget() {
	if n := l.given - l.first; n > 0 {
		l.lists = slices.Delete(l.lists, 0, int(n))
		l.first = l.given
	}
}

// buffered is the operation whose line has the sizes of its buffers.
const buffered = trace.CollAlltoallv

// untraceable are actions that SMPI writes but that its replay does not know, by reason.
var untraceable = map[string]string{
	"waitAny": "which request ended is not in the text", "waitany": "which request ended is not in the text",
	"testany":  "which requests are tested is not in the text",
	"testall":  "which requests are tested is not in the text",
	"testsome": "which requests are tested is not in the text",
	"Start":    "persistent requests are not in the text", "Startall": "persistent requests are not in the text",
}

// collective parses the arguments of a collective operation: the size of the send buffer, counts that are sent, the size
// of the receive buffer, counts that are received, flop, root, the types of both sides, displacements, as far as the kind
// has them. Both sizes and all counts are in elements.
func (s *stream) collective(f *fields, t *Trace, verb string, a *trace.Action) {
	kind, ok := trace.CollectiveNamed(verb)
	if !ok {
		if why := untraceable[verb]; why != "" {
			f.failf("action %q is not supported, by SimGrid's replay neither: %s", verb, why)
		} else {
			f.failf("action %q is not supported", verb)
		}
		return
	}
	if (kind == trace.CollScan || kind == trace.CollExscan) && s.old(t) {
		f.failf("action %q is not one of SimGrid before 3.20; %s", verb, t.otherForm())
		return
	}
	c := trace.Collective{Kind: kind, SendSize: t.defaultSize, RecvSize: t.defaultSize}

	// side parses what goes one way: one count, or one for each rank, of which the number of
	// their sums is kept. The sizes of buffers say nothing that the counts do not.
	side := func(i int, perRank bool, buffer, what string, v *int64) {
		if kind == buffered {
			f.integer(buffer, 0, trace.MaxCount)
		}
		if !perRank {
			*v = f.integer(what, 0, trace.MaxCount)
		} else if sums := t.recent.read(f, t.ranks, i, what); f.err == nil {
			*v = s.lists.first + int64(len(s.lists.lists))
			s.lists.lists = append(s.lists.lists, sums)
		}
	}
	if kind.Sends() {
		what := "count"
		if kind.Receives() {
			what = "sent count"
		}
		side(0, kind.SendsPerRank(), "size of the send buffer", what, &c.Send)
	}
	if kind.Receives() {
		side(1, kind.RecvsPerRank(), "size of the receive buffer", "received count", &c.Recv)
	}
	if kind.Reduces() {
		c.Flops = f.amount("amount of flop")
	}
	if kind.Rooted() && f.left() > 0 { // else 0
		c.Root = t.rank(f, "root")
	}
	left := 2
	if kind.Spans() {
		left = f.left()
	}
	if !kind.Spans() || left <= 2 || left > t.ranks { // else displacements alone
		if kind.Sends() {
			c.SendSize = t.itemSize(f)
		}
		if kind.Receives() {
			c.RecvSize = t.itemSize(f)
		}
		left -= 2
	}

	// An allgatherv ends with two datatypes, or a displacement for each rank, or both. SimGrid
	// puts all blocks at the beginning of the receive buffer if it is not told where they are.
	if kind.Spans() && f.err == nil {
		counts := s.lists.at(c.Recv)
		for r := range t.ranks {
			at := int64(0)
			if left > 0 {
				at = f.integer("displacement", 0, trace.MaxCount)
			}
			c.Span = max(c.Span, at+counts[r+1]-counts[r])
		}
	}

	// What has a derived datatype, of no known size, gets a count of 0: a list has only such from now on.
	none := func(perRank bool, count int64) int64 {
		if !perRank {
			return 0
		}
		s.lists.lists[count-s.lists.first] = make(sums, t.ranks+1)
		return count
	}
	if f.err == nil && c.SendSize == 0 {
		c.SendSize, c.Send = 1, none(kind.SendsPerRank(), c.Send)
	}
	if f.err == nil && c.RecvSize == 0 {
		c.RecvSize, c.Recv, c.Span = 1, none(kind.RecvsPerRank(), c.Recv), 0
	}
	a.SetCollective(&c)
}
