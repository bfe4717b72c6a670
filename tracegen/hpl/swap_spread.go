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

// newLayout deals the jb rows of a panel of process row prow; counts is K by
// distance.
func newLayout(counts []int64, prow, jb int64, equil bool) *layout {
	n := len(counts)
	v := &layout{order: make([]int64, n), lengths: make([]int64, n)}
	v.lengths[0] = jb
	for d := range n {
		v.order[d] = (prow + int64(d)) % int64(n)
		if d > 0 {
			v.lengths[d] = counts[d]
			v.lengths[0] -= counts[d]
		}
	}

	// Longer parts move to positions nearer to the root of the tree, by HPL's own kind of
	// sorting: a position's level is the number of its one bits.
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

	// Equilibration gives each position the same, the first ones a row more. HPL leaves it out
	// if all lengths but the last are such already.
	v.equal = v.lengths
	share, larger := jb/int64(n), jb%int64(n)
	for _, length := range v.lengths[:n-1] {
		v.uneven = v.uneven || equil && n > 2 && (length < share || length > share+min(larger, 1))
	}
	if v.uneven {
		v.equal = make([]int64, n)
		for i := range v.equal {
			v.equal[i] = share
			if int64(i) < larger {
				v.equal[i]++
			}
		}
	}
	return v
}

// spreadBlocks are the blocks of spread-roll. None depends on the panel's width.
type spreadBlocks struct {
	positions []int64 // the whole swap, by position
	roll      *rollBlocks
	evens     map[rangeKey]int  // of equilibration: a range of sources,
	sources   map[sourceKey]int // one source,
	trees     map[treeKey]int   // one of its two trees
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

// spreadBlock swaps rows by spread-roll on the process row at position y. Its parameters
// are the panel's column, the columns to swap, the panel's width, K of its process row,
// whether equilibration moves rows, and the layout: the vectors of the order, of the lengths
// and of the lengths after equilibration.
func (l *library) spreadBlock(y int) int64 {
	b := trace.NewBuilder(fmt.Sprintf("spread-roll y=%d", y), 8)
	a := params(b, 8)
	panel, n, width, k0, uneven, order, lengths, equals := a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]
	at, zero := trace.Const(int64(y)), trace.Const(0)
	use := n
	if l.p.Swap == Mix {
		use = b.Max(use.Plus(int64(-l.p.SwapThreshold)), zero)
	}
	b.If(use, func() {
		b.Mark(beginSwap01, panel, n)
		if y == 0 {
			b.Compute(byForm(l.p.U, dlaswp01T, dlaswp01N), k0, n)
		}

		// Position 0, that of the panel's process row, spreads all rows of U over the others.
		// Each takes out its own part.
		rowBytes := b.Scale(doubleBytes, n)
		b.Mark(beginRight, n, zero)
		emitSpread(b, at, treePlace(l.p.P, 0, y, true), true,
			func(send bool, peer, lo, hi trace.Operand, then func(), _ int) {
				if hi = b.Min(hi, trace.Const(int64(l.p.P))); hi.Const > lo.Const {
					out, in := directed(send, b.Mul(b.VectorSum(lengths, lo, hi), rowBytes))
					b.Exchange(colFamily, position(b, order, peer), trace.Const(swapTag), out, in)
				}
				then()
			})
		b.Mark(endSpread)
		if y > 0 {
			b.Compute(byForm(l.p.U, dlaswp06T, dlaswp06N), b.VectorAt(lengths, at), n)
		}

		// Equilibration, if HPL is asked for it, makes the parts about equal: one source of rows
		// after the other, in ranges that share blocks (see evenBlock).
		if l.p.Equil {
			b.Mark(beginEquil, n)
			if l.p.P > 2 {
				b.If(uneven, func() {
					size := l.p.sourcesInRange()
					for lo := 0; lo < l.p.P; lo += size {
						b.Call(l.evenBlock(y, lo, size), at, trace.Const(int64(lo)), n, rowBytes, order, lengths, equals)
					}
				})
			}
			b.Mark(endEquil)
		}

		// The parts roll until all positions have all of them.
		b.Mark(beginRoll, n, equals, order)
		before, after := position(b, order, at.Plus(-1)), position(b, order, at.Plus(1))
		l.spread.roll.emit(b, y, l.p.P, [2]trace.Operand{equals, rowBytes}, before, after)
		b.Mark(endRoll)
		if l.p.U == Transposed {
			b.Compute(dlaswp10N, n, width)
		} else {
			b.Compute(dlaswp00N, width, n)
		}
		b.Mark(endSwap01)
	})
	return int64(l.add(b))
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
// The root receives at none: its level is that of the whole tree. A position that
// takes no part has no levels.
type tree struct{ levels, level int }

// treeLevels returns the levels of the tree from source to the positions after it, n in
// all, or to those before it.
func treeLevels(n, source int, right bool) int {
	if right {
		source = n - 1 - source
	}
	return bits.Len(uint(source))
}

// treePlace returns the place of position y in the spread from source to the positions after
// it, n in all, or to those before it.
func treePlace(n, source, y int, right bool) tree {
	levels, distance := treeLevels(n, source, right), source-y
	if right {
		distance = -distance
	}
	switch {
	case levels == 0 || distance < 0:
		return tree{}
	case distance == 0:
		return tree{levels, levels}
	}
	return tree{levels, bits.TrailingZeros(uint(distance))}
}

// emitSpread emits what position y, at place t of a tree, does in a spread to the positions
// after the source, or to those before it. A member receives at its own level and sends at
// those below; at level k, bit 1<<k, a message has the rows of so many positions, as far as
// these exist. All members poll after each level.
//
// hop moves the rows of the positions [lo, hi) to or from a peer, and then emits what follows
// by then. Where there is nothing to receive, a hop may make each of the levels that are left,
// the one at hand included, a poll alone: a member sends on parts of what it has received.
func emitSpread(b *trace.Builder, y trace.Operand, t tree, right bool,
	hop func(send bool, peer, lo, hi trace.Operand, then func(), levels int)) {
	sends := func(level int) {
		for k := level - 1; k >= 0; k-- {
			bit := int64(1) << k
			if poll := func() { b.Poll(slotBcast) }; right {
				hop(true, y.Plus(bit), y.Plus(bit), y.Plus(2*bit), poll, 1)
			} else { // HPL sends the rows of one position more than the receiver's subtree needs
				hop(true, y.Plus(-bit), y.Plus(-2*bit), y.Plus(1-bit), poll, 1)
			}
		}
	}
	if t.level >= t.levels {
		sends(t.levels)
		return
	}
	for range t.levels - 1 - t.level {
		b.Poll(slotBcast)
	}
	rest := func() {
		b.Poll(slotBcast)
		sends(t.level)
	}
	if bit := int64(1) << t.level; right {
		hop(false, y.Plus(-bit), y, y.Plus(bit), rest, t.level+1)
	} else {
		hop(false, y.Plus(bit), y.Plus(-bit), y.Plus(1), rest, t.level+1)
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
