// Package eventlog finds the longest path to the clock of each rank while a replay runs: the chain of computations,
// overheads and transfers from the begin of the run, each of which begins where the one before it ends. The path of the
// rank that ends last is the critical path.
//
//	t := eventlog.New(header, kinds, probing, levels)
//	t.Spend(0, account, 0, 1e-3) // what the engine does for rank 0
//	t.Post(message, 0)
//	rank, end := t.Last()
//	parts, _ := t.Path(rank)
//
// A rank that a message releases takes the path of the message: the sender's up to the post, or the receiver's if the
// receive was posted later, and then the transfer. So most of what ranks do is soon on no path. For each thing that a
// rank does, and each time it takes another path, the log appends a record, in a few instructions. From time to time it
// adds up the records that are still on a path to vectors, one for each path, and begins anew (settle.go). Records take
// 3.5 kB for each rank and at least 14 MB; there is at most one vector for each rank and each number of a message.
//
// # Units
//
// Times are in seconds of the replay, sizes in bytes, rates in byte/s. A rank's time is spent on
// accounts, whose numbers are the caller's: the kinds of time first, then the kernels.
//
// # Errors
//
// A trace that Check refuses has no log, and Err says so. Two stretches of a path that do
// not meet are an error of the caller; they are counted (Gaps).
//
// # Source
//
// D. Böhme, F. Wolf, B. R. de Supinski, M. Schulz, M. Geimer, "Characterizing Load and Communication Imbalance in
// Parallel Applications", IPDPS 2012, go along the path backwards, with the whole trace at hand. Forwards, by the
// maximum of what meets, it is a longest path in the order of time.
package eventlog

import (
	"fmt"
	"slices"

	"reprise/trace"
)

// Log is the event log of a replay. Use New.
type Log struct {
	components components
	levels     Levels
	probing    int32 // account
	ranks      []rank
	phases     [][]uint16 // by rank: the open phases, the innermost last
	ways       []way      // by message
	places     []way      // [ranks][queues, then events of the rank's device]
	gaps       int
	err        error

	// The records of all ranks are in one memory, in the order of events.
	records   []record
	put       int // number of records in use
	transfers []Transfer

	vectors vectors // of the paths that were settled last

	// How settle counts, and its scratch.
	goOn   []uint8  // by record, until it is added: how many records and points go on from it, up to many
	counts []uint64 // a bit for each record from which a path goes on
	used   []int32  // these records, the last one first
}

// Levels knows the level of links that a transfer is bound by, in [0, NumLevels).
type Levels interface {
	NumLevels() int
	Level(t *Transfer) int32
}

// rank is the longest path to the clock of a rank.
type rank struct {
	end  float64 // s
	last point
	row  int32 // of the places in its innermost phase
	open tally // of the last record, while what the rank spends next may be added to it; else closed
}

// closed is a tally to which no other can be added.
const closed = transferred

// point is the end of a path: the number of its last record, or ^i if it has none since vector i was settled.
type point int32

// record is one thing on a path: value seconds that a rank spends at a place of components, or another event (tally).
// It is small, as records drive the engine's data out of the processor's caches: 4 bytes more take a hundredth of its
// time.
type record struct {
	value  float64
	before point // after which it comes
	what   tally
}

// tally is a place of components, in 22 bits, and how often time was spent there, in 8; or transferred or stepped.
type tally uint32

const (
	callBits = 8
	maxCalls = 1<<callBits - 1

	// The path goes on with a message: the other bits are the number of its transfer, the value is its latency.
	transferred tally = 1 << 31

	// A rank comes to a step: the other bits are the rank, the value is the time.
	stepped tally = 1 << 30

	maxPlaces = 1 << (30 - callBits)
)

// There is room for recordsPerRank records for each rank, and at least for minRecords. To settle costs some hundred
// instructions for each rank, which is little beside those that have made so many records.
const (
	minRecords     = 1 << 19
	recordsPerRank = 128
	maxRecords     = 1 << 25 // a gigabyte, with transfers
	transferShare  = 3       // there is room for one transfer for so many records
)

// Check returns why there can be no log for a trace with that header and so many kinds of time.
func Check(h *trace.Header, kinds int) error {
	if places := (len(h.Phases) + 1) * accounts(h, kinds); places > maxPlaces {
		return fmt.Errorf("critical path: %d kernels in %d phases are %d things to spend time on, want at most %d",
			len(h.Kernels), len(h.Phases), places, maxPlaces)
	}
	return nil
}

// accounts is the number of the kinds, the kernels, and the kernels in each queue.
func accounts(h *trace.Header, kinds int) int { return kinds + len(h.Kernels)*(1+len(h.Queues)) }

