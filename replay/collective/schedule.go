// Package collective turns collective operations of MPI into the point-to-point messages that a rank sends and
// receives, by the algorithms that Open MPI and MPICH use and SimGrid's SMPI imitates.
//
// A [Selector] says which algorithm carries out an operation, by the number of ranks and the size of the data: as one
// of SMPI's selections ("default", "ompi", "mpich") does, or by name. A [Schedule] is what one rank does in one call.
// It yields a few steps at a time, so that its size does not depend on that of the operation, and nothing is allocated:
//
//	var s collective.Schedule
//	s.Start(selector, &call, ranks, rank)
//	for steps := s.Next(); len(steps) > 0; steps = s.Next() {
//		...
//	}
//
// An algorithm is a function of the rank and the number of its round, in the file of its family: what it does, where it
// was published, what it costs. Costs are in the model of Hockney, where a message of m bytes takes a + m*b; p is the
// number of ranks and n the bytes of the data.
//
// Ranks are those of the communicator of the call. A nonblocking call posts all its
// messages at once, and its last step, which waits for them, is its completion.
//
// A call of one rank alone sends nothing. Combining data takes no time here: a
// caller adds the computation that the call names.
//
// # Units
//
// Sizes are in bytes, tags and ranks are integers.
//
// # Errors
//
// What a selection names and is not played is an error where an operation needs it (Selector.Check).
//
// # Source
//
// Each algorithm names its paper; which one is used follows SimGrid 3.32's selections.
package collective

import (
	"math/bits"

	"reprise/trace"
)

// Op is what a rank does in a step.
type Op uint8

// The steps.
const (
	Send    Op = iota // to Peer
	Recv              // from Peer
	Isend             // to Peer, completed by a wait on Slot
	Irecv             // from Peer, completed by a wait on Slot
	Wait              // completes Slot; nothing if nothing is pending there
	WaitAll           // completes all slots, in the order in which their transfers end
)

// Step is one action of a rank. The messages of a rank to another one are received
// in the order in which they are sent; they need no tags.
type Step struct {
	Op    Op
	Slot  int32
	Peer  int32 // rank in the communicator, or AnyPeer of an Irecv
	Bytes int64 // of a message, or that a receiver has room for
	// Offset tells which data a message carries: the bytes from Offset on, modulo the size of the whole, in an imagined
	// buffer of all ranks. In that of a (all)gather or scatter the block of rank 0 comes first; in that of an alltoall
	// the block for rank 0. -1: the data are not contiguous. Only tests look at it.
	Offset int64
}

// maxSteps bounds the steps of a round.
const maxSteps = 9

// operands are the arguments of an operation, in the form in which algorithms take them.
type operands struct {
	root       int
	send, recv blocks
	span       int64 // of an allgatherv, elements
	operator   trace.Operator
	at         int64 // where the data begin in those of the call, bytes
}

// algorithm appends the steps of a round of rank s.rank; rounds count from 0. It reports whether another round follows.
// It may name operations that follow its last round.
type algorithm func(s *Schedule, o *operands, round int) bool

// stage is an algorithm under way.
type stage struct {
	run   algorithm
	o     operands
	round int32
	level level
}

// maxStages bounds the operations that are left at a time: an operation consists of three others, or of two, the first
// of which consists of three.
const maxStages = 4

// maxFollow bounds the operations of which one consists.
const maxFollow = 3

// Schedule is what one rank does in one call of an operation. The zero value is
// an empty one; it may be started again and again.
type Schedule struct {
	sel     *Selector
	p, rank int     // number of ranks and own rank at the level that is played
	group   []int32 // by rank at that level: its rank in the communicator; nil: the same
	level   level
	nodes   *Nodes
	all     int              // ranks of the communicator
	member  int              // the rank among them
	stages  [maxStages]stage // a stack
	depth   int
	after   [maxFollow]stage // operations that are to follow the current one, in order
	follow  int
	memory  [6]int64 // of the current stage: data that a round leaves to the next
	base    int64    // of its data: operands.at
	steps   [maxSteps]Step
	n       int
	err     error // an operation without an algorithm was met
}

