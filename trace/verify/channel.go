package verify

import (
	"math/bits"

	"reprise/trace"
)

// channelKey names one end of a channel, seen from a rank: its peer, the tag, the
// direction, and the family of its communicator. The top bit of word is set, so that the
// zero value is no key.
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

// wildcard reports whether an action is a receive that takes messages of several
// channels.
func wildcard(a *trace.Action) bool {
	return (a.Kind == trace.KindRecv || a.Kind == trace.KindIrecv) && (a.Peer == trace.AnySource || a.Tag == trace.AnyTag)
}

// eachEnvelope calls f for each message that an action sends or receives, but for
// wildcards. Of the family of its communicator counts what is in mask.
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

// channelEnd sums up the messages of one end of a channel since both ends last
// agreed.
type channelEnd struct {
	key      channelKey
	messages int64
	sizes    uint64 // hash of their sizes in order
	unknown  bool   // the receiver does not know all sizes
}

// channelTable is a hash table of the ends of a rank's channels: linear probing,
// at most half full, removal by rebuilding. It is not a Go map since there is one for each of
// thousands of ranks, most of which hold a few entries of 40 bytes, and since entries are visited in
// the same order in each run.
type channelTable struct {
	entries []channelEnd // 2^n
	used    int
	last    int // entry that was used last
}

// slot returns where the search for a key begins: the high bits of a multiplicative hash.
func (t *channelTable) slot(key channelKey) int {
	return int((key.word ^ uint64(key.comm)<<40) * 0x9E3779B97F4A7C15 >> (64 - bits.TrailingZeros(uint(len(t.entries)))))
}

// find returns the entry of a key, which may have become empty, or nil.
func (t *channelTable) find(key channelKey) *channelEnd {
	if len(t.entries) == 0 {
		return nil
	}
	for i := t.slot(key); !t.entries[i].key.none(); i = (i + 1) & (len(t.entries) - 1) {
		if t.entries[i].key == key {
			return &t.entries[i]
		}
	}
	return nil
}

// add notes a message.
func (t *channelTable) add(key channelKey, bytes int64) {
	if t.last >= len(t.entries) || t.entries[t.last].key != key {
		t.last = t.locate(key)
	}
	e := &t.entries[t.last]
	e.messages++
	e.sizes = chained(e.sizes, uint64(bytes))
	e.unknown = e.unknown || bytes < 0
}

// chained returns a hash of h and what follows it.
func chained(h, v uint64) uint64 { return (bits.RotateLeft64(h, 5) ^ v) * 0x9E3779B97F4A7C15 }

// locate returns the place of a key's entry, a new one if need be.
func (t *channelTable) locate(key channelKey) int {
	if 2*t.used >= len(t.entries) {
		t.rebuild(max(8, 2*len(t.entries)))
	}
	i := t.slot(key)
	for !t.entries[i].key.none() && t.entries[i].key != key {
		i = (i + 1) & (len(t.entries) - 1)
	}
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
