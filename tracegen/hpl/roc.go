package hpl

import "reprise/trace"

// This file has rocHPL's main loop (generator.roc), and the calls of blocks that it consists of.

// rocState is a panel of rocHPL with what a step needs of it.
type rocState struct {
	j, jb      int64
	prow, pcol int64
	rows       int64   // vector: rows of each process row that take part in the swap
	inside     int64   // rows that move within the panel's process row
	n          [3]col  // columns of each section
	ld         [3]col  // their leading dimensions
	below      []int64 // by process row: rows below the diagonal block
}

// col has a value for each process column.
type col []int64

// rocPanel sets up the panel at column j and lists it.
func (g *generator) rocPanel(j int64) *rocState {
	l, p := g.lib, g.params
	x := &rocState{j: j, jb: min(g.nb, g.n-j), prow: g.rowOwner(j), pcol: g.colOwner(j)}
	// What outlives the step is not in its columns.
	for s := range x.n {
		x.n[s], x.ld[s] = make(col, g.q), make(col, g.q)
	}
	for q := range g.q {
		n := p.sections(&g.grid, j, x.jb, x.pcol, q)
		for s := range n {
			x.n[s][q] = n[s]
			x.ld[s][q] = pad(n[s])
		}
		x.ld[sectionLA][q] = n[sectionLA]
		if g.p == 1 {
			x.ld[sectionUPD1][q] = 0
		}
	}
	x.below = make([]int64, g.p)
	for r := range x.below {
		x.below[r] = g.rows(j+x.jb, g.n-j-x.jb, int64(r))
	}
	blocks := g.byCol(func(q int64) int64 {
		own := q == x.pcol
		return int64(l.once(rocBlockKey{"panel", 0, x.jb, own, 0}, func() *trace.Builder {
			b, a := newBlock(10, "panel w=%d own=%t", x.jb, own) // j prow pcol mp length nu0 nu1 nu2 ldu1 ldu2
			n := b.Affine([]int64{1, 1, 1}, a[5], a[6], a[7])
			if own {
				n = n.Plus(x.jb)
			}
			b.Mark(markPanel, a[0], trace.Const(x.jb), a[3], n, a[1], a[2], a[4], a[5], a[6], a[7], a[5], a[8], a[9])
			return b
		}))
	})
	mp := g.byRow(func(r int64) int64 { return x.mp(r) })
	length := g.byRow(func(r int64) int64 { return p.panelLength(x.jb, x.mp(r), r == x.prow) })
	g.call(rocPanel, nil, blocks, g.One(j), g.One(x.prow), g.One(x.pcol), mp, length, x.n[sectionLA], x.n[sectionUPD1],
		x.n[sectionUPD2], x.ld[sectionUPD1], x.ld[sectionUPD2])
	return x
}

// mp returns the rows of a panel on process row r, the diagonal block's included.
func (x *rocState) mp(r int64) int64 {
	if r == x.prow {
		return x.below[r] + x.jb
	}
	return x.below[r]
}

// count writes how many rows of each process row take part in the swap of a panel: all that the trace takes from
// its pivots.
func (g *generator) count(x *rocState) {
	g.pivots.count(g.counts, &g.grid, x.j, x.jb) // by distance, the panel's process row with all of its own
	x.inside = g.counts[0] - x.jb
	rows, own := make([]int64, g.p), x.jb
	for d := int64(1); d < g.p; d++ {
		rows[(x.prow+d)%g.p] = g.counts[d]
		own -= g.counts[d]
	}
	rows[x.prow] = own
	x.rows = g.Writer().Vector(trace.Vector{Values: rows})
}

