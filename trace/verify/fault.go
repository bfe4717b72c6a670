package verify

import (
	"errors"
	"fmt"
	"math"

	"reprise/trace"
)

// maxTraced is how many channels out of balance are looked at again for the
// first fault.
const maxTraced = 64

// unbalanced returns the first message without partner or of another size, nil
// if there is none.
func (v *verifier) unbalanced() (*Fault, error) {
	var first *Fault
	traced := 0
	for i := range v.ranks {
		for _, e := range v.ranks[i].channels.entries {
			if e.messages == 0 || traced == maxTraced {
				continue
			}
			ch := channel{int32(i), e.key.peer(), e.key.tag(), e.key.comm}
			if e.key.receives() {
				ch.source, ch.destination = ch.destination, ch.source
			}
			// What the receiver does not receive here its wildcards may take.
			if sent, received := v.counts(ch); v.ranks[ch.destination].wild > 0 && sent >= received {
				continue
			}
			traced++
			f, err := traceChannel(v.t, ch)
			if err != nil {
				return nil, err
			}
			if f.before(first) {
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
	return first, nil
}

// counts returns the messages of a channel's ends since they last agreed.
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

// errStream says why the place of a fault is not known.
var errStream = errors.New("of a stream it cannot be told which")

// traceChannel goes through the messages of an unbalanced channel one by one and
// returns the first fault. The first pass keeps counts and hashes only, so both ranks are read again.
func traceChannel(t *trace.Trace, ch channel) (*Fault, error) {
	if t.IsStream() {
		return nil, fmt.Errorf("%s: messages %v do not balance; %w", t.Name(), ch, errStream)
	}
	out, err := envelopes(t, ch.source, channelKeyOf(ch.destination, ch.tag, ch.comm, false))
	if err != nil {
		return nil, err
	}
	in, err := envelopes(t, ch.destination, channelKeyOf(ch.source, ch.tag, ch.comm, true))
	if err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		sent, received := out.next(), in.next()
		switch {
		case out.Err() != nil || in.Err() != nil:
			return nil, errors.Join(out.Err(), in.Err())
		case sent == nil && received == nil:
			panic(fmt.Sprintf("verify: messages %v balance after all", ch))
		case received == nil:
			return sent.fault(ch.source, "message %d %v, of %d bytes, is never received", n, ch, sent.bytes), nil
		case sent == nil:
			return received.fault(ch.destination, "message %d %v is never sent", n, ch), nil
		case received.bytes >= 0 && received.bytes != sent.bytes:
			return received.fault(ch.destination, "message %d %v is received as %d bytes, but sent as %d (step %d action %d)",
				n, ch, received.bytes, sent.bytes, sent.step, sent.action), nil
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
func envelopes(t *trace.Trace, rank int32, key channelKey) (*envelopeReader, error) {
	c, err := t.Cursors([]int32{rank}, trace.CursorOptions{})
	if err != nil {
		return nil, err
	}
	return &envelopeReader{ActionReader: trace.NewActionReader(&c[0], trace.Hit{}, 0), key: key,
		mask: commMask(t.Header())}, nil
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
