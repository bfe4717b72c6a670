package hpl

import "reprise/trace"

// This file makes the blocks of rocHPL's panel broadcasts, which block the host. Rings pass the panel on in chunks.

// rocChunk is the size of a chunk, in doubles.
const rocChunk = 262144

// Request slots of a ring.
const (
	slotRecv = iota
	slotSend
)

// rocBcastBlock broadcasts a panel on the process column at distance x from the panel's. Its parameters are the panel's
// column and process column, the doubles of the message, and how it is cut, as rocCut has it: for each of two flows
// the whole chunks before the last one and the doubles of that, or for a long broadcast the doubles of a piece first.
func (l *library) rocBcastBlock(x int) int64 {
	b, a := newBlock(7, "bcast x=%d", x)
	j, pcol := a[0], a[1]
	c := &caster{lib: l, b: b, x: x, tag: trace.Const(0), pcol: pcol, length: a[2], piece: a[3], peers: map[int]trace.Operand{}}
	b.Mark(beginRocBcast, j)
	b.In(trace.MemoryDevice)
	if l.p.Q > 1 {
		// The modified forms send the process column behind the panel's the whole of it first.
		modified := l.p.Bcast == OneRingM || l.p.Bcast == TwoRingM || l.p.Bcast == LongM
		if modified && x <= 1 {
			op := trace.OpSend
			if x == 1 {
				op = trace.OpRecv
			}
			b.Message(op, rowFamily, 0, c.peer(1-x), pcol, b.Scale(doubleBytes, c.length))
		}
		switch {
		case modified && (x == 1 || l.p.Q == 2):
		case l.p.Bcast.IsLong():
			if l.p.Bcast == LongM {
				c.tag = pcol
			}
			c.core(l.p.NB < c.lib.pieces()) // a message has more doubles than NB
		default:
			c.chain(modified, a[3], a[4], 1)
			if l.p.Bcast == TwoRing || l.p.Bcast == TwoRingM {
				b.If(a[6], func() { c.chain(modified, a[5], a[6], -1) })
			}
		}
		// Pivots are in the message: the host wants the rows that each process row takes part with.
		if x > 0 && !l.host() {
			b.Launch(queueData, rocCopyOut, false, trace.Const(4*int64(l.p.P+2)))
			b.Queue(trace.QueueSync, queueData, 0)
		}
	}
	b.Mark(endRocBcast)
	return int64(l.add(b))
}

// rocCut returns how a message of c doubles is cut.
func (l *library) rocCut(c int64) (cut [4]int64) {
	if l.p.Bcast.IsLong() {
		return [4]int64{max(1, c/int64(max(1, l.pieces())))}
	}
	chunks := (c + rocChunk - 1) / rocChunk
	whole := func(n, c int64) (int64, int64) { return max(0, n-1), c - max(0, n-1)*rocChunk }
	if chunks > 1 && (l.p.Bcast == TwoRing || l.p.Bcast == TwoRingM) { // the first half goes up, the second down
		up := (chunks + 1) / 2
		cut[2], cut[3] = whole(chunks-up, c-up*rocChunk)
		chunks, c = up, up*rocChunk
	}
	cut[0], cut[1] = whole(chunks, c)
	return cut
}

// chain passes chunks on from the root to the last member, upwards or, with direction -1, downwards: whole chunks and
// then one of last doubles. Without the process column that has been served, if the form is modified. A member sends a
// chunk on when it has it and has sent the one before.
func (c *caster) chain(modified bool, whole, last trace.Operand, direction int) {
	n, y := c.lib.p.Q, c.x
	if modified {
		if n--; y > 0 {
			y--
		}
	}
	at := func(y int) int { // distance of a member
		if y = (y%n + n) % n; modified && y > 0 {
			y++
		}
		return y
	}
	receives, sends := y > 0, y < n-1
	if direction < 0 {
		sends = y != 1
	}
	if n == 1 {
		return
	}
	b := c.b
	var peers, tags [2]trace.Operand // of the member before and behind
	if receives {
		peers[slotRecv], tags[slotRecv] = c.peer(at(y-direction)), c.column(at(y-direction))
	}
	if sends {
		peers[slotSend], tags[slotSend] = c.peer(at(y+direction)), c.column(c.x)
	}
	chunk := func(doubles trace.Operand, first bool) {
		bytes := b.Scale(doubleBytes, doubles)
		if receives {
			b.Message(trace.OpIrecv, rowFamily, slotRecv, peers[slotRecv], tags[slotRecv], bytes)
			b.Complete(trace.CompleteAny, slotRecv)
		}
		if sends {
			if !first {
				b.Complete(trace.CompleteAny, slotSend)
			}
			b.Message(trace.OpIsend, rowFamily, slotSend, peers[slotSend], tags[slotSend], bytes)
		}
	}
	size := trace.Const(rocChunk)
	b.If(whole, func() {
		chunk(size, true)
		b.Loop(whole.Plus(-1), func() { chunk(size, false) })
		chunk(last, false)
	})
	b.If(b.Eq(whole, trace.Const(0)), func() { chunk(last, true) })
	if sends {
		b.Complete(trace.CompleteAny, slotSend)
	}
}

// column returns the process column at distance x, which is a tag.
func (c *caster) column(x int) trace.Operand {
	q := int64(c.lib.p.Q)
	at := c.pcol.Plus(int64(x))
	beyond := c.b.Min(c.b.Max(at.Plus(1-q), trace.Const(0)), trace.Const(1)) // 1 if at >= Q
	return c.b.Affine([]int64{1, -q}, at, beyond)
}
