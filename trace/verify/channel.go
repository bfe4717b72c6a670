package verify

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"reprise/internal/textutil"
	"reprise/trace"
)

// This file checks that what is sent is received. A channel is the sequence of messages between two ranks with one tag
// and one communicator. Each end has a key. A first pass over all actions (eachEnvelope) sums up what is sent and
// received by channel; unbalanced then finds the channels whose ends differ, and a second pass names the actions there.

// channelKey names one end of a channel, seen from a rank: its peer, the tag, the direction, and the family of its
// communicator. The top bit of word is set, so that the zero value is no key.
//
//	bit  63      set
//	bits 33..62  peer
//	bit  32      set for the receiving end
//	bits  0..31  tag
type channelKey struct {
	word uint64
	comm uint16
}

// channelKeyOf packs an end of a channel: the peer has 30 bits, the tag 32.
func channelKeyOf(peer, tag int32, comm uint16, receives bool) channelKey {
	k := channelKey{1<<63 | uint64(peer)<<33 | uint64(uint32(tag)), comm}
	if receives {
		k.word |= 1 << 32
	}
	return k
}

func (k channelKey) peer() int32    { return int32(k.word >> 33 & (1<<30 - 1)) }
func (k channelKey) tag() int32     { return int32(uint32(k.word)) }
func (k channelKey) receives() bool { return k.word>>32&1 != 0 }
func (k channelKey) none() bool     { return k.word == 0 }

// wildcard reports whether an action is a receive that takes messages of several channels.
func wildcard(a *trace.Action) bool {
	return (a.Kind == trace.KindRecv || a.Kind == trace.KindIrecv) && (a.Peer == trace.AnySource || a.Tag == trace.AnyTag)
}

// eachEnvelope calls f for each message that an action sends or receives, two for an exchange, except for wildcards.
// The mask is commMask's, for the family of its communicator. Posts and completes of windows are passed on as messages
// without bytes, since each of them must meet its start or wait.
func eachEnvelope(a *trace.Action, mask uint16, f func(key channelKey, bytes int64)) {
	comm := a.Sym & mask
	switch a.Kind {
	case trace.KindSend, trace.KindSsend, trace.KindIsend, trace.KindIssend, trace.KindStart:
		f(channelKeyOf(a.Peer, a.Tag, comm, false), a.X[0])
	case trace.KindRecv, trace.KindIrecv:
		if wildcard(a) {
			return
		}
		f(channelKeyOf(a.Peer, a.Tag, comm, true), a.X[0])
	case trace.KindExchange, trace.KindSyncExchange:
		f(channelKeyOf(a.Peer, a.Tag, comm, false), a.X[0])
		f(channelKeyOf(a.Peer, a.Tag, comm, true), a.X[1])
	case trace.KindSendrecv:
		f(channelKeyOf(a.Peer, a.Tag, comm, false), a.X[0])
		source, tag := a.Source()
		f(channelKeyOf(source, tag, comm, true), a.X[1])
	case trace.KindSync:
		switch kind := a.SyncKind(); kind {
		case trace.SyncPost, trace.SyncStart, trace.SyncComplete, trace.SyncWait:
			// What goes through a window has channels apart from messages: see commOfWindow.
			tag := a.Tag << 1
			if kind == trace.SyncComplete || kind == trace.SyncWait {
				tag++
			}
			f(channelKeyOf(a.Peer, tag, a.Sym|commOfWindow, kind == trace.SyncStart || kind == trace.SyncWait), 0)
		}
	}
}

// channelEnd sums up the messages of one end of a channel since both ends last agreed.
type channelEnd struct {
	key channelKey
	// Since both ends hash the sizes in order, equal hashes mean equal sequences but for chance, of 2^-64.
	messages int64
	sizes    uint64 // hash of their sizes in order
	unknown  bool   // the receiver does not know all sizes
}

// channelTable is a hash table of the ends of a rank's channels: linear probing, at most half full, removal by
// rebuilding. It is not a Go map since there is one for each of thousands of ranks, most of which hold a few entries of
// 40 bytes, and since entries are visited in the same order in each run.
type channelTable struct {
	// A slot whose key is none is empty.
	entries []channelEnd // 2^n
	used    int
	last    int // entry that was used last
}

