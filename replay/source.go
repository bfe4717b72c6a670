package replay

import (
	"reprise/trace"
)

// A Source yields the flat actions of each rank, in program order. It is asked
// in batches; nothing is called per action.
type Source interface {
	// Fill stores the next actions of rank in buf and returns how many, 0 at
	// the end of the rank's stream. A KindPoll is the last of its batch.
	Fill(rank int32, buf []trace.Action) (int, error)
	// Answer tells whether the KindPoll that ended the last batch of rank is a hit: a
	// probe sees its message. It comes before the next Fill of that rank.
	Answer(rank int32, hit bool)
	// Sums returns the running sums, from 0, of the counts per rank that a
	// KindCollective of the last batch of rank names by their number, nil if there are
	// none. They stay as they are until the next Fill of that rank.
	Sums(rank int32, list int64) []int64
}

// A Requester is a Source of actions that complete several requests.
type Requester interface {
	// Requests returns the request slots that a KindComplete of the last batch of rank names
	// by their number, nil if there are none.
	Requests(rank int32, list int64) []int32
}

// cursors is the Source of a trace.
type cursors []trace.Cursor

// Fill implements Source.
func (c cursors) Fill(rank int32, buf []trace.Action) (int, error) { return c[rank].Fill(buf) }

// Answer implements Source.
func (c cursors) Answer(rank int32, arrived bool) { c[rank].Answer(arrived) }

// Sums implements Source.
func (c cursors) Sums(rank int32, list int64) []int64 { return c[rank].Sums(list) }

// Requests implements Requester.
func (c cursors) Requests(rank int32, list int64) []int32 { return c[rank].Requests(list) }

// Lists is a Source that holds the actions of each rank in memory. A KindPoll
// with trace.FlagSpin is repeated until it is answered with true; the outcome of
// other polls changes nothing.
type Lists struct {
	// Counts are the running sums that collective operations name, by their index.
	Counts [][]int64
	// Slots are the request slots that completions name, by their index.
	Slots [][]int32

	actions [][]trace.Action
	next    []int
}

// NewLists returns the source of the given lists, one per rank, which it keeps.
func NewLists(actions [][]trace.Action) *Lists {
	return &Lists{actions: actions, next: make([]int, len(actions))}
}

// Fill implements Source.
func (l *Lists) Fill(rank int32, buf []trace.Action) (int, error) {
	n := 0
	for _, a := range l.actions[rank][l.next[rank]:] {
		if n == len(buf) {
			break
		}
		buf[n] = a
		n++
		if a.Kind == trace.KindPoll {
			break
		}
	}
	l.next[rank] += n
	return n, nil
}

// Answer implements Source.
func (l *Lists) Answer(rank int32, arrived bool) {
	if last := l.next[rank] - 1; !arrived && l.actions[rank][last].Flags&trace.FlagSpin != 0 {
		l.next[rank] = last
	}
}

// Sums implements Source.
func (l *Lists) Sums(_ int32, list int64) []int64 {
	if uint64(list) >= uint64(len(l.Counts)) {
		return nil
	}
	return l.Counts[list]
}

// Requests implements Requester.
func (l *Lists) Requests(_ int32, list int64) []int32 {
	if uint64(list) >= uint64(len(l.Slots)) {
		return nil
	}
	return l.Slots[list]
}

// barrierSource appends to the actions of each rank a wait for what is pending
// and a barrier.
type barrierSource struct {
	Source
	over []bool // the end of a rank's actions was met
}

// withBarrier returns a source with the barrier in MPI_Finalize that smpi/finalization-barrier asks for.
func withBarrier(s Source, ranks int) Source { return &barrierSource{s, make([]bool, ranks)} }

// Fill implements Source; the engine asks for more than two actions at a time.
func (b *barrierSource) Fill(rank int32, buf []trace.Action) (int, error) {
	if b.over[rank] {
		return 0, nil
	}
	n, err := b.Source.Fill(rank, buf)
	if n > 0 || err != nil {
		return n, err
	}
	// The actions of the program are over. The wait comes first: SMPI's barrier is in MPI_Finalize.
	b.over[rank] = true
	var last [2]trace.Action
	last[0].Kind = trace.KindWaitAll
	last[1].SetCollective(&trace.Collective{Kind: trace.CollBarrier})
	return copy(buf, last[:]), nil
}

// Requests implements Requester, if the source does.
func (b *barrierSource) Requests(rank int32, list int64) []int32 {
	if s, ok := b.Source.(Requester); ok {
		return s.Requests(rank, list)
	}
	return nil
}
