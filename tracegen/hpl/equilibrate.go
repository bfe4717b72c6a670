package hpl

import (
	"fmt"
	"math/bits"

	"reprise/trace"
)

// equilibrate emits the spreads that even out the lengths, one source after the
// other. Ranges of about sqrt(P) sources share blocks: then the definitions grow
// with P sqrt(P), not with P squared. Rejected: ranges of ranges, which make the
// definitions smaller, but what counts them without expanding them slower.
func (l *library) equilibrate(b *trace.Builder, y int, a spreadArgs, rowBytes trace.Operand) {
	size := l.p.sourcesInRange()
	for lo := 0; lo < l.p.P; lo += size {
		b.Call(l.evenBlock(y, lo, size), trace.Const(int64(y)), trace.Const(int64(lo)), a.n, rowBytes, a.share, a.larger, a.order, a.lengths)
	}
}

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
	levels := leftLevels
	if key.after {
		levels = func(source int) int { return rightLevels(n, source) }
	}
	if levels(lo) == levels(last) {
		key.lo, key.levels = -1, levels(lo)
	}
	return key
}

// evenBlock moves the rows of the sources [lo, lo+size) as far as position y has
// a part in it. Its parameters are those of sourceBlock, for the first source.
func (l *library) evenBlock(y, lo, size int) int {
	key := rangeKeyOf(l.p.P, y, lo, size)
	if block, ok := l.spread.evens[key]; ok {
		return block
	}
	b := trace.NewBuilder(fmt.Sprintf("equil sources=%d", key.sources), 8)
	a := params(b, 8)
	for i := range key.sources {
		source := l.sourceBlock(sourceKey{right: rightTree(l.p.P, lo+i, y), left: leftTree(lo+i, y)})
		b.Call(source, append([]trace.Operand{a[0], a[1].Plus(int64(i))}, a[2:]...)...)
	}
	l.spread.evens[key] = l.add(b)
	return l.spread.evens[key]
}

// sourceKey names the block of a position for one source of equilibration: its
// places in the two trees.
type sourceKey struct{ right, left tree }

// sourceBlock moves the rows of one source that lie outside of its target
// interval to the positions whose targets they are in. Its parameters are the
// own position, the source, the columns, the bytes of a row, floor(jb/P) and
// jb mod P, and the vectors of order and lengths. Source: HPL 2.3 control flow,
// equilibration.
func (l *library) sourceBlock(key sourceKey) int {
	if block, ok := l.spread.sources[key]; ok {
		return block
	}
	b := trace.NewBuilder(fmt.Sprintf("equil right=%v left=%v", key.right, key.left), 8)
	a := params(b, 8)
	y, source, n, rowBytes, share, larger, order, lengths := a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]
	first := b.VectorSum(lengths, trace.Const(0), source)
	length := b.VectorAt(lengths, source)
	end := b.Sum(first, length)
	positive := func(x, y trace.Operand) trace.Operand { return b.Min(b.Max(b.Diff(x, y), trace.Const(0)), length) }
	goesLeft := positive(target(b, share, larger, source), first)
	goesRight := positive(end, target(b, share, larger, source.Plus(1)))

	s := &spreader{b: b, y: y}
	s.hop = func(send bool, at, lo, hi trace.Operand) {
		block := l.spread.receive
		if send {
			block = l.spread.send
		}
		b.Call(block, at, lo, hi, first, end, rowBytes, share, larger, order)
	}
	b.If(goesLeft, func() {
		b.Mark(beginLeft, n, source)
		s.left(key.left)
		b.Mark(endSpread)
	})
	b.If(goesRight, func() {
		b.Mark(beginRight, n, source)
		s.right(key.right)
		b.Mark(endSpread)
	})
	l.spread.sources[key] = l.add(b)
	return l.spread.sources[key]
}

// target returns the first row of position i's target: the first larger
// positions get a row more than share.
func target(b *trace.Builder, share, larger, i trace.Operand) trace.Operand {
	return b.Sum(b.Mul(share, i), b.Min(i, larger))
}

// hopBlock moves those rows of an interval that are in the targets of the
// positions [lo, hi). Its parameters are the peer's position, lo, hi, the
// interval, the bytes of a row, floor(jb/P) and jb mod P, and the order.
func (l *library) hopBlock(send bool) int {
	b := trace.NewBuilder(fmt.Sprintf("equil hop send=%t", send), 9)
	a := params(b, 9)
	at, first, end, rowBytes, share, larger, order := a[0], a[3], a[4], a[5], a[6], a[7], a[8]
	before := func(i trace.Operand) trace.Operand { // end of the rows before position i's target
		i = b.Max(b.Min(i, trace.Const(int64(l.p.P))), trace.Const(0))
		return b.Max(b.Min(target(b, share, larger, i), end), first)
	}
	rows := b.Diff(before(a[2]), before(a[1]))
	b.If(rows, func() {
		out, in := directed(send, b.Mul(rows, rowBytes))
		b.Exchange(colFamily, position(b, order, at), trace.Const(swapTag), out, in)
	})
	return l.add(b)
}
