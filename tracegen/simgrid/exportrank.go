package simgrid

import (
	"errors"
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
	// Something follows, so what was held back is not the end of the rank.
	r.release()
	switch a.Kind {
	case trace.KindWait, trace.KindTest:
		if i := r.find(a.Req); i >= 0 {
			r.complete(a.Kind.String(), i)
		}
	case trace.KindFlops:
		r.amount("compute", a.Flops())
	case trace.KindSleep:
		r.amount("sleep", a.Seconds())
	case trace.KindIprobe:
		r.sum.Probes++
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

// message writes a message, unless the text cannot say it, or would take it for another.
func (r *rankWriter) message(a *trace.Action) error {
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

	// A synchronous send becomes an ordinary one, which is detached below a size.
	switch a.Kind {
	case trace.KindSsend, trace.KindIssend, trace.KindSyncExchange:
		if a.X[0] < DetachedBelow {
			r.sum.Synchronous++
		}
	}
	switch a.Kind {
	case trace.KindSend, trace.KindSsend:
		r.envelope("send", a.Peer, a.Tag, a.X[0])
	case trace.KindRecv:
		r.envelope("recv", a.Peer, a.Tag, a.X[0])
	case trace.KindIsend, trace.KindIssend:
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
		r.envelope("isend", a.Peer, a.Tag, a.X[0])
		r.envelope("recv", a.Peer, a.Tag, a.X[1])
		r.waitFor(key{r.rank, a.Peer, a.Tag})
	case trace.KindSendrecv:
		source, tag := a.Source()
		if a.Tag == 0 && tag == 0 && a.X[1] >= 0 { // a line of its own, which has no tags and needs both sizes
			out, outType, _ := items(a.X[0])
			in, inType, _ := items(a.X[1])
			r.line("sendRecv", out, int64(a.Peer), in, int64(source), outType, inType)
			return nil
		}
		r.envelope("isend", a.Peer, a.Tag, a.X[0])
		r.envelope("irecv", source, tag, a.X[1])
		r.waitFor(key{r.rank, a.Peer, a.Tag})
		r.waitFor(key{source, r.rank, tag})
	default:
		return fmt.Errorf("action %v has no counterpart in SimGrid's text", a.Kind)
	}
	return nil
}

// tagOf returns a tag as the text has it.
func tagOf(tag int32) int32 {
	if tag == trace.AnyTag {
		return anyTag
	}
	return tag
}

// begin makes a request pending in a slot.
func (r *rankWriter) begin(slot int32, k key) error {
	if r.find(slot) >= 0 {
		return fmt.Errorf("request slot %d is taken: its request was not waited for", slot)
	}
	if len(r.list) == trace.MaxRequests {
		return fmt.Errorf("more than %d requests are pending", trace.MaxRequests)
	}
	r.list = append(r.list, pendingRequest{k, slot})
	return nil
}

// find returns the index of the pending request in a slot, or -1.
func (r *rankWriter) find(slot int32) int {
	return slices.IndexFunc(r.list, func(p pendingRequest) bool { return p.slot == slot })
}

// letGo is the slot of requests that are pending in the text alone.
const letGo = -1

// complete writes the wait or the test for pending request i. Its line means the oldest one of
// the same name.
func (r *rankWriter) complete(verb string, i int) {
	// In SMPI a test makes the request the newest of its name, and so it does in the list.
	k := r.list[i].key
	if slices.ContainsFunc(r.list[:i], func(p pendingRequest) bool { return p.key == k }) {
		r.sum.Reordered++
	}
	r.named(verb, k)
	if verb == "wait" {
		r.list = slices.Delete(r.list, i, i+1)
		return
	}
	r.oldest(k, false)
	r.list, r.gone = slices.Delete(r.list, 0, r.gone), 0
}

// waitAll writes the wait for all pending requests, those that were let go in the text included.
func (r *rankWriter) waitAll() {
	r.line("waitall")
	r.forgetAll()
}

// waitFor writes the wait for a request that never was in a slot.
func (r *rankWriter) waitFor(k key) {
	if r.has(k) {
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
	peer64, tag64 := int64(peer), int64(tagOf(tag))
	if peer == trace.AnySource {
		peer64 = anySource
	}
	if datatype == countTypes[0] {
		r.line(verb, peer64, tag64, count)
		return
	}
	r.line(verb, peer64, tag64, count, datatype)
}

// named writes the line of a wait or a test, which names a message.
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

// ints appends integers, each behind a blank.
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

// verb begins a line with the rank and the action.
func (r *rankWriter) verb(verb string) {
	r.text = strconv.AppendInt(r.text, int64(r.rank), 10)
	r.text = append(append(r.text, ' '), verb...)
}

// counted is one side of a collective: what goes to, or comes from, each rank, in
// items of a datatype.
type counted struct {
	items    []int64
	datatype int64
}

// collective writes a collective, with all that a reader would else assume.
func (r *rankWriter) collective(c *trace.Collective) error {
	form, ok := collectiveForms[c.Kind]
	if !ok {
		return errors.New("it has no counterpart in SimGrid's text")
	}
	var sent, received counted
	var err error
	if form.send {
		sent, err = countedBy(c.Send, c.SendSums, c.SendSize)
	}
	if form.recv && err == nil {
		received, err = countedBy(c.Recv, c.RecvSums, c.RecvSize)
	}
	if err != nil {
		return err
	}
	r.verb(c.Kind.String())
	for _, side := range []counted{sent, received} {
		if form.buffers {
			sum := int64(0)
			for _, n := range side.items {
				sum += n
			}
			r.ints(sum)
		}
		r.ints(side.items...)
	}
	if form.flops {
		r.number(c.Flops)
	}
	if c.Kind.Rooted() {
		r.ints(int64(c.Root))
	}
	if form.send {
		r.ints(sent.datatype)
	}
	if form.recv {
		r.ints(received.datatype)
	}

	// Where in its buffer a rank receives. Without displacements SimGrid
	// puts all parts at the beginning; so nothing is written if that is meant, and else
	// one part after the other as far as the buffer goes, the last part at its end.
	if form.span {
		item := typeSizes[received.datatype]
		if c.Span > math.MaxInt32*item/c.RecvSize || c.Span*c.RecvSize%item != 0 {
			return fmt.Errorf("a buffer of %d elements of %d bytes: SimGrid counts to %d", c.Span, c.RecvSize, math.MaxInt32)
		}
		span, most, at := c.Span*c.RecvSize/item, slices.Max(received.items), int64(0)
		if span < most {
			return fmt.Errorf("%d elements into a buffer of %d", most, span)
		}
		for i, n := range received.items {
			if at = min(at, span-n); i == len(received.items)-1 {
				at = span - n
			}
			if span > most {
				r.ints(at)
			}
			at += n
		}
	}
	r.text = append(r.text, '\n')
	return nil
}

// itemTypes are datatypes of 32, 16, 8, 4, 2 and 1 bytes.
var itemTypes = [...]int64{27, 14, 0, 1, 3, 6}

// countedBy turns counts of elements, one or those between running sums, into
// items of a datatype: of the elements' own size, or else of the largest that
// divides them all into numbers of 31 bits.
func countedBy(count int64, sums []int64, size int64) (counted, error) {
	counts := []int64{count}
	if sums != nil {
		counts = counts[:0]
		for i := range len(sums) - 1 {
			counts = append(counts, sums[i+1]-sums[i])
		}
	}
	types := itemTypes[:]
	if own := slices.IndexFunc(types, func(n int64) bool { return typeSizes[n] == size }); own >= 0 {
		types = slices.Insert(slices.Clone(types), 0, types[own])
	}
	for _, datatype := range types {
		item := typeSizes[datatype]
		if slices.ContainsFunc(counts, func(n int64) bool {
			return n < 0 || n > math.MaxInt64/size || n*size%item != 0 || n*size/item > math.MaxInt32
		}) {
			continue
		}
		for i, n := range counts {
			counts[i] = n * size / item
		}
		return counted{counts, datatype}, nil
	}
	return counted{}, fmt.Errorf("elements of %d bytes: SimGrid counts to %d, in items of 1 to 32 bytes", size,
		math.MaxInt32)
}