// New returns a log for a replay of a trace with that header. Ranks spend time on so many kinds, one of which is
// probing, on the kernels of the header, and their devices on these in each queue.
func New(h *trace.Header, kinds int, probing int32, l Levels) *Log {
	t := &Log{levels: l, probing: probing, err: Check(h, kinds)}
	if t.err != nil {
		return t
	}
	n := min(max(minRecords, recordsPerRank*h.Ranks), maxRecords)
	accounts := accounts(h, kinds)
	latency := (len(h.Phases) + 1) * accounts
	t.components = components{
		numbers: make([]int32, latency+1+2*l.NumLevels()), stride: int32(accounts), latency: int32(latency),
	}
	t.vectors = vectors{last: make([]*Hop, 1), goOn: make([]int32, 1)} // one, of a path on which there is nothing
	t.ranks, t.phases = make([]rank, h.Ranks), make([][]uint16, h.Ranks)
	t.places = slices.Repeat([]way{{before: ^0}}, h.Ranks*(len(h.Queues)+len(h.Events)))
	t.records, t.transfers = make([]record, n), make([]Transfer, 0, n/transferShare)
	for r := range t.ranks {
		t.ranks[r].last, t.ranks[r].open = ^0, closed
	}
	return t
}

// Err returns why the log of a trace cannot be used.
func (t *Log) Err() error { return t.err }

// Gaps returns how often two stretches of a path did not meet bit for bit.
func (t *Log) Gaps() int { return t.gaps }

// room returns the number of the next record.
func (t *Log) room() int {
	if t.put == len(t.records) {
		t.settle()
	}
	t.put++
	return t.put - 1
}

// Spend tells that rank r has spent its time on an account, from its last time on.
func (t *Log) Spend(r, account int32, from, to float64) {
	rk := &t.ranks[r]
	if rk.end != from {
		t.gaps++
	}
	if to <= from {
		return
	}
	rk.end = to
	what := tally(rk.row+account) << callBits // and no calls
	if rk.open-what < maxCalls {              // the same place
		last := &t.records[rk.last]
		last.value += to - from
		rk.open++
		last.what = rk.open
		return
	}
	i := t.room()
	last := &t.records[i]
	last.value, last.before, last.what = to-from, rk.last, what+1
	rk.last, rk.open = point(i), what+1
}

// place returns the way to what a queue of the device of rank r, or behind the queues an event, has come to.
func (t *Log) place(r, i int32) *way { return &t.places[int(r)*(len(t.places)/len(t.ranks))+int(i)] }

// Queued tells that a queue of the device of rank r spends time on an account. The path to it is that of the queue, or
// that of the rank if that has come later.
func (t *Log) Queued(r, queue, account int32, from, to float64) {
	rk, w := &t.ranks[r], t.place(r, queue)
	if w.at < from {
		*w, rk.open = way{rk.end, rk.last}, closed
	}
	if w.at != from {
		t.gaps++
	}
	if to <= from {
		return
	}
	i := t.room() // before the way is read: it may become another one
	t.records[i] = record{to - from, w.before, tally(rk.row+account)<<callBits + 1}
	*w = way{to, point(i)}
}

// Ordered tells that a queue or an event of the device of rank r is where another one is.
func (t *Log) Ordered(r, i, other int32) { *t.place(r, i) = *t.place(r, other) }

// Synced tells that rank r has waited for a queue or an event, perhaps some time beyond, which it spends on an account.
func (t *Log) Synced(r, i, account int32) { t.follow(r, *t.place(r, i), account) }

// Step tells that rank r comes to a step.
func (t *Log) Step(r int32, at float64) {
	rk, i := &t.ranks[r], t.room()
	t.records[i] = record{at, rk.last, stepped | tally(r)}
	rk.last, rk.open = point(i), closed
}

// Phase tells that a phase of rank r begins or ends. One that begins twice is open once, and phases may end in another
// order than they have begun.
func (t *Log) Phase(r int32, phase uint16, end bool) {
	open := t.phases[r]
	switch at := slices.Index(open, phase); {
	case end && at >= 0:
		open = slices.Delete(open, at, at+1)
	case !end && at < 0:
		open = append(open, phase)
	}
	innermost := int32(-1)
	if n := len(open); n > 0 {
		innermost = int32(open[n-1])
	}
	t.phases[r], t.ranks[r].row = open, t.components.row(innermost)
}

// Part is what a path spends on a component.
type Part struct {
	Component
	Seconds float64
	Amount  float64 // calls, messages or on the wire bytes
}

// Last returns the rank whose time ends last, and when it does.
func (t *Log) Last() (rank int, end float64) {
	for r := range t.ranks {
		if t.ranks[r].end > end {
			rank, end = r, t.ranks[r].end
		}
	}
	return rank, end
}

// Path returns the parts of the longest path to the clock of a rank, and where it came to a step last, nil if nowhere.
func (t *Log) Path(rank int) (parts []Part, last *Hop) {
	t.settle()
	v := t.vectorOf(t.ranks[rank].last)
	values := t.vectors.at(v)
	for i, c := range t.components.list {
		if p := (Part{c, values[2*i], values[2*i+1]}); p.Seconds != 0 || p.Amount != 0 {
			parts = append(parts, p)
		}
	}
	return parts, t.vectors.last[v]
}