// Err returns why the call cannot be carried out, nil as long as it can: the operation, or one of which it consists,
// has no algorithm.
func (s *Schedule) Err() error { return s.err }

// Start prepares the schedule of a rank in a call, which must have been checked (trace.Collective.Check). The sums of
// the call must not change until the last step. nodes may be nil.
func (s *Schedule) Start(sel *Selector, c *trace.Collective, ranks, rank int, nodes *Nodes) {
	s.sel, s.all, s.member, s.nodes = sel, ranks, rank, nodes
	s.enter(whole)
	s.depth, s.follow, s.err = 0, 0, nil
	if ranks == 1 {
		return
	}
	o := operands{
		root: int(c.Root), span: c.Span, operator: c.Operator,
		send: blocks{count: c.Send, size: c.SendSize, sums: c.SendSums},
		recv: blocks{count: c.Recv, size: c.RecvSize, sums: c.RecvSums},
	}
	if c.Nonblocking {
		s.thenRun(nonblocking[c.Kind], o)
	} else {
		s.then(c.Kind, o)
	}
	s.push()
}

// Next returns the next steps, none at the end. They are valid until the next call.
func (s *Schedule) Next() []Step {
	s.n = 0
	for s.depth > 0 && s.n == 0 {
		top := &s.stages[s.depth-1]
		s.base = top.o.at
		if s.level != top.level {
			s.enter(top.level)
		}
		more := top.run(s, &top.o, int(top.round))
		top.round++
		if !more {
			s.depth--
			s.push()
		}
	}
	return s.steps[:s.n]
}

// push moves the operations that are to follow to the stack, the first on top.
func (s *Schedule) push() {
	for s.follow > 0 {
		s.follow--
		s.stages[s.depth] = s.after[s.follow]
		s.depth++
	}
	s.memory = [6]int64{}
}

// then names an operation that follows the last round of the current one, by the algorithm that is selected for it.
func (s *Schedule) then(kind trace.CollectiveKind, o operands) {
	s.thenAt(s.level, s.sel.choose[kind], o)
}

// thenRun is then with a given algorithm.
func (s *Schedule) thenRun(run algorithm, o operands) {
	s.after[s.follow] = stage{run: run, o: o, level: s.level}
	s.follow++
}

// thenAt is then at another level, with a given choice. A rank alone there does nothing.
func (s *Schedule) thenAt(l level, choose choice, o operands) {
	from := s.level
	if s.enter(l); s.p > 1 {
		s.thenRun(nil, o)
		next := &s.after[s.follow-1]
		next.run = choose(s, &next.o)
	}
	s.enter(from)
}

func (s *Schedule) add(op Op, slot, peer int, bytes, offset int64) {
	if s.group != nil && peer >= 0 {
		peer = int(s.group[peer])
	}
	s.steps[s.n] = Step{op, int32(slot), int32(peer), bytes, s.base + offset}
	s.n++
}

func (s *Schedule) send(peer int, bytes, offset int64) { s.add(Send, 0, peer, bytes, offset) }
func (s *Schedule) recv(peer int, bytes int64)         { s.add(Recv, 0, peer, bytes, 0) }
func (s *Schedule) wait(slot int)                      { s.add(Wait, slot, 0, 0, 0) }
func (s *Schedule) waitAll()                           { s.add(WaitAll, 0, 0, 0, 0) }

func (s *Schedule) isend(slot, peer int, bytes, offset int64) {
	s.add(Isend, slot, peer, bytes, offset)
}

func (s *Schedule) irecv(slot, peer int, bytes int64) { s.add(Irecv, slot, peer, bytes, 0) }

// exchange sends to a rank and receives from one at once (MPI_Sendrecv). A rank with itself exchanges no messages.
func (s *Schedule) exchange(to int, out, offset int64, from int, in int64) {
	if to == s.rank && from == s.rank {
		return
	}
	s.isend(0, to, out, offset)
	s.irecv(1, from, in)
	s.waitAll()
}

