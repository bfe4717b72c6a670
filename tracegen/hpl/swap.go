package hpl

import (
	"math/bits"

	"reprise/trace"
)

// This file makes the row swaps of an update, by binary exchange (library.binarySwap) and by spread-roll
// (library.spreadBlock).

// binarySwap emits the row swap by binary exchange of the process row at distance d. Each swapped row that a process
// owns travels as its columns and an index; U travels whole. A poll of the pending broadcast follows each round. The
// operands are the panel's column (for its marker), the columns to swap, the panel's process row, and the vector of the
// counts K, the rows that take part, by distance from it. Source: HPL 2.3 control flow, binary exchange.
func (l *library) binarySwap(b *trace.Builder, w int64, d int, panel, n, prow, counts trace.Operand) {
	size, cube := l.p.P, hi(l.p.P) // process rows; those of the hypercube, the largest power of two among them
	none := trace.Const(0)
	u := b.Scale(doubleBytes*w, n)
	rowBytes := b.Scale(doubleBytes, n.Plus(1)) // a row in transit, with its index
	count := func(d int) trace.Operand { return b.VectorAt(counts, trace.Const(int64(d))) }
	bytes := func(rows trace.Operand) trace.Operand { return b.Mul(rows, rowBytes) }
	swap := func(peer int, out, in trace.Operand) {
		b.Exchange(colFamily, b.Member(colFamily, prow.Plus(int64(peer))), trace.Const(swapTag), out, in)
	}
	b.Mark(beginSwap00, panel, n)

	// The own rows are gathered: those of the current process row into U, others into a buffer.
	if d == 0 {
		b.Compute(byForm(l.p.U, dlaswp01T, dlaswp01N), count(0), n)
	} else {
		b.Compute(dlaswp02N, count(d), n)
	}
	l.poll(b)

	// The rows of the extra processes, if there are any, come into the hypercube. Only the
	// partner of the current process row gets U at this stage.
	switch peer := d ^ cube; {
	case peer >= size:
	case d == 0:
		rows := count(peer)
		swap(peer, u, bytes(rows))
		b.If(rows, func() { b.Compute(byForm(l.p.U, dlaswp03T, dlaswp03N), rows, n) })
	case peer == 0:
		swap(peer, bytes(count(d)), u)
	case d < peer:
		swap(peer, none, bytes(count(peer)))
	default:
		swap(peer, bytes(count(d)), none)
	}
	l.poll(b)

	// gathered returns how many rows the process at distance d has collected after a number of
	// rounds: those of its subcube, with the extra processes that were folded into it. Rows of
	// the current process row, and those of its extra partner, never travel on.
	gathered := func(d, round int) trace.Operand {
		lo := d >> round << round
		end := lo + 1<<round
		if lo = max(lo, 1); lo >= end {
			return none
		}
		rows := b.VectorSum(counts, trace.Const(int64(lo)), trace.Const(int64(end)))
		if end = min(end, size-cube); lo < end {
			extra := b.VectorSum(counts, trace.Const(int64(lo+cube)), trace.Const(int64(end+cube)))
			rows = b.Sum(rows, extra)
		}
		return rows
	}

	// Rounds of the hypercube: U spreads from the current process row to one more dimension in
	// each, and rows come back; those who have no U yet collect rows among themselves.
	for round := 0; d < cube && 1<<round < cube; round++ {
		bit := 1 << round
		peer := d ^ bit
		switch {
		case d < bit:
			rows := gathered(peer, round)
			swap(peer, u, bytes(rows))
			b.Compute(byForm(l.p.U, dlaswp03T, dlaswp03N), rows, n)
		case d < 2*bit:
			rows := gathered(d, round)
			swap(peer, bytes(rows), u)
			b.Compute(byForm(l.p.U, dlaswp04T, dlaswp04N), count(d), rows, n)
		default:
			swap(peer, bytes(gathered(d, round)), bytes(gathered(peer, round)))
		}
		l.poll(b)
	}

	// The extra processes pass the original rows along a tree of their own, from the partner of
	// the current process row, and take their own out of them.
	if d >= cube {
		extra := size - cube
		for bit := hi(max(1, extra-1)); extra > 1 && bit >= 1; bit /= 2 {
			if peer, receives, ok := treePeer(d-cube, bit, extra); ok {
				out, in := directed(!receives, u)
				swap(peer+cube, out, in)
			}
			l.poll(b)
		}
		b.Compute(byForm(l.p.U, dlaswp05T, dlaswp05N), count(d), n)
	}

	// The hypercube gives the final U to the extra processes.
	if peer := d ^ cube; peer < size {
		out, in := directed(d < peer, u)
		swap(peer, out, in)
	}
	l.poll(b)
	b.Mark(endSwap00)
}

