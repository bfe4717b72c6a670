package hpl

import (
	"fmt"

	"reprise/trace"
)

// This file makes the blocks of trailing updates: updateBlock a whole one; updateHead and updateWork its begin and
// end where a spread-roll comes in between (library.width).

// mayRoll reports whether row swaps may be done by spread-roll.
func (l *library) mayRoll() bool { return l.p.P > 1 && l.p.Swap != BinaryExchange }

// updateBlock is a whole update: its parameters are the panel's column, the polled panel's column or -1, the columns,
// the rows below the diagonal block, the panel's process row, and the counts of swapped rows. Panels without columns,
// and processes without columns, only wait for the polled broadcast. Source: HPL 2.3 control flow, trailing update.
func (l *library) updateBlock(w int64, d int) int64 {
	work := l.workBlock(w, d)
	b, a := newBlock(6, "update w=%d d=%d", w, d)
	l.markUpdate(b, a[0], a[1], a[2])
	if w > 0 {
		b.If(a[2], func() {
			l.poll(b)
			if l.p.P > 1 {
				l.binarySwap(b, w, d, a[0], a[2], a[4], a[5])
			}
			b.Work(slotBcast, a[2], trace.Const(int64(l.p.NB)), work, a[3])
		})
	}
	b.PollWait(slotBcast)
	b.Mark(endUpdate)
	return int64(l.add(b))
}

// poll polls the pending broadcast once. Without look-ahead none is pending in an update.
func (l *library) poll(b *trace.Builder) {
	if l.p.lookAhead() > 0 {
		b.Poll(slotBcast)
	}
}

// markUpdate marks the begin of an update of n columns. Without look-ahead HPL
// asks for all columns, -1; with it, for the number that is left.
func (l *library) markUpdate(b *trace.Builder, panel, bcast, n trace.Operand) {
	asked := n
	if l.p.lookAhead() == 0 {
		asked = trace.Const(-1)
	}
	b.Mark(beginUpdate, panel, bcast, asked, n)
}

// updateHead begins an update whose swap may be spread-roll; where it is not, it swaps.
func (l *library) updateHead(w int64, d int) int64 {
	b, a := newBlock(5, "update head w=%d d=%d", w, d) // j bcast n prow counts
	l.markUpdate(b, a[0], a[1], a[2])
	b.If(a[2], func() {
		l.poll(b)
		if l.p.Swap == Mix {
			narrow := b.Max(b.Affine([]int64{-1, 1}, a[2], trace.Const(int64(l.p.SwapThreshold)+1)), trace.Const(0))
			b.If(narrow, func() { l.binarySwap(b, w, d, a[0], a[2], a[3], a[4]) })
		}
	})
	return int64(l.add(b))
}

// updateWork ends an update: its parameters are the columns and the rows below the diagonal block.
func (l *library) updateWork(w int64, d int) int64 {
	work := l.workBlock(w, d)
	b, a := newBlock(2, "update work w=%d d=%d", w, d)
	b.If(a[0], func() { b.Work(slotBcast, a[0], trace.Const(int64(l.p.NB)), work, a[1]) })
	b.PollWait(slotBcast)
	b.Mark(endUpdate)
	return int64(l.add(b))
}

// workBlock computes a slice of columns: its parameters are the columns of the
// slice and the rows below the diagonal block.
func (l *library) workBlock(w int64, d int) int {
	b := trace.NewBuilder(fmt.Sprintf("work w=%d current=%t", w, d == 0), 2)
	c, ml2, width := b.Param(0), b.Param(1), trace.Const(w)
	if l.p.P == 1 { // rows are swapped in place, a slice at a time
		b.Compute(dlaswp00N, width, c)
	}
	if l.p.P > 1 && l.p.U == Transposed {
		b.Compute(byForm(l.p.L1, dtrsmRUNU, dtrsmRLTU), c, width)
		b.Compute(dgemmNT, ml2, c, width)
	} else {
		b.Compute(byForm(l.p.L1, dtrsmLUTU, dtrsmLLNU), width, c)
		b.Compute(dgemmNN, ml2, c, width)
	}
	if d == 0 && l.p.P > 1 { // the current process row keeps U
		b.Compute(byForm(l.p.U, dlatcpy, dlacpy), width, c)
	}
	return l.add(b)
}
