// Package eventlog finds the longest path to the clock of each rank while a replay runs: the
// chain of computations, overheads and transfers, each of which begins where the one before it
// ends, from the begin of the run. That of the rank which is last is the critical path.
//
//	t := eventlog.New(header, kinds, probing, levels)
//	t.Spend(0, account, 0, 1e-3) // what the engine does for rank 0
//	t.Post(message, 0)
//	rank, end := t.Last()
//	parts, _ := t.Path(rank)
//
// A rank that a message releases goes on with the path of the message: that of its sender up to
// the post, or of its receiver if the receive was posted later, and of the transfer. So most of
// what ranks do is soon on nobody's path. The log appends a record for it, in a few instructions, and
// one where another path becomes the rank's own. From time to time the records that are still on a path
// are added up to vectors, of which ranks and messages with one path have one, and the log begins anew.
// Memory is that of the records, 3.5 kB for each rank and at least 14 MB, and of the vectors: at most one for each
// rank and for each number of a message that there has been.
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
// D. Böhme, F. Wolf, B. R. de Supinski, M. Schulz, M. Geimer, "Characterizing Load and
// Communication Imbalance in Parallel Applications", IPDPS 2012, go along the path backwards,
// with the whole trace at hand. Forwards, by the maximum of what meets, it is a longest path in
// the order of time.
package eventlog

import (
	"fmt"

	"reprise/trace"
)

// Log is the event log of a replay. Use New.
type Log struct {
	components components
	levels     Levels
	probing    int32 // account
	ranks      []rank
	phases     []phaseStack // by rank
	ways       []way        // by message
	gaps       int
	err        error

	// The records of all ranks are in one memory, in the order of events.
	records   []record
	put       int // of them; behind them there is room
	transfers []Transfer

	vectors  vectors // of the paths that were settled last
	settling settling
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

// closed is no tally that any other can be added to.
const closed = transferred

// point is how far a path has come: the number of a record, which is the last one, or ^i if none
// came after the vector i that was settled last.
type point int32

// record is one thing on a path: seconds that a rank spends at a place of components. Or what its
// tally says. It is small, as what is put down drives what the engine needs out of the processor's
// caches: 4 bytes more take a hundredth of its time.
type record struct {
	value  float64
	before point // what it comes after
	what   tally
}

// tally is a place, and how often something was spent there: 22 bits and 8. Or what has happened.
type tally uint32

const (
	callBits = 8
	maxCalls = 1<<callBits - 1

	// A message has taken the path along: what is left is the number of its transfer, the value is latency.
	transferred tally = 1 << 31

	// A rank comes to a step: what is left is the rank, the value is when.
	stepped tally = 1 << 30

	maxPlaces = 1 << (30 - callBits)
)

// tallyAt returns a tally of no calls at a place.
func tallyAt(place int32) tally { return tally(place) << callBits }

func (t tally) place() int32 { return int32(t >> callBits) }

func (t tally) calls() uint32 { return uint32(t % (1 << callBits)) }

// minRecords and recordsPerRank are for how many records there is room: to settle them costs a
// rank some hundred instructions, which is little beside those that have put so much down.
const (
	minRecords     = 1 << 19
	recordsPerRank = 128
	maxRecords     = 1 << 25 // a gigabyte, with transfers
	transferShare  = 3       // there is room for one transfer for so many records
)

// Check returns why there can be no log for a trace with that header, whose ranks spend time on so many
// kinds of it.
func Check(h *trace.Header, kinds int) error {
	if places := (len(h.Phases) + 1) * (kinds + len(h.Kernels)); places > maxPlaces {
		return fmt.Errorf("critical path: %d kernels in %d phases are %d things to spend time on, want at most %d",
			len(h.Kernels), len(h.Phases), places, maxPlaces)
	}
	return nil
}

// New returns a log for a replay of a trace with that header, whose ranks spend time on so many
// kinds of it, one of which is probing, and on the kernels of the header.
func New(h *trace.Header, kinds int, probing int32, l Levels) *Log {
	t := &Log{levels: l, probing: probing, err: Check(h, kinds)}
	if t.err != nil {
		return t
	}
	n := min(max(minRecords, recordsPerRank*h.Ranks), maxRecords)
	t.components, t.vectors = newComponents(kinds+len(h.Kernels), len(h.Phases), l.NumLevels()), newVectors()
	t.ranks, t.phases = make([]rank, h.Ranks), make([]phaseStack, h.Ranks)
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
	what := tallyAt(rk.row + account)
	if rk.open-what < maxCalls { // the same place
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

// Step tells that rank r comes to a step.
func (t *Log) Step(r int32, at float64) {
	rk, i := &t.ranks[r], t.room()
	t.records[i] = record{at, rk.last, stepped | tally(r)}
	rk.last, rk.open = point(i), closed
}

// Phase tells that a phase of rank r begins or ends.
func (t *Log) Phase(r int32, phase uint16, end bool) {
	open := &t.phases[r]
	if end {
		open.end(phase)
	} else {
		open.begin(phase)
	}
	t.ranks[r].row = t.components.row(open.innermost())
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

// Path returns what the longest path to the clock of a rank consists of,
// and where it came to a step last, nil if nowhere.
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

// Close gives the memory of the log back, which is of no use any more.
func (t *Log) Close() { *t = Log{gaps: t.gaps} }