// roc is rocHPL's main loop, with the update behind it. Source: rocHPL 7.0.1 and 6.0.0 control flow.
func (g *generator) roc() {
	l, everyone := g.lib, g.everyColumn
	row := func() []int64 { return g.byRow(func(r int64) int64 { return r }) }
	cur := g.rocPanel(0)
	g.rocPanel(min(g.n, g.nb)) // the second of two panels in turn
	g.count(cur)
	g.rocFactorFirst(cur)
	g.rocBroadcast(cur)
	c := 1 % g.q
	start := func(x *rocState, section int, masks [][]int64) {
		fetch := g.byCol(func(q int64) int64 {
			// The first section with columns fetches the pivots, where they are not known.
			switch {
			case g.params.Program != RocHPL6 || q == x.pcol || x.n[section][q] == 0,
				section == sectionLA && x.n[sectionUPD2][q] > 0,
				section == sectionUPD1 && x.n[sectionUPD2][q]+x.n[sectionLA][q] > 0:
				return 0
			}
			return 1
		})
		blocks := g.byCurrent(x, func(current bool) int64 { return l.startBlock(section, x.jb, current) })
		g.call(rocStart, masks, blocks, g.One(x.j), x.n[section], g.One(x.rows), row(), fetch)
	}
	exchange := func(x *rocState, section int, masks [][]int64) {
		blocks := g.byRow(func(r int64) int64 { return l.exchanges(section, false)[r] })
		blocks[x.prow] = l.exchanges(section, true)[x.prow]
		g.call(rocExchange, masks, blocks, g.One(x.j), x.n[section], x.ld[section], g.One(x.rows), g.One(x.prow))
	}
	update := func(x *rocState, section int, masks [][]int64) {
		blocks := g.byCurrent(x, func(current bool) int64 { return l.sectionBlock(section, x.jb, current) })
		g.call(rocUpdate, masks, blocks, g.One(x.j), x.below, x.n[section], g.One(x.rows), row(), g.One(x.inside))
	}
	sync := func() {
		b := trace.NewBuilder("sync", 0)
		b.Queue(trace.QueueSyncAll, 0, 0)
		g.call(rocMarks, nil, g.One(int64(l.add(b))))
	}

	start(cur, sectionUPD2, everyone())
	start(cur, sectionLA, g.onColumn(c))
	start(cur, sectionUPD1, everyone())
	exchange(cur, sectionUPD2, everyone())
	exchange(cur, sectionLA, g.onColumn(c))
	for j := g.nb; j < g.n && j/g.nb < int64(g.limit) && g.OK(); j += g.nb {
		g.Step(int(j / g.nb))
		next := g.rocPanel(j)
		g.count(next)
		g.rocOwn(cur, next)
		update(cur, sectionUPD2, [][]int64{g.byCol(func(q int64) int64 { return min(1, mod(q-c, g.q)) })})
		g.rocBroadcast(next)
		start(next, sectionUPD2, everyone())
		exchange(cur, sectionUPD1, everyone())
		update(cur, sectionUPD1, everyone())
		c = (c + 1) % g.q
		start(next, sectionLA, g.onColumn(c))
		start(next, sectionUPD1, everyone())
		exchange(next, sectionUPD2, everyone())
		exchange(next, sectionLA, g.onColumn(c))
		sync()
		g.Writer().ForgetVectors(cur.rows)
		cur = next
	}
	if g.limit < g.params.Steps() {
		return
	}
	g.Step(g.params.Steps())
	update(cur, sectionLA, everyone())
	update(cur, sectionUPD2, everyone())
	sync()
}

// byCurrent returns, for each process row, the block of the panel's own or that of the others.
func (g *generator) byCurrent(x *rocState, block func(current bool) int64) []int64 {
	own, other := block(true), block(false)
	blocks := g.byRow(func(int64) int64 { return other })
	blocks[x.prow] = own
	return blocks
}