// layout is how the rows of U are dealt to the process rows during a swap by spread-roll: position i, held by process
// row order[i], owns lengths[i] of them. Source: HPL 2.3 control flow, spread-roll, lengths and order.
type layout struct {
	order, lengths []int64
	uneven         bool    // equilibration moves rows
	equal          []int64 // lengths after equilibration
}

// newLayout deals the jb rows of a panel of process row prow; counts is K by distance.
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

// spreadBlock swaps rows by spread-roll on the process row at position y. Its parameters are the panel's column, the
// columns to swap, the panel's width, K of its process row, whether equilibration moves rows, and the layout: the
// vectors of the order, of the lengths and of the lengths after equilibration.
func (l *library) spreadBlock(y int) int64 {
	b, a := newBlock(8, "spread-roll y=%d", y)
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
		l.emitSpread(b, at, treePlace(l.p.P, 0, y, true), true,
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
		parts := roll{l, "rows", l.rowsStep}
		parts.emit(b, y, l.p.P, [2]trace.Operand{equals, rowBytes}, before, after)
		b.Mark(endRoll)
		computeByForm(b, l.p.U, dlaswp10N, dlaswp00N, n, width)
		b.Mark(endSwap01)
	})
	return int64(l.add(b))
}

// rowsStep emits a step of a roll: the operands are the vector of lengths and the bytes of a row, the pieces the
// positions whose rows go out and come in. The receive is nonblocking even where nothing is sent.
func (l *library) rowsStep(b *trace.Builder, operands [2]trace.Operand, peer, sent, received trace.Operand) {
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
	l.poll(b)
}

// tree is a position's place in the tree of a spread: how many levels the tree has, and at which of them, counted
// from the leaves, the position receives. The root receives at none: its level is that of the whole tree. A
// position that takes no part has no levels.
type tree struct{ levels, level int }

// treeLevels returns the levels of the tree from source to the positions after it, n in all, or to those before it.
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