// slot returns the place of a key, or where it would be. The search begins at the high bits of a multiplicative hash.
func (t *channelTable) slot(key channelKey) int {
	i := int((key.word ^ uint64(key.comm)<<40) * 0x9E3779B97F4A7C15 >> (64 - bits.TrailingZeros(uint(len(t.entries)))))
	for !t.entries[i].key.none() && t.entries[i].key != key {
		i = (i + 1) & (len(t.entries) - 1)
	}
	return i
}

// find returns the entry of a key, which may have become empty, or nil.
func (t *channelTable) find(key channelKey) *channelEnd {
	if len(t.entries) == 0 {
		return nil
	}
	if e := &t.entries[t.slot(key)]; !e.key.none() {
		return e
	}
	return nil
}

// add notes a message.
func (t *channelTable) add(key channelKey, bytes int64) {
	// Messages often come in rows on one channel.
	if t.last >= len(t.entries) || t.entries[t.last].key != key {
		t.last = t.locate(key)
	}
	e := &t.entries[t.last]
	e.messages++
	e.sizes = chained(e.sizes, uint64(bytes))
	e.unknown = e.unknown || bytes < 0
}

// chained returns a hash of h and what follows it. The rotation makes the hash depend on the order of the values.
func chained(h, v uint64) uint64 { return (bits.RotateLeft64(h, 5) ^ v) * 0x9E3779B97F4A7C15 }

// locate returns the place of a key's entry, a new one if need be.
func (t *channelTable) locate(key channelKey) int {
	if 2*t.used >= len(t.entries) {
		t.rebuild(max(8, 2*len(t.entries)))
	}
	i := t.slot(key)
	if t.entries[i].key.none() {
		t.entries[i].key = key
		t.used++
	}
	return i
}

// rebuild moves the entries that have messages to a table of n.
func (t *channelTable) rebuild(n int) {
	old := t.entries
	t.entries, t.used, t.last = make([]channelEnd, n), 0, 0
	for i := range old {
		if old[i].messages > 0 {
			t.entries[t.locate(old[i].key)] = old[i]
		}
	}
}

// maxTraced is how many channels out of balance are looked at again for the first fault.
const maxTraced = 64

// unbalanced returns the first message without a partner or of another size than its partner, nil if there is none. The
// first pass has left the channels whose ends differ; they are read again, one by one, to find that message.
func (v *verifier) unbalanced() *Fault {
	var first *Fault
	traced := 0
	for i := range v.ranks {
		for _, e := range v.ranks[i].channels.entries {
			if e.messages == 0 || traced == maxTraced {
				continue
			}
			// Either end may be the one that is found: the channel is named from its sender to its receiver.
			ch := channel{int32(i), e.key.peer(), e.key.tag(), e.key.comm}
			if e.key.receives() {
				ch.source, ch.destination = ch.destination, ch.source
			}
			// Messages that the receiver's other receives leave may go to its wildcards.
			if sent, received := v.counts(ch); v.ranks[ch.destination].wild > 0 && sent >= received {
				continue
			}
			traced++
			if f := traceChannel(v.t, ch); f.before(first) {
				first = f
			}
		}
	}

	// Receives with wildcards are as many as the messages that a rank's other receives leave over.
	left := make([]int64, len(v.ranks))
	for i := range v.ranks {
		for _, e := range v.ranks[i].channels.entries {
			if e.messages > 0 && !e.key.receives() {
				sent, received := v.counts(channel{int32(i), e.key.peer(), e.key.tag(), e.key.comm})
				left[e.key.peer()] += sent - received
			}
		}
	}
	for i := range v.ranks {
		if wild := v.ranks[i].wild; wild > 0 && left[i] != wild {
			f := &Fault{Rank: int32(i), Step: math.MaxInt,
				Text: fmt.Sprintf("%d receives from any source or with any tag, for which %d messages are left", wild, left[i])}
			if f.before(first) {
				first = f
			}
			break
		}
	}
	return first
}

