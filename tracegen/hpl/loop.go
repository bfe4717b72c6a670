package hpl

import "reprise/trace"

// This file has HPL's main loops, plain and lookAhead, and the calls of blocks that they consist of; Generate runs
// one of them, and then backSubstitution (solve.go).

// Tags of the panel broadcasts: 1000 of them, in turn.
const (
	firstBcastTag = 2001
	numBcastTags  = 1000
)

// noBcast, in place of the column of a panel whose broadcast is polled, says that an update polls none.
const noBcast = -1

// bcastTag returns the tag of broadcast i: HPL counts up from panel to panel, and begins again after the last tag.
func bcastTag(i int64) int64 { return firstBcastTag + i%numBcastTags }

// plain is HPL's main loop without look-ahead. Source: HPL 2.3 control flow, main loops.
func (g *generator) plain() {
	for k := int64(0); k < int64(g.limit) && g.OK(); k++ {
		if k > 0 {
			g.Step(int(k))
		}
		x := g.newPanel(k*g.nb, bcastTag(k))
		if k == 0 {
			g.markPanel(x) // set up once before the loop, and once in it
		}
		g.markPanel(x)
		g.first(x)
		g.updateAll(x, noBcast, x, g.n+1)
		g.Writer().ForgetVectors(x.pivots)
	}
}

// lookAhead is HPL's main loop with look-ahead; it returns the panels that are still to be used.
func (g *generator) lookAhead() []*panel {
	depth := int64(g.params.lookAhead())
	start := min(depth*g.nb, g.n)

	// The first panels, as many as the depth, are set up and factored; each updates the columns before start that
	// follow it. Panels beyond the matrix are empty; they are broadcast nevertheless.
	var pending []*panel
	for k := int64(0); k < depth; k++ {
		pending = append(pending, g.newPanel(min(k*g.nb, g.n), bcastTag(k)))
		g.markPanel(pending[k])
	}
	g.markPanel(g.newPanel(start, bcastTag(depth))) // set up and thrown away
	for k, x := range pending {
		if k >= g.limit || !g.OK() {
			break
		}
		if k > 0 {
			g.Step(k)
		}
		g.first(x)
		if k < len(pending)-1 {
			g.updateAll(x, noBcast, x, start)
		}
	}

	// Each further panel is first brought up to date on its own process column, factored, and its
	// broadcast is polled for while all columns behind it are updated with the oldest panel.
	for j := start; j < g.n && j/g.nb < int64(g.limit) && g.OK(); j += g.nb {
		g.Step(int(j / g.nb))
		x := g.newPanel(j, bcastTag(j/g.nb+1)) // a tag is skipped after the start-up
		g.markPanel(x)
		for _, before := range pending {
			n := g.only(g.q, x.pcol)
			n[x.pcol] = x.jb
			g.update(before, noBcast, g.onColumn(x.pcol), n)
		}
		g.factorize(x)
		g.startBcast(x)
		g.updateAll(pending[0], x.j, x, g.n+1)
		g.finishBcast(x)
		pending = append(pending[1:], x)
		g.Writer().ForgetVectors(pending[0].pivots)
	}
	return pending
}

// markPanel lists a panel that is set up.
func (g *generator) markPanel(x *panel) {
	blocks := g.byRow(func(r int64) int64 {
		if r == x.prow {
			return x.blocks.panel[1]
		}
		return x.blocks.panel[0]
	})
	nq := g.byCol(func(q int64) int64 { return g.cols(x.j, g.n+1-x.j, q) })
	g.call(callPanel, nil, blocks, g.One(x.j), g.rowsBelow(x), nq, g.One(x.prow), g.One(x.pcol), g.One(x.tag))
}

// factorize factors a panel on its process column, and draws its pivots.
func (g *generator) factorize(x *panel) {
	g.drawPivots(x)
	g.call(callFact, g.onColumn(x.pcol), g.byDistance(x, x.blocks.fact), g.One(x.j), g.rowsBelow(x), g.One(x.prow),
		g.One(x.pivots))
}

// first factors and broadcasts a panel before anything is updated with it. Where HPL does not look ahead it calls the
// factorization on the process columns that have no part in it, too.
func (g *generator) first(x *panel) {
	others := g.byCol(func(q int64) int64 { return min(1, mod(q-x.pcol, g.q)) })
	b := trace.NewBuilder("pdfact elsewhere", 1)
	b.Mark(beginFact, b.Param(0))
	b.Mark(endFact, b.Param(0))
	g.call(callSkip, [][]int64{others}, g.One(int64(g.lib.add(b))), g.One(x.j))
	g.factorize(x)
	g.startBcast(x)
	g.finishBcast(x)
}

