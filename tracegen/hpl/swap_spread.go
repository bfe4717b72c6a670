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
	step      int // of a roll
}

// spreadRoll returns the blocks by position.
func (l *library) spreadRoll() []int64 {
	if l.spread == nil {
		l.spread = &spreadBlocks{sources: map[sourceKey]int{}, step: l.rollStepBlock()}
		for y := range l.p.P {
			l.spread.positions = append(l.spread.positions, l.spreadBlock(y))
		}
	}
	return l.spread.positions
}

// spreadArgs are the parameters of a block of spread-roll: the panel's column,
// the columns to swap, the panel's width, K of its process row, whether
// equilibration moves rows, floor(jb/P) and jb mod P, and the layout.
type spreadArgs struct {
	panel, n, width, k0    trace.Operand
	uneven, share, larger  trace.Operand
	order, lengths, equals trace.Operand // vectors
}

// spreadBlock swaps rows by spread-roll on the process row at position y.
func (l *library) spreadBlock(y int) int64 {
	b := trace.NewBuilder(fmt.Sprintf("spread-roll y=%d", y), 10)
	a := params(b, 10)
	args := spreadArgs{a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9]}
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
	s := &spreader{b: b, size: l.p.P, y: trace.Const(int64(y)), order: a.order, rowBytes: b.Scale(doubleBytes, a.n)}
	s.slots = func(lo, hi trace.Operand) trace.Operand { return b.VectorSum(a.lengths, lo, hi) }
	b.Mark(beginRight, a.n, trace.Const(0))
	s.right(rightTree(l.p.P, 0, y))
	b.Mark(endSpread)
	if y > 0 {
		b.Compute(byForm(l.p.U, dlaswp06T, dlaswp06N), b.VectorAt(a.lengths, s.y), a.n)
	}
	if l.p.Equil {
		b.Mark(beginEquil, a.n)
		if l.p.P > 2 {
			b.If(a.uneven, func() { l.equilibrate(b, y, a) })
		}
		b.Mark(endEquil)
	}
	b.Mark(beginRoll, a.n, a.equals, a.order)
	l.rollRows(b, y, s, a.equals)
	b.Mark(endRoll)
	if l.p.U == Transposed {
		b.Compute(dlaswp10N, a.n, a.width)
	} else {
		b.Compute(dlaswp00N, a.width, a.n)
	}
	b.Mark(endSwap01)
}

// rollRows emits the roll of all positions' rows over all positions.
func (l *library) rollRows(b *trace.Builder, y int, s *spreader, lengths trace.Operand) {
	neighbours := [2]trace.Operand{s.rank(s.y.Plus(-1)), s.rank(s.y.Plus(1))}
	for _, r := range rollSteps(y, l.p.P) {
		b.Call(l.spread.step, lengths, s.rowBytes, neighbours[r.next], trace.Const(int64(r.out)), trace.Const(int64(r.in)))
	}
}

// rollStepBlock is a step of a roll: its parameters are the vector of lengths,
// the bytes of a row, the peer, and the positions whose rows go out and come in.
// The receive is nonblocking even where nothing is sent.
func (l *library) rollStepBlock() int {
	b := trace.NewBuilder("roll step", 5)
	a := params(b, 5)
	bytes := func(position trace.Operand) trace.Operand { return b.Mul(b.VectorAt(a[0], position), a[1]) }
	peer, tag, out, in := a[2], trace.Const(swapTag), bytes(a[3]), bytes(a[4])
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
	return l.add(b)
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
	return newTree(log2(n-1-source)+1, y-source)
}

// leftTree returns the place of position y in the spread from source to the
// positions before it.
func leftTree(source, y int) tree {
	if y > source || source == 0 {
		return noTree
	}
	return newTree(log2(source)+1, source-y)
}

func newTree(levels, distance int) tree {
	if distance == 0 {
		return tree{levels, levels}
	}
	return tree{levels, bits.TrailingZeros(uint(distance))}
}

// spreader emits the messages of spreads at position y of size positions.
type spreader struct {
	b        *trace.Builder
	size     int
	y        trace.Operand
	order    trace.Operand
	rowBytes trace.Operand
	slots    func(lo, hi trace.Operand) trace.Operand // rows of the positions [lo, hi)
}

// rank returns the world rank of a position, taken mod the number of them.
func (s *spreader) rank(position trace.Operand) trace.Operand {
	return s.b.Member(colFamily, s.b.VectorAt(s.order, position))
}

// within cuts a position to [0, size].
func (s *spreader) within(position trace.Operand) trace.Operand {
	return s.b.Max(s.b.Min(position, trace.Const(int64(s.size))), trace.Const(0))
}