// emitSpread emits what position y, at place t of a tree, does in a spread to the positions after the source, or to
// those before it. A member receives at its own level and sends at those below; at level k, bit 1<<k, a message has the
// rows of so many positions, as far as these exist. All members poll after each level. hop moves the rows of the
// positions [lo, hi) to or from a peer, and then emits what follows by then. Where there is nothing to receive, a hop
// may make each of the levels that are left, the one at hand included, a poll alone: a member sends on parts of what it
// has received.
func (l *library) emitSpread(b *trace.Builder, y trace.Operand, t tree, right bool,
	hop func(send bool, peer, lo, hi trace.Operand, then func(), levels int)) {
	sends := func(level int) {
		for k := level - 1; k >= 0; k-- {
			bit := int64(1) << k
			if poll := func() { l.poll(b) }; right {
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
		l.poll(b)
	}
	rest := func() {
		l.poll(b)
		sends(t.level)
	}
	if bit := int64(1) << t.level; right {
		hop(false, y.Plus(-bit), y, y.Plus(bit), rest, t.level+1)
	} else {
		hop(false, y.Plus(bit), y.Plus(-bit), y.Plus(1), rest, t.level+1)
	}
}

// directed returns the two sides of an exchange that only sends, or only receives, the given bytes.
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

// sourcesInRange returns a power of two near sqrt(P).
func (p *Params) sourcesInRange() int { return 1 << (log2(p.P) / 2) }

// rangeKey names what position y does for a range of sources, as far as it depends on the place of the range and on y.
// For a source, y's place in a tree depends on the trailing zeros of its distance, and on the levels of the tree. So
// for all of a range that y is not in, the place depends on the distance mod the size of the range, on the trailing
// zeros of the one distance that this size divides, and on the levels, unless these change within the range.
type rangeKey struct {
	lo, sources   int // lo: -1 where only what follows matters
	y             int // -1 where only what follows matters
	after         bool
	residue, zero int
	levels        int
}

// evenBlock moves the rows of the sources [lo, lo+size), size a power of two that divides lo, as far as there are so
// many and position y has a part in it. Its parameters are those of sourceBlock, for the first source. Ranges of about
// sqrt(P) sources share blocks: then the definitions grow with P sqrt(P), not with P squared. Rejected: ranges of
// ranges, which make the definitions smaller, but counting them without expanding them slower.
func (l *library) evenBlock(y, lo, size int) int {
	last := min(lo+size, l.p.P) - 1
	key := rangeKey{lo: lo, sources: last + 1 - lo, y: y}
	if y < lo || y > last {
		key.y, key.after = -1, y > last
		key.residue = (y - lo) & (size - 1)
		key.zero = bits.TrailingZeros(uint(y - lo - key.residue))
		if levels := treeLevels(l.p.P, lo, key.after); levels == treeLevels(l.p.P, last, key.after) {
			key.lo, key.levels = -1, levels
		}
	}
	return l.once(key, func() *trace.Builder {
		b, a := newBlock(sourceParams, "equil sources=%d", key.sources)
		for i := range key.sources {
			of := sourceKey{treePlace(l.p.P, lo+i, y, true), treePlace(l.p.P, lo+i, y, false)}
			source := l.once(of, func() *trace.Builder { return l.sourceBlock(of) })
			b.Call(source, append([]trace.Operand{a[0], a[1].Plus(int64(i))}, a[2:]...)...)
		}
		return b
	})
}

// sourceKey names the block of a position for one source of equilibration: its places in the two trees.
type sourceKey struct{ right, left tree }

// sourceParams are the parameters of a sourceBlock: the own position, the source, the columns,
// the bytes of a row, and the vectors of the order, of the lengths and of what they are to be.
const sourceParams = 7

// sourceBlock moves the rows of one source that lie outside of its target interval to the positions whose targets
// they are in. Source: HPL 2.3 control flow, equilibration.
func (l *library) sourceBlock(key sourceKey) *trace.Builder {
	b, a := newBlock(sourceParams, "equil right=%v left=%v", key.right, key.left)
	y, source, n, rowBytes, order, lengths, equals := a[0], a[1], a[2], a[3], a[4], a[5], a[6]
	first := b.VectorSum(lengths, trace.Const(0), source)
	length := b.VectorAt(lengths, source)
	end := b.Sum(first, length)
	target := func(i trace.Operand) trace.Operand { return b.VectorSum(equals, trace.Const(0), i) }
	positive := func(x, y trace.Operand) trace.Operand { return b.Min(b.Max(b.Diff(x, y), trace.Const(0)), length) }
	spread := func(rows trace.Operand, begin int, t tree, right bool) {
		key := treeKey{t, right}
		block := l.once(key, func() *trace.Builder { return l.evenTree(key) })
		b.If(rows, func() {
			b.Mark(begin, n, source)
			b.Call(block, y, first, end, rowBytes, order, equals)
			b.Mark(endSpread)
		})
	}
	goesLeft := positive(target(source), first)
	goesRight := positive(end, target(source.Plus(1)))
	spread(goesLeft, beginLeft, key.left, false)
	spread(goesRight, beginRight, key.right, true)
	return b
}

// treeKey names the block of a place in a tree of equilibration, to the right of the source or to the left.
type treeKey struct {
	tree
	right bool
}

// evenTree moves the rows of a source, [first, end), along a tree to the positions in whose targets they are. Its
// parameters are the own position, the rows, the bytes of one, and the vectors of the order and of the lengths
// after equilibration. Levels without rows for them have no message.
func (l *library) evenTree(key treeKey) *trace.Builder {
	b, a := newBlock(6, "equil right=%t %v", key.right, key.tree)
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
	l.emitSpread(b, y, key.tree, key.right, func(send bool, peer, lo, hi trace.Operand, then func(), levels int) {
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
				l.poll(b)
			}
		})
	})
	return b
}
