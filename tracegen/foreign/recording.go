package foreign

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"

	"reprise/internal/textutil"
	"reprise/trace"
	"reprise/trace/warning"
)

// This file takes the calls of ranks in their order (rank), whatever file they come from, and keeps them in a temporary
// file until all are known (recording): only then is it known which communicators a trace has.

// recording is what the ranks of a program did.
type recording struct {
	name    string   // of the input, for errors
	spool   *os.File // pieces of the ranks' calls, in the order in which they became full
	end     int64    // of the spool
	ranks   []*rank
	comms   []communicator
	nobody  bool // a message has nobody as its partner
	oddness map[string]*oddity
	oddList []string // keys, in the order in which they came up
	phases  []string
	// Operations that ranks complete together, by communicator, and rank of self.
	exchanges map[[2]int][]*exchange
}

// oddity is a kind of warning: the place of the first, and how many there are.
type oddity struct {
	file  string
	line  int
	count int64
}

// Communicators that every recording has. Readers define further ones by their members, or have ranks make them.
const (
	world = iota
	self
	firstComm
)

// communicator has its members, world ranks in the order of their ranks in it; nil for self.
type communicator struct {
	members []int32
	family  int
}

// rank takes the calls of a rank.
type rank struct {
	of     *recording
	number int32
	buf    []byte     // calls behind those in the spool
	pieces [][2]int64 // of the spool: begin and end
	ns     float64    // of computation since the last call
	ended  int64      // when the last call of MPI ended, in nanoseconds; -1: not known
	calls  int64

	// Requests, by handles of the format. A request that is pending has a slot.
	requests map[int64]request
	free     []int32 // slots below used that are free, the last freed on top
	used     int32
	lost     int64 // requests whose handle is another's now

	// Calls from the first receive on whose message is not known yet.
	held    []call
	unknown int // receives in held

	made []creation     // communicators, by number
	met  map[[2]int]int // calls so far of what ranks do together, by communicator, and rank of self
}

// request is a pending request, or a persistent one.
type request struct {
	slot    int32
	place   int   // of its receive in held, counted from the first call of the rank; -1: it is known
	starts  *call // what starts it, if it is persistent
	pending bool
	tested  bool // by a call whose result is not known
}

// call is what a rank does: fields as those of a trace.Action, and all that a file of another format says about it.
type call struct {
	kind       int64 // a trace.Kind
	comm       int64 // number of the communicator; -1-n: number n of the rank's own
	peer       int64 // rank of the communicator, or a wildcard; a root
	tag        int64
	source     int64 // of a sendrecv
	sourceTag  int64
	bytes      int64 // of a message; of the receive of a sendrecv: received. Elements that a collective operation sends
	received   int64
	room       int64 // 1: received, or the bytes of a receive, is the room for the message; exchangeRoom
	req        int64
	collective int64
	operator   int64
	sendSize   int64 // of an element
	recvSize   int64
	span       int64
	ns         int64 // bits of a float64
	sends      []int64
	receives   []int64
}

// fields are the fields of a call in the order in which they are encoded.
func (c *call) fields() [16]*int64 {
	return [16]*int64{&c.kind, &c.comm, &c.peer, &c.tag, &c.source, &c.sourceTag, &c.bytes, &c.received, &c.room, &c.req,
		&c.collective, &c.operator, &c.sendSize, &c.recvSize, &c.span, &c.ns}
}

// newRecording returns a recording of that many ranks. Its file has no name, so that it is gone whatever ends the
// program.
func newRecording(name string, ranks int) *recording {
	if ranks < 1 || ranks > maxRanks {
		textutil.Stop(fmt.Errorf("%s: %d ranks, want 1 to %d", name, ranks, maxRanks))
	}
	f := textutil.Must(os.CreateTemp("", "trace-convert-*"))
	textutil.Check(os.Remove(f.Name()))
	everybody := make([]int32, ranks)
	r := &recording{name: name, spool: f, comms: []communicator{{members: everybody}, {}},
		oddness: map[string]*oddity{}, exchanges: map[[2]int][]*exchange{}}
	for i := range everybody {
		everybody[i] = int32(i)
		k := &rank{of: r, number: int32(i)}
		k.restart()
		r.ranks = append(r.ranks, k)
	}
	return r
}

// restart forgets all calls of a rank. Those that are in the spool stay there and are never read.
func (k *rank) restart() {
	*k = rank{of: k.of, number: k.number, ended: -1, requests: map[int64]request{}, met: map[[2]int]int{}}
}

// maxRanks bounds the ranks of a file.
const maxRanks = 1 << 24

// define returns the number of a communicator with members.
func (r *recording) define(members []int32) int64 {
	r.comms = append(r.comms, communicator{members: members})
	return int64(len(r.comms) - 1)
}

