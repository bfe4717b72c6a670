package simgrid

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"reprise/trace"
)

// rankWriter writes the lines of one rank.
//
// A wait line names a message, not a request, and means the oldest pending one
// of that name: a trace that waits for a younger one first is written as well as can
// be. No line lets go of a request. SimGrid does, at the end of a rank, before it
// waits for the rest; so what a trace lets go is held back, and a waitall after it: if
// nothing else follows, and it is what SimGrid does anyhow, it needs no lines.
type rankWriter struct {
	requests // pending, in the slots of the trace, or in slot letGo
	held     []trace.Action
	rank     int32
	text     []byte
	sum      *Exported
}

// countTypes are the datatypes in whose items a message is counted, MPI_BYTE and
// larger ones: SimGrid's counts are 32 bits wide, whatever its parser accepts.
var countTypes = [...]int64{6, 0, 14, 27}

// items returns a message's size as a count and the number of its datatype. An
// unknown size remains -1.
func items(bytes int64) (count, datatype int64, err error) {
	for _, n := range countTypes {
		size := typeSizes[n]
		if bytes < 0 || bytes%size == 0 && bytes/size <= math.MaxInt32 {
			return max(-1, bytes/size), n, nil
		}
	}
	return 0, 0, fmt.Errorf("message of %d bytes: SimGrid counts to %d, in items of 1, 8, 16 or 32 bytes", bytes,
		math.MaxInt32)
}

// action writes an action; lists holds the vectors of collectives.
func (r *rankWriter) action(a *trace.Action, lists trace.Sums) error {
	if a.Kind == trace.KindFree || a.Kind == trace.KindWaitAll && len(r.held) > 0 {
		r.held = append(r.held, trace.Action{Kind: a.Kind, Req: a.Req})
		return nil
	}
	r.release()
	switch a.Kind {
	case trace.KindWait:
		if i := r.find(a.Req); i >= 0 {
			r.wait(i)
		}
	case trace.KindFlops:
		r.amount("compute", a.Flops())
	case trace.KindSleep:
		r.amount("sleep", a.Seconds())
	case trace.KindIprobe:
		r.sum.Probes++
	case trace.KindTest:
		if i := r.find(a.Req); i >= 0 {
			r.test(i)
		}
	case trace.KindWaitAll:
		r.waitAll()
	case trace.KindCollective:
		c := a.Collective(lists)
		if err := r.collective(&c); err != nil {
			return fmt.Errorf("%v: %w", c.Kind, err)
		}
	default:
		return r.message(a)
	}
	return nil
}

func (r *rankWriter) message(a *trace.Action) error {
	if err := checkMessage(a); err != nil {
		return err
	}
	switch a.Kind {
	case trace.KindSend:
		r.envelope("send", a.Peer, a.Tag, a.X[0])
	case trace.KindSsend:
		r.synchronous(a.X[0])
		r.envelope("send", a.Peer, a.Tag, a.X[0])
	case trace.KindRecv:
		r.envelope("recv", a.Peer, a.Tag, a.X[0])
	case trace.KindIsend:
		r.envelope("isend", a.Peer, a.Tag, a.X[0])
		return r.begin(a.Req, key{r.rank, a.Peer, a.Tag})
	case trace.KindIssend:
		r.synchronous(a.X[0])
		r.envelope("isend", a.Peer, a.Tag, a.X[0])
		return r.begin(a.Req, key{r.rank, a.Peer, a.Tag})
	case trace.KindIrecv:
		r.envelope("irecv", a.Peer, a.Tag, a.X[0])
		return r.begin(a.Req, key{a.Peer, r.rank, a.Tag})
	case trace.KindExchange:
		r.envelope("irecv", a.Peer, a.Tag, a.X[1])
		r.envelope("send", a.Peer, a.Tag, a.X[0])
		r.waitFor(key{a.Peer, r.rank, a.Tag})
	case trace.KindSyncExchange:
		r.synchronous(a.X[0])
		r.envelope("isend", a.Peer, a.Tag, a.X[0])
		r.envelope("recv", a.Peer, a.Tag, a.X[1])
		r.waitFor(key{r.rank, a.Peer, a.Tag})
	case trace.KindSendrecv:
		r.sendrecv(a)
	default:
		return fmt.Errorf("action %v has no counterpart in SimGrid's text", a.Kind)
	}
	return nil
}

// checkMessage refuses messages that the text cannot say, or would take for others.
func checkMessage(a *trace.Action) error {
	for _, bytes := range a.X[:2] { // those of a message of one side are 0
		if _, _, err := items(bytes); err != nil {
			return err
		}
	}
	receives := a.Kind == trace.KindRecv || a.Kind == trace.KindIrecv
	if a.Tag == trace.AnyTag && !receives {
		return fmt.Errorf("%v with any tag", a.Kind)
	}
	received := a.Tag
	if a.Kind == trace.KindSendrecv {
		_, received = a.Source()
	}
	if a.Tag == anyTag || received == anyTag {
		return fmt.Errorf("%v with tag %d, which means any tag in SimGrid's text", a.Kind, anyTag)
	}
	return nil
}

// source returns the rank that a message comes from as the text has it.
func source(peer int32) int32 {
	if peer == trace.AnySource {
		return anySource
	}
	return peer
}

