package hpl

import (
	"fmt"
	"math/bits"

	"reprise/trace"
)

// layout is how the rows of U are dealt to the process rows during a swap by
// spread-roll: position i, held by process row order[i], owns lengths[i] of
// them. Source: HPL 2.3 control flow, spread-roll, lengths and order.
type layout struct {
	order, lengths []int64
	uneven         bool    // equilibration moves rows
	equal          []int64 // lengths after equilibration
}

// layoutHandles are the layout's vectors in the trace.
type layoutHandles struct {
	order, lengths, equal int64
	uneven                int64
}

// newLayout deals the jb rows of a panel of process row prow; counts is K by
// distance.
func newLayout(counts []int64, prow, jb int64, equil bool) *layout {
	n := int64(len(counts))
	v := &layout{order: make([]int64, n), lengths: make([]int64, n)}
	v.lengths[0] = jb
	for d := int64(0); d < n; d++ {
		v.order[d] = (prow + d) % n
		if d > 0 {
			v.lengths[d] = counts[d]
			v.lengths[0] -= counts[d]
		}
	}
	v.sort()
	v.equilibrate(jb, equil)
	return v
}

// sort moves longer parts to positions nearer to the root of the tree: a
// position's level is the number of its one bits.
func (v *layout) sort() {
	n := len(v.order)
	level := func(i int) int { return bits.OnesCount(uint(i)) }
	for k := 1; k <= bits.Len(uint(n)); k++ {
		for a := 1; a < n; a++ {
			if level(a) != k {
				continue
			}
			for b := 2; b < n; b++ {
				if level(b) > k && v.lengths[a] < v.lengths[b] {
					v.lengths[a], v.lengths[b] = v.lengths[b], v.lengths[a]
					v.order[a], v.order[b] = v.order[b], v.order[a]
				}
			}
		}
	}
}

// equilibrate sets what equilibration makes of the lengths: nothing if all but
// the last one are even already.
func (v *layout) equilibrate(jb int64, equil bool) {
	n := int64(len(v.order))
	v.equal = v.lengths
	if !equil || n < 3 {
		return
	}
	share, larger := jb/n, jb%n
	ceil := share
	if larger > 0 {
		ceil++
	}
	for _, length := range v.lengths[:n-1] {
		v.uneven = v.uneven || (length != share && length != ceil)
	}
	if !v.uneven {
		return
	}
	v.equal = make([]int64, n)
	for i := range v.equal {
		v.equal[i] = share
		if int64(i) < larger {
			v.equal[i]++
		}
	}
}

// spreadBlocks are the blocks of spread-roll. None depends on the panel's width.
type spreadBlocks struct {
	positions []int64
	sources   map[sourceKey]int
	evens     map[rangeKey]int
	trees     map[treeKey]int
	roll      *rollBlocks
}

// spreadRoll returns the blocks by position.
func (l *library) spreadRoll() []int64 {
	if l.spread == nil {
		l.spread = &spreadBlocks{sources: map[sourceKey]int{}, evens: map[rangeKey]int{}, trees: map[treeKey]int{}}
		l.spread.roll = &rollBlocks{lib: l, step: rowsStep, chains: map[chainKey]int{}}
		l.spread.positions = l.each(l.p.P, l.spreadBlock)
	}
	return l.spread.positions
}

// spreadArgs are the parameters of a block of spread-roll: the panel's column,
// the columns to swap, the panel's width, K of its process row, whether
// equilibration moves rows, and the layout.
type spreadArgs struct {
	panel, n, width, k0    trace.Operand
	uneven                 trace.Operand
	order, lengths, equals trace.Operand // vectors
}

// spreadBlock swaps rows by spread-roll on the process row at position y.
func (l *library) spreadBlock(y int) int64 {
	b := trace.NewBuilder(fmt.Sprintf("spread-roll y=%d", y), 8)
	a := params(b, 8)
	args := spreadArgs{a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]}
	use := args.n
	if l.p.Swap == Mix {
		use = b.Max(use.Plus(int64(-l.p.SwapThreshold)), trace.Const(0))
	}
	b.If(use, func() { l.emitSpreadRoll(b, y, args) })
	return int64(l.add(b))
}