// group returns the number of a communicator that a file has under a number, of ranks of the world.
func (r *recording) group(id int64, ranks []int64) int64 {
	var members []int32
	for _, m := range ranks {
		if m < 0 || m >= int64(len(r.ranks)) {
			textutil.Stop(fmt.Errorf("communicator %d with rank %d, of %d", id, m, len(r.ranks)))
		}
		members = append(members, int32(m))
	}
	different := len(slices.Compact(slices.Sorted(slices.Values(members))))
	switch {
	case different != len(members) || different == 0:
		textutil.Stop(fmt.Errorf("communicator %d of %d members, of which %d are different", id, len(members), different))
	case slices.Equal(members, r.comms[world].members):
		return world
	case different == 1:
		return self
	}
	return r.define(members)
}

// odd notes what a trace does not have as the file does: one warning for each text, which says how often.
func (r *recording) odd(file string, line int, text string) {
	o := r.oddness[text]
	if o == nil {
		o = &oddity{file: file, line: line}
		r.oddness[text] = o
		r.oddList = append(r.oddList, text)
	}
	o.count++
}

// warnings are what odd has noted.
func (r *recording) warnings() (list []warning.Warning) {
	for _, text := range r.oddList {
		o := r.oddness[text]
		if o.count > 1 {
			text += fmt.Sprintf(" (the first of %d)", o.count)
		}
		list = append(list, warning.At(o.file, o.line, "%s", text))
	}
	return list
}

// took notes when a call of MPI began and ended, in nanoseconds, -1 where that is not known. The time since the call
// before is computation.
func (k *rank) took(name string, begin, end int64, file string, line int) {
	switch {
	case begin >= 0 && end >= 0 && end < begin:
		textutil.Stop(fmt.Errorf("MPI_%s ends before it begins", name))
	case begin < 0 || k.ended < 0:
	case begin < k.ended:
		k.of.odd(file, line, "a call begins before the end of the one before: no computation between them")
	default:
		k.compute(float64(begin - k.ended))
	}
	if k.ended = max(k.ended, begin, end); name == "Finalize" {
		k.ended = -1
	}
}

// compute adds nanoseconds of computation.
func (k *rank) compute(ns float64) {
	if k.ns += ns; !(k.ns >= 0 && k.ns < maxNanoseconds) {
		textutil.Stop(fmt.Errorf("%s: rank %d: computation of %g s, want 0 to %g", k.of.name, k.number, k.ns/1e9, maxNanoseconds/1e9))
	}
}

// maxNanoseconds bounds a computation, to 31 years.
const maxNanoseconds = 1e18

// add adds a call behind the computation before it.
func (k *rank) add(c call) {
	k.flush()
	if c.peer == trace.ProcNull || c.source == trace.ProcNull {
		k.of.nobody = true
	}
	k.put(c)
}

// flush adds the computation since the last call.
func (k *rank) flush() {
	if k.ns > 0 {
		flops := call{kind: int64(trace.KindFlops), ns: trace.FloatArg(k.ns)}
		k.ns = 0
		k.put(flops)
	}
}

// put encodes a call, unless calls before it are held.
func (k *rank) put(c call) {
	if k.calls++; k.unknown > 0 {
		k.held = append(k.held, c)
		return
	}
	k.encode(&c)
}

// pieceOf is how many bytes of a rank are kept before they go to the spool: 64 MB of all ranks.
func (r *recording) pieceOf() int { return min(max(1<<26/len(r.ranks), 1<<10), 1<<16) }

// encode appends a call to the spool: which fields are not 0, and these, and the lists behind their lengths.
func (k *rank) encode(c *call) {
	mask := uint64(0)
	fields := c.fields()
	for i, f := range fields {
		if *f != 0 {
			mask |= 1 << i
		}
	}
	k.buf = binary.AppendUvarint(k.buf, mask)
	for i, f := range fields {
		if mask>>i&1 != 0 {
			k.buf = binary.AppendVarint(k.buf, *f)
		}
	}
	if kind := trace.Kind(c.kind); kind == trace.KindCollective || kind == trace.KindIcollective {
		for _, list := range [][]int64{c.sends, c.receives} {
			k.buf = binary.AppendUvarint(k.buf, uint64(len(list)))
			for _, n := range list {
				k.buf = binary.AppendVarint(k.buf, n)
			}
		}
	}
	if len(k.buf) >= k.of.pieceOf() {
		n := textutil.Must(k.of.spool.WriteAt(k.buf, k.of.end))
		k.pieces = append(k.pieces, [2]int64{k.of.end, k.of.end + int64(n)})
		k.of.end += int64(n)
		k.buf = k.buf[:0]
	}
}