// drawPivots draws a panel's pivots and writes, as vectors, what the trace depends on of them.
func (g *generator) drawPivots(x *panel) {
	if x.jb == 0 {
		x.pivots = g.Writer().Vector(trace.Vector{Values: []int64{0}}) // nobody looks at it
		x.swapped = x.pivots
		return
	}
	// The factorization depends on the pivots' owners, the swap by binary exchange on the
	// counts, and that by spread-roll on the layout that follows from the counts.
	x.pivots = g.Writer().Vector(g.pivots.owners(&g.grid, x.j, x.jb))
	x.swapped = x.pivots // unless the swap asks for the counts
	// With one process row all rows are here, and no message of a swap depends on the pivots.
	if g.p == 1 {
		return
	}
	g.pivots.count(g.counts, &g.grid, x.j, x.jb)
	if g.params.Swap != SpreadRoll {
		x.swapped = g.Writer().Vector(trace.Vector{Values: g.counts})
	}
	if !g.lib.mayRoll() {
		return
	}
	v := newLayout(g.counts, x.prow, x.jb, g.params.Equil)
	x.k0, x.order = g.counts[0], v.order
	x.layout.order = g.Writer().Vector(trace.Vector{Values: v.order})
	x.layout.lengths = g.Writer().Vector(trace.Vector{Values: v.lengths})
	x.layout.equal = x.layout.lengths
	if v.uneven {
		x.layout.uneven = 1
		x.layout.equal = g.Writer().Vector(trace.Vector{Values: v.equal})
	}
}

// startBcast makes the broadcast of a panel pending.
func (g *generator) startBcast(x *panel) {
	if g.q == 1 {
		return
	}
	blocks := g.byCol(func(q int64) int64 { return x.blocks.init[mod(q-x.pcol, g.q)] })
	// All pieces but the last have this size; the last one takes the rest of the message.
	pieces, below := int64(g.lib.pieces()), g.rowsBelow(x)
	piece := g.byRow(func(r int64) int64 { // doubles of a piece of a long broadcast; rings have none
		if !g.params.Bcast.IsLong() || pieces < 2 {
			return 0
		}
		return max(1, (below[r]*x.jb+x.jb*x.jb+x.jb+1)/pieces)
	})
	g.call(callInit, nil, blocks, g.One(x.j), g.One(x.tag), g.One(x.pcol), below, piece)
}

// finishBcast waits for the broadcast of a panel, and frees what it used.
func (g *generator) finishBcast(x *panel) {
	if g.q == 1 {
		return
	}
	wait := g.lib.once("bwait", func() *trace.Builder {
		b := trace.NewBuilder("bwait", 1)
		b.PollWait(slotBcast)
		b.Mark(markWaited, b.Param(0))
		return b
	})
	g.call(callFinish, nil, g.One(int64(wait)), g.One(x.j))
}

// updateAll updates the columns behind a panel, up to end, with panel x.
func (g *generator) updateAll(x *panel, bcast int64, behind *panel, end int64) {
	// The right-hand side counts as column n, so an update of all columns ends at n+1.
	from := behind.j + behind.jb
	g.update(x, bcast, g.everyColumn(), g.byCol(func(q int64) int64 { return g.cols(from, end-from, q) }))
}

// update updates, on the process columns of the mask, n columns with a panel,
// while the broadcast of the panel at column bcast is pending.
func (g *generator) update(x *panel, bcast int64, masks [][]int64, n []int64) {
	if !g.lib.mayRoll() || x.jb == 0 {
		g.call(callUpdate, masks, g.byDistance(x, x.blocks.update), g.One(x.j), g.One(bcast), n, g.rowsBelow(x), g.One(x.prow),
			g.One(x.swapped))
		return
	}

	// The swap may be spread-roll, whose block goes by position.
	g.call(callUpdateHead, masks, g.byDistance(x, x.blocks.head), g.One(x.j), g.One(bcast), n, g.One(x.prow),
		g.One(x.swapped))
	if g.lib.positions == nil { // none of them depends on the panel's width
		g.lib.positions = g.lib.each(g.lib.p.P, g.lib.spreadBlock)
	}
	// Positions of the spread-roll are an order of the process rows, which changes from panel to panel with the pivots.
	blocks := g.Column(int(g.p))
	for y, r := range x.order {
		blocks[r] = g.lib.positions[y]
	}
	g.call(callSpreadRoll, masks, blocks, g.One(x.j), n, g.One(x.jb), g.One(x.k0), g.One(x.layout.uneven),
		g.One(x.layout.order), g.One(x.layout.lengths), g.One(x.layout.equal))
	g.call(callUpdateWork, masks, g.byDistance(x, x.blocks.work), n, g.rowsBelow(x))
}
