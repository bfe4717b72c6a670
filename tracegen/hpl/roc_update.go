package hpl

import (
	"reprise/trace"
)

// This file makes the blocks of rocHPL's updates: of each section, the start of its row swap (startSection), its messages
// (exchangeBlock), and what follows (updateSection). Rows of a swap are counted by process row, not by distance.

// rocBlockKey names a block of a section for panels of w columns. Row is that of an exchange, else 1 for the panel's
// own process row and 0 for others.
type rocBlockKey struct {
	kind    string
	section int
	w       int64
	current bool
	row     int
}

// mark appends the begin of a part of a section's work, what body appends, and the end.
func markSection(b *trace.Builder, section, part int, j trace.Operand, body func()) {
	b.Mark(sectionMarker(section, part), j)
	body()
	b.Mark(sectionMarker(section, part) + 1)
}

// launch queues a kernel of the device.
func launch(b *trace.Builder, kernel int, dims ...trace.Operand) {
	b.Launch(queueCompute, kernel, false, dims...)
}

// startBlock begins the row swap of a section: its parameters are the panel's column, the columns, the rows of each
// process row, the own process row, and whether the pivots are fetched before (version 6, away from the panel).
func (l *library) startBlock(section int, w int64, current bool) int64 {
	return int64(l.once(rocBlockKey{"start", section, w, current, 0}, func() *trace.Builder {
		b, a := newBlock(5, "start %s w=%d current=%t", sectionNames[section], w, current)
		markSection(b, section, partStart, a[0], func() {
			if l.p.P == 1 {
				return
			}
			b.If(a[1], func() {
				if l.host() {
					b.If(a[4], func() {
						b.Launch(queueData, rocCopy2Out, false, trace.Const(4*w), trace.Const(1))
						b.Queue(trace.QueueSync, queueData, 0)
					})
				}
				if current {
					launch(b, dlaswp01T, trace.Const(w), a[1])
				} else {
					launch(b, dlaswp03T, b.VectorAt(a[2], a[3]), a[1])
				}
				b.Queue(trace.QueueRecord, queueCompute, eventSwap+section)
			})
		})
		return b
	}))
}

// updateSection appends the end of a section's row swap, and its update: of n columns, with the panel of w columns at
// column j, on a process row with below rows below the panel's diagonal block; inside is how many rows move within
// the panel's process row.
func (l *library) updateSection(b *trace.Builder, section int, w int64, current bool,
	j, below, n, rows, row, inside trace.Operand) {
	width := trace.Const(w)
	markSection(b, section, partEnd, j, func() {
		b.If(n, func() {
			switch {
			case l.p.P == 1:
				launch(b, dlaswp00N, width, n)
				return
			case current:
				launch(b, rocLaswp02T, inside, n)
			default:
				launch(b, dlaswp04T, b.VectorAt(rows, row), n)
			}
			launch(b, dlaswp10N, n, width)
		})
	})
	markSection(b, section, partUpdate, j, func() {
		b.If(n, func() {
			if l.p.P > 1 {
				launch(b, byForm(l.p.L1, dtrsmRUNU, dtrsmRLTU), n, width)
			} else {
				launch(b, byForm(l.p.L1, dtrsmLUTU, dtrsmLLNU), width, n)
				launch(b, dlatcpy, n, width)
			}
			b.Queue(trace.QueueRecord, queueCompute, eventGemmStart+section)
			launch(b, dgemmNT, below, n, width)
			b.Queue(trace.QueueRecord, queueCompute, eventGemmStop+section)
			if current && l.p.P > 1 {
				launch(b, dlatcpy, width, n)
			}
			b.Queue(trace.QueueRecord, queueCompute, eventUpdate+section)
		})
	})
}

// sectionBlock is updateSection as a block, with its operands as parameters.
func (l *library) sectionBlock(section int, w int64, current bool) int64 {
	return int64(l.once(rocBlockKey{"update", section, w, current, 0}, func() *trace.Builder {
		b, a := newBlock(6, "update %s w=%d current=%t", sectionNames[section], w, current)
		l.updateSection(b, section, w, current, a[0], a[1], a[2], a[3], a[4], a[5])
		return b
	}))
}