// post adds a nonblocking call whose request has a handle. With open, its message is known at its completion only.
func (k *rank) post(handle int64, c call, open bool) {
	q := request{pending: true, place: -1}
	if before, ok := k.requests[handle]; ok && before.starts != nil {
		q.starts = before.starts
	}
	if n := len(k.free); n > 0 {
		q.slot, k.free = k.free[n-1], k.free[:n-1]
	} else if k.used == trace.MaxRequests {
		textutil.Stop(fmt.Errorf("%s: rank %d: more than %d requests are pending", k.of.name, k.number, trace.MaxRequests))
	} else {
		q.slot = k.used
		k.used++
	}
	c.req = int64(q.slot)
	if open {
		k.flush()
		k.unknown++
		q.place = int(k.calls)
	}
	k.add(c)
	k.requests[handle] = q
}

// learn gives an open receive the message that it has got.
func (k *rank) learn(handle int64, set func(*call)) {
	q := k.requests[handle]
	if q.place < 0 || !q.pending {
		return
	}
	set(&k.held[q.place-(int(k.calls)-len(k.held))])
	k.known()
	q.place = -1
	k.requests[handle] = q
}

// known notes that the message of an open receive is, or never will be.
func (k *rank) known() {
	if k.unknown--; k.unknown == 0 {
		for i := range k.held {
			k.encode(&k.held[i])
		}
		k.held = k.held[:0]
	}
}

// complete adds the wait for the requests of handles, those of them that are pending. A test that found a request
// complete is such a wait, too.
func (k *rank) complete(handles ...int64) {
	var slots []int32
	for _, h := range handles {
		q, ok := k.requests[h]
		if !ok || !q.pending {
			continue
		}
		if slots = append(slots, q.slot); q.place >= 0 {
			k.known()
			q.place = -1
		}
		if q.pending = false; q.starts != nil {
			k.requests[h] = q
		} else {
			delete(k.requests, h)
		}
	}
	// One action waits for all that is pending, as programs mostly do.
	if len(slots) > 1 && len(slots) == int(k.used)-len(k.free) {
		k.add(call{kind: int64(trace.KindWaitAll)})
	} else {
		for _, s := range slots {
			k.add(call{kind: int64(trace.KindWait), req: int64(s)})
		}
	}
	slices.Sort(slots) // the least slot is used next
	slices.Reverse(slots)
	k.free = append(k.free, slots...)
}

// release lets go of a request without a wait: MPI_Request_free.
func (k *rank) release(handle int64) {
	if q, ok := k.requests[handle]; ok {
		if q.pending {
			k.add(call{kind: int64(trace.KindFree), req: int64(q.slot)})
			k.free = append(k.free, q.slot)
		}
		delete(k.requests, handle)
	}
}

// finish ends a rank, which waits for what is pending.
func (k *rank) finish() {
	if int(k.used) > len(k.free) {
		k.add(call{kind: int64(trace.KindWaitAll)})
	}
	k.flush()
	if k.unknown > 0 { // receives that nothing has completed stay as they are
		k.unknown = 1
		k.known()
	}
}

// replayed reads the calls of a rank again.
type replayed struct {
	k    *rank
	next int // piece
	buf  []byte
}

// read stores the next call in c, and is false behind the last.
func (p *replayed) read(c *call) bool {
	for len(p.buf) == 0 {
		switch {
		case p.next < len(p.k.pieces):
			piece := p.k.pieces[p.next]
			p.buf = make([]byte, piece[1]-piece[0])
			textutil.Must(p.k.of.spool.ReadAt(p.buf, piece[0]))
		case p.next == len(p.k.pieces):
			p.buf = p.k.buf
		default:
			return false
		}
		p.next++
	}
	*c = call{}
	mask := p.uint()
	for i, f := range c.fields() {
		if mask>>i&1 != 0 {
			*f = p.int()
		}
	}
	if kind := trace.Kind(c.kind); kind == trace.KindCollective || kind == trace.KindIcollective {
		for _, list := range []*[]int64{&c.sends, &c.receives} {
			for range p.uint() {
				*list = append(*list, p.int())
			}
		}
	}
	return true
}

func (p *replayed) uint() uint64 {
	v, n := binary.Uvarint(p.buf)
	p.buf = p.buf[n:]
	return v
}

func (p *replayed) int() int64 {
	v, n := binary.Varint(p.buf)
	p.buf = p.buf[n:]
	return v
}

// message returns a call of a message of a rank of a communicator.
func message(kind trace.Kind, comm int64, peer, tag int64, bytes int64) call {
	if bytes > maxBytes || bytes < -1 {
		textutil.Stop(fmt.Errorf("%v of %d bytes, want 0 to %d", kind, bytes, int64(maxBytes)))
	}
	if peer < math.MinInt32 || peer > math.MaxInt32 || tag < math.MinInt32 || tag > math.MaxInt32 {
		textutil.Stop(fmt.Errorf("%v with peer %d and tag %d, want numbers of 32 bits", kind, peer, tag))
	}
	return call{kind: int64(kind), comm: comm, peer: peer, tag: tag, bytes: bytes}
}

// maxBytes bounds the size of a message, so that sums of sizes fit.
const maxBytes = 1 << 50