func (l *library) emitSpreadRoll(b *trace.Builder, y int, a spreadArgs) {
	b.Mark(beginSwap01, a.panel, a.n)
	if y == 0 {
		b.Compute(byForm(l.p.U, dlaswp01T, dlaswp01N), a.k0, a.n)
	}
	rowBytes := b.Scale(doubleBytes, a.n)
	b.Mark(beginRight, a.n, trace.Const(0))
	l.firstSpread(b, y, a, rowBytes)
	b.Mark(endSpread)
	if y > 0 {
		b.Compute(byForm(l.p.U, dlaswp06T, dlaswp06N), b.VectorAt(a.lengths, trace.Const(int64(y))), a.n)
	}
	if l.p.Equil {
		b.Mark(beginEquil, a.n)
		if l.p.P > 2 {
			b.If(a.uneven, func() { l.equilibrate(b, y, a, rowBytes) })
		}
		b.Mark(endEquil)
	}
	b.Mark(beginRoll, a.n, a.equals, a.order)
	l.rollRows(b, y, a, rowBytes)
	b.Mark(endRoll)
	if l.p.U == Transposed {
		b.Compute(dlaswp10N, a.n, a.width)
	} else {
		b.Compute(dlaswp00N, a.width, a.n)
	}
	b.Mark(endSwap01)
}

// rollRows emits the roll of all positions' rows over all positions.
func (l *library) rollRows(b *trace.Builder, y int, a spreadArgs, rowBytes trace.Operand) {
	before, after := position(b, a.order, trace.Const(int64(y-1))), position(b, a.order, trace.Const(int64(y+1)))
	l.spread.roll.emit(b, y, l.p.P, [2]trace.Operand{a.equals, rowBytes}, before, after)
}

// rowsStep emits a step of a roll: the operands are the vector of lengths and the
// bytes of a row, the pieces the positions whose rows go out and come in.
// The receive is nonblocking even where nothing is sent.
func rowsStep(b *trace.Builder, operands [2]trace.Operand, peer, sent, received trace.Operand) {
	bytes := func(position trace.Operand) trace.Operand {
		return b.Mul(b.VectorAt(operands[0], position), operands[1])
	}
	tag, out, in := trace.Const(swapTag), bytes(sent), bytes(received)
	both := b.Min(out, in)
	b.If(both, func() { b.Exchange(colFamily, peer, tag, out, in) })
	b.If(b.Eq(both, trace.Const(0)), func() {
		b.If(in, func() {
			b.Message(trace.OpIrecv, colFamily, 0, peer, tag, in)
			b.Wait(0)
		})
		b.If(out, func() { b.Message(trace.OpSend, colFamily, 0, peer, tag, out) })
	})
	b.Poll(slotBcast)
}

// tree is a position's place in the tree of a spread: how many levels the tree
// has, and at which of them, counted from the leaves, the position receives.
// The root receives at none: its level is that of the whole tree.
type tree struct{ levels, level int }

// noTree is the place of a position that takes no part.
var noTree = tree{}

// rightTree returns the place of position y in the spread from source to the
// positions after it, n in all.
func rightTree(n, source, y int) tree {
	if y < source || source == n-1 {
		return noTree
	}
	return newTree(rightLevels(n, source), y-source)
}

// leftTree returns the place of position y in the spread from source to the
// positions before it.
func leftTree(source, y int) tree {
	if y > source || source == 0 {
		return noTree
	}
	return newTree(leftLevels(source), source-y)
}

// rightLevels returns the levels of the tree from source to the positions after
// it, n in all.
func rightLevels(n, source int) int { return bits.Len(uint(n - 1 - source)) }

