package hpl

import (
	"reprise/trace"
	"reprise/tracegen"
)

// library makes the blocks of a run, each when it is first needed, and remembers
// their numbers. Blocks are made per role: the distance d of a process row from
// the panel's, or x of a process column; so peers, levels and loops in them are
// constants.
type library struct {
	p   *Params
	out *tracegen.Generator

	widths  map[int64]*widthBlocks
	bodies  map[bodyKey]int
	factors map[factorKey]*factor
	clipped *rollBlocks // nil before it is needed
	finish  int64       // 0, or the block that waits for a broadcast (never the first one)
	spread  *spreadBlocks
}

// widthBlocks are the blocks that depend on a panel's width, by distance from
// the panel's process row (or column, for init).
type widthBlocks struct {
	panel  [2]int64 // not current row, current row
	fact   []int64
	init   []int64
	update []int64
	head   []int64
	work   []int64
}

// newLibrary returns a library without blocks, which adds them to the trace of out.
func newLibrary(p *Params, out *tracegen.Generator) *library {
	return &library{p: p, out: out, widths: map[int64]*widthBlocks{}, bodies: map[bodyKey]int{},
		factors: map[factorKey]*factor{}}
}

// add adds a block and returns its number; after a failure, 0.
func (l *library) add(b *trace.Builder) int { return int(l.out.Block(b)) }

// each makes a block for each of n roles; after a failure, no more of them.
func (l *library) each(n int, block func(role int) int64) []int64 {
	blocks := make([]int64, n)
	for role := 0; role < n && l.out.OK(); role++ {
		blocks[role] = block(role)
	}
	return blocks
}

// params returns all parameters of a block under construction, n of them.
func params(b *trace.Builder, n int) []trace.Operand {
	list := make([]trace.Operand, n)
	for i := range list {
		list[i] = b.Param(i)
	}
	return list
}

// width returns the blocks for panels of w columns.
//
// With binary exchange alone, one block by distance of the process row does a whole
// trailing update. Spread-roll goes by position, not by distance, so it stands between
// a block that begins the update and one that does its work.
func (l *library) width(w int64) *widthBlocks {
	if b, ok := l.widths[w]; ok {
		return b
	}
	perRow := func(block func(w int64, d int) int64) []int64 {
		return l.each(l.p.P, func(d int) int64 { return block(w, d) })
	}
	b := &widthBlocks{panel: [2]int64{l.panelBlock(w, false), l.panelBlock(w, true)}}
	b.fact = perRow(l.factBlock)
	if l.p.Q > 1 {
		b.init = l.each(l.p.Q, func(x int) int64 { return l.initBlock(w, x) })
	}
	if l.mayRoll() && w > 0 {
		b.head, b.work = perRow(l.updateHead), perRow(l.updateWork)
	} else {
		b.update = perRow(l.updateBlock)
	}
	l.widths[w] = b
	return b
}