// at returns the rank d places after rank r, around the ring of all ranks; d >= -p.
func (s *Schedule) at(r, d int) int { return (r + d + s.p) % s.p }

// relative returns the place of the rank when the root has place 0.
func (s *Schedule) relative(root int) int { return s.at(s.rank, -root) }

// powerBelow returns the largest power of two that is at most n >= 1.
func powerBelow(n int) int { return 1 << log2(n) }

// powerAbove returns the smallest power of two that is at least n >= 1.
func powerAbove(n int) int { return 1 << bits.Len(uint(n-1)) }

// log2 returns the logarithm of n >= 1, rounded down.
func log2(n int) int { return bits.Len(uint(n)) - 1 }

func isPower(n int) bool { return n&(n-1) == 0 }

// mirror returns the lowest n bits of v in reverse order.
func mirror(v, n int) int { return int(bits.Reverse(uint(v)) >> (bits.UintSize - n)) }

// blocks is what one side of a call says about its data: a number of elements for
// each rank, the same for all or rank by rank.
type blocks struct {
	count, size int64   // elements of a block; bytes of an element
	sums        []int64 // running sums of the counts of ranks 0, 1, ...; nil: all are equal
}

// of returns the elements of the block of a rank.
func (b *blocks) of(r int) int64 {
	if b.sums != nil {
		return b.sums[r+1] - b.sums[r]
	}
	return b.count
}

// bytes returns the bytes of the block of a rank.
func (b *blocks) bytes(r int) int64 { return b.of(r) * b.size }

// before returns the bytes of the blocks of ranks 0 to r-1.
func (b *blocks) before(r int) int64 {
	if b.sums != nil {
		return (b.sums[r] - b.sums[0]) * b.size
	}
	return int64(r) * b.count * b.size
}

// between returns the bytes of the blocks of ranks from to to-1; to may lie past the last of the p ranks.
func (b *blocks) between(from, to, p int) int64 { return b.before(min(to, p)) - b.before(min(from, p)) }

// around returns the bytes of the blocks of n ranks from r on, around the ring of p.
func (b *blocks) around(r, n, p int) int64 {
	if r+n <= p {
		return b.between(r, r+n, p)
	}
	return b.between(r, p, p) + b.before(r+n-p)
}

// one returns the bytes of one block where all are equal: the data of a broadcast or a reduction.
func (b *blocks) one() int64 { return b.count * b.size }

// part returns b with another number of elements.
func (b blocks) part(count int64) blocks {
	b.count = count
	return b
}

// cut is a number of elements, or bytes, dealt to n shares that differ by one at most, larger ones first.
type cut struct{ each, larger int64 }

func newCut(total int64, n int) cut { return cut{total / int64(n), total % int64(n)} }

func (c cut) of(i int) int64 {
	if int64(i) < c.larger {
		return c.each + 1
	}
	return c.each
}

func (c cut) before(i int) int64 { return int64(i)*c.each + min(int64(i), c.larger) }

// most returns the size of the largest share.
func (c cut) most() int64 { return c.of(0) }

// shares is a number of elements, or bytes, dealt to n shares of equal size. The last gets what is left over, or
// where sizes are rounded up less than the others, and some may be empty.
type shares struct {
	total, each int64
	n           int
}

// newPieces deals total bytes to n ranks, rounding up.
func newPieces(total int64, n int) shares { return shares{total, (total + int64(n) - 1) / int64(n), n} }

// between returns the size of the shares from to to-1.
func (s shares) between(from, to int) int64 { return s.before(to) - s.before(from) }

func (s shares) before(i int) int64 {
	if i >= s.n {
		return s.total
	}
	return min(int64(i)*s.each, s.total)
}

// extremes returns the elements of the smallest and of the largest of p blocks.
func (b *blocks) extremes(p int) (least, most int64) {
	least, most = b.of(0), b.of(0)
	for r := 1; r < p && b.sums != nil; r++ {
		least, most = min(least, b.of(r)), max(most, b.of(r))
	}
	return least, most
}