// exchangeBlock has the messages of a section's row swap on a process row: the panel's own one sends each other row
// its part, and then all parts go around. Parameters are the panel's column, the columns, their leading dimension, the
// rows of each process row, and the panel's process row.
func (l *library) exchangeBlock(section, row int, current bool) int64 {
	b, a := newBlock(5, "exchange %s row=%d current=%t", sectionNames[section], row, current)
	j, n, ld, rows, prow := a[0], a[1], a[2], a[3], a[4]
	markSection(b, section, partExchange, j, func() {
		if l.p.P == 1 {
			return
		}
		parts := l.exchangeParts(row, current)
		b.If(n, func() {
			b.Queue(trace.QueueSyncEvent, 0, eventSwap+section)
			b.Call(parts, rows, b.Scale(doubleBytes, ld), prow)
		})
	})
	return int64(l.add(b))
}

// exchanges returns the exchange blocks of a section by process row.
func (l *library) exchanges(section int, current bool) []int64 {
	key := [2]int{section}
	if current {
		key[1] = 1
	}
	if l.swaps[key] == nil {
		l.swaps[key] = l.each(l.p.P, func(row int) int64 { return l.exchangeBlock(section, row, current) })
	}
	return l.swaps[key]
}

// exchangeParts has the messages of all sections: its parameters are the rows of each process row, the bytes of a row,
// and the panel's process row.
func (l *library) exchangeParts(row int, current bool) int {
	return l.once(rocBlockKey{"parts", 0, 0, current, row}, func() *trace.Builder {
		b, a := newBlock(3, "parts row=%d current=%t", row, current)
		rows, bytes, prow := a[0], a[1], a[2]
		b.In(trace.MemoryDevice)
		if current {
			l.scatter(b, 0, hi(l.p.P)*2, row, a)
			b.WaitAll()
		} else {
			part := b.Mul(b.VectorAt(rows, trace.Const(int64(row))), bytes)
			b.If(part, func() {
				b.Message(trace.OpRecv, colFamily, 0, b.Member(colFamily, prow), prow, part)
			})
		}
		around := roll{l, "parts", func(b *trace.Builder, operands [2]trace.Operand, peer, out, in trace.Operand) {
			b.In(trace.MemoryDevice)
			size := func(piece trace.Operand) trace.Operand { return b.Mul(b.VectorAt(operands[0], piece), operands[1]) }
			partialExchange(b, colFamily, peer, trace.Const(0), size(out), size(in))
		}}
		at := int64(row)
		around.emit(b, row, l.p.P, [2]trace.Operand{rows, bytes}, b.Member(colFamily, trace.Const(at-1+int64(l.p.P))),
			b.Member(colFamily, trace.Const(at+1)))
		return b
	})
}

// partialExchange starts to receive, sends, and waits for the receive, each unless its size is 0.
func partialExchange(b *trace.Builder, family int, peer, tag, out, in trace.Operand) {
	b.If(in, func() { b.Message(trace.OpIrecv, family, 0, peer, tag, in) })
	b.If(out, func() { b.Message(trace.OpSend, family, 0, peer, tag, out) })
	b.If(in, func() { b.Wait(0) })
}

// scatter sends the process rows [lo, lo+n) but one their parts; n is a power of two. Its operands are those of
// exchangeParts. A block for each power of two and its place serves all rows.
func (l *library) scatter(b *trace.Builder, lo, n, but int, a []trace.Operand) {
	switch {
	case lo >= l.p.P || n == 1 && lo == but:
	case lo <= but && but < lo+n:
		l.scatter(b, lo, n/2, but, a)
		l.scatter(b, lo+n/2, n/2, but, a)
	default:
		b.Call(l.once(rocBlockKey{"scatter", 0, int64(n), false, lo}, func() *trace.Builder {
			b, a := newBlock(3, "scatter from=%d n=%d", lo, n)
			if n > 1 {
				l.scatter(b, lo, n/2, -1, a)
				l.scatter(b, lo+n/2, n/2, -1, a)
				return b
			}
			to := trace.Const(int64(lo))
			b.In(trace.MemoryDevice)
			part := b.Mul(b.VectorAt(a[0], to), a[1])
			b.If(part, func() { b.Message(trace.OpIsend, colFamily, int32(lo), b.Member(colFamily, to), a[2], part) })
			return b
		}), a...)
	}
}
