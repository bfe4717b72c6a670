package tape

import (
	"math"

	"reprise/trace"
)

// Tapes are the tapes of all ranks of a replay. Use New.
type Tapes struct {
	components components
	levels     Levels
	probing    int32 // account
	ranks      []rank
	phases     []phaseStack // by rank
	ways       []way        // by message
	gaps       int

	// All tapes are in one memory, in the order of what is told, which is all that they take.
	before    []point  // by record: what it comes after
	records   []record // likewise
	put       int      // of records; behind them there is room
	transfers []Transfer

	vectors  vectors // of the paths that were settled last
	settling settling
}

// Levels knows the level of links that a transfer is bound by, in [0, NumLevels).
type Levels interface {
	NumLevels() int
	Level(t *Transfer) int32
}

// rank is the longest path to the clock of a rank: what it has spent on one account since the last
// record is not put down before it has to be, as more of that may come.
type rank struct {
	end, value float64 // s
	last       point
	row        int32 // of the places in its innermost phase
	what       int32 // place of what it has spent value on
	calls      int32 // in so many parts; 0: on nothing
}

// point is how far a path has come: the number of a record, which is the last one, or ^i if none
// came after the vector i that was settled last.
type point int32

// record is one thing on a path: seconds that a rank spends at a place of components, in a number of
// calls. Or what its place says.
type record struct {
	value  float64
	what   int32
	number int32
}

// What a record is, if it is not seconds that a rank spends.
const (
	atStep      = -1 // a rank, the number, comes to a step, at a time
	transferred = -2 // a message, the number of its transfer, has taken the path along, after a latency
)

// minRecords and recordsPerRank are for how many records there is room: to settle them costs a
// rank some hundred instructions, which is little beside those that have put so much down.
const (
	minRecords     = 1 << 19
	recordsPerRank = 128
	maxRecords     = 1 << 25 // a gigabyte, with transfers
	transferShare  = 4       // there is room for one transfer for so many records
)

// New returns tapes for a replay of a trace with that header, whose ranks spend time on so many
// kinds of it, one of which is probing, and on the kernels of the header.
func New(h *trace.Header, kinds int, probing int32, l Levels) *Tapes {
	n := min(max(minRecords, recordsPerRank*h.Ranks), maxRecords)
	t := &Tapes{
		components: newComponents(kinds+len(h.Kernels), len(h.Phases), l.NumLevels()), levels: l, probing: probing,
		ranks: make([]rank, h.Ranks), phases: make([]phaseStack, h.Ranks),
		before: make([]point, n), records: make([]record, n), transfers: make([]Transfer, 0, n/transferShare), vectors: newVectors(),
	}
	for r := range t.ranks {
		t.ranks[r].last = ^0
	}
	return t
}

// Gaps returns how often two stretches of a path did not meet bit for bit.
func (t *Tapes) Gaps() int { return t.gaps }

// room returns the number of the next record.
func (t *Tapes) room() int {
	if t.put == len(t.records) {
		t.settle()
	}
	t.put++
	return t.put - 1
}

// add puts down what comes next on the path of a rank.
func (t *Tapes) add(rk *rank, r record) {
	i := t.room()
	t.before[i], t.records[i] = rk.last, r
	rk.last = point(i)
}

// putDown puts down what a rank has spent its time on, which is something.
func (t *Tapes) putDown(rk *rank) {
	i := t.room()
	r := &t.records[i]
	r.value, r.what, r.number = rk.value, rk.what, rk.calls
	t.before[i], rk.last = rk.last, point(i)
	rk.value, rk.calls = 0, 0
}

// Spend tells that rank r has spent its time on an account, from its last time on.
func (t *Tapes) Spend(r, account int32, from, to float64) {
	rk := &t.ranks[r]
	if rk.end != from {
		t.gaps++
	}
	if to <= from {
		return
	}
	rk.end = to
	if what := rk.row + account; what != rk.what || rk.calls == math.MaxInt32 {
		if rk.calls > 0 {
			t.putDown(rk)
		}
		rk.what = what
	}
	rk.value += to - from
	rk.calls++
}

// Step tells that rank r comes to a step.
func (t *Tapes) Step(r int32, at float64) {
	rk := &t.ranks[r]
	if rk.calls > 0 {
		t.putDown(rk)
	}
	t.add(rk, record{at, atStep, r})
}

// Phase tells that a phase of rank r begins or ends.
func (t *Tapes) Phase(r int32, phase uint16, end bool) {
	open := &t.phases[r]
	if end {
		open.end(phase)
	} else {
		open.begin(phase)
	}
	t.ranks[r].row = t.components.row(open.innermost())
}