// tagOf returns a tag as the text has it.
func tagOf(tag int32) int32 {
	if tag == trace.AnyTag {
		return anyTag
	}
	return tag
}

// sendrecv writes one line, which has no tags and needs both sizes, or four.
func (r *rankWriter) sendrecv(a *trace.Action) {
	source, tag := a.Source()
	if a.Tag == 0 && tag == 0 && a.X[1] >= 0 {
		out, outType, _ := items(a.X[0])
		in, inType, _ := items(a.X[1])
		r.line("sendRecv", out, int64(a.Peer), in, int64(source), outType, inType)
		return
	}
	r.envelope("isend", a.Peer, a.Tag, a.X[0])
	r.envelope("irecv", source, tag, a.X[1])
	r.waitFor(key{r.rank, a.Peer, a.Tag})
	r.waitFor(key{source, r.rank, tag})
}

// synchronous counts a synchronous send that is none as text.
func (r *rankWriter) synchronous(bytes int64) {
	if bytes < DetachedBelow {
		r.sum.Synchronous++
	}
}

// begin makes a request pending in a slot.
func (r *rankWriter) begin(slot int32, k key) error {
	if r.find(slot) >= 0 {
		return fmt.Errorf("request slot %d is taken: its request was not waited for", slot)
	}
	if len(r.list) == maxPending {
		return fmt.Errorf("more than %d requests are pending", maxPending)
	}
	r.list = append(r.list, pendingRequest{k, slot})
	return nil
}

// find returns the index of the pending request in a slot, or -1.
func (r *rankWriter) find(slot int32) int {
	return slices.IndexFunc(r.list, func(p pendingRequest) bool { return p.slot == slot })
}

// oldest reports whether pending request i is the one that a line names.
func (r *rankWriter) oldest(i int) bool {
	return !slices.ContainsFunc(r.list[:i], func(p pendingRequest) bool { return p.key == r.list[i].key })
}

// letGo is the slot of requests that are pending in the text alone.
const letGo = -1

// wait writes the wait for pending request i.
func (r *rankWriter) wait(i int) {
	if !r.oldest(i) {
		r.sum.Reordered++
	}
	r.named("wait", r.list[i].key)
	r.list = slices.Delete(r.list, i, i+1)
}

func (r *rankWriter) waitAll() {
	r.line("waitall")
	r.forgetAll()
}

// test writes the test of pending request i.
func (r *rankWriter) test(i int) {
	if !r.oldest(i) {
		r.sum.Reordered++
	}
	r.named("test", r.list[i].key)
	r.requests.test(r.list[i].key)
	r.list, r.gone = slices.Delete(r.list, 0, r.gone), 0
}

// waitFor writes the wait for a request that never was in a slot.
func (r *rankWriter) waitFor(k key) {
	if slices.ContainsFunc(r.list, func(p pendingRequest) bool { return p.key == k }) {
		r.sum.Reordered++
	}
	r.named("wait", k)
}

// release does what was held back as well as can be.
func (r *rankWriter) release() {
	for i := range r.held {
		if a := &r.held[i]; a.Kind == trace.KindWaitAll {
			r.waitAll()
		} else if i := r.find(a.Req); i >= 0 {
			r.list[i].slot = letGo
			r.sum.Freed++
		}
	}
	r.held = r.held[:0]
}

// end writes what follows the last action.
func (r *rankWriter) end() {
	if !slices.Equal(r.ending(), r.held) {
		r.release()
	}
	r.line("finalize")
}

// envelope writes a message, whose datatype is the default if it is byte.
func (r *rankWriter) envelope(verb string, peer, tag int32, bytes int64) {
	count, datatype, _ := items(bytes)
	peer64, tag64 := int64(source(peer)), int64(tagOf(tag))
	if datatype == countTypes[0] {
		r.line(verb, peer64, tag64, count)
		return
	}
	r.line(verb, peer64, tag64, count, datatype)
}

func (r *rankWriter) named(verb string, k key) {
	from := int64(k.src)
	if k.src == trace.AnySource {
		from = anySourceWait
	}
	r.line(verb, from, int64(k.dst), int64(tagOf(k.tag)))
}

// line appends a line of integers.
func (r *rankWriter) line(verb string, args ...int64) {
	r.verb(verb)
	r.ints(args...)
	r.text = append(r.text, '\n')
}

// amount appends a line of one number.
func (r *rankWriter) amount(verb string, v float64) {
	r.verb(verb)
	r.number(v)
	r.text = append(r.text, '\n')
}

// The pieces of a line.

func (r *rankWriter) ints(values ...int64) {
	for _, v := range values {
		r.text = strconv.AppendInt(append(r.text, ' '), v, 10)
	}
}

// number appends a number, with the digits that it takes to read it back.
func (r *rankWriter) number(v float64) {
	if v == math.Trunc(v) && v < 1e15 && !math.Signbit(v) {
		r.ints(int64(v))
		return
	}
	r.text = strconv.AppendFloat(append(r.text, ' '), v, 'g', -1, 64)
}

func (r *rankWriter) verb(verb string) {
	r.text = strconv.AppendInt(r.text, int64(r.rank), 10)
	r.text = append(append(r.text, ' '), verb...)
}
