package hpl

import (
	"slices"

	"reprise/trace"
)

// This file makes the blocks of panel broadcasts: library.initBlock makes a broadcast pending, bcastBody is what a
// process does when its poll lets it.

// bodyKey names the body of a panel broadcast: x is the distance from the root, small says that the message may
// have fewer doubles than pieces.
type bodyKey struct {
	x     int
	small bool
}

// initBlock makes the broadcast of a panel of w columns pending on the process column at distance x from the
// panel's. Its parameters are the panel's column, tag and process column, the rows below the diagonal block, and
// the size of a piece. Source: HPL 2.3 control flow, panel broadcast.
func (l *library) initBlock(w int64, x int) int64 {
	// Below the diagonal block a rank may have no rows: then the message is the block, its pivots and their
	// number alone.
	small := l.p.Bcast.IsLong() && w*w+w+1 < int64(l.pieces())
	body := l.once(bodyKey{x, small}, func() *trace.Builder { return l.bcastBody(x, small) })
	b, a := newBlock(5, "binit w=%d x=%d", w, x) // j tag pcol ml2 piece
	b.Mark(beginInit, a[0])
	if l.p.CopyL && x == 0 {
		b.Compute(dlacpy, a[3], trace.Const(w))
	}
	b.Mark(endInit)
	// A panel is sent as w columns of the rows below, the diagonal block of w by w, w pivots, and one number.
	length := b.Affine([]int64{w, 1}, a[3], trace.Const(w*w+w+1))
	args := []trace.Operand{a[0], a[1], a[2], length, a[4]}
	// The root, and all members of a long broadcast, can begin at any poll; others of a ring once the message
	// has arrived.
	if x == 0 || l.p.Bcast.IsLong() {
		b.Define(slotBcast, body, args...)
	} else {
		source := b.Member(rowFamily, a[2].Plus(int64(l.ringSource(x))))
		b.DefineGuarded(slotBcast, rowFamily, source, a[1], body, args...)
	}
	return int64(l.add(b))
}

// bcastBody is what the process column at distance x does once its poll lets it: its parameters are the panel's
// column, tag and process column, the doubles of the message, and of a piece.
func (l *library) bcastBody(x int, small bool) *trace.Builder {
	b, a := newBlock(5, "bcast x=%d", x)
	c := &caster{lib: l, b: b, x: x, tag: a[1], pcol: a[2], length: a[3], piece: a[4], peers: map[int]trace.Operand{}}
	b.Mark(beginBcast, a[0])
	var bytes trace.Operand // of the whole message, which Long alone never sends in one
	if l.p.Bcast != Long {
		bytes = b.Scale(doubleBytes, c.length)
	}
	switch {
	case l.p.Bcast.IsLong():
		// The modified one sends the whole panel to the next process column first, which has no part
		// in what follows: the rest spread and roll it.
		if l.p.Bcast == LongM && c.x == 0 {
			c.message(trace.OpSsend, 1, bytes)
		} else if l.p.Bcast == LongM && c.x == 1 {
			c.message(trace.OpRecv, 0, bytes)
			break
		}
		if l.pieces() > 1 {
			c.core(small)
		}
	// The root of a ring has the panel and only sends it.
	case c.x == 0:
		for _, target := range l.ringTargets() {
			c.message(trace.OpSend, target, bytes)
		}
	default:
		source := l.ringSource(c.x)
		b.Probed(rowFamily, c.peer(source), c.tag)
		c.message(trace.OpRecv, source, bytes)
		if l.ringForwards(c.x) {
			c.message(trace.OpSend, c.x+1, bytes)
		}
	}
	b.Mark(endBcast, a[0])
	return b
}

// ringTargets lists the distances that the root of a ring broadcast sends to, in order.
func (l *library) ringTargets() []int {
	q := l.p.Q
	// Rings with M serve the next process column first, by itself: it is the one that factors the next panel.
	// Two rings part the columns in two halves.
	half := (q + 1) / 2
	switch {
	case l.p.Bcast == OneRing || q == 2:
		return []int{1}
	case l.p.Bcast == OneRingM:
		return []int{1, 2}
	case l.p.Bcast == TwoRing || half == 2:
		return []int{1, half}
	}
	return []int{1, 2, half}
}

// ringSource returns the distance that x receives from.
func (l *library) ringSource(x int) int {
	if slices.Contains(l.ringTargets(), x) {
		return 0
	}
	return x - 1
}

// ringForwards reports whether x sends the panel on to x+1.
func (l *library) ringForwards(x int) bool { return x+1 < l.p.Q && l.ringSource(x+1) == x }

// pieces returns how many members spread and roll a long broadcast.
func (l *library) pieces() int {
	if l.p.Bcast == LongM {
		return l.p.Q - 1
	}
	return l.p.Q
}