// rocOwn brings the next panel up to date on its process column, and factors it while the second part of the update
// with the panel before runs (version 6) or before it begins.
func (g *generator) rocOwn(cur, next *rocState) {
	l := g.lib
	owners, ok := l.owners[next.jb]
	if !ok {
		owners = l.each(l.p.P, func(d int) int64 {
			current := mod(next.prow+int64(d), g.p) == cur.prow // of the panel before, one row up
			b, a := newBlock(9, "owner w=%d d=%d", next.jb, d)  // j next prow ml2 nu0 nu2 rows row inside
			section := func(s int, n trace.Operand) {
				l.updateSection(b, s, cur.jb, current, a[0], a[3], n, a[6], a[7], a[8])
			}
			section(sectionLA, a[4])
			if l.host() {
				b.Queue(trace.QueueWait, queueData, eventUpdate+sectionLA)
				l.toHost(b, next.jb, a[1], a[3])
				section(sectionUPD2, a[5])
				l.await(b, func() { b.Queue(trace.QueueSync, queueData, 0) })
				l.rocFactorize(b, int(next.jb), d, a[1], a[2], a[3])
				l.toDevice(b, next.jb, d == 0, a[1], a[3])
			} else {
				l.rocFactorize(b, int(next.jb), d, a[1], a[2], a[3])
				section(sectionUPD2, a[5])
				l.swapIDs(b, next.jb)
			}
			return int64(l.add(b))
		})
		l.owners[next.jb] = owners
	}
	blocks := g.byRow(func(r int64) int64 { return owners[mod(r-next.prow, g.p)] })
	row := g.byRow(func(r int64) int64 { return r })
	g.call(rocOwner, g.onColumn(next.pcol), blocks, g.One(cur.j), g.One(next.j), g.One(next.prow), cur.below,
		cur.n[sectionLA], cur.n[sectionUPD2], g.One(cur.rows), row, g.One(cur.inside))
}

// rocFactorFirst factors the first panel. In version 6 all process columns come to the steps of it.
func (g *generator) rocFactorFirst(x *rocState) {
	l := g.lib
	blocks := g.byRow(func(d int64) int64 {
		b, a := newBlock(3, "first d=%d", d) // j mp prow
		if l.host() {
			l.toHost(b, x.jb, a[0], a[1])
			l.await(b, func() { b.Queue(trace.QueueSync, queueData, 0) })
		}
		l.rocFactorize(b, int(x.jb), int(d), a[0], a[2], a[1])
		if l.host() {
			l.toDevice(b, x.jb, d == 0, a[0], a[1])
		} else {
			l.swapIDs(b, x.jb)
		}
		return int64(l.add(b))
	})
	mp := g.byRow(x.mp)
	g.call(rocFirst, g.onColumn(x.pcol), blocks, g.One(x.j), mp, g.One(x.prow))
	if !l.host() {
		return
	}
	b := trace.NewBuilder("first elsewhere", 1)
	wait := func() { l.await(b, func() { b.Queue(trace.QueueSync, queueData, 0) }) }
	b.Mark(beginToHost, b.Param(0))
	b.Mark(endToHost)
	wait()
	b.Mark(beginFact, b.Param(0))
	b.Mark(endRocFact)
	b.Mark(beginToDevice, b.Param(0))
	b.Mark(endToDevice)
	wait()
	others := g.By(g.p, func(int64) int64 { return int64(l.add(b)) })
	masks := [][]int64{g.byCol(func(q int64) int64 { return min(1, mod(q-x.pcol, g.q)) })}
	g.call(rocFirst, masks, others, g.One(x.j), mp, g.One(x.prow))
}

// await appends what a panel is waited for with.
func (l *library) await(b *trace.Builder, body func()) {
	b.Mark(beginWait)
	body()
	b.Mark(endWait)
}

// swapIDs has the host work out which rows move, sends that to the device, and waits for the factorization.
func (l *library) swapIDs(b *trace.Builder, w int64) {
	bytes := 8 * w
	if l.p.P > 1 {
		bytes = 4 * (4*w + int64(l.p.P) + 2)
	}
	b.Mark(beginSwapIDs)
	b.Launch(queueData, rocCopyIn, false, trace.Const(bytes))
	b.Queue(trace.QueueSync, queueData, 0)
	b.Mark(endSwapIDs)
	l.await(b, func() { b.Queue(trace.QueueSyncEvent, 0, eventFactStop) })
}

