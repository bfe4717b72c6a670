package hpl

import (
	"fmt"

	"reprise/trace"
	"reprise/tracegen"
)

// library makes the blocks of a run, each when it is first needed (library.width, once), and remembers their
// numbers. A block is for a role: the distance d of a process row from the panel's, or x of a process column. So
// peers, levels and loops in blocks are constants.
type library struct {
	p   *Params
	out *tracegen.Generator

	widths    map[int64]*widthBlocks
	factors   map[factorKey]*factor
	blocks    map[any]int // all others that are used more than once, by their keys
	positions []int64     // of spread-roll; nil before it is needed

	// Blocks of rocHPL by distance or process row, before they are needed nil: broadcasts, swaps by section and whether the
	// process row is the panel's, and the work of the next panel's process column by its width.
	bcasts []int64
	swaps  map[[2]int][]int64
	owners map[int64][]int64
}

// widthBlocks are the blocks that depend on a panel's width, each list by the distance of the process row from
// the panel's; init goes by the distance of the process column.
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
	return &library{p: p, out: out, widths: map[int64]*widthBlocks{}, factors: map[factorKey]*factor{},
		blocks: map[any]int{}, swaps: map[[2]int][]int64{}, owners: map[int64][]int64{}}
}

// add adds a block and returns its number; after a failure, 0.
func (l *library) add(b *trace.Builder) int { return int(l.out.Block(b)) }

// once returns the block of a key, which it builds at the first call. Each kind of blocks has keys of a type of its
// own, with all that its blocks depend on.
func (l *library) once(key any, build func() *trace.Builder) int {
	block, ok := l.blocks[key]
	if !ok {
		block = l.add(build())
		l.blocks[key] = block
	}
	return block
}

// each makes a block for each of n roles; after a failure, no more of them.
func (l *library) each(n int, block func(role int) int64) []int64 {
	blocks := make([]int64, n)
	for role := 0; role < n && l.out.OK(); role++ {
		blocks[role] = block(role)
	}
	return blocks
}

// newBlock begins a block of n parameters, which it returns.
func newBlock(n int, name string, args ...any) (*trace.Builder, []trace.Operand) {
	b := trace.NewBuilder(fmt.Sprintf(name, args...), n)
	list := make([]trace.Operand, n)
	for i := range list {
		list[i] = b.Param(i)
	}
	return b, list
}

// width returns the blocks for panels of w columns. With binary exchange alone, one block by distance of the process
// row does a whole trailing update. Spread-roll goes by position, not by distance, so it stands between a block that
// begins the update and one that does its work.
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