// bytes returns the size of the rows of the positions [lo, hi).
func (s *spreader) bytes(lo, hi trace.Operand) trace.Operand {
	lo, hi = s.within(lo), s.within(hi)
	if lo == hi {
		return trace.Const(0)
	}
	return s.b.Mul(s.slots(lo, hi), s.rowBytes)
}

// hop sends to a position, or receives from it; no rows, no message.
func (s *spreader) hop(position, out, in trace.Operand) {
	if out == in { // both are nothing
		return
	}
	s.b.Exchange(colFamily, s.rank(position), trace.Const(swapTag), out, in)
}

// right emits a spread to the positions after the source. At level b a member
// sends the rows of b positions, as far as they exist. All members poll after
// each level.
func (s *spreader) right(t tree) {
	for k := t.levels - 1; k >= 0; k-- {
		bit := int64(1) << k
		switch {
		case k == t.level:
			s.hop(s.y.Plus(-bit), trace.Const(0), s.bytes(s.y, s.y.Plus(bit)))
		case k < t.level:
			s.hop(s.y.Plus(bit), s.bytes(s.y.Plus(bit), s.y.Plus(2*bit)), trace.Const(0))
		}
		s.b.Poll(slotBcast)
	}
}

// left emits a spread to the positions before the source. HPL sends the rows of
// one position more than the receiver's subtree needs.
func (s *spreader) left(t tree) {
	for k := t.levels - 1; k >= 0; k-- {
		bit := int64(1) << k
		switch {
		case k == t.level:
			s.hop(s.y.Plus(bit), trace.Const(0), s.bytes(s.y.Plus(-bit), s.y.Plus(1)))
		case k < t.level:
			s.hop(s.y.Plus(-bit), s.bytes(s.y.Plus(-2*bit), s.y.Plus(1-bit)), trace.Const(0))
		}
		s.b.Poll(slotBcast)
	}
}

// equilibrate emits the spreads that even out the lengths, one source after the
// other.
func (l *library) equilibrate(b *trace.Builder, y int, a spreadArgs) {
	for source := range l.p.P {
		block := l.sourceBlock(sourceKey{right: rightTree(l.p.P, source, y), left: leftTree(source, y)})
		b.Call(block, trace.Const(int64(y)), trace.Const(int64(source)), a.n, a.share, a.larger, a.order, a.lengths)
	}
}

// sourceKey names the block of a position for one source of equilibration: its
// places in the two trees.
type sourceKey struct{ right, left tree }

// sourceBlock moves the rows of one source that lie outside of its target
// interval, to the positions whose targets they are in. Its parameters are the
// own position, the source, the columns, floor(jb/P) and jb mod P, and the
// vectors of order and lengths. Source: HPL 2.3 control flow, equilibration.
func (l *library) sourceBlock(key sourceKey) int {
	if block, ok := l.spread.sources[key]; ok {
		return block
	}
	b := trace.NewBuilder(fmt.Sprintf("equil right=%v left=%v", key.right, key.left), 7)
	a := params(b, 7)
	y, source, n, share, larger, order, lengths := a[0], a[1], a[2], a[3], a[4], a[5], a[6]
	target := func(i trace.Operand) trace.Operand { // first row of position i's target
		return b.Sum(b.Mul(share, i), b.Min(i, larger))
	}
	first := b.VectorSum(lengths, trace.Const(0), source)
	length := b.VectorAt(lengths, source)
	end := b.Sum(first, length)
	positive := func(x, y trace.Operand) trace.Operand { return b.Min(b.Max(b.Diff(x, y), trace.Const(0)), length) }
	goesLeft := positive(target(source), first)
	goesRight := positive(end, target(source.Plus(1)))

	s := &spreader{b: b, size: l.p.P, y: y, order: order}
	s.slots = func(lo, hi trace.Operand) trace.Operand {
		inside := func(i trace.Operand) trace.Operand { return b.Max(b.Min(target(i), end), first) }
		return b.Diff(inside(hi), inside(lo))
	}
	spread := func(begin int, emit func()) func() {
		return func() {
			b.Mark(begin, n, source)
			s.rowBytes = b.Scale(doubleBytes, n)
			emit()
			b.Mark(endSpread)
		}
	}
	b.If(goesLeft, spread(beginLeft, func() { s.left(key.left) }))
	b.If(goesRight, spread(beginRight, func() { s.right(key.right) }))
	l.spread.sources[key] = l.add(b)
	return l.spread.sources[key]
}