// Close frees the memory of the log, which must not be used any more.
func (t *Log) Close() { *t = Log{gaps: t.gaps} }

// way is the path to a message: up to its post, or once its transfer has ended up to that end.
type way struct {
	at     float64 // s
	before point
}

// Post tells that a rank posts one side of a message, with which its transfer can start: the path to
// the message is that of the rank.
func (t *Log) Post(id, r int32) {
	if int(id) >= len(t.ways) {
		t.reserve(id)
	}
	rk := &t.ranks[r]
	rk.open = closed
	t.ways[id] = way{rk.end, rk.last}
}

// Follow tells that the transfer of a message starts with the end of another one's, or ends with it
// if the network has no part in it.
func (t *Log) Follow(id, other int32) {
	t.reserve(max(id, other))
	t.ways[id] = t.ways[other]
}

// reserve makes room for the ways of messages, which go on from anything until they are posted.
//
//go:noinline
func (t *Log) reserve(id int32) {
	for int(id) >= len(t.ways) {
		t.ways = append(t.ways, way{before: t.ranks[0].last})
	}
}

// Merge tells that a send, whose transfer may have started before, and a receive, which were posted
// as two messages, are that of the send.
func (t *Log) Merge(send, receive int32, started bool) {
	if s, r := &t.ways[send], t.ways[receive]; r.at > s.at && !started {
		*s = r
	}
}

// End tells that the transfer of a message ends, which the network has carried since a time, or since its post if that
// was later: the network takes together times within its precision. The caller sets the rest of the result (Set).
func (t *Log) End(id int32, since, at float64) *Transfer {
	if len(t.transfers) == cap(t.transfers) {
		t.settle()
	}
	i := t.room() // before the way is read: it may become another one
	w, r, n := &t.ways[id], &t.records[i], len(t.transfers)
	if w.at > since {
		since = w.at
	}
	r.value, r.before, r.what = since-w.at, w.before, transferred|tally(n)
	t.transfers = t.transfers[:n+1]
	x := &t.transfers[n]
	x.Carried = at - since
	w.at, w.before = at, point(i)
	return x
}

// Release tells that a message has ended a wait of rank r: its end has, or that it has found a receive.
func (t *Log) Release(r, id int32, since, at float64) {
	rk := &t.ranks[r]
	if rk.end != since {
		t.gaps++
	}
	rk.end = at
	t.See(r, id)
}

// See tells that rank r goes on as it has seen a message, perhaps some time after that could be seen.
func (t *Log) See(r, id int32) { t.follow(r, t.ways[id], t.probing) }

// follow has the path to the clock of rank r go on from a way; the time from there on is spent on an account.
func (t *Log) follow(r int32, w way, account int32) {
	rk := &t.ranks[r]
	rk.last, rk.open = w.before, closed
	if at := rk.end; at > w.at {
		rk.end = w.at
		t.Spend(r, account, rk.end, at)
	}
}

// Transfer is what the network did with a message.
type Transfer struct {
	Carried float64 // s, after its latency
	Bytes   float64 // with its envelope
	Alone   float64 // byte/s that it would have had in the end without others; 0: not known

	// Ranks; or of a transfer that shared a link with others in the end the number of that link and onLink.
	src, dst int32
}

const onLink = -1

// Set sets what End did not: the ranks, the platform's number of the link that bounded the transfer in the end, -1
// if none did, its bytes with the envelope, and the byte/s that it would have had in the end without others, 0 if
// that is not known. Of the ranks and the link it keeps what Level asks for.
func (t *Transfer) Set(src, dst, link int32, bytes, alone float64) {
	t.Bytes, t.Alone, t.src, t.dst = bytes, alone, src, dst
	if link >= 0 && t.contended() {
		t.src, t.dst = link, onLink
	}
}

// Ranks returns who a transfer was between that shared no link in the end.
func (t *Transfer) Ranks() (src, dst int32) { return t.src, t.dst }

// Link returns the platform's number of the link that a transfer shared with others in the end, which made it
// slower; -1: none.
func (t *Transfer) Link() int32 {
	if t.dst == onLink {
		return t.src
	}
	return -1
}

// alone returns how many seconds the transfer would have taken without others, after its latency.
func (t *Transfer) alone() float64 {
	switch {
	case !t.contended():
		return t.Carried
	case t.Alone == 0:
		return 0
	}
	return t.Bytes / t.Alone
}

// asAlone is the share of its time from which on a transfer was alone: times are rounded.
const asAlone = 1 - 1e-9

// contended reports whether others made the transfer slower.
func (t *Transfer) contended() bool { return t.Alone == 0 || t.Bytes < t.Carried*asAlone*t.Alone }