// leftLevels returns the levels of the tree from source to the positions before it.
func leftLevels(source int) int { return bits.Len(uint(source)) }

func newTree(levels, distance int) tree {
	if distance == 0 {
		return tree{levels, levels}
	}
	return tree{levels, bits.TrailingZeros(uint(distance))}
}

// spreader emits the messages of spreads at position y.
type spreader struct {
	b *trace.Builder
	y trace.Operand
	// send sends the rows of the positions [lo, hi), as far as there are such
	// positions, to a position; no rows, no message.
	send func(position, lo, hi trace.Operand)
	// receive receives them from it. then emits what follows on all levels below; where there
	// is nothing to receive, it may be that each of so many levels is a poll only, as what a
	// member sends is part of what it has received.
	receive func(position, lo, hi trace.Operand, then func(), levels int)
}

// right emits a spread to the positions after the source. At level b a member
// sends the rows of b positions, as far as they exist.
func (s *spreader) right(t tree) {
	y := s.y
	s.spread(t, func(bit int64) (at, lo, hi trace.Operand) { return y.Plus(-bit), y, y.Plus(bit) },
		func(bit int64) (at, lo, hi trace.Operand) { return y.Plus(bit), y.Plus(bit), y.Plus(2 * bit) })
}

// left emits a spread to the positions before the source. HPL sends the rows of
// one position more than the receiver's subtree needs.
func (s *spreader) left(t tree) {
	y := s.y
	s.spread(t, func(bit int64) (at, lo, hi trace.Operand) { return y.Plus(bit), y.Plus(-bit), y.Plus(1) },
		func(bit int64) (at, lo, hi trace.Operand) { return y.Plus(-bit), y.Plus(-2 * bit), y.Plus(1 - bit) })
}

// spread emits the levels of a tree, of which a member receives at its own and sends at those
// below. All members poll after each level.
func (s *spreader) spread(t tree, from, to func(bit int64) (at, lo, hi trace.Operand)) {
	sends := func(level int) {
		for k := level - 1; k >= 0; k-- {
			s.send(to(1 << k))
			s.b.Poll(slotBcast)
		}
	}
	if t.level >= t.levels {
		sends(t.levels)
		return
	}
	s.polls(t.levels - 1 - t.level)
	at, lo, hi := from(1 << t.level)
	s.receive(at, lo, hi, func() {
		s.b.Poll(slotBcast)
		sends(t.level)
	}, t.level+1)
}

func (s *spreader) polls(n int) {
	for range n {
		s.b.Poll(slotBcast)
	}
}

// directed returns the sides of a message of the given bytes.
func directed(send bool, bytes trace.Operand) (out, in trace.Operand) {
	if send {
		return bytes, trace.Const(0)
	}
	return trace.Const(0), bytes
}

// position returns the world rank of a position, taken mod the number of them.
func position(b *trace.Builder, order, i trace.Operand) trace.Operand {
	return b.Member(colFamily, b.VectorAt(order, i))
}

// firstSpread emits the spread from position 0 of all rows of U.
func (l *library) firstSpread(b *trace.Builder, y int, a spreadArgs, rowBytes trace.Operand) {
	s := &spreader{b: b, y: trace.Const(int64(y))}
	hop := func(send bool, at, lo, hi trace.Operand) {
		if hi = b.Min(hi, trace.Const(int64(l.p.P))); hi.Const <= lo.Const {
			return
		}
		out, in := directed(send, b.Mul(b.VectorSum(a.lengths, lo, hi), rowBytes))
		b.Exchange(colFamily, position(b, a.order, at), trace.Const(swapTag), out, in)
	}
	s.send = func(at, lo, hi trace.Operand) { hop(true, at, lo, hi) }
	s.receive = func(at, lo, hi trace.Operand, then func(), _ int) {
		hop(false, at, lo, hi)
		then()
	}
	s.right(rightTree(l.p.P, 0, y))
}
