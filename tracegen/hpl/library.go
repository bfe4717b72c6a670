package hpl

import (
	"fmt"
	"math/bits"

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

	widths    map[int64]*widthBlocks
	factors   map[factorKey]*factor
	blocks    map[any]int // all others that are used more than once, by their keys
	positions []int64     // of spread-roll; nil before it is needed
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
	return &library{p: p, out: out, widths: map[int64]*widthBlocks{}, factors: map[factorKey]*factor{},
		blocks: map[any]int{}}
}

// add adds a block and returns its number; after a failure, 0.
func (l *library) add(b *trace.Builder) int { return int(l.out.Block(b)) }

// once returns the block of a key, which it builds at the first call. Each kind of blocks has keys of a type of its own,
// with all that its blocks depend on.
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

// grid answers who owns what: a matrix of n rows and n+1 columns (the right-hand
// side is column n) in square blocks of nb, dealt cyclically to p x q processes,
// the first block to (0,0).
type grid struct {
	n, nb, p, q int64
}

// newGrid returns the matrix and the process grid of a run.
func newGrid(p *Params) grid {
	return grid{int64(p.N), int64(p.NB), int64(p.P), int64(p.Q)}
}

// owned returns how many of the n indices from lo, lo >= 0, belong to process i of count, when
// blocks of nb are dealt cyclically from process 0; 0 for n <= 0.
func owned(lo, n, nb, i, count int64) int64 {
	before := func(x int64) int64 { // of those in [0,x): of whole rounds a block each, and of the last one
		block := x / nb
		return block/count*nb + min(max(0, x-(block-block%count+i)*nb), nb)
	}
	if n <= 0 {
		return 0
	}
	return before(lo+n) - before(lo)
}

// rows returns how many of the rows [lo, lo+n) process row r owns.
func (g *grid) rows(lo, n, r int64) int64 { return owned(lo, n, g.nb, r, g.p) }

// cols returns how many of the columns [lo, lo+n) process column q owns.
func (g *grid) cols(lo, n, q int64) int64 { return owned(lo, n, g.nb, q, g.q) }

// rowOwner returns the process row that owns row i.
func (g *grid) rowOwner(i int64) int64 { return i / g.nb % g.p }

// colOwner returns the process column that owns column j.
func (g *grid) colOwner(j int64) int64 { return j / g.nb % g.q }

// mod returns a mod n in [0,n).
func mod(a, n int64) int64 {
	if a %= n; a < 0 {
		a += n
	}
	return a
}

// hi returns the largest power of two that is at most n, for n >= 1.
func hi(n int) int { return 1 << log2(n) }

// log2 returns the logarithm of n, n >= 1, rounded down.
func log2(n int) int { return bits.Len(uint(n)) - 1 }