// counts returns how many messages the two ends of a channel have sent and received since they last agreed.
// Before, both had the same number.
func (v *verifier) counts(ch channel) (sent, received int64) {
	if out := v.ranks[ch.source].channels.find(channelKeyOf(ch.destination, ch.tag, ch.comm, false)); out != nil {
		sent = out.messages
	}
	if in := v.ranks[ch.destination].channels.find(channelKeyOf(ch.source, ch.tag, ch.comm, true)); in != nil {
		received = in.messages
	}
	return sent, received
}

// channel is what messages are matched by.
type channel struct {
	source, destination, tag int32
	comm                     uint16
}

// String says from where to where messages go, or what synchronisation of a window they stand for.
func (c channel) String() string {
	if c.comm&commOfWindow != 0 {
		use := "a post and its start"
		if c.tag&1 != 0 {
			use = "a complete and its wait"
		}
		return fmt.Sprintf("for %s in window %d from rank %d to rank %d", use, c.tag>>1, c.source, c.destination)
	}
	return fmt.Sprintf("from rank %d to rank %d with tag %d", c.source, c.destination, c.tag)
}

// errStream is the reason why the place of a fault is not known.
var errStream = errors.New("of a stream it cannot be told which")

// traceChannel goes through the messages of an unbalanced channel one by one and
// returns the first fault. The first pass keeps counts and hashes only, so both ranks are read again.
func traceChannel(t *trace.Trace, ch channel) *Fault {
	if t.IsStream() {
		textutil.Stop(fmt.Errorf("%s: messages %v do not balance; %w", t.Name(), ch, errStream))
	}
	// Sender and receiver are read side by side; the n-th message that is sent is the n-th that is received.
	out := envelopes(t, ch.source, channelKeyOf(ch.destination, ch.tag, ch.comm, false))
	in := envelopes(t, ch.destination, channelKeyOf(ch.source, ch.tag, ch.comm, true))
	for n := 1; ; n++ {
		sent, received := out.next(), in.next()
		textutil.Check(errors.Join(out.Err(), in.Err()))
		switch {
		case sent == nil && received == nil:
			panic(fmt.Sprintf("verify: messages %v balance after all", ch))
		case received == nil:
			return sent.fault(ch.source, "message %d %v, of %d bytes, is never received", n, ch, sent.bytes)
		case sent == nil:
			return received.fault(ch.destination, "message %d %v is never sent", n, ch)
		case received.bytes >= 0 && received.bytes != sent.bytes:
			return received.fault(ch.destination, "message %d %v is received as %d bytes, but sent as %d (step %d action %d)",
				n, ch, received.bytes, sent.bytes, sent.step, sent.action)
		}
	}
}

// envelope is one message of a channel, and where it is sent or received.
type envelope struct {
	bytes  int64
	step   int
	action int64 // from 1, as in Fault
}

// fault returns a fault of a rank at the place of the message.
func (e *envelope) fault(rank int32, format string, args ...any) *Fault {
	return &Fault{Rank: rank, Step: e.step, Action: e.action, Text: fmt.Sprintf(format, args...)}
}

// envelopeReader yields the messages of one end of a channel.
type envelopeReader struct {
	trace.ActionReader
	key   channelKey
	mask  uint16 // of families
	found []envelope
}

// envelopes returns a reader of the messages of a key in the stream of a rank.
func envelopes(t *trace.Trace, rank int32, key channelKey) *envelopeReader {
	c := textutil.Must(t.Cursors([]int32{rank}, trace.CursorOptions{}))
	return &envelopeReader{ActionReader: trace.NewActionReader(&c[0], trace.Hit{}, 0), key: key,
		mask: commMask(t.Header())}
}

// next returns the next message, nil at the end or after an error.
func (r *envelopeReader) next() *envelope {
	for len(r.found) == 0 {
		a := r.Next()
		if a == nil {
			return nil
		}
		eachEnvelope(a, r.mask, func(key channelKey, bytes int64) {
			if key == r.key {
				r.found = append(r.found, envelope{bytes, r.Step(), r.Actions() + 1})
			}
		})
	}
	e := r.found[0]
	r.found = r.found[1:]
	return &e
}