// toHost copies a panel of mp rows to the host.
func (l *library) toHost(b *trace.Builder, w int64, j, mp trace.Operand) {
	b.Mark(beginToHost, j)
	b.If(mp, func() { b.Launch(queueData, rocCopy2Out, false, b.Scale(doubleBytes, mp), trace.Const(w)) })
	b.Mark(endToHost)
}

// toDevice copies a factored panel of mp rows to the device: which rows move, the triangle, and the rest.
func (l *library) toDevice(b *trace.Builder, w int64, current bool, j, mp trace.Operand) {
	columns := func(width, n trace.Operand) { b.Launch(queueData, rocCopy2In, false, width, n) }
	ids, one, block := trace.Const(4*w), trace.Const(1), trace.Const(doubleBytes*w)
	b.Mark(beginToDevice, j)
	columns(ids, one)
	columns(ids, one)
	if l.p.P > 1 {
		b.Launch(queueData, rocCopyIn, false, ids)
		columns(ids, one)
		columns(ids, one)
	}
	columns(block, trace.Const(w))
	rest := mp
	if current && l.p.Q > 1 {
		columns(block, trace.Const(w))
		rest = mp.Plus(-w)
	}
	b.If(rest, func() { columns(b.Scale(doubleBytes, rest), trace.Const(w)) })
	b.Mark(endToDevice)
	l.await(b, func() { b.Queue(trace.QueueSync, queueData, 0) })
}

// rocBroadcast broadcasts a panel along the process rows.
func (g *generator) rocBroadcast(x *rocState) {
	l := g.lib
	if l.bcasts == nil {
		l.bcasts = l.each(l.p.Q, l.rocBcastBlock)
	}
	blocks := g.byCol(func(q int64) int64 { return l.bcasts[mod(q-x.pcol, g.q)] })
	length := g.byRow(func(r int64) int64 { return g.params.panelLength(x.jb, x.mp(r), r == x.prow) })
	var cut [4][]int64
	for i := range cut {
		cut[i] = g.byRow(func(r int64) int64 { return l.rocCut(length[r])[i] })
	}
	g.call(rocBcast, nil, blocks, g.One(x.j), g.One(x.pcol), length, cut[0], cut[1], cut[2], cut[3])
}

// rocRightHandSide moves the right-hand side from its process column to that of the last block, pcol; all others begin
// with zeros.
func (g *generator) rocRightHandSide(owner, pcol int64) {
	l := g.lib
	block := func(q int64) int64 {
		b, a := newBlock(2, "right-hand side") // m peer
		peer := trace.Operand{}
		if owner != pcol && (q == owner || q == pcol) {
			peer = b.Member(rowFamily, a[1])
		}
		b.In(trace.MemoryDevice)
		b.If(a[0], func() {
			bytes := b.Scale(doubleBytes, a[0])
			if q == owner {
				b.Launch(queueCompute, rocCopyOwn, l.host(), bytes)
			}
			switch {
			case owner == pcol || q != owner && q != pcol:
			case q == owner:
				if !l.host() {
					b.Queue(trace.QueueSync, queueCompute, 0)
				}
				b.Message(trace.OpSend, rowFamily, 0, peer, trace.Const(firstRowTag), bytes)
			default:
				b.Message(trace.OpRecv, rowFamily, 0, peer, trace.Const(firstRowTag), bytes)
			}
			if q != pcol {
				launch(b, rocSetZero, a[0])
			}
		})
		return int64(l.add(b))
	}
	g.call(callRHS, nil, g.byCol(block), g.byRow(func(r int64) int64 { return g.rows(0, g.n, r) }),
		g.byCol(func(q int64) int64 { return owner + pcol - q }))
}
