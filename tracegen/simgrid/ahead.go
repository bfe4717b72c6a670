package simgrid

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"reprise/trace"
)

// This file reads files before their actions are asked for, in a goroutine (Trace.ReadAhead).

// ahead is what has been read before it is asked for. Each rank has two blocks: Fill takes actions from one while a
// goroutine, the reader, fills the other. If the reader is late, Fill fills the block itself, with the same actions. At
// first nothing has been read, and a replay asks for rank after rank, beginning with the first. The reader begins with
// the last, so that reader and replay open the files from both ends.
type ahead struct {
	ranks []aheadRank
	taken []int32 // by rank: actions of its first block that were asked for; the reader never looks

	spent int           // blocks since the reader was roused
	idle  atomic.Bool   // the reader waits, or is about to
	wake  chan struct{} // of the reader; holds one
	ended atomic.Bool
}

// aheadRank is the blocks of a rank in turn: number i is blocks[i%2], and those from spent to filled are in use.
type aheadRank struct {
	filled atomic.Uint32 // raised by who fills
	spent  atomic.Uint32 // raised by who asks
	blocks [2]block

	reading sync.Mutex // held by who fills a block of the rank, and so owns its stream
	over    bool       // no block follows; under reading

	odd *oddities // in what was asked for, of who asks
}

// block has actions of a rank. A block without actions is the rank's last.
type block struct {
	room    []trace.Action
	actions []trace.Action // in room
	lists   sumLists       // that they name
	listed  bool           // there are some; under aheadRank.reading
	odd     []oddMark
	last    bool
	err     error // of the last
}

// oddMark is what was odd in the lines of a rank, up to those of the action with this number in a block.
type oddMark struct {
	action int
	odd    oddities
}

// empty, full and first may be called by the goroutine of Fill. The reader may call full, too: while it does, full can
// only become false.
func (r *aheadRank) empty() bool   { return r.filled.Load() == r.spent.Load() }
func (r *aheadRank) full() bool    { return r.filled.Load()-r.spent.Load() == 2 }
func (r *aheadRank) first() *block { return &r.blocks[r.spent.Load()%2] }

// Sizes in actions. With small blocks the reader is roused too often; with large ones,
// what it has read has left the caches before it is asked for.
const (
	largestBlock  = 64
	smallestBlock = 16
	cachedAhead   = 1 << 15 // of all ranks together, unless blocks are the smallest: 1.5 MB
	mostAhead     = 1 << 16 // with more, nothing is read ahead
	readAtOnce    = 8       // divides all others
)

// ReadAhead starts a goroutine that reads the files, some dozens of actions of each rank ahead of Fill, until
// Close. Fill and Sums still have one caller and return the same, provided that each Fill asks for eight actions,
// or for a number that divides eight. ReadAhead has no effect after the first Fill, if the ranks share a file, if
// they are very many, or on a single processor.
func (t *Trace) ReadAhead() {
	size := largestBlock
	for size > smallestBlock && 2*size*t.ranks > cachedAhead {
		size /= 2
	}
	begun := slices.ContainsFunc(t.fills, func(fills int) bool { return fills > 0 })
	if begun || t.shared != nil || t.ahead != nil || 2*size*t.ranks > mostAhead || runtime.GOMAXPROCS(0) == 1 {
		return
	}
	a := &ahead{ranks: make([]aheadRank, t.ranks), taken: make([]int32, t.ranks), wake: make(chan struct{}, 1)}
	room := make([]trace.Action, 2*size*t.ranks)
	for i := range 2 * t.ranks {
		a.ranks[i/2].blocks[i%2].room = room[i*size:][:size:size]
	}
	t.ahead = a

	// The reader goes round the ranks from the last, and fills a block of each that has room for one, until a round
	// finds none. Then it rests until it is roused.
	go func() {
		memory := &slab{}
		for !a.ended.Load() {
			a.idle.Store(false)
			for some := true; some; {
				some = false
				for r := len(a.ranks) - 1; r >= 0 && !a.ended.Load(); r-- {
					some = !a.ranks[r].full() && t.fillBlock(int32(r), memory) || some
				}
			}
			a.idle.Store(true)
			<-a.wake
		}
	}()
}

// Close ends what ReadAhead began; the goroutine may still be at its last block. There is nothing else to close.
func (t *Trace) Close() error {
	if t.ahead != nil {
		t.ahead.ended.Store(true)
		t.ahead.rouse()
	}
	return nil
}

// rouse wakes the reader, or has it go round once more if it is about to rest.
func (a *ahead) rouse() {
	select {
	case a.wake <- struct{}{}:
	default: // it was already
	}
}

// fillBlock fills a block of rank, unless both are in use or nothing follows. It cuts windows from memory, the
// caller's. As lists of counts may be large, nothing is read behind a block with lists before it is spent.
func (t *Trace) fillBlock(rank int32, memory *slab) bool {
	r, s := &t.ahead.ranks[rank], &t.streams[rank]
	r.reading.Lock()
	defer r.reading.Unlock()
	// Whoever holds the lock owns the stream of the rank, so that lines are read in order.
	filled := r.filled.Load()
	if r.over || r.full() || !r.empty() && r.blocks[(filled+1)%2].listed {
		return false
	}
	b := &r.blocks[filled%2]
	b.actions, b.odd = b.room[:0], b.odd[:0]
	s.lines.memory = memory
	for n := readAtOnce; n == readAtOnce && len(b.actions) < len(b.room) && len(s.lists.lists) == 0; {
		odds := s.odds
		n, b.err = t.fill(s, b.room[len(b.actions):][:readAtOnce])
		if s.odds > odds {
			b.odd = append(b.odd, oddMark{len(b.actions), *s.odd})
		}
		b.actions = b.room[:len(b.actions)+n]
	}
	b.lists, b.listed = s.lists, len(s.lists.lists) > 0
	next := s.lists.first + int64(len(s.lists.lists)) // the stream goes on with no lists, numbered from behind these
	s.lists = sumLists{first: next, given: next}
	b.last = len(b.actions) == 0
	r.over = b.last
	r.filled.Store(filled + 1)
	return true
}

// take is Fill where there is a reader.
func (t *Trace) take(rank int32, buf []trace.Action) (int, error) {
	a := t.ahead
	r, taken := &a.ranks[rank], &a.taken[rank]
	if !r.empty() && int(*taken) == len(r.first().actions) && !r.first().last {
		// The block is empty and given back, without its lists. The reader is roused if it has rested while a quarter
		// of all blocks were.
		r.learn(r.first(), int(*taken))
		r.first().lists = sumLists{}
		r.spent.Add(1)
		a.spent++
		if 2*a.spent >= len(a.ranks) && a.idle.Load() {
			a.spent = 0
			a.rouse()
		}
		*taken = 0
	}
	if r.empty() {
		t.fillBlock(rank, &t.memory)
	}
	b := r.first()
	if len(b.odd) > 0 {
		r.learn(b, int(*taken))
	}
	if b.last {
		return 0, b.err
	}
	n := copy(buf, b.actions[*taken:])
	*taken += int32(n)
	return n, nil
}

// learn notes what was odd in the lines of a block up to those that were read with the action of that number.
func (r *aheadRank) learn(b *block, action int) {
	n := len(b.odd)
	for n > 0 && b.odd[n-1].action > action {
		n--
	}
	if n > 0 {
		odd := b.odd[n-1].odd // whose place serves the next block, too
		r.odd = &odd
	}
}
