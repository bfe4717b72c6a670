package hpl

import (
	"math/bits"

	"reprise/trace"
)

// grid tells which process owns which rows and columns of a matrix of n rows and n+1 columns (the right-hand side is
// column n), in square blocks of nb, dealt cyclically to p x q processes, the first block to (0,0).
type grid struct {
	n, nb, p, q int64
}

// newGrid returns the matrix and the process grid of a run.
func newGrid(p *Params) grid { return grid{int64(p.N), int64(p.NB), int64(p.P), int64(p.Q)} }

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

// panel is one panel of columns and what the actions that concern it depend on. Source: HPL 2.3 control flow, panels.
type panel struct {
	j, jb      int64 // first column, width
	prow, pcol int64 // process row and column that own its diagonal block
	tag        int64 // of its broadcast
	blocks     *widthBlocks

	pivots  int64                                         // vector: owner of each column's pivot
	swapped int64                                         // vector: rows that take part in the swap, by distance from prow
	k0      int64                                         // such rows of the panel's own process row
	order   []int64                                       // process rows by position in a swap by spread-roll
	layout  struct{ order, lengths, equal, uneven int64 } // vectors, and whether equal differs from lengths
}

// newPanel sets up the panel at column j, a multiple of NB or N (then it is empty).
func (g *generator) newPanel(j, tag int64) *panel {
	jb := min(g.nb, g.n-j)
	return &panel{j: j, jb: jb, prow: g.rowOwner(j), pcol: g.colOwner(j), tag: tag, blocks: g.lib.width(jb)}
}

// rowsBelow returns the column of ml2: the rows of each process row below the panel's diagonal block.
func (g *generator) rowsBelow(p *panel) []int64 {
	return g.byRow(func(r int64) int64 { return g.rows(p.j+p.jb, g.n-p.j-p.jb, r) })
}

// panelBlock lists a panel of w columns that is set up; current says whether the process row is the panel's.
func (l *library) panelBlock(w int64, current bool) int64 {
	b, a := newBlock(6, "panel") // j ml2 nq prow pcol tag
	length := trace.Const(w*w + w + 1)
	if l.p.Q > 1 {
		length = b.Affine([]int64{w, 1}, a[1], length)
	}
	mp := a[1]
	if current {
		mp = mp.Plus(w)
	}
	b.Mark(markPanel, a[0], trace.Const(w), mp, a[2], a[3], a[4], a[5], length)
	return int64(l.add(b))
}

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