// caster emits the body of a panel broadcast for one distance x.
type caster struct {
	lib           *library
	b             *trace.Builder
	x             int
	tag, pcol     trace.Operand
	length, piece trace.Operand         // doubles
	peers         map[int]trace.Operand // by distance
}

// peer returns the world rank at distance x.
func (c *caster) peer(x int) trace.Operand {
	if _, ok := c.peers[x]; !ok {
		c.peers[x] = c.b.Member(rowFamily, c.pcol.Plus(int64(x)))
	}
	return c.peers[x]
}

// message emits a message to or from the process column at distance x, along the process row.
func (c *caster) message(op trace.Op, x int, bytes trace.Operand) {
	c.b.Message(op, rowFamily, 0, c.peer(x), c.tag, bytes)
}

// position returns the place of this process column among those that spread and roll.
func (c *caster) position() int {
	if c.lib.p.Bcast == LongM && c.x > 0 {
		return c.x - 1
	}
	return c.x
}

// member returns the world rank at a position.
func (c *caster) member(y int) trace.Operand { return c.peer(c.distance(y)) }

// distance returns the distance from the root of a position, taken mod the number of them.
func (c *caster) distance(y int) int {
	if y = int(mod(int64(y), int64(c.lib.pieces()))); c.lib.p.Bcast == LongM && y > 0 {
		y++
	}
	return y
}

// core spreads the pieces of the message along a tree and rolls them until every member has all of them. Only the
// messages of tiny panels have fewer doubles than pieces (small): then the first pieces have one double each, and
// the others none.
func (c *caster) core(small bool) {
	whole := func() {
		c.spread(c.run)
		c.roll()
	}
	if !small {
		whole()
		return
	}
	n, y := c.lib.pieces(), c.position()
	after, before := c.member(y+1), c.member(y-1)
	for bit := hi(n - 1); bit >= 1; bit /= 2 { // looked up here, so that both branches can use them
		if peer, _, ok := treePeer(y, bit, n); ok {
			c.member(peer)
		}
	}
	c.b.If(c.b.Max(c.length.Plus(1-int64(n)), trace.Const(0)), whole)
	c.b.If(c.b.Max(c.b.Affine([]int64{-1, 1}, c.length, trace.Const(int64(n))), trace.Const(0)), func() {
		c.spread(func(lo, hi int) trace.Operand {
			upper := c.b.Min(c.length, trace.Const(int64(hi)))
			lower := c.b.Min(c.length, trace.Const(int64(lo)))
			return c.b.Affine([]int64{doubleBytes, -doubleBytes}, upper, lower)
		})
		// The operands of the roll are the tag and the doubles of the message.
		clipped := roll{c.lib, "clipped", func(b *trace.Builder, operands [2]trace.Operand, peer, out, in trace.Operand) {
			n, one := int64(n), trace.Const(1)
			size := func(piece trace.Operand) trace.Operand {
				// Piece numbers are at most n away from [0, n), so one addition brings them back.
				below := b.Min(b.Max(b.Scale(-1, piece), trace.Const(0)), one) // piece < 0
				above := b.Min(b.Max(piece.Plus(1-n), trace.Const(0)), one)    // piece >= n
				piece = b.Affine([]int64{1, n, -n}, piece, below, above)
				upper := b.Min(operands[1], piece.Plus(1))
				return b.Affine([]int64{doubleBytes, -doubleBytes}, upper, b.Min(operands[1], piece))
			}
			c.exchange(b, peer, operands[0], size(out), size(in), true)
		}}
		clipped.emit(c.b, y, n, [2]trace.Operand{c.tag, c.length}, before, after)
	})
}

// run returns the bytes of the pieces [lo, hi) when no piece is empty: the last
// piece, number pieces-1, reaches to the end of the message.
func (c *caster) run(lo, hi int) trace.Operand {
	if hi >= c.lib.pieces() {
		return c.b.Affine([]int64{doubleBytes, int64(-doubleBytes * lo)}, c.length, c.piece)
	}
	return c.b.Scale(int64(doubleBytes*(hi-lo)), c.piece)
}

// spread emits the tree; size gives the bytes of a range of pieces. Empty messages are sent, too.
func (c *caster) spread(size func(lo, hi int) trace.Operand) {
	n, y := c.lib.pieces(), c.position()
	for bit := hi(n - 1); bit >= 1; bit /= 2 {
		peer, receives, ok := treePeer(y, bit, n)
		op, first := trace.OpSsend, peer
		if receives {
			op, first = trace.OpRecv, y
		} else if c.lib.p.Program.roc() {
			op = trace.OpSend
		}
		if !ok {
			continue
		}
		bytes := size(first, min(first+bit, n))
		message := func() { c.message(op, c.distance(peer), bytes) }
		if c.lib.p.Program.roc() {
			c.member(peer) // looked up here, as the condition's body ends
			c.b.If(bytes, message)
		} else {
			message()
		}
	}
}

