package hpl

import (
	"fmt"
	"math/bits"

	"reprise/trace"
)

// sourcesInRange returns a power of two near sqrt(P).
func (p *Params) sourcesInRange() int { return 1 << (log2(p.P) / 2) }

// rangeKey names what position y does for a range of sources, as far as it
// depends on the place of the range and on y: see rangeKeyOf.
type rangeKey struct {
	lo, sources   int // lo: -1 where only what follows matters
	y             int // -1 where only what follows matters
	after         bool
	residue, zero int
	levels        int
}

// rangeKeyOf names the range of sources [lo, lo+size), size a power of two that
// divides lo, as far as there are n. For a source, y's place in a tree depends on
// the trailing zeros of its distance, and on the levels of the tree. So for all
// of a range that y is not in, the place depends on the distance mod size, on the
// trailing zeros of the one distance that size divides, and on the levels, unless
// these change within the range.
func rangeKeyOf(n, y, lo, size int) rangeKey {
	last := min(lo+size, n) - 1
	key := rangeKey{lo: lo, sources: last + 1 - lo, y: y}
	if lo <= y && y <= last {
		return key
	}
	key.y, key.after = -1, y > last
	key.residue = (y - lo) & (size - 1)
	key.zero = bits.TrailingZeros(uint(y - lo - key.residue))
	if levels := treeLevels(n, lo, key.after); levels == treeLevels(n, last, key.after) {
		key.lo, key.levels = -1, levels
	}
	return key
}

// evenBlock moves the rows of the sources [lo, lo+size) as far as position y has
// a part in it. Its parameters are those of sourceBlock, for the first source.
//
// Ranges of about sqrt(P) sources share blocks: then the definitions grow with P sqrt(P),
// not with P squared. Rejected: ranges of ranges, which make the definitions smaller, but
// counting them without expanding them slower.
func (l *library) evenBlock(y, lo, size int) int {
	key := rangeKeyOf(l.p.P, y, lo, size)
	if block, ok := l.spread.evens[key]; ok {
		return block
	}
	b := trace.NewBuilder(fmt.Sprintf("equil sources=%d", key.sources), sourceParams)
	a := params(b, sourceParams)
	for i := range key.sources {
		source := l.sourceBlock(sourceKey{treePlace(l.p.P, lo+i, y, true), treePlace(l.p.P, lo+i, y, false)})
		b.Call(source, append([]trace.Operand{a[0], a[1].Plus(int64(i))}, a[2:]...)...)
	}
	l.spread.evens[key] = l.add(b)
	return l.spread.evens[key]
}

// sourceKey names the block of a position for one source of equilibration: its
// places in the two trees.
type sourceKey struct{ right, left tree }

// sourceParams are the parameters of a sourceBlock: the own position, the source, the columns,
// the bytes of a row, and the vectors of the order, of the lengths and of what they are to be.
const sourceParams = 7

// sourceBlock moves the rows of one source that lie outside of its target
// interval to the positions whose targets they are in. Source: HPL 2.3 control flow,
// equilibration.
func (l *library) sourceBlock(key sourceKey) int {
	if block, ok := l.spread.sources[key]; ok {
		return block
	}
	b := trace.NewBuilder(fmt.Sprintf("equil right=%v left=%v", key.right, key.left), sourceParams)
	a := params(b, sourceParams)
	y, source, n, rowBytes, order, lengths, equals := a[0], a[1], a[2], a[3], a[4], a[5], a[6]
	first := b.VectorSum(lengths, trace.Const(0), source)
	length := b.VectorAt(lengths, source)
	end := b.Sum(first, length)
	target := func(i trace.Operand) trace.Operand { return b.VectorSum(equals, trace.Const(0), i) }
	positive := func(x, y trace.Operand) trace.Operand { return b.Min(b.Max(b.Diff(x, y), trace.Const(0)), length) }
	spread := func(rows trace.Operand, begin int, block int) {
		b.If(rows, func() {
			b.Mark(begin, n, source)
			b.Call(block, y, first, end, rowBytes, order, equals)
			b.Mark(endSpread)
		})
	}
	goesLeft := positive(target(source), first)
	goesRight := positive(end, target(source.Plus(1)))
	spread(goesLeft, beginLeft, l.evenTree(key.left, false))
	spread(goesRight, beginRight, l.evenTree(key.right, true))
	l.spread.sources[key] = l.add(b)
	return l.spread.sources[key]
}

// treeKey names the block of a place in a tree of equilibration, to the right of the source or to
// the left.
type treeKey struct {
	tree
	right bool
}

// evenTree moves the rows of a source, [first, end), along a tree to the positions in whose
// targets they are. Its parameters are the own position, the rows, the bytes of one, and the
// vectors of the order and of the lengths after equilibration. Levels without rows for them
// have no message.
func (l *library) evenTree(t tree, right bool) int {
	key := treeKey{t, right}
	if block, ok := l.spread.trees[key]; ok {
		return block
	}
	b := trace.NewBuilder(fmt.Sprintf("equil right=%t %v", right, t), 6)
	a := params(b, 6)
	y, first, end, rowBytes, order, equals := a[0], a[1], a[2], a[3], a[4], a[5]

	// rowsBefore returns the end of the rows before the target of a position, which is y and a
	// constant, and need not exist.
	known := map[trace.Operand]trace.Operand{}
	rowsBefore := func(at trace.Operand) trace.Operand {
		if v, ok := known[at]; ok {
			return v
		}
		i := at
		if offset := at.Const; offset > 1 { // y is one of [0, P)
			i = b.Min(i, trace.Const(int64(l.p.P)))
		} else if offset < 0 {
			i = b.Max(i, trace.Const(0))
		}
		target := b.VectorSum(equals, trace.Const(0), i)
		known[at] = b.Max(b.Min(target, end), first)
		return known[at]
	}
	emitSpread(b, y, t, right, func(send bool, peer, lo, hi trace.Operand, then func(), levels int) {
		rows := b.Diff(rowsBefore(hi), rowsBefore(lo))
		b.If(rows, func() {
			out, in := directed(send, b.Mul(rows, rowBytes))
			b.Exchange(colFamily, position(b, order, peer), trace.Const(swapTag), out, in)
			if !send {
				then()
			}
		})
		if send {
			then()
			return
		}
		b.If(b.Eq(rows, trace.Const(0)), func() {
			for range levels {
				b.Poll(slotBcast)
			}
		})
	})
	l.spread.trees[key] = l.add(b)
	return l.spread.trees[key]
}
