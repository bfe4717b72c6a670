package collective

import (
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/trace"
)

// world plays the schedules of all ranks by hand: messages take no time, and carry
// what their senders know of the data that they name.
//
// What a rank knows of a piece of data is the set of ranks whose contribution is in
// it, as bits: of a broadcast that of the root, of a reduction all that have been
// combined. A receive adds the sender's knowledge to the receiver's.
type world struct {
	t        *testing.T
	name     string
	p        int
	unit     int64 // bytes of a piece
	size     int64 // bytes of the data of the call
	known    [][]uint64
	players  []player
	channels map[[2]int]*channel
	sends    []message // all of them, in some order
	nodes    *Nodes
	sync     bool // sends wait for their receives
}

// player is one rank.
type player struct {
	schedule Schedule
	steps    []Step
	slots    map[int32]*message
	blocked  []*message // that the current step waits for
}

// message is a send with its receive, or one of them.
type message struct {
	from, to     int
	bytes, room  int64
	offset       int64
	knowledge    []uint64
	sent, posted bool
	waiting      bool // a receive that has not been completed
}

type channel struct{ sent, posted []*message }

// play runs a call until all ranks are through. It fails on a deadlock, on messages
// without partner, and on messages longer than their receives.
func (w *world) play(sel *Selector, call func(rank int) trace.Collective) {
	w.t.Helper()
	w.channels = map[[2]int]*channel{}
	w.players = make([]player, w.p)
	for r := range w.players {
		c := call(r)
		w.players[r].slots = map[int32]*message{}
		w.players[r].schedule.Start(sel, &c, w.p, r, w.nodes)
	}
	for progress := true; progress; {
		progress = false
		for r := range w.players {
			for w.step(r) {
				progress = true
			}
		}
	}
	for r := range w.players {
		if pl := &w.players[r]; len(pl.steps) > 0 || len(pl.blocked) > 0 || len(pl.schedule.Next()) > 0 {
			w.t.Fatalf("%s: deadlock: rank %d has steps left", w.name, r)
		}
	}
	for key, c := range w.channels {
		if len(c.sent) > 0 || len(c.posted) > 0 {
			w.t.Fatalf("%s: rank %d to %d: %d sends and %d receives without partner", w.name, key[0], key[1], len(c.sent), len(c.posted))
		}
	}
}

// step takes a step of rank r; false if it cannot.
func (w *world) step(r int) bool {
	pl := &w.players[r]
	for len(pl.blocked) > 0 {
		m := pl.blocked[0]
		if !m.sent || !m.posted {
			return false
		}
		w.complete(r, m)
		pl.blocked = pl.blocked[1:]
	}
	if len(pl.steps) == 0 {
		pl.steps = pl.schedule.Next()
	}
	if len(pl.steps) == 0 {
		return false
	}
	s := pl.steps[0]
	pl.steps = pl.steps[1:]
	switch s.Op {
	case Send:
		if m := w.send(r, &s); w.sync {
			pl.blocked = append(pl.blocked, m)
		}
	case Recv:
		pl.blocked = append(pl.blocked, w.post(r, &s))
	case Isend:
		w.occupy(pl, s.Slot, w.send(r, &s))
		if !w.sync {
			delete(pl.slots, s.Slot)
		}
	case Irecv:
		w.occupy(pl, s.Slot, w.post(r, &s))
	case Wait:
		if m := pl.slots[s.Slot]; m != nil {
			pl.blocked = append(pl.blocked, m)
			delete(pl.slots, s.Slot)
		}
	case WaitAll:
		for _, m := range pl.slots {
			pl.blocked = append(pl.blocked, m)
		}
		clear(pl.slots)
	}
	return true
}

func (w *world) occupy(pl *player, slot int32, m *message) {
	if pl.slots[slot] != nil {
		w.t.Fatalf("%s: slot %d is taken", w.name, slot)
	}
	pl.slots[slot] = m
}

func (w *world) channel(from, to int) *channel {
	key := [2]int{from, to}
	if w.channels[key] == nil {
		w.channels[key] = &channel{}
	}
	return w.channels[key]
}

func (w *world) send(r int, s *Step) *message {
	if s.Peer < 0 || int(s.Peer) >= w.p || s.Bytes < 0 {
		w.t.Fatalf("%s: rank %d: %+v", w.name, r, *s)
	}
	w.sends = append(w.sends, message{from: r, to: int(s.Peer), bytes: s.Bytes, offset: s.Offset})
	c := w.channel(r, int(s.Peer))
	m := &message{from: r, to: int(s.Peer)}
	if len(c.posted) > 0 {
		m, c.posted = c.posted[0], c.posted[1:]
	} else {
		c.sent = append(c.sent, m)
	}
	m.sent, m.bytes, m.offset = true, s.Bytes, s.Offset
	for _, piece := range w.pieces(m) {
		m.knowledge = append(m.knowledge, w.known[r][piece])
	}
	w.fits(m)
	return m
}

func (w *world) post(r int, s *Step) *message {
	c := w.channel(int(s.Peer), r)
	m := &message{from: int(s.Peer), to: r}
	if len(c.sent) > 0 {
		m, c.sent = c.sent[0], c.sent[1:]
	} else {
		c.posted = append(c.posted, m)
	}
	m.posted, m.waiting, m.room = true, true, s.Bytes
	w.fits(m)
	return m
}

func (w *world) fits(m *message) {
	if m.sent && m.posted && m.bytes > m.room {
		w.t.Fatalf("%s: rank %d to %d: %d bytes into %d", w.name, m.from, m.to, m.bytes, m.room)
	}
}