// exchange emits a step of a roll. Only the messages of rocHPL that may be empty are left out then.
func (c *caster) exchange(b *trace.Builder, peer, tag, out, in trace.Operand, empty bool) {
	switch {
	case !c.lib.p.Program.roc():
		b.SyncExchange(rowFamily, peer, tag, out, in)
	case empty:
		b.In(trace.MemoryDevice)
		partialExchange(b, rowFamily, peer, tag, out, in)
	default:
		b.Exchange(rowFamily, peer, tag, out, in)
	}
}

// roll emits the roll of pieces that are all of the same size but the last. Steps that repeat become loops.
func (c *caster) roll() {
	n, y := c.lib.pieces(), c.position()
	// Sizes and neighbours are looked up once, before the loops that use them.
	neighbours := [2]trace.Operand{c.member(y - 1), c.member(y + 1)}
	sizes := map[bool]trace.Operand{false: c.run(0, 1), true: c.run(n-1, n)}
	emit := func(k int) { // step k of n-1: pieces travel both ways between neighbours, in turn
		l := k / 2
		next, out, in := 1, (y-l+n)%n, (y+l+1)%n
		if (y+k)%2 == 1 {
			next, out, in = 0, (y+l)%n, (y-l-1+n)%n
		}
		c.exchange(c.b, neighbours[next], c.tag, sizes[out == n-1], sizes[in == n-1], false)
	}
	odd := (y + 1) % 2 // of the steps with the position before
	lasts := [...]int{ // the steps in which the last piece
		2*((n-1-y)%n) + odd, 2*(y%n) + odd, // goes out to and comes in from the position before,
		2*((y+1)%n) + 1 - odd, 2*((2*n-2-y)%n) + 1 - odd, // and that after
	}
	for k := 0; k < n-1; {
		next := n - 1 // of them, or the end
		for _, at := range lasts {
			if at >= k {
				next = min(next, at)
			}
		}
		// Steps without the last piece are alike but for the neighbour, which alternates: pairs of them become a loop.
		turns := (next - k) / 2
		if turns < 2 {
			emit(k)
			k++
			continue
		}
		c.b.Loop(trace.Const(int64(turns)), func() {
			emit(k)
			emit(k + 1)
		})
		k += 2 * turns
	}
}

// roll makes the blocks of rolls whose pieces all differ in size. Two steps are a turn, and a chain of 2^k turns
// consists of two chains of half the length: so a roll of n positions takes log(n) blocks, which all positions share.
type roll struct {
	lib  *library
	kind string // tells its blocks from those of other rolls
	// step emits a step, in place: it is what most of a program's time goes to. The pieces out
	// and in are numbers that are taken mod n.
	step func(b *trace.Builder, operands [2]trace.Operand, peer, out, in trace.Operand)
}

// chainKey names a chain of 2^log turns. Its parameters are the two operands of the roll, the peers of the first
// and of the second step of a turn, and the pieces a and b that these send. The first receives b+sign, the second
// a-sign; with each turn a falls and b rises by sign.
type chainKey struct {
	kind string
	sign int64
	log  int
}

// chain returns the block of a chain.
func (r *roll) chain(sign int64, log int) int {
	return r.lib.once(chainKey{r.kind, sign, log}, func() *trace.Builder {
		b, p := newBlock(6, "roll turns=%d", 1<<log)
		x, y, first, second, out, back := p[0], p[1], p[2], p[3], p[4], p[5]
		if log == 0 {
			r.step(b, [2]trace.Operand{x, y}, first, out, back.Plus(sign))
			r.step(b, [2]trace.Operand{x, y}, second, back, out.Plus(-sign))
		} else {
			half, by := r.chain(sign, log-1), sign<<(log-1)
			b.Call(half, p...)
			b.Call(half, x, y, first, second, out.Plus(-by), back.Plus(by))
		}
		return b
	})
}

// emit calls the roll of position y of n, with two operands and the ranks of the positions before and after.
func (r *roll) emit(b *trace.Builder, y, n int, operands [2]trace.Operand, before, after trace.Operand) {
	// Even positions turn to the next one first, odd ones to the one before: so neighbours meet.
	first, second, sign := after, before, int64(1)
	if y%2 == 1 {
		first, second, sign = before, after, -1
	}
	out, back := int64(y), int64(y)
	// The turns are the sum of powers of two, for each of which a chain exists.
	for turns := (n - 1) / 2; turns > 0; {
		log := log2(turns)
		b.Call(r.chain(sign, log), operands[0], operands[1], first, second, trace.Const(out), trace.Const(back))
		out, back = out-sign<<log, back+sign<<log
		turns -= 1 << log
	}
	// Of an odd number of steps one is left, the first half of a turn.
	if n%2 == 0 {
		r.step(b, operands, first, trace.Const(out), trace.Const(back+sign))
	}
}