// complete adds what a message carried to what its receiver knows.
func (w *world) complete(r int, m *message) {
	if r != m.to || !m.waiting {
		return
	}
	m.waiting = false
	for i, piece := range w.pieces(m) {
		w.known[r][piece] |= m.knowledge[i]
	}
}

// pieces returns the pieces of data in a message; of a call without data there is
// one piece, in every message.
func (w *world) pieces(m *message) []int {
	if w.size == 0 {
		return []int{0}
	}
	var list []int
	for at := m.offset; at < m.offset+m.bytes; at += w.unit {
		list = append(list, int(at%w.size/w.unit))
	}
	return list
}

// counts draws so many counts up to most, and returns their running sums.
func counts(seed uint64, n int, most int64) []int64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	sums := []int64{0}
	for range n {
		sums = append(sums, sums[len(sums)-1]+1+rng.Int64N(most))
	}
	return sums
}

// setting is one way to test an operation: the calls of the ranks, the size of the
// data, what each knows at the start, and what it must know at the end.
type setting struct {
	call   func(rank int) trace.Collective
	pieces int   // of data
	unit   int64 // bytes of one
	start  func(rank, piece int) uint64
	want   func(rank, piece int) uint64
	nodes  *Nodes
}

// uniform are the settings of operations without counts per rank.
func uniform(kind trace.CollectiveKind, p, root int, count, size int64) setting {
	all := uint64(1)<<p - 1
	s := setting{pieces: max(1, int(count)), unit: size,
		call: func(int) trace.Collective {
			return trace.Collective{Kind: kind, Root: int32(root), Send: count, Recv: count, SendSize: size, RecvSize: size}
		},
		start: func(rank, _ int) uint64 { return 1 << rank },
		want:  func(int, int) uint64 { return all },
	}
	at := func(want func(int, int) uint64) func(int, int) uint64 {
		return func(rank, piece int) uint64 {
			if rank == root {
				return want(rank, piece)
			}
			return 0
		}
	}
	block := func(piece int) int { return piece / max(1, int(count)) }
	switch kind {
	case trace.CollBcast:
		s.start = at(s.start)
		s.want = func(int, int) uint64 { return 1 << root }
	case trace.CollReduce:
		s.want = at(s.want)
	case trace.CollScan:
		s.want = func(rank, _ int) uint64 { return 1<<(rank+1) - 1 }
	case trace.CollAllgather, trace.CollGather:
		s.pieces *= p
		s.start = func(rank, piece int) uint64 {
			if block(piece) == rank {
				return 1 << rank
			}
			return 0
		}
		s.want = func(_, piece int) uint64 { return 1 << block(piece) }
		if kind == trace.CollGather {
			s.want = at(s.want)
		}
	case trace.CollScatter:
		s.pieces *= p
		s.start = at(s.start)
		s.want = func(rank, piece int) uint64 {
			if block(piece) == rank {
				return 1 << root
			}
			return 0
		}
	}
	return s
}

// perRank are the settings of operations with counts per rank.
func perRank(kind trace.CollectiveKind, p, root int, most, size int64) setting {
	sums := counts(uint64(p), p, most)
	all := uint64(1)<<p - 1
	block := func(piece int) int { return blockOf(sums, int64(piece)) }
	own := func(rank, piece int) uint64 {
		if block(piece) == rank {
			return 1 << rank
		}
		return 0
	}
	s := setting{pieces: int(sums[p]), unit: size}
	s.call = func(rank int) trace.Collective {
		one := sums[rank+1] - sums[rank]
		return trace.Collective{Kind: kind, Root: int32(root), Send: one, Recv: one, SendSums: sums, RecvSums: sums, SendSize: size, RecvSize: size, Span: sums[p]}
	}
	switch kind {
	case trace.CollReduceScatter:
		s.start = func(rank, _ int) uint64 { return 1 << rank }
		s.want = func(rank, piece int) uint64 {
			if block(piece) == rank {
				return all
			}
			return 0
		}
	case trace.CollScatterv:
		s.start = func(rank, _ int) uint64 {
			if rank == root {
				return 1 << root
			}
			return 0
		}
		s.want = func(rank, piece int) uint64 { return min(own(rank, piece), 1) << root }
	default:
		s.start = own
		s.want = func(rank, piece int) uint64 {
			if kind == trace.CollGatherv && rank != root {
				return 0
			}
			return 1 << block(piece)
		}
	}
	return s
}

// blockOf returns the index of the block that holds piece i.
func blockOf(sums []int64, i int64) int {
	n, found := slices.BinarySearch(sums, i)
	if !found {
		n--
	}
	return n
}

// oneSided makes a call say only what its kind has.
func oneSided(c trace.Collective) trace.Collective {
	if !c.Kind.SendsPerRank() {
		c.SendSums = nil
	}
	if !c.Kind.RecvsPerRank() {
		c.RecvSums = nil
	}
	return c
}

// check plays a setting and compares what ranks know with what they must.
func (s *setting) check(t *testing.T, name string, sel *Selector, p int, sync bool) []message {
	t.Helper()
	w := &world{t: t, name: name, p: p, unit: s.unit, size: int64(s.pieces) * s.unit, nodes: s.nodes, sync: sync}
	for r := range p {
		w.known = append(w.known, make([]uint64, s.pieces))
		for i := range w.known[r] {
			w.known[r][i] = s.start(r, i)
		}
	}
	if s.unit == 0 {
		w.size = 0
	}
	w.play(sel, func(r int) trace.Collective { return oneSided(s.call(r)) })
	for r := range p {
		for i, got := range w.known[r] {
			if want := s.want(r, i); got&want != want {
				t.Fatalf("%s: rank %d knows of piece %d the parts %b, want %b", name, r, i, got, want)
			}
		}
	}
	return w.sends
}

// noError ends a test at an error.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
